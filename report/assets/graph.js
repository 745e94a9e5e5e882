"use strict";
// One graph drawn: dagre lays it out, cytoscape draws it. A large graph is cut into parts, in the order
// of its nodes, so that no circle comes about; a part that is touched opens in its place.

const MOST_FLAT = 80; // so many nodes are drawn without folding
const PART = 30; // so many parts or nodes a part opens to
const LEAST_ZOOM = 0.5; // of a graph that does not fit its beginning is shown
const MOST_READERS = 8; // an input that more than these read is not drawn: it would be all lines
const MOST_PORTS = 40; // so many inputs and outputs are drawn

class GraphView {
  /** select: told the place of a node that is touched. lost: says whether a node has no counterpart. */
  constructor(model, into, select, lost) {
    Object.assign(this, { model, select, lost, graph: 0, opened: [], chosen: [] });
    const button = (text, label, onclick) => el("button", { type: "button", "aria-label": `${model.side}: ${label}`, onclick }, text);
    this.crumbs = el("span", { class: "crumbs" });
    this.canvas = el("div", { class: "canvas" });
    this.said = el("div", { class: "said" });
    const zoom = el("span", { class: "zoom" }, button("+", "larger", () => this.zoom(1.3)), " ",
      button("−", "smaller", () => this.zoom(1 / 1.3)), " ", button("fit", "fit", () => this.fit()));
    into.append(el("div", { class: "tools" }, el("h3", {}, model.side), this.crumbs, zoom), this.canvas, this.said);
    this.cy = cytoscape({ container: this.canvas, minZoom: 0.05, maxZoom: 3, boxSelectionEnabled: false, autoungrabify: true });
    this.keys = new GraphKeys(this);
    this.cy.on("tap", "node", (event) => {
      this.keys.at = event.target.id();
      this.touched(event.target);
    });
    this.draw(0);
  }

  /** Draw a graph, folded where it is large. */
  draw(graph) {
    this.graph = graph;
    this.opened = [];
    this.chosen = [];
    this.redraw();
  }

  /** Show some nodes: draw the graph of the first, open the part that it is in, and mark them all. */
  show(places, centre = true) {
    const [first] = places;
    this.chosen = places;
    if (first[0] !== this.graph) {
      this.graph = first[0];
      this.opened = [];
    }
    const hidden = !this.cy.getElementById(`n${first[1]}`).length || this.drawn !== this.graph;
    if (hidden) {
      this.opened = this.partsAround(first[1]);
      this.redraw();
    } else {
      this.mark();
    }
    if (centre) this.centre(first[1]);
  }

  centre(number) {
    const node = this.cy.getElementById(`n${number}`);
    if (node.length) this.centreOn(node); // a constant is not drawn
  }

  /** Bring what is drawn into sight, where it is not. */
  centreOn(node) {
    const { x, y } = node.renderedPosition(), margin = 30;
    const inside = x > margin && y > margin && x < this.canvas.clientWidth - margin && y < this.canvas.clientHeight - margin;
    if (inside && this.cy.zoom() >= LEAST_ZOOM) return;
    if (this.cy.zoom() < LEAST_ZOOM) this.cy.zoom(0.9);
    this.cy.center(node);
  }

  touched(target) {
    const { kind, place, part } = target.data();
    if (kind === "part") {
      this.opened = [...this.partsAround(part[0]).filter(([from, to]) => to - from > part[1] - part[0]), part];
      this.redraw();
      this.fit();
    } else if (place) {
      this.select(place);
    }
  }

  // Folding ------------------------------------------------------------------------------------

  /** The parts of a range of nodes, or nothing where it is drawn node by node. */
  parts(from, to) {
    const count = to - from;
    if (count <= (from === 0 && to === this.size() ? MOST_FLAT : PART)) return null;
    let size = 1;
    while (size * PART < count) size *= PART;
    size = Math.max(size, Math.ceil(count / PART));
    const found = [];
    for (let start = from; start < to; start += size) found.push([start, Math.min(start + size, to)]);
    return found;
  }

  /** The parts that a node is in, the largest first. */
  partsAround(number) {
    const found = [];
    for (let range = [0, this.size()]; ;) {
      const parts = this.parts(...range);
      if (!parts) return found;
      range = parts.find(([from, to]) => from <= number && number < to);
      found.push(range);
    }
  }

