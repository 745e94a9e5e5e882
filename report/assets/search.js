"use strict";
// The search: nodes by a part of their name, of their outputs, or of their operator. Enter goes to the
// next one, Shift and Enter to the one before.

const MOST_FOUND = 25; // so many are listed; Enter reaches all

class Search {
  /** follow: shows a place of a side. */
  constructor(models, input, status, list, follow) {
    Object.assign(this, { models, input, status, list, follow, found: [], at: -1 });
    input.addEventListener("input", () => this.look());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        this.step(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape" && input.value) {
        event.preventDefault();
        input.value = "";
        this.look();
      }
    });
  }

  look() {
    const wanted = this.input.value.trim().toLowerCase();
    this.found = wanted ? this.models.flatMap((model) => matches(model, wanted).map((place) => ({ model, place }))) : [];
    this.at = -1;
    this.show();
  }

  step(by) {
    const { length } = this.found;
    if (!length) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : length - 1) : (this.at + by + length) % length;
    this.show();
    const { model, place } = this.found[this.at];
    this.follow(model, [place]);
    this.input.focus({ preventScroll: true });
  }

  show() {
    const { length } = this.found, first = Math.max(0, Math.min(this.at - 5, length - MOST_FOUND));
    const count = length.toLocaleString("en");
    if (!this.input.value.trim()) this.status.textContent = "Enter goes to the next one, Shift and Enter to the one before.";
    else if (!length) this.status.textContent = "no node of that name";
    else this.status.textContent = this.at < 0 ? `${count} found` : `${(this.at + 1).toLocaleString("en")} of ${count}`;
    const rows = this.found.slice(first, first + MOST_FOUND).map(({ model, place }, n) => this.row(model, place, first + n));
    this.list.replaceChildren(...rows);
    const current = this.list.querySelector("[aria-current]");
    if (current) this.list.scrollTop = current.offsetTop - this.list.clientHeight / 2;
  }

  row(model, place, number) {
    const node = model.node(place), go = () => {
      this.at = number;
      this.show();
      this.follow(model, [place]);
    };
    const where = place[0] ? ` in ${model.where(place[0])}` : "";
    return el("li", {}, el("button", { type: "button", ...(number === this.at ? { "aria-current": "true" } : {}), onclick: go },
      el("span", { class: "side" }, model.side), ` ${node.op} `, el("span", { class: "mono" }, cut(node.label, 80)), where));
  }
}

/** The nodes of a model that hold a text. */
function matches(model, wanted) {
  const found = [], operators = model.operators.map(([op]) => op.toLowerCase().includes(wanted));
  model.graphs.forEach((graph, g) => graph.nodes.forEach((row, n) => {
    if (operators[row[0]] || [row[1], ...row[3]].some((name) => name.toLowerCase().includes(wanted))) found.push([g, n]);
  }));
  return found;
}
