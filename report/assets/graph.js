"use strict";
// One graph drawn: dagre lays it out, cytoscape draws it. What is folded is one box, and opens in its place.

const LEAST_ZOOM = 0.65; // of a graph that does not fit its beginning is shown
const MOST_READERS = 8; // an input that more than these read is not drawn: it would be all lines
const MOST_PORTS = 40; // so many inputs and outputs are drawn
const MOST_UNFOLDED = 200; // of a graph of more nodes one thing opens at a time
const MOST_FACTS = 3; // so many attributes and constants stand in a node's box
const LEAST_PANE = 240; // the height of the pane of a small graph
const AROUND_PANE = 150; // the height that a large graph leaves of the window
const HEAD = 22; // the height of the line that names an open group

class GraphView {
  /** select: told the place of a node that is touched. lost: says whether a node has no counterpart. change: says how a node changed. */
  constructor(model, into, select, lost, change) {
    Object.assign(this, { model, select, lost, change, graph: 0, opened: new Set(), chosen: [], mode: "" });
    const button = (text, label, onclick) => el("button", { type: "button", "aria-label": `${model.side}: ${label}`, onclick }, text);
    this.crumbs = el("span", { class: "crumbs" });
    this.canvas = el("div", { class: "canvas" });
    this.said = el("div", { class: "said" });
    this.modes = el("select", { "aria-label": `${model.side}: fold by`, onchange: () => this.foldBy(this.modes.value) });
    const zoom = el("span", { class: "zoom" }, button("+", "larger", () => this.zoom(1.3)), " ",
      button("−", "smaller", () => this.zoom(1 / 1.3)), " ", button("fit", "fit", () => this.fit()));
    into.append(el("div", { class: "tools" }, el("h3", {}, model.side), this.crumbs, this.modes, zoom), this.canvas, this.said);
    this.cy = cytoscape({ container: this.canvas, minZoom: 0.05, maxZoom: 3, boxSelectionEnabled: false, autoungrabify: true });
    this.keys = new GraphKeys(this);
    new ResizeObserver(() => this.cy.resize()).observe(this.canvas); // the higher graph stretches the other's pane
    this.cy.on("tap", "node", (event) => {
      if (event.target.isParent() && event.position.y > event.target.boundingBox().y1 + HEAD) return; // the ground of a group
      this.keys.at = event.target.id();
      this.touched(event.target);
    });
    this.draw(0);
  }

  /** Draw a graph, folded where it is large. */
  draw(graph) {
    this.graph = graph;
    this.chosen = [];
    this.begin();
    this.redraw();
  }

  /** Fold the graph anew, by the way that was chosen where it can be. */
  begin() {
    const modes = Folding.modes(this.model, this.graph);
    const mode = modes.includes(this.mode) ? this.mode : modes[0];
    this.folding = new Folding(this.model, this.graph, mode);
    this.modes.replaceChildren(...modes.map((each) => el("option", { value: each, ...(each === mode ? { selected: "" } : {}) }, `fold by ${MODES[each]}`)));
    this.modes.hidden = modes.length < 2;
    this.opened = new Set(this.folding.starts());
  }

  foldBy(mode) {
    this.mode = mode;
    this.begin();
    this.redraw();
  }

