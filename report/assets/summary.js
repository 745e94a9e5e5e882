"use strict";
// The verdict, numbers at a glance, what passes did and left, and tables of counts and times.

const STATUS = { proved: "good", equal: "good", open: "warn", "not verified": "warn", "not deterministic": "warn", different: "bad", contradictory: "bad" };
const MOST_SHOWN = 12;
const PEAK = "peak activation memory, at most"; // a card shows its leading terms, the numbers show it whole
const LONG_CARD = 24; // a card of more characters is wide

function showVerdict(verdict, into) {
  if (!verdict) {
    into.append(el("div", { class: "banner" }, el("b", {}, "not compared"), "The outputs of the two models were not compared."));
    return;
  }
  const head = { equal: "equal on samples", open: "not proved" }[verdict.status] || verdict.status;
  const detail = [verdict.reason, verdict.ran, duration(verdict.seconds)].filter((text) => text).join(" · ");
  const notes = verdict.notes.length ? el("ul", {}, verdict.notes.map((note) => el("li", {}, note))) : "";
  into.append(el("div", { class: `banner ${STATUS[verdict.status]}` }, el("b", {}, head), detail, notes));
  if (!verdict.outputs.length) return;
  const rows = verdict.outputs.map((output) => el("tr", {}, el("td", { class: "mono" }, output.name),
    el("td", { class: `status ${STATUS[output.status] || ""}` }, output.status), el("td", {}, output.detail || "")));
  const outputs = el("table", {}, el("thead", {}, el("tr", {}, ["output", "verdict", "difference"].map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows));
  into.append(el("details", { class: "fold", ...(verdict.status === "different" ? { open: "" } : {}) },
    el("summary", {}, many(verdict.outputs.length, "output")), el("div", { class: "panel scroll" }, outputs)));
}

/** The numbers that most readers come for, in a line. */
function sumOf(data) {
  const row = (rows, name) => rows.find((each) => each.name === name);
  const change = (before, after, what) => `${String(before) === String(after) ? before : `${before} → ${after}`} ${what}`;
  const nodes = row(data.differences.sizes, "nodes"), run = row(data.predictions.rows, "run time");
  const parts = [change(nodes.before, nodes.after, "nodes"), change(controlFlow(data, "before"), controlFlow(data, "after"), "of them control flow")];
  if (run) parts.push(change(run.before, run.after, "a run (predicted)"));
  return parts.join(" · ");
}

function controlFlow(data, side) {
  return data.differences.control_flow.reduce((sum, row) => sum + Number(row[side]), 0);
}

function showCards(data, into) {
  const short = (value) => (String(value).length > 10 ? String(value) : String(value).replaceAll(" ", "\u00a0"));
  const card = (what, before, after) => into.append(el("div", { class: `card ${String(before).length + String(after).length > LONG_CARD ? "long" : ""}` }, el("div", { class: "what" }, what),
    el("div", { class: "number" }, short(before), before === after ? "" : [el("span", { class: "arrow" }, " → "), short(after)])));
  card("control flow", controlFlow(data, "before"), controlFlow(data, "after"));
  data.predictions.rows.forEach((row) => card(`predicted ${row.name}`, row.before, row.after));
  data.differences.sizes.forEach((row) => row.name === PEAK || card(row.name, row.before, row.after));
  data.differences.versions.forEach((row) => card(row.name, row.before || "–", row.after || "–"));
  const seconds = data.timings.reduce((sum, [, spent]) => sum + spent, 0);
  if (data.timings.length) card("passes took", duration(seconds), duration(seconds));
  into.after(el("p", { class: "hint" }, data.predictions.basis));
}

function showRemarks(data, into) {
  const of = (action) => data.remarks.filter((row) => row.action === action);
  const left = of("kept"), done = of("rewritten"), noted = of("noted");
  if (!data.remarks.length && !data.hints.length) return;
  into.append(el("h2", {}, "What was done, and what is left"));
  byPlace(left).forEach((rows) => into.append(leftBox(rows)));
  if (left.length && !data.hints.length) into.append(el("p", { class: "hint" }, "No option that was tried decides what is left."));
  data.hints.forEach((hint) => into.append(hintBox(hint)));
  noted.forEach((row) => into.append(remark(row)));
  byPass(done).forEach(([name, rows]) => into.append(passBox(name, rows)));
  if (data.more_remarks) into.append(el("p", { class: "note" }, `${many(data.more_remarks, "remark")} more are not shown.`));
}

function byPass(rows) {
  const found = new Map();
  rows.forEach((row) => {
    if (!found.has(row.pass_name)) found.set(row.pass_name, []);
    found.get(row.pass_name).push(row);
  });
  return [...found];
}

function byPlace(rows) {
  const found = new Map();
  rows.forEach((row) => {
    const place = `${row.operator} ${row.path}`;
    if (!found.has(place)) found.set(place, []);
    found.get(place).push(row);
  });
  return [...found.values()];
}

/** A construct that stays, with all that passes said of it. */
function leftBox(rows) {
  const reasons = rows.map((row) => el("li", {}, row.reason, row.pass_name ? ` (${row.pass_name})` : ""));
  return el("div", { class: "remark" }, el("b", {}, `${rows[0].operator} `), el("span", { class: "mono" }, rows[0].path), " · left",
    el("ul", { class: "why" }, reasons));
}

function passBox(name, rows) {
  const times = rows.reduce((sum, row) => sum + row.count, 0);
  const list = el("div", {});
  const box = el("details", { class: "fold", ...(rows.length <= MOST_SHOWN ? { open: "" } : {}) },
    el("summary", {}, el("b", { class: "mono" }, name), ` rewrote ${many(times, "place")}`), list);
  rows.forEach((row) => list.append(remark(row)));
  return box;
}

function remark(row) {
  const times = row.count > 1 ? ` (${row.count} times)` : "", done = row.action === "rewritten";
  return el("div", { class: `remark ${done ? "done" : "noted"}` }, el("b", {}, `${row.operator} `), el("span", { class: "mono" }, row.path),
    done ? "" : " · note", el("div", { class: "why" }, row.reason + times, done || !row.pass_name ? "" : ` (${row.pass_name})`));
}

function hintBox(hint) {
  const own = hint.stand_ins.length ? `, with your own ${hint.stand_ins.join(", ")}` : "";
  return el("div", {}, el("p", {}, "This decides ", el("b", {}, hint.decides.join(", ")), `${own}; it was tried:`), commandBox(hint.command));
}

/** Both models in a viewer that is installed; a page from disk starts no program itself. */
function showViewers(commands, into) {
  if (commands.length) into.append(el("p", { class: "hint" }, "Open both in Netron:"), ...commands.map(commandBox));
}

function commandBox(command) {
  const button = el("button", { type: "button" }, "copy");
  button.addEventListener("click", () => copyText(command, button));
  return el("div", { class: "command" }, el("code", {}, command), button);
}

function copyText(text, button) {
  const area = el("textarea", {});
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy"); // works in pages opened from disk, too
  area.remove();
  button.textContent = copied ? "copied" : "select it by hand";
}

function showNumbers(data, into) {
  const { operators, inputs, outputs, sizes } = data.differences;
  const tiles = el("div", { class: "tiles" });
  into.append(el("h2", {}, "Numbers"), tiles);
  tiles.append(el("div", { class: "panel" }, el("h3", {}, "operators"), counts(operators)));
  const right = el("div", {});
  if (data.timings.length) right.append(el("div", { class: "panel" }, el("h3", {}, "time by pass"), times(data.timings)));
  const peak = sizes.filter((row) => row.name === PEAK);
  for (const [what, rows] of [["inputs that differ", inputs], ["outputs that differ", outputs], [PEAK, peak]]) {
    if (rows.length) right.append(el("div", { class: "panel" }, el("h3", {}, what),
      table(["name", "before", "after"], rows.map((row) => [row.name, row.before, row.after]))));
  }
  if (right.firstChild) tiles.append(right);
}

function counts(operators) {
  const row = ({ name, before, after }) => {
    const change = Number(after) - Number(before);
    const sign = change > 0 ? "up" : "down";
    return el("tr", {}, el("td", { class: "mono" }, name), el("td", { class: "number" }, before), el("td", { class: "number" }, after),
      el("td", { class: `number ${change ? sign : ""}` }, change ? (change > 0 ? "+" : "−") + Math.abs(change) : ""));
  };
  const heads = el("tr", {}, el("th", { scope: "col" }, "operator"), ["before", "after", "change"].map((head) => el("th", { class: "number", scope: "col" }, head)));
  const shown = el("table", {}, el("thead", {}, heads), el("tbody", {}, operators.slice(0, MOST_SHOWN).map(row)));
  const rest = operators.slice(MOST_SHOWN);
  return rest.length ? el("div", {}, shown, el("details", { class: "fold" }, el("summary", {}, `${rest.length} more`), el("table", {}, el("thead", {}, heads.cloneNode(true)), el("tbody", {}, rest.map(row))))) : shown;
}

function times(timings) {
  const rows = timings.filter(([, seconds]) => seconds > 0).sort((one, other) => other[1] - one[1]);
  const most = rows.length ? rows[0][1] : 1;
  const heads = el("tr", {}, ["pass", "share", "time"].map((head) => el("th", { scope: "col" }, head)));
  return el("table", {}, el("thead", {}, heads), el("tbody", {}, rows.slice(0, MOST_SHOWN).map(([name, seconds]) => {
    const bar = el("span", {});
    bar.style.width = `${(100 * seconds) / most}%`;
    return el("tr", {}, el("td", { class: "mono" }, name), el("td", { class: "bar" }, bar), el("td", { class: "number" }, duration(seconds)));
  })));
}

function duration(seconds) {
  if (!seconds) return "";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  return seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(1)} s`;
}