  size() {
    return this.model.graphs[this.graph].nodes.length;
  }

  /** What is drawn: nodes by number, and parts that are closed. */
  items(range = [0, this.size()]) {
    const isOpen = ([from, to]) => this.opened.some(([start, end]) => start === from && end === to);
    const parts = this.parts(...range);
    if (parts) return parts.flatMap((part) => (isOpen(part) ? this.items(part) : [{ part }]));
    const numbers = Array.from({ length: range[1] - range[0] }, (_, offset) => range[0] + offset);
    return numbers.filter((n) => !this.model.isConstant([this.graph, n])).map((number) => ({ number }));
  }

  /** What is drawn for a node, or for the part that it is folded into. */
  itemAt(number) {
    const holds = ({ place, part }) => (part ? part[0] <= number && number < part[1] : place && place[1] === number);
    return this.cy.nodes().toArray().find((node) => holds(node.data()));
  }

  // Drawing ------------------------------------------------------------------------------------

  redraw() {
    const items = this.items(), elements = this.elements(items);
    layOut(elements);
    this.cy.elements().remove();
    this.cy.add(elements);
    this.drawn = this.graph;
    this.restyle();
    this.mark();
    this.keys.mark();
    this.fit();
    this.showCrumbs();
    this.tell(items);
  }

  elements(items) {
    const { model, graph } = this, owners = new Map(), found = [];
    for (const item of items) {
      const id = item.part ? `p${item.part[0]}-${item.part[1]}` : `n${item.number}`;
      const [from, to] = item.part || [item.number, item.number + 1];
      for (let n = from; n < to; n++) owners.set(n, id);
      found.push({ data: item.part ? this.partData(id, item.part) : this.nodeData(id, item.number) });
    }
    const { inputs, outputs } = model.graphs[graph];
    const ports = new Map(inputs.slice(0, MOST_PORTS).map(([name], i) => [name, `i${i}`]));
    const producers = model.producersOf(graph), edges = new Set(), used = new Set();
    const join = (name, target) => {
      const source = producers.has(name) ? owners.get(producers.get(name)) : ports.get(name);
      if (!source || source === target) return;
      used.add(source);
      edges.add(`${source} ${target}`);
    };
    owners.forEach((id, n) => model.reads([graph, n]).forEach((name) => name && join(name, id)));
    outputs.slice(0, MOST_PORTS).forEach(([name], i) => {
      join(name, `o${i}`);
      found.push({ data: { id: `o${i}`, kind: "port", label: cut(name, 24), width: 60, height: 24 } });
    });
    const lines = [...edges].map((edge) => edge.split(" "));
    const readers = (id) => lines.filter(([source]) => source === id).length;
    const busy = new Set([...ports.values()].filter((id) => readers(id) > MOST_READERS));
    this.busy = busy.size;
    ports.forEach((id, name) => used.has(id) && !busy.has(id) && found.push({ data: { id, kind: "port", label: cut(name, 24), width: 60, height: 24 } }));
    found.forEach(({ data }) => (data.width = Math.max(data.width, 7.2 * Math.max(...data.label.split("\n").map((line) => line.length)) + 20)));
    lines.forEach(([source, target]) => busy.has(source) || found.push({ data: { source, target } }));
    return found;
  }

  nodeData(id, number) {
    const place = [this.graph, number], node = this.model.node(place);
    const told = this.model.constructs.get(key(place));
    const label = [cut(node.op, 30), node.label === node.op ? "" : cut(node.label, 24), told ? cut(told.runs, 28) : ""].filter((line) => line).join("\n");
    const kind = KINDS[node.op] || (node.graphs.length ? "call" : "node");
    return { id, kind, place, label, width: 60, height: told ? 52 : 38, lost: this.lost(place) ? "yes" : "no" };
  }

  partData(id, part) {
    const label = `nodes ${part[0] + 1} to ${part[1]}\n${cut(census(this.model, this.graph, ...part, 3), 40)}`;
    return { id, kind: "part", part, label, width: 120, height: 46 };
  }

