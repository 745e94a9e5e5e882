"use strict";
// The page: reads the report and puts its parts together.

const MOST_FOUND = 25;
const byId = (id) => document.getElementById(id);

const report = JSON.parse(byId("data").textContent);
const page = { before: new Model("before", report.before), after: new Model("after", report.after) };
page.became = becomings(page.after);
page.constants = new Set(page.after.graphs.flatMap((graph) => graph.constants.map(([name]) => name)));

byId("title").textContent = `${report.before.name} → ${report.after.name}`;
showVerdict(report.verdict, byId("verdict"));
showCards(report, byId("cards"));
showRemarks(report, byId("remarks"));
showNumbers(report, byId("numbers"));

const traces = new Map(); // graph of the original: whether anything of it is left
const lost = {
  before: (place) => !leavesTraces(page.before, place),
  after: (place) => !page.after.node(place).origin,
};
const views = {};
for (const side of ["before", "after"]) {
  views[side] = new GraphView(page[side], byId(`view-${side}`), (place) => choose(page[side], place), lost[side]);
  showBoxes(page[side], byId(`boxes-${side}`), (graph) => follow(page[side], null, graph));
}
watchTheme(byId("theme"), () => Object.values(views).forEach((view) => view.restyle()));

/** Whether a node of the original has a counterpart, or a node that it holds has. */
function leavesTraces(model, place) {
  if (page.became.has(key(place))) return true;
  return (model.graphs[place[0]].nodes[place[1]][4] || []).some((graph) => {
    if (!traces.has(graph)) traces.set(graph, model.graphs[graph].nodes.some((_, n) => leavesTraces(model, [graph, n])));
    return traces.get(graph);
  });
}

/** A node was touched: tell of it, and mark it and its counterparts. */
function choose(model, place) {
  views[model.side].show([place], false);
  const other = model.side === "before" ? page.after : page.before;
  const origin = model.node(place).origin;
  const places = model.side === "before" ? page.became.get(key(place)) || [] : origin ? [[origin[1], origin[2]]] : [];
  const view = views[other.side];
  const visible = places.filter(([graph]) => graph === view.graph);
  view.chosen = visible;
  view.mark();
  showDetails(page, model, place, byId("details"), follow);
}

/** Show nodes of a side, or a graph of it. */
function follow(model, places, graph) {
  const view = views[model.side];
  if (places) {
    choose(model, places[0]);
    view.show(places);
  } else {
    view.draw(graph);
  }
  byId(`view-${model.side}`).scrollIntoView({ block: "nearest" });
}

byId("search").addEventListener("input", ({ target }) => {
  const text = target.value.trim();
  const { found, more } = text ? searchNodes([page.before, page.after], text, MOST_FOUND) : { found: [], more: 0 };
  const rows = found.map(({ model, place }) => {
    const node = model.node(place);
    return el("button", { type: "button", role: "listitem", onclick: () => follow(model, [place]) },
      el("span", { class: "side" }, model.side), ` ${node.op} `, el("span", { class: "mono" }, node.label), place[0] ? ` in ${model.where(place[0])}` : "");
  });
  if (text && !found.length) rows.push(el("p", { class: "note" }, "no node of that name"));
  if (more) rows.push(el("p", { class: "note" }, `${more.toLocaleString("en")} more; write more of the name`));
  byId("found").replaceChildren(...rows);
});
