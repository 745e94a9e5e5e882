"use strict";
// A drawn graph walked by keyboard: up and down along its lines, left and right through all of it as it
// is read, Enter opens and folds, Escape folds, and each step is told to a screen reader.

const SAME_ROW = 4; // so many units apart things still stand in one row

class GraphKeys {
  constructor(view) {
    this.view = view;
    this.at = ""; // the id of where the reader is
    this.told = el("div", { class: "spoken", "aria-live": "polite" });
    view.canvas.after(this.told);
    for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-roledescription": "graph" })) view.canvas.setAttribute(name, value);
    view.canvas.setAttribute("aria-label", `the graph ${view.model.side} the rewrite: arrow keys go from node to node, Enter opens or folds, Space tells of a node, Escape folds and goes back out`);
    view.canvas.addEventListener("focus", () => this.arrive());
    view.canvas.addEventListener("blur", () => this.mark());
    view.canvas.addEventListener("keydown", (event) => this.pressed(event));
  }

  pressed(event) {
    const does = {
      ArrowDown: () => this.along("outgoers", "reads"), ArrowUp: () => this.along("incomers", "is read by"),
      ArrowRight: () => this.on(1), ArrowLeft: () => this.on(-1), Home: () => this.go(this.order()[0]), End: () => this.go(this.order().pop()),
      Enter: () => this.open(), " ": () => this.choose(), Escape: () => this.close(),
    }[event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    does();
  }

  /** The graph gets the focus: go on where it was left. */
  arrive() {
    const graph = this.view.model.where(this.view.graph) || "main graph";
    this.go(this.here() || this.order()[0], `${graph}, `);
  }

  here() {
    const found = this.view.cy.getElementById(this.at);
    return found.length ? found[0] : null;
  }

  /** All that is drawn, row by row. */
  order() {
    const spots = new Map(this.view.cy.nodes().map((node) => {
      const { x1, y1 } = node.isParent() ? node.boundingBox() : { x1: node.position("x"), y1: node.position("y") };
      return [node, { x: x1, y: y1 }]; // an open group comes before what it holds
    }));
    return [...spots.keys()].sort((one, other) => {
      const a = spots.get(one), b = spots.get(other), down = a.y - b.y;
      return Math.abs(down) > SAME_ROW ? down : a.x - b.x;
    });
  }

  on(by) {
    const all = this.order(), here = this.here();
    this.go(here ? all[(all.indexOf(here) + by + all.length) % all.length] : all[0]);
  }

  along(way, what) {
    const here = this.here();
    if (!here) return this.go(this.order()[0]);
    const x = here.position("x");
    const [next] = here[way]("node").toArray().sort((one, other) => Math.abs(one.position("x") - x) - Math.abs(other.position("x") - x));
    if (next) this.go(next);
    else this.say(way === "outgoers" ? `nothing ${what} ${this.name(here)}` : `nothing that is drawn ${what} ${this.name(here)}`);
  }

  go(target, before = "") {
    if (!target) return;
    this.at = target.id();
    this.mark();
    this.view.centreOn(target);
    const all = this.order();
    this.say(`${before}${this.name(target)}, ${[...this.facts(target), `${all.indexOf(target) + 1} of ${all.length}`].join(", ")}${this.keys(target)}`);
  }

  mark() {
    const focused = document.activeElement === this.view.canvas;
    this.view.cy.nodes().forEach((node) => node.toggleClass("at", focused && node.id() === this.at));
  }

  say(text) {
    this.told.textContent = text;
  }

  name(target) {
    const { kind, place, item, label, id } = target.data();
    if (kind === "port") return `${id[0] === "i" ? "input" : "output"} ${label}`;
    if (item) return label.slice(2).replace("\n", ": ");
    const node = this.view.model.node(place);
    return node.label === node.op ? node.op : `${node.op} ${node.label}`;
  }

  facts(target) {
    const { place, item, open, lost, change } = target.data(), told = place && this.view.model.constructs.get(key(place));
    const found = [];
    if (told) found.push(told.runs);
    if (item) found.push(open ? "open" : "folded");
    if (place) this.view.model.facts(place).slice(0, MOST_FACTS).forEach(([name, text]) => found.push(cut(`${name} ${text}`, 40)));
    if (change) found.push(change);
    if (lost === "yes") found.push(this.view.model.side === "before" ? "nothing of this name is left" : "no known origin");
    if (target.hasClass("chosen")) found.push("marked");
    return found;
  }

  keys(target) {
    const { place, item, open } = target.data();
    if (open) return "; Enter folds it";
    return item || (place && this.view.model.node(place).graphs.length) ? "; Enter opens it" : "";
  }

  choose() {
    const place = this.here() && this.here().data("place");
    if (place) this.view.select(place);
  }

  /** Open or fold a group, or go into what a node holds; of another node tell what is known. */
  open() {
    const here = this.here();
    if (!here) return;
    const { place, item, open } = here.data(), inner = place && this.view.model.node(place).graphs[0];
    if (item) {
      const { first } = this.view.folding.byId.get(item);
      this.view.touched(here);
      this.go(open ? this.view.cy.getElementById(item) : this.view.itemAt(first));
    } else if (inner !== undefined) {
      this.enter(inner);
    } else {
      this.choose();
    }
  }

  enter(graph) {
    this.view.draw(graph);
    this.at = "";
    this.arrive();
  }

  /** Fold what is open around here, or go to what holds this graph. */
  close() {
    const { view } = this, holder = view.model.holders.get(view.graph), around = this.openAround();
    if (around) {
      view.close(around);
      this.go(view.cy.getElementById(around.id));
    } else if (view.graph && holder) {
      view.show([holder]);
      this.go(view.itemAt(holder[1]));
    } else if (view.chosen.length) {
      view.chosen = [];
      view.mark();
      this.say("nothing is marked");
    }
  }

  /** The innermost open group that holds what the reader is at. */
  openAround() {
    const here = this.here();
    if (!here) return null;
    const id = here.data("open") ? here.id() : here.data("parent");
    return this.view.folding.byId.get(id) || null;
  }
}
