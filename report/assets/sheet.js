"use strict";
// Sorts and filters the rows of a table that is complete without it. Of many rows it lays out the first ones only, until asked.

const sheet = document.getElementById("sheet");
const body = sheet.tBodies[0];
const rows = [...body.rows];
const heads = [...sheet.tHead.rows[1].cells];
const said = document.getElementById("said");
const picker = document.getElementById("column");
const all = document.getElementById("all");
const MOST = 500; // rows that a browser lays out at once without a pause
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
let sorted = rows, wanted = "", most = MOST;
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
let sortedBy = -1, descending = false;

function keyOf(row, column) {
  const cell = row.cells[column];
  if ("sort" in cell.dataset) return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
  return cell.textContent || null;
}

function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null); // empty ones last, both ways
  const order = typeof one === "number" ? one - other : collator.compare(one, other);
  return descending ? -order : order;
}

function sortBy(column, down) {
  sortedBy = column;
  descending = down;
  const keyed = rows.map((row) => [keyOf(row, column), row]);
  keyed.sort(([one], [other]) => compare(one, other));
  sorted = keyed.map(([, row]) => row);
  heads.forEach((head, number) =>
    head.setAttribute("aria-sort", number !== column ? "none" : down ? "descending" : "ascending"));
  picker.value = String(column);
  draw();
}

function draw() {
  const matches = sorted.filter((row) => texts.get(row).includes(wanted));
  body.replaceChildren(...matches.slice(0, most));
  all.hidden = matches.length <= most;
  all.textContent = `show all ${matches.length} rows`;
  const title = sortedBy < 0 ? "" : `, sorted by ${picker.options[sortedBy].text}${descending ? ", largest first" : ""}`;
  const first = all.hidden ? "" : `, the first ${most} shown`;
  said.textContent = `${matches.length} of ${rows.length} rows${title}${first}`;
}

const isNumeric = (column) => heads[column].classList.contains("number");
heads.forEach((head, column) =>
  head.firstElementChild.addEventListener("click", () =>
    sortBy(column, column === sortedBy ? !descending : isNumeric(column))));
picker.addEventListener("change", () => sortBy(Number(picker.value), isNumeric(Number(picker.value))));
document.getElementById("turn").addEventListener("click", () => sortBy(Number(picker.value), !descending));
document.getElementById("filter").addEventListener("input", (event) => {
  wanted = event.target.value.trim().toLowerCase();
  draw();
});
all.addEventListener("click", () => {
  most = Infinity;
  draw();
});
document.getElementById("controls").hidden = false;
document.documentElement.classList.remove("drawing");
watchTheme(document.getElementById("theme"), () => {});
draw();