  /** Show some nodes: draw the graph of the first, open the groups that it is in, and mark them all. */
  show(places, centre = true) {
    const [first] = places;
    this.chosen = places;
    if (first[0] !== this.graph) {
      this.graph = first[0];
      this.begin();
    }
    const hidden = !this.cy.getElementById(`n${first[1]}`).length || this.drawn !== this.graph;
    if (hidden) {
      this.open(this.folding.around(first[1]));
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
    const { place, item } = target.data();
    if (item) this.toggle(this.folding.byId.get(item));
    else if (place) this.select(place);
  }

  // Folding ------------------------------------------------------------------------------------

  toggle(item) {
    if (this.opened.has(item.id)) this.close(item);
    else {
      this.open(this.folding.path(item));
      this.redraw();
      this.fit();
    }
  }

  /** Open items; what was opened earliest closes where too much would be drawn. */
  open(items) {
    const wanted = new Set(items.map((item) => item.id)), earlier = [...this.opened].filter((id) => !wanted.has(id));
    this.opened = new Set([...earlier, ...wanted]);
    while (earlier.length && this.nodesIn(this.opened) > MOST_DRAWN) this.opened.delete(earlier.shift());
  }

  nodesIn(opened) {
    return this.folding.drawn(opened).length;
  }

  /** Fold an item, and what is open in it. */
  close(item) {
    const inside = (other) => this.folding.path(this.folding.byId.get(other)).includes(item);
    this.opened = new Set([...this.opened].filter((other) => !inside(other)));
    this.redraw();
  }

  foldAll(folded) {
    this.opened = new Set(folded ? [] : this.folding.byId.keys());
    this.redraw();
  }

  size() {
    return this.model.graphs[this.graph].nodes.length;
  }

  /** What is drawn for a node, or for the item that it is folded into. */
  itemAt(number) {
    const shown = [`n${number}`, ...this.folding.around(number).map(({ id }) => id)].map((id) => this.cy.getElementById(id));
    return shown.find((node) => node.length);
  }

  // Drawing ------------------------------------------------------------------------------------

  redraw() {
    const items = this.folding.drawn(this.opened), elements = this.elements(items);
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
    for (const { item, number, open, within } of items) {
      const data = item ? this.itemData(item, open) : this.nodeData(`n${number}`, number);
      if (within) data.parent = within;
      found.push({ data });
      if (!item) owners.set(number, data.id);
      else if (!open) this.folding.nodes(item).forEach((inner) => owners.set(inner, item.id));
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
    found.forEach(({ data }) => data.open || (data.width = Math.max(data.width, 7.2 * Math.max(...data.label.split("\n").map((line) => line.length)) + 20)));
    lines.forEach(([source, target]) => busy.has(source) || found.push({ data: { source, target } }));
    return found;
  }

  nodeData(id, number) {
    const place = [this.graph, number], node = this.model.node(place);
    const told = this.model.constructs.get(key(place)), change = this.change(place);
    const facts = this.model.facts(place), shown = facts.slice(0, MOST_FACTS).map(([name, text]) => cut(`${name}: ${text}`, 28));
    if (facts.length > MOST_FACTS) shown.push(`and ${facts.length - MOST_FACTS} more`);
    const name = node.label === node.op ? "" : cut(node.label, 24);
    const lines = [SIGNS[change] + cut(node.op, 30), name, told ? cut(told.runs, 28) : "", ...shown].filter((line) => line);
    const kind = KINDS[node.op] || (node.graphs.length ? "call" : "node");
    return { id, kind, place, label: lines.join("\n"), width: 60, height: 10 + 14 * lines.length, lost: this.lost(place) ? "yes" : "no", change };
  }

  itemData(item, open) {
    const counts = cut(census(this.model, this.graph, this.folding.nodes(item), 3), 40);
    const label = open ? `▾ ${cut(item.label, 40)}` : `▸ ${cut(item.label, 40)}\n${counts}`;
    return { id: item.id, kind: item.kind, item: item.id, open, label, width: 120, height: 46 };
  }

  showCrumbs() {
    const around = this.model.around(this.graph);
    const name = (graph) => cut(graph ? this.model.where(graph) : "main graph", 34);
    const parts = around.map((graph, i) => (i + 1 < around.length ? linkTo(name(graph), () => this.draw(graph)) : el("span", {}, name(graph))));
    this.crumbs.replaceChildren(...parts.flatMap((part, i) => (i ? [" › ", part] : [part])));
  }

  tell(items) {
    const folded = items.filter((each) => each.item && !each.open).length, all = this.model.graphs[this.graph];
    const nodes = items.filter((each) => !each.item).length;
    const constants = all.nodes.filter((_, n) => this.model.isConstant([this.graph, n])).length;
    const said = [`${many(nodes, "node")} of ${all.count.toLocaleString("en")} drawn`];
    if (folded) said.push(`${many(folded, "part")} folded, touch one to open it`);
    if (constants) said.push(`${many(constants, "constant")} in the boxes that read them`);
    if (this.busy) said.push(`${many(this.busy, "input")} that many read not drawn`);
    if (all.count > all.nodes.length) said.push(`${(all.count - all.nodes.length).toLocaleString("en")} not in this page`);
    this.said.textContent = said.join("; ");
    if (this.opened.size) this.said.append(" · ", linkTo("fold all", () => this.foldAll(true)));
    if (folded && this.size() <= MOST_UNFOLDED) this.said.append(" · ", linkTo("unfold all", () => this.foldAll(false)));
  }

  mark() {
    const shown = this.chosen.filter(([graph]) => graph === this.graph).map(([, number]) => this.itemAt(number));
    const ids = new Set(shown.filter((node) => node).map((node) => node.id()));
    this.cy.nodes().forEach((node) => node.toggleClass("chosen", ids.has(node.id())));
  }

  zoom(by) {
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 } });
  }

  /** All of it, but no smaller than can be read: then the beginning. The pane is as high as that needs. */
  fit() {
    const { w, h, y1 } = this.cy.elements().boundingBox(), width = this.canvas.clientWidth;
    if (!width) return; // it is in a part that is not shown
    const scale = Math.min(1.2, Math.max(LEAST_ZOOM, (width - 32) / w));
    const most = Math.max(LEAST_PANE, innerHeight - AROUND_PANE);
    this.canvas.style.minHeight = `${Math.min(most, Math.max(LEAST_PANE, h * scale + 32))}px`;
    this.cy.resize();
    this.cy.fit(undefined, 16);
    if (this.cy.zoom() > 1.2) {
      this.cy.zoom(1.2);
      this.cy.center();
    } else if (this.cy.zoom() < LEAST_ZOOM) {
      this.cy.zoom(LEAST_ZOOM);
      // Where an input enters: constants that fold away may stand beside it, in a row wider than the pane.
      const ports = this.cy.nodes('[kind = "port"]');
      const readers = ports.outgoers("node").difference(ports), leaves = this.cy.nodes().difference(ports);
      const first = [readers, leaves, ports].map((group) => group.filter((node) => node.isChildless()))
        .find((group) => group.length).min((node) => node.position("y")).ele;
      this.cy.pan({ x: this.canvas.clientWidth / 2 - LEAST_ZOOM * first.position("x"), y: 16 - LEAST_ZOOM * y1 });
    }
  }

  restyle() {
    this.cy.style(graphStyle());
  }
}