  showCrumbs() {
    const around = this.model.around(this.graph);
    const name = (graph) => cut(graph ? this.model.where(graph) : "main graph", 34);
    const parts = around.map((graph, i) => (i + 1 < around.length ? linkTo(name(graph), () => this.draw(graph)) : el("span", {}, name(graph))));
    this.crumbs.replaceChildren(...parts.flatMap((part, i) => (i ? [" › ", part] : [part])));
  }

  tell(items) {
    const folded = items.filter((item) => item.part).length, all = this.model.graphs[this.graph];
    const constants = all.nodes.filter((_, n) => this.model.isConstant([this.graph, n])).length;
    const said = [`${many(items.length - folded, "node")} of ${all.count.toLocaleString("en")} drawn`];
    if (folded) said.push(`${many(folded, "part")} folded, touch one to open it`);
    if (constants) said.push(`${many(constants, "constant")} not drawn`);
    if (this.busy) said.push(`${many(this.busy, "input")} that many read not drawn`);
    if (all.count > all.nodes.length) said.push(`${(all.count - all.nodes.length).toLocaleString("en")} not in this page`);
    this.said.textContent = said.join("; ");
    if (this.opened.length) this.said.append(" · ", linkTo("fold all", () => this.draw(this.graph)));
  }

  mark() {
    const chosen = new Set(this.chosen.filter(([graph]) => graph === this.graph).map(([, number]) => number));
    const holds = ({ kind, place, part }) => (kind === "part" ? [...chosen].some((n) => part[0] <= n && n < part[1]) : place && chosen.has(place[1]));
    this.cy.nodes().forEach((node) => node.toggleClass("chosen", Boolean(holds(node.data()))));
  }

  zoom(by) {
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 } });
  }

  /** All of it, but no smaller than can be read: then the beginning. */
  fit() {
    this.cy.resize();
    this.cy.fit(undefined, 16);
    if (this.cy.zoom() > 1.2) {
      this.cy.zoom(1.2);
      this.cy.center();
    } else if (this.cy.zoom() < LEAST_ZOOM) {
      this.cy.zoom(LEAST_ZOOM);
      const box = this.cy.elements().boundingBox();
      this.cy.pan({ x: this.canvas.clientWidth / 2 - LEAST_ZOOM * (box.x1 + box.w / 2), y: 16 - LEAST_ZOOM * box.y1 });
    }
  }

  restyle() {
    this.cy.style(graphStyle());
  }
}

/** Give each node its place, from top to bottom. */
function layOut(elements) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { data } of elements) {
    if (data.source) graph.setEdge(data.source, data.target);
    else graph.setNode(data.id, { width: data.width, height: data.height });
  }
  dagre.layout(graph);
  for (const element of elements) {
    if (element.data.source) continue;
    const { x, y } = graph.node(element.data.id);
    element.position = { x, y };
  }
}

function graphStyle() {
  const line = colour("line"), soft = colour("soft");
  const bordered = (kind, name) => ({ selector: `node[kind = "${kind}"]`, style: { "border-color": colour(name), "border-width": 2 } });
  return [
    { selector: "node", style: {
      label: "data(label)", width: "data(width)", height: "data(height)", shape: "round-rectangle", "background-color": colour("card"),
      "border-width": 1.2, "border-color": soft, color: colour("ink"), "font-size": 12, "font-family": "ui-monospace, Menlo, Consolas, monospace",
      "text-valign": "center", "text-halign": "center", "text-wrap": "wrap", "text-max-width": 400 } },
    bordered("loop", "orange"), bordered("if", "violet"), bordered("call", "teal"),
    { selector: 'node[kind = "part"]', style: { "background-color": colour("faint"), "border-color": line, "border-width": 2, shape: "cut-rectangle" } },
    { selector: 'node[kind = "port"]', style: { "background-color": colour("faint"), "border-width": 0, shape: "round-tag", color: soft } },
    { selector: 'node[lost = "yes"]', style: { "border-style": "dashed" } },
    { selector: "node.chosen", style: { "border-color": colour("blue"), "border-width": 4, "border-style": "solid" } },
    { selector: "node.at", style: { "underlay-color": colour("blue"), "underlay-opacity": 0.45, "underlay-padding": 7, "underlay-shape": "round-rectangle" } },
    { selector: "edge", style: {
      width: 1.3, "line-color": soft, "target-arrow-color": soft, opacity: 0.55, "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "bezier" } },
  ];
}
