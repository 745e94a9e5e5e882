"use strict";
// Why the outputs are equal, or where they differ: the proof in words, the first values that differ.

function showProof(proof, into) {
  if (!proof) return;
  const list = (items) => el("ul", {}, items.map((item) => el("li", {}, item)));
  into.append(el("h2", {}, proof.status === "proved" ? "The proof" : "The proof, which is open"));
  if (proof.claim) into.append(el("p", {}, proof.claim));
  if (proof.status === "proved") {
    into.append(el("h3", {}, "it assumes"), list(["an operator gives the same bits for the same operands", ...proof.assumptions]));
  }
  if (proof.needed) into.append(el("p", {}, `Needed: ${proof.needed}`));
  if (proof.conditions.length) into.append(el("h3", {}, "proved if"), list(proof.conditions));
  if (proof.first) {
    into.append(fold("the first terms that differ", () => ["before", "after"].map((side, n) =>
      el("div", {}, el("h3", {}, side), el("pre", { tabindex: "0", role: "group", "aria-label": `term ${side}` }, proof.first[n])))));
  }
  if (proof.rules.length) into.append(fold(`${many(proof.rules.length, "rule")} that it used`, () => list(proof.rules), proof.rules.length <= 6));
  else if (proof.status === "proved") into.append(el("p", { class: "hint" }, "It used no rule: both models compute the same terms as they stand."));
}

/** The pass at fault, and the first node whose values differ, on both sides. */
function showDifference(page, verdict, into, follow) {
  const { fault, difference } = verdict || {};
  if (!fault && !difference) return;
  into.append(el("h2", {}, "Where the outputs differ"));
  if (fault) into.append(el("p", {}, fault));
  if (typeof difference === "string") {
    if (difference) into.append(el("p", { class: "hint" }, `The first node that differs: ${difference}.`));
    return;
  }
  const iteration = difference.iteration.length ? `, iteration ${difference.iteration.join(" of ")}` : "";
  const side = (model, place, more, value) => el("div", { class: "panel" }, el("h3", {}, model.side),
    el("p", {}, followLink(model, [place], follow), more), el("p", { class: "mono value" }, value));
  into.append(
    el("p", {}, "The first node whose values differ computes ", el("code", {}, difference.name), ": ", el("b", { class: "mono" }, difference.first), "."),
    difference.largest ? el("p", {}, `${difference.largest}.`) : "",
    el("div", { class: "sides" }, side(page.before, difference.before, iteration, difference.values[0]), side(page.after, difference.after, "", difference.values[1])),
    el("h3", {}, "on this input"), el("ul", {}, difference.feeds.map((line) => el("li", { class: "mono" }, line))),
    el("p", { class: "hint" }, `By ${difference.runtime}; ${many(difference.compared, "value")} before it agree. Only nodes that correspond by name are compared, in the main graph and in loops; a node before it without a counterpart, in a branch or in a function may be the cause.`));
}
