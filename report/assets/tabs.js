"use strict";
// The parts of the page as tabs. `#graphs` behind the address opens that part, and print shows all.

class Tabs {
  /** shown: told the name of the part that is shown. */
  constructor(bar, parts, shown) {
    this.shown = shown;
    this.parts = new Map(parts.map((part) => [part.dataset.title.toLowerCase().replaceAll(" ", "-"), part]));
    this.buttons = new Map([...this.parts].map(([name, part]) =>
      [name, el("button", { type: "button", onclick: () => this.show(name) }, part.dataset.title)]));
    this.parts.forEach((part) => part.prepend(el("h2", { class: "spoken" }, part.dataset.title))); // the tab shows it
    bar.append(...this.buttons.values());
    addEventListener("hashchange", () => this.show(location.hash.slice(1)));
  }

  /** Show a part by its name; an unknown one changes nothing. */
  show(name) {
    if (!this.parts.has(name)) return;
    this.parts.forEach((part, other) => part.classList.toggle("shown", other === name));
    this.buttons.forEach((button, other) => button.setAttribute("aria-current", String(other === name)));
    this.shown(name);
  }
}
