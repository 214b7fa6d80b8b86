// Comments on lines of a difference: each is typed under its line, and is a field of the form that sends all of them
// back, which also keeps their draft. Of another commit than the page shows they are shown in the form.
import { keep, place } from "./forms.js";
import { say } from "./sending.js";

const MOST = 50;
const form = /** @type {HTMLFormElement} */ (document.getElementById("send-back-form"));
const list = /** @type {HTMLElement} */ (document.getElementById("comments"));
const loose = /** @type {HTMLElement} */ (document.getElementById("loose-comments"));
const at = /** @type {HTMLInputElement} */ (form.elements.namedItem("at"));

/** The open comments, by their place. @type {Map<string, HTMLTextAreaElement>} */
const areas = new Map();

const isOutdated = () => at.value !== at.defaultValue;

/** @param {Element} row */
const isSplit = (row) => row.closest("table")?.className === "two-sides";

/** The cells of lines that take a comment; of an equal line on both sides the new one. @param {ParentNode} within */
function lines(within) {
  const found = /** @type {NodeListOf<HTMLTableCellElement>} */ (within.querySelectorAll("td.code:is(.added, .removed, .same)"));
  return [...found].filter((cell) => !(cell.matches(".same") && cell.cellIndex === 1));
}

/** @param {HTMLTableCellElement} cell */
function numberOf(cell) {
  const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
  return cell.matches(".removed") ? row.cells[0] : row.cells[cell.cellIndex - 1];
}

/** FILE:LINE, with a minus before a removed line's. @param {HTMLTableCellElement} cell */
function keyOf(cell) {
  const { path } = /** @type {HTMLElement} */ (cell.closest(".patch")).dataset;
  return `${path}:${cell.matches(".removed") ? "-" : ""}${numberOf(cell).textContent?.trim()}`;
}

/** The line of a file that Tab stops at: its number is a button. @param {HTMLTableCellElement} cell */
function stopAt(cell) {
  for (const old of cell.closest(".patch")?.querySelectorAll(".line") ?? []) old.replaceWith(...old.childNodes);
  const number = numberOf(cell);
  const made = document.createElement("span");
  made.className = "line";
  made.tabIndex = 0;
  made.setAttribute("role", "button");
  made.setAttribute("aria-label", `Comment on line ${number.textContent?.trim()}${cell.matches(".removed") ? " before the change" : ""}`);
  made.append(...number.childNodes);
  number.append(made);
  return made;
}

/** @param {HTMLElement} stop */
function cellOf(stop) {
  const number = /** @type {HTMLTableCellElement} */ (stop.parentElement);
  return lines(/** @type {ParentNode} */ (number.parentNode)).find((cell) => numberOf(cell) === number);
}

/** @param {string} key @param {HTMLTableCellElement | null} cell under its line; null: in the form */
function open(key, cell, text = "") {
  const area = document.createElement("textarea");
  area.setAttribute("form", form.id);
  area.setAttribute("aria-label", `Comment on ${key}`);
  area.rows = 3;
  area.maxLength = 4000;
  area.value = text;
  const drop = document.createElement("button");
  drop.type = "button";
  drop.textContent = "Remove";
  drop.setAttribute("aria-label", `Remove the comment on ${key}`);
  const holder = document.createElement(cell ? "td" : "li");
  holder.append(area, drop);
  let outer = holder;
  if (cell) {
    const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
    /** @type {HTMLTableCellElement} */ (holder).colSpan = row.cells.length;
    outer = document.createElement("tr");
    outer.className = "comment";
    outer.append(holder);
    row.after(outer);
  } else {
    holder.prepend(key);
    loose.append(holder);
  }
  const end = () => {
    areas.delete(key);
    outer.remove();
    count();
    keep(form);
    if (cell) stopAt(cell).focus();
  };
  const write = () => {
    area.name = area.value.trim() ? `comment.${key}` : "";
    count();
  };
  area.addEventListener("input", write);
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (!area.value.trim()) end();
    else if (cell) stopAt(cell).focus();
  });
  drop.addEventListener("click", end);
  areas.set(key, area);
  write();
  return area;
}

/** @param {HTMLTableCellElement} cell */
function comment(cell) {
  const key = keyOf(cell);
  if (isOutdated()) return say("Your comments are about an earlier commit: send or remove them first.");
  if (!areas.has(key) && areas.size >= MOST) return say(`You can send at most ${MOST} comments together.`);
  stopAt(cell);
  return (areas.get(key) ?? open(key, cell)).focus();
}

/** Say how many there are, and list those under lines. */
function count() {
  const written = [...areas].filter(([, area]) => area.name);
  written.sort(([, a], [, b]) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  const words = written.length ? `${written.length} comment${written.length > 1 ? "s" : ""}` : "";
  for (const one of document.querySelectorAll(".comment-count")) one.textContent = words;
  if (!areas.size) at.value = at.defaultValue;
  const note = /** @type {HTMLElement} */ (document.getElementById("outdated"));
  note.hidden = !isOutdated();
  /** @type {HTMLElement} */ (note.querySelector("code")).textContent = at.value.slice(0, 7);
  list.replaceChildren(
    ...written.filter(([, area]) => !loose.contains(area)).map(([key, area]) => {
      const item = document.createElement("li");
      const go = document.createElement("button");
      go.type = "button";
      go.className = "plain";
      go.append(`${key} `, Object.assign(document.createElement("span"), { className: "quiet", textContent: area.value.slice(0, 80) }));
      go.addEventListener("click", () => area.focus());
      item.append(go);
      return item;
    }),
  );
}

document.addEventListener("click", (event) => {
  const on = /** @type {Element} */ (event.target);
  const row = on.closest(".patch tr:not(.comment, .hunk)");
  if (!row || getSelection()?.toString()) return;
  const cells = lines(row);
  const cell = cells.find((one) => one.contains(on) || numberOf(one).contains(on)) ?? (isSplit(row) ? undefined : cells[0]);
  if (cell ?? cells.length === 1) comment(cell ?? cells[0]);
});

document.addEventListener("keydown", (event) => {
  const stop = /** @type {HTMLElement} */ (event.target);
  const cell = stop.matches(".patch .line") ? cellOf(stop) : undefined;
  if (!cell) return;
  const all = lines(/** @type {HTMLElement} */ (cell.closest(".patch")));
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) stopAt(all[Math.max(0, Math.min(all.indexOf(cell) + step, all.length - 1))]).focus();
  else if (event.key === "Enter" || event.key === " ") comment(cell);
  else return;
  event.preventDefault();
});

const panel = /** @type {HTMLDetailsElement} */ (form.closest("details"));
panel.addEventListener("toggle", () => panel.open && panel.scrollIntoView());

const all = lines(document);
for (const patch of document.querySelectorAll(".patch")) if (lines(patch).length) stopAt(lines(patch)[0]);
const kept = Object.entries(JSON.parse(sessionStorage.getItem(place(form)) ?? "{}"));
for (const [name, text] of kept) {
  const key = name.startsWith("comment.") ? name.slice("comment.".length) : "";
  if (key) open(key, isOutdated() ? null : (all.find((cell) => keyOf(cell) === key) ?? null), String(text));
}
count();
