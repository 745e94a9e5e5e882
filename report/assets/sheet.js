"use strict";
// Sorts and filters the rows of a table that is complete without it.

const sheet = document.getElementById("sheet");
const body = sheet.tBodies[0];
const rows = [...body.rows];
const heads = [...sheet.tHead.rows[1].cells];
const said = document.getElementById("said");
const picker = document.getElementById("column");
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
  body.append(...keyed.map(([, row]) => row));
  heads.forEach((head, number) =>
    head.setAttribute("aria-sort", number !== column ? "none" : down ? "descending" : "ascending"));
  picker.value = String(column);
  tell();
}

function tell() {
  const seen = rows.filter((row) => !row.hidden).length;
  const title = sortedBy < 0 ? "" : `, sorted by ${picker.options[sortedBy].text}${descending ? ", largest first" : ""}`;
  said.textContent = `${seen} of ${rows.length} rows${title}`;
}

function filterRows(text) {
  const wanted = text.trim().toLowerCase();
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  tell();
}

const isNumeric = (column) => heads[column].classList.contains("number");
heads.forEach((head, column) =>
  head.firstElementChild.addEventListener("click", () =>
    sortBy(column, column === sortedBy ? !descending : isNumeric(column))));
picker.addEventListener("change", () => sortBy(Number(picker.value), isNumeric(Number(picker.value))));
document.getElementById("turn").addEventListener("click", () => sortBy(Number(picker.value), !descending));
document.getElementById("filter").addEventListener("input", (event) => filterRows(event.target.value));
document.getElementById("controls").hidden = false;
watchTheme(document.getElementById("theme"), () => {});
tell();
