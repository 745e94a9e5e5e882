"use strict";
// What a graph folds into: groups of nodes by loop and iteration, by module, or parts in their order.
// A long list of groups or nodes is cut into parts, so that the page draws few things at a time.

const MOST_FLAT = 80; // so many nodes are drawn without folding
const LEAST_DRAWN = 60; // groups open by themselves until so many things are drawn, and no more than
const MOST_DRAWN = 150;
const PART = 30; // so many parts or nodes a part opens to
const MODES = { origin: "loops and calls", module: "modules", order: "parts in order" };

class Folding {
  /** mode: a key of MODES. */
  constructor(model, graph, mode) {
    Object.assign(this, { model, graph });
    this.holder = new Map(); // node: the item that it is folded into
    this.byId = new Map();
    this.root = { id: "", kind: "root", children: [] };
    const grouping = mode === "order" ? null : model.graphs[graph].groups[mode];
    const groups = grouping ? grouping.groups.map(([kind, label], n) => ({ id: `g${n}`, kind, label, children: [] })) : [];
    const placed = new Set();
    const put = (n) => { // a group stands where its first node does
      if (n < 0 || placed.has(n)) return n < 0 ? this.root : groups[n];
      placed.add(n);
      put(grouping.groups[n][2]).children.push(groups[n]);
      return groups[n];
    };
    const owners = (grouping ? grouping.runs : [[-1, Infinity]])[Symbol.iterator]();
    let [owner, left] = owners.next().value || [-1, Infinity];
    model.graphs[graph].nodes.forEach((_, number) => {
      while (left === 0) [owner, left] = owners.next().value || [-1, Infinity];
      left--;
      if (!model.isConstant([graph, number])) put(owner).children.push(number);
    });
    this.settle(this.root, null);
    this.root.children = this.cut(this.root, this.root.size <= MOST_FLAT ? MOST_FLAT : PART);
  }

  /** The items that start open: all of a small graph; else the first ones inwards, until there is something to see. */
  starts() {
    if (this.root.size <= MOST_FLAT) return [...this.byId.keys()];
    const opened = [], waiting = this.root.children.filter(isItem);
    waiting.sort((one, other) => other.size - one.size); // the model itself before constants that an exporter lists first
    let drawn = this.root.children.length, nodes = drawn - waiting.length;
    while (waiting.length && (drawn < LEAST_DRAWN || !nodes)) {
      const item = waiting.shift(), inner = item.children.filter(isItem);
      if (drawn + item.children.length > MOST_DRAWN) continue;
      opened.push(item.id);
      drawn += item.children.length;
      nodes += item.children.length - inner.length;
      waiting.unshift(...inner);
    }
    return opened;
  }

  static modes(model, graph) {
    const { origin, module } = model.graphs[graph].groups;
    return Object.keys(MODES).filter((mode) => mode === "order" || (mode === "origin" ? origin : module));
  }

  /** Count what an item holds, cut long lists into parts, and say of each node what holds it. */
  settle(item, around) {
    item.around = around;
    item.children.forEach((child) => typeof child === "number" || this.settle(child, item));
    item.size = item.children.reduce((sum, child) => sum + (typeof child === "number" ? 1 : child.size), 0);
    item.first = item.children.length ? firstOf(item.children[0]) : 0;
    if (item.id) {
      this.byId.set(item.id, item);
      item.children = this.cut(item, PART);
    }
    item.children.forEach((child) => typeof child === "number" && this.holder.set(child, item));
  }

  cut(around, most) {
    const { children } = around, count = children.length;
    if (count <= most) return children;
    let size = 1;
    while (size * PART < count) size *= PART;
    size = Math.max(size, Math.ceil(count / PART));
    const parts = [];
    for (let start = 0; start < count; start += size) {
      const some = children.slice(start, start + size), last = some[some.length - 1];
      const label = typeof some[0] === "number" && typeof last === "number" ? `nodes ${some[0] + 1} to ${last + 1}` : `${labelOf(some[0])} to ${labelOf(last)}`;
      const part = { id: `p${around.id}-${start}-${start + some.length}`, kind: "part", label, children: some };
      this.settle(part, around);
      parts.push(part);
    }
    return parts;
  }

  /** The items that a node is folded into, the innermost first. */
  around(number) {
    const found = [];
    for (let item = this.holder.get(number); item && item.id; item = item.around) found.push(item);
    return found;
  }

  /** The items around an item and itself. */
  path(item) {
    const found = [];
    for (let at = item; at && at.id; at = at.around) found.push(at);
    return found;
  }

  /** All nodes in an item. */
  nodes(item) {
    return item.children.flatMap((child) => (typeof child === "number" ? [child] : this.nodes(child)));
  }

  /** What is drawn: nodes and closed items, each with the open item around it. */
  drawn(opened, item = this.root) {
    return item.children.flatMap((child) => {
      if (typeof child === "number") return [{ number: child, within: item.id }];
      return opened.has(child.id) ? [{ item: child, open: true, within: item.id }, ...this.drawn(opened, child)] : [{ item: child, within: item.id }];
    });
  }
}

function isItem(child) {
  return typeof child !== "number";
}

function firstOf(child) {
  return typeof child === "number" ? child : child.first;
}

function labelOf(child) {
  return typeof child === "number" ? `node ${child + 1}` : child.label;
}
