"use strict";
// The two models as the page asks for them. A place is [graph, node]; see Report.to_dict.

class Model {
  constructor(side, data) {
    this.side = side;
    this.name = data.name;
    this.graphs = data.graphs;
    this.operators = data.operators;
    this.constructs = new Map(data.constructs.map((c) => [key(c.place), c]));
    this.moreConstructs = data.more_constructs;
    this.holders = new Map(); // graph: the place of a node that holds or calls it
    this.graphs.forEach((graph, g) => graph.nodes.forEach((row, n) => {
      for (const inner of row[4] || []) if (!this.holders.has(inner)) this.holders.set(inner, [g, n]);
    }));
    this.producers = [];
    this.free = [];
  }

  node([graph, number]) {
    const [operator, name, inputs, outputs, graphs, origin] = this.graphs[graph].nodes[number];
    const [op, attributes, notes, parameters] = this.operators[operator];
    const own = name === op || name.startsWith(`${op}_`) ? "" : name; // Add_12 is the name of a writer of files
    const label = own || outputs.find((output) => output) || name || op;
    return { op, attributes, notes, parameters, name, label, inputs, outputs, graphs: graphs || [], origin };
  }

  isConstant(place) {
    return this.operators[this.graphs[place[0]].nodes[place[1]][0]][0] === "Constant";
  }

  /** Which node of a graph gives each name. */
  producersOf(graph) {
    if (!this.producers[graph]) {
      const found = new Map();
      this.graphs[graph].nodes.forEach((row, n) => row[3].forEach((output) => output && found.set(output, n)));
      this.producers[graph] = found;
    }
    return this.producers[graph];
  }

  /** The names that a graph reads from around. */
  freeNames(graph) {
    if (!this.free[graph]) {
      const own = new Set(this.graphs[graph].inputs.map(([name]) => name));
      this.graphs[graph].constants.forEach(([name]) => own.add(name));
      const producers = this.producersOf(graph), found = new Set();
      const add = (name) => name && !own.has(name) && !producers.has(name) && found.add(name);
      this.graphs[graph].nodes.forEach((row, n) => this.reads([graph, n]).forEach(add));
      this.graphs[graph].outputs.forEach(([name]) => add(name));
      this.free[graph] = found;
    }
    return this.free[graph];
  }

  /** All that a node reads, in its bodies too. */
  reads([graph, number]) {
    const row = this.graphs[graph].nodes[number];
    const bodies = (row[4] || []).filter((inner) => !this.isFunction(inner));
    return bodies.length ? [...row[2], ...bodies.flatMap((inner) => [...this.freeNames(inner)])] : row[2];
  }

  isFunction(graph) {
    return this.graphs[graph].function;
  }

  /** The graphs around a graph and itself, from the main one inwards. */
  around(graph) {
    const found = [graph], seen = new Set(found);
    while (this.holders.has(found[0]) && !seen.has(this.holders.get(found[0])[0])) {
      found.unshift(this.holders.get(found[0])[0]);
      seen.add(found[0]);
    }
    return found;
  }

  /** Where a name that a graph sees comes from: { place }, { input }, { constant }, or nothing. */
  source(graph, name) {
    for (const g of this.around(graph).reverse()) {
      const number = this.producersOf(g).get(name);
      if (number !== undefined) return { place: [g, number] };
      const input = this.graphs[g].inputs.find(([other]) => other === name);
      if (input) return { input, graph: g };
      const constant = this.graphs[g].constants.find(([other]) => other === name);
      if (constant) return { constant };
      if (this.isFunction(g)) return {};
    }
    return {};
  }

  /** The attributes and the constant inputs of a node: names and texts, as Netron shows them. */
  facts(place) {
    const { attributes, inputs, parameters } = this.node(place);
    const constants = inputs.flatMap((name, slot) => {
      const text = name && this.constantText(place[0], name);
      return text ? [[parameters[slot] || name, text]] : [];
    });
    return [...attributes, ...constants];
  }

  /** The elements of a small constant, the type of another one; "" for what is no constant. */
  constantText(graph, name) {
    const { place, constant } = this.source(graph, name);
    if (constant) return constant[2] || constant[1];
    if (!place || !this.isConstant(place)) return "";
    return this.node(place).attributes.map(([, text]) => text).join(" ");
  }

  where(graph) {
    const { title, path } = this.graphs[graph];
    return path && !this.isFunction(graph) ? `${title} of ${path}` : title;
  }
}

/** What became of each node of the original: its key, and the places in the rewritten model. */
function becomings(after) {
  const found = new Map();
  after.graphs.forEach((graph, g) => graph.nodes.forEach((row, n) => {
    if (!row[5]) return;
    const origin = key([row[5][1], row[5][2]]);
    if (!found.has(origin)) found.set(origin, []);
    found.get(origin).push([g, n]);
  }));
  return found;
}

function key(place) {
  return place.join("/");
}

/** How many nodes of each operator some nodes are, the most frequent first, as text. */
function census(model, graph, numbers, most = 5) {
  const counts = new Map(), { nodes } = model.graphs[graph];
  (numbers || [...nodes.keys()]).forEach((number) => {
    const op = model.operators[nodes[number][0]][0];
    counts.set(op, (counts.get(op) || 0) + 1);
  });
  const rows = [...counts].sort((one, other) => other[1] - one[1]);
  const shown = rows.slice(0, most).map(([op, count]) => (count > 1 ? `${count} ${op}` : op));
  return shown.join(", ") + (rows.length > most ? ` and ${many(rows.length - most, "more kind")}` : "");
}

function many(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most / 2 - 1)}…${text.slice(1 - most / 2)}` : text;
}

/** An element. Text is only ever set as text, so no name can become a part of the page. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ""));
  return made;
}

/** A fold whose content is made when it is opened first. */
function fold(summary, fill, open = false) {
  const box = el("details", { class: "fold" }, el("summary", {}, summary));
  const grow = () => box.childElementCount > 1 || box.append(...[fill()].flat());
  box.addEventListener("toggle", () => box.open && grow());
  if (open) {
    grow();
    box.open = true;
  }
  return box;
}

function linkTo(text, onclick) {
  return el("button", { class: "link", type: "button", onclick }, text);
}
