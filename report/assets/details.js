"use strict";
// What is known of one node: what it reads and gives, and its counterparts in the other model.

const MOST_LINKS = 20;
const LONG = 120; // a longer attribute folds

/** follow: shows a place of a side. */
function showDetails(page, model, place, into, follow) {
  const node = model.node(place), changed = page.match(model.side, place).row;
  const here = (other) => linkTo(model.node(other).label, () => follow(model, [other]));
  const inside = node.graphs.map((graph) => el("li", {}, linkTo(model.where(graph), () => follow(model, null, graph))));
  into.replaceChildren(
    el("p", { class: "kind" }, `${model.side} · ${model.where(place[0])}`),
    el("p", { class: "name" }, `${node.op} `, el("span", { class: "mono" }, node.label)),
    changed ? el("p", { class: `status ${TONES[changed[0]]}` }, changed[0]) : "",
    changed && changed[4].length ? table(["changed", "before", "after"], changed[4]) : "",
    factList(model, place),
    el("div", { class: "columns" },
      listOf("reads", model.reads(place).filter((name) => name).map((name) => readLink(model, place, name, here))),
      listOf("gives", node.outputs.filter((name) => name).map((name) => el("span", {}, el("span", { class: "mono" }, name), readers(model, place, name, here)))),
      el("div", {}, el("h4", {}, page.isComparison ? "in the other version" : model.side === "after" ? "comes from" : "became"), counterparts(page, model, place, follow)),
      inside.length ? el("div", {}, el("h4", {}, "holds"), el("ul", {}, inside)) : "",
      node.notes.length ? listOf("notes", node.notes.map(([name, value]) => `${name}: ${value}`)) : ""));
}

/** Attributes and constants, whole; a long one folds. */
function factList(model, place) {
  const facts = model.facts(place);
  if (!facts.length) return "";
  const rows = facts.map(([name, text]) => [el("dt", { class: "mono" }, name), el("dd", { class: "mono" },
    text.length > LONG ? fold(cut(text, LONG), () => el("p", { class: "whole" }, text)) : text)]);
  return el("dl", { class: "facts" }, ...rows.flat());
}

function listOf(title, items) {
  const more = items.length - MOST_LINKS;
  const rows = items.slice(0, MOST_LINKS).map((item) => el("li", {}, item));
  if (more > 0) rows.push(el("li", {}, `and ${more} more`));
  return el("div", {}, el("h4", {}, title), rows.length ? el("ul", {}, rows) : el("p", {}, "nothing"));
}

function readLink(model, place, name, here) {
  const { place: source, input, constant, graph } = model.source(place[0], name);
  const kind = source ? ["from ", here(source)] : input ? [`input of the ${model.where(graph)} ${input[1]}`] : constant ? [`constant ${constant[1]}`] : [];
  return el("span", {}, el("span", { class: "mono" }, name), kind.length ? " · " : "", ...kind);
}

function readers(model, [graph, number], name, here) {
  const found = [];
  for (let n = 0; n < model.graphs[graph].nodes.length && found.length <= MOST_LINKS; n++) {
    if (n !== number && model.reads([graph, n]).includes(name)) found.push([graph, n]);
  }
  const given = model.graphs[graph].outputs.some(([other]) => other === name);
  const parts = found.slice(0, 5).flatMap((place, i) => [i ? ", " : " · read by ", here(place)]);
  if (found.length > 5) parts.push(found.length > MOST_LINKS ? " and many more" : ` and ${found.length - 5} more`);
  if (given) parts.push(" · an output");
  return el("span", {}, ...parts);
}

function counterparts(page, model, place, follow) {
  if (page.isComparison) {
    const { twin } = page.match(model.side, place);
    return el("p", {}, twin ? followLink(model.side === "before" ? page.after : page.before, [twin], follow) : "nothing");
  }
  return model.side === "after" ? origin(page, model.node(place), follow) : becoming(page, model, place, follow);
}

function origin(page, node, follow) {
  if (!node.origin) return el("p", {}, "No known origin: a pass made it, and its name is none of the original's.");
  const [kind, graph, number, end, others] = node.origin, place = [graph, number];
  const what = { same: "the same node of the original", copy: `a copy (its name ends in ${end}) of`, instead: "it gives what this node of the original gave:", for: `made (its name ends in ${end}) for` }[kind];
  const button = followLink(page.before, [place], follow);
  return el("p", {}, `${what} `, button, others ? `, or of one of ${many(others, "other node")} of that name` : "");
}

function becoming(page, model, place, follow) {
  const found = page.became.get(key(place)) || [];
  if (found.length) {
    const links = found.slice(0, MOST_LINKS).map((other) => el("li", {}, followLink(page.after, [other], follow), page.after.node(other).origin[0] === "for" ? " made for it" : ""));
    const more = found.length - links.length;
    const all = found.length > 1 ? el("p", {}, linkTo(`show all ${found.length}`, () => follow(page.after, found))) : "";
    return el("div", {}, all, el("ul", {}, links, more > 0 ? el("li", {}, `and ${more} more`) : ""));
  }
  const constants = model.node(place).outputs.filter((name) => name && page.constants.has(name));
  if (constants.length) return el("p", {}, "A constant of that name: it was computed. ", el("span", { class: "mono" }, constants.join(", ")));
  const inside = model.node(place).graphs.flatMap((graph) => model.graphs[graph].nodes.map((_, n) => [graph, n])).filter((inner) => page.became.has(key(inner)));
  if (inside.length) {
    const links = inside.slice(0, MOST_LINKS).map((inner) => el("li", {}, followLink(model, [inner], follow), ` became ${many(page.became.get(key(inner)).length, "node")}`));
    return el("div", {}, el("p", {}, "Itself it is gone; of what it holds:"), el("ul", {}, links));
  }
  return el("p", {}, "Nothing of this name is left: it was removed, computed, or merged into others.");
}

function followLink(model, places, follow) {
  const node = model.node(places[0]);
  const link = linkTo(`${node.op} ${node.label}`, () => follow(model, places));
  link.classList.add("follow");
  return link;
}
