"use strict";
// The control flow of a model as nested boxes.

const MOST_BOXES = 100;
const KINDS = { Loop: "loop", Scan: "loop", SequenceMap: "loop", If: "if" };

/** The box of the main graph, opened. */
function showBoxes(model, into, draw) {
  const holders = holdersIn(model, 0);
  const what = holders.length ? "" : el("span", { class: "none" }, "no control flow");
  into.append(bodyBox(model, 0, draw, what));
  if (model.moreConstructs) into.append(el("p", { class: "note" }, `${many(model.moreConstructs, "construct")} more are not described here.`));
}

function holdersIn(model, graph) {
  const found = [];
  model.graphs[graph].nodes.forEach((row, n) => row[4] && row[4].length && found.push([graph, n]));
  return found;
}

/** A graph: what it holds in a line, a button that draws it, and the boxes inside. */
function bodyBox(model, graph, draw, what = "") {
  const { title, count, nodes } = model.graphs[graph];
  const holders = holdersIn(model, graph);
  const button = el("button", { type: "button", onclick: () => draw(graph) }, "draw");
  const said = count ? `${many(count, "node")}: ${census(model, graph)}` : "no nodes";
  return el("div", { class: "body" },
    el("div", { class: "head" }, el("b", {}, title), what, el("span", { class: "runs" }, said), button),
    holders.slice(0, MOST_BOXES).map((place) => constructBox(model, place, draw)),
    holders.length > MOST_BOXES ? el("p", { class: "note" }, `${many(holders.length - MOST_BOXES, "box")} more are not shown; the search finds them.`) : "",
    count > nodes.length ? el("p", { class: "note" }, `${many(count - nodes.length, "node")} more are not in this page.`) : "");
}

/** A Loop, an If, a call of a function. What is inside is made when the box is opened. */
function constructBox(model, place, draw) {
  const node = model.node(place), told = model.constructs.get(key(place));
  const kind = KINDS[node.op] || "call";
  const inside = el("div", { class: "inside" });
  const box = el("details", { class: `box ${kind}`, "data-place": key(place) },
    el("summary", {}, el("span", { class: "badge" }, node.op), el("span", { class: "mono" }, node.label),
      el("span", { class: "runs" }, told ? told.runs : kind === "call" ? "call of a function" : "")),
    inside);
  box.addEventListener("toggle", () => {
    if (!box.open || inside.firstChild) return;
    if (told) inside.append(...stateTables(told));
    node.graphs.forEach((graph) => inside.append(bodyBox(model, graph, draw)));
  });
  return box;
}

function stateTables(told) {
  const found = [];
  if (told.carried.length) {
    found.push(el("h4", {}, "carried from iteration to iteration"),
      table(["starts as", "in the body", "becomes", "in the end"], told.carried.map((c) => [c.initial, c.inside, c.update, c.result])));
  }
  if (told.read.length) found.push(el("h4", {}, "read a part each iteration"), table(["whole", "part"], told.read));
  if (told.stacked.length) found.push(el("h4", {}, "grows by a part each iteration"), table(["whole", "part"], told.stacked));
  if (told.captured.length) {
    const more = told.captured.length - 20;
    found.push(el("h4", {}, "reads from around"),
      el("p", { class: "mono" }, told.captured.slice(0, 20).join(", ") + (more > 0 ? ` and ${more} more` : "")));
  }
  return found;
}

function table(heads, rows) {
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el(head ? "th" : "td", head ? { scope: "col" } : {}, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", { class: "mono" }, cell || "–")))))));
}
