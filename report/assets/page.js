"use strict";
// The page: reads the report and puts its parts together.

const SEEN = 200; // a graph is in sight if so many pixels of it are
const byId = (id) => document.getElementById(id);

const report = JSON.parse(byId("data").textContent);
const page = { before: new Model("before", report.before), after: new Model("after", report.after) };
page.became = becomings(page.after);
page.constants = new Set(page.after.graphs.flatMap((graph) => graph.constants.map(([name]) => name)));

const names = [report.before.name, report.after.name];
byId("title").textContent = names[0] === names[1] ? `${names[0]}: before → after` : names.join(" → ");
byId("sum").textContent = sumOf(report);
page.isComparison = !report.timings.length && !report.remarks.length; // of versions, not of a rewrite
page.matches = page.isComparison ? matchedPlaces(report.changes) : new Map();
page.match = (side, place) => page.matches.get(`${side} ${key(place)}`) || {};

showVerdict(report.verdict, byId("verdict"));
showProof(report.verdict && report.verdict.proof, byId("proof"));
showDifference(page, report.verdict, byId("difference"), follow);
showCards(report, byId("cards"));
showRemarks(report, byId("remarks"));
showNumbers(report, byId("numbers"));
showViewers(report.viewers, byId("viewers"));
showChanges(page, report.changes, byId("changes"), follow, page.isComparison);

const traces = new Map(); // graph of the original: whether anything of it is left
const isLost = {
  before: (place) => !leavesTraces(page.before, place),
  after: (place) => !page.after.node(place).origin,
};
const views = {};
byId("graphs").classList.toggle("comparison", page.isComparison);
for (const side of ["before", "after"]) {
  const change = (place) => (page.match(side, place).row || [""])[0];
  const lost = (place) => !page.isComparison && isLost[side](place);
  views[side] = new GraphView(page[side], byId(`view-${side}`), (place) => choose(page[side], place), lost, change);
  showBoxes(page[side], byId(`boxes-${side}`), (graph) => follow(page[side], null, graph));
}
watchTheme(byId("theme"), () => Object.values(views).forEach((view) => view.restyle()));
const tabs = new Tabs(byId("tabs"), [...document.querySelectorAll(".part")], (name) => name === "graphs" && Object.values(views).forEach((view) => view.fit()));
tabs.show(report.verdict && STATUS[report.verdict.status] === "bad" ? "verdict" : "graphs");
tabs.show(location.hash.slice(1));

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
  const origin = model.node(place).origin, { twin } = page.match(model.side, place);
  const places = page.isComparison ? (twin ? [twin] : []) : model.side === "before" ? page.became.get(key(place)) || [] : origin ? [[origin[1], origin[2]]] : [];
  const view = views[other.side];
  view.chosen = places.filter(([graph]) => graph === view.graph);
  view.mark();
  showDetails(page, model, place, byId("details"), follow);
}

/** Show nodes of a side, or a graph of it. */
function follow(model, places, graph) {
  const view = views[model.side];
  tabs.show("graphs");
  if (places) {
    choose(model, places[0]);
    view.show(places);
  } else {
    view.draw(graph);
  }
  const { top, bottom } = byId(`view-${model.side}`).getBoundingClientRect();
  if (bottom < SEEN || top > innerHeight - SEEN) byId(`view-${model.side}`).scrollIntoView({ block: "nearest" });
}

new Search([page.before, page.after], byId("search"), byId("count"), byId("found"), follow).show();
