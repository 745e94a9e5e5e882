"use strict";
// Two versions node by node: what was added, removed and changed; runs of equal nodes are folded.

const TONES = { added: "good", removed: "bad", changed: "warn", equal: "" };
const MOST_EQUAL = 200; // so many nodes of a run are listed

/** open: the report is about the versions, not about a rewrite of passes. */
function showChanges(page, changes, into, follow, open) {
  const { counts, graphs, more, uncompared } = changes;
  const sum = ["added", "removed", "changed", "equal"].map((kind) => `${counts[kind].toLocaleString("en")} ${kind}`).join(", ");
  const fill = () => [
    ...graphs.map((pair) => graphChanges(page, pair, follow)),
    more ? el("p", { class: "note" }, `${many(more, "change")} more are not listed.`) : "",
    uncompared ? el("p", { class: "note" }, `${many(uncompared, "constant")} too large, or in a file that is not here: not compared.`) : "",
  ].filter((part) => part);
  into.append(el("h2", {}, "Changes, node by node"),
    el("p", { class: "hint" }, "Nodes are matched by name, then by structure: the operator and what it reads."), fold(sum, fill, open));
}

/** The changes of one graph, or a line where there are none. */
function graphChanges(page, [before, after, rows], follow) {
  const title = after >= 0 ? page.after.where(after) : page.before.where(before);
  const lone = before < 0 ? " (added)" : after < 0 ? " (removed)" : "";
  const list = el("ul", { class: "changes" }, rows.map((row) => changeRow(page, row, follow)));
  const same = rows.every(([kind]) => kind === "equal");
  const head = `${title}${lone}${same ? ": equal" : ""}`;
  return same ? fold(head, () => list) : el("div", { class: "panel changed-graph" }, el("h3", {}, head), list);
}

function changeRow(page, [kind, before, after, count, details], follow) {
  if (kind === "equal") {
    return el("li", { class: "same" }, fold(`${many(count, "equal node")}`, () => equalNodes(page, after, count, follow)));
  }
  const model = after ? page.after : page.before, place = after || before, node = model.node(place);
  const facts = details.length ? "" : model.facts(place).slice(0, 4).map(([name, text]) => cut(`${name}: ${text}`, 40)).join(", ");
  return el("li", { class: `change ${TONES[kind]}` }, el("span", { class: `status ${TONES[kind]}` }, kind), " ",
    followLink(model, [place], follow), facts ? el("span", { class: "soft mono" }, ` ${facts}`) : "",
    details.length ? table(["", "before", "after"], details) : "");
}

function equalNodes(page, [graph, first], count, follow) {
  const shown = Array.from({ length: Math.min(count, MOST_EQUAL) }, (_, n) => [graph, first + n]);
  const rows = shown.map((place) => el("li", {}, followLink(page.after, [place], follow)));
  if (count > shown.length) rows.push(el("li", {}, `and ${count - shown.length} more`));
  return el("ul", {}, rows);
}

/** Of each node of two versions its row of changes, and its counterpart: side and place, to both. */
function matchedPlaces(changes) {
  const found = new Map();
  changes.graphs.forEach(([, , rows]) => rows.forEach((row) => {
    const [kind, before, after, count] = row, equal = kind === "equal";
    for (let n = 0; n < count; n++) {
      const one = before && [before[0], before[1] + n], other = after && [after[0], after[1] + n];
      if (one) found.set(`before ${key(one)}`, { row: equal ? null : row, twin: other });
      if (other) found.set(`after ${key(other)}`, { row: equal ? null : row, twin: one });
    }
  }));
  return found;
}