const SIGNS = { added: "+ ", removed: "− ", changed: "~ ", "": "" };

/** Give each node its place, from top to bottom; open groups stand around theirs. */
function layOut(elements) {
  const graph = new dagre.graphlib.Graph({ compound: true });
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { data } of elements) if (!data.source) graph.setNode(data.id, data.open ? {} : { width: data.width, height: data.height });
  for (const { data } of elements) {
    if (data.source) graph.setEdge(data.source, data.target);
    else if (data.parent) graph.setParent(data.id, data.parent);
  }
  dagre.layout(graph);
  for (const element of elements) {
    if (element.data.source || element.data.open) continue;
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
    bordered("loop", "orange"), bordered("if", "violet"), bordered("call", "teal"), bordered("iteration", "orange"), bordered("module", "blue"),
    { selector: "node[item]", style: { "background-color": colour("faint"), shape: "cut-rectangle" } },
    { selector: "node:parent", style: {
      shape: "round-rectangle", "background-color": colour("paper"), "background-opacity": 0.6, "text-valign": "top", "text-margin-y": HEAD - 6, padding: "26px", "border-width": 1.2 } },
    { selector: 'node[change = "added"]', style: { "border-color": colour("good"), "border-width": 3 } },
    { selector: 'node[change = "removed"]', style: { "border-color": colour("bad"), "border-width": 3 } },
    { selector: 'node[change = "changed"]', style: { "border-color": colour("warn"), "border-width": 3 } },
    { selector: 'node[kind = "part"]', style: { "border-color": line, "border-width": 2 } },
    { selector: 'node[kind = "port"]', style: { "background-color": colour("faint"), "border-width": 0, shape: "round-tag", color: soft } },
    { selector: 'node[lost = "yes"]', style: { "border-style": "dashed" } },
    { selector: "node.chosen", style: { "border-color": colour("blue"), "border-width": 4, "border-style": "solid" } },
    { selector: "node.at", style: { "underlay-color": colour("blue"), "underlay-opacity": 0.45, "underlay-padding": 7, "underlay-shape": "round-rectangle" } },
    { selector: "edge", style: {
      width: 1.3, "line-color": soft, "target-arrow-color": soft, opacity: 0.55, "target-arrow-shape": "triangle", "arrow-scale": 0.8, "curve-style": "bezier" } },
  ];
}
