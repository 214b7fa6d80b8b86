// The board's own: a menu of each tile, and dragging a tile onto another one, which gives it that one's priority.
import { newKey, say, send, told } from "./sending.js";

const base = location.pathname.replace(/board$/, "do/");
const MOST_URGENT = 0;
const LEAST_URGENT = 4;

/** @param {string} command @param {Record<string, string>} fields */
async function act(command, fields) {
  const url = base + command;
  const answer = await send(url, new URLSearchParams({ ...fields, request: newKey() }), "");
  const undo = answer.undo ? { url: `${base}undo`, seq: answer.undo } : null;
  say(answer.ok ? answer.said : told(answer), undo);
  document.dispatchEvent(new Event("nb:done"));
}

/** What the menu of a tile offers: [words, what is done]. @param {HTMLElement} tile @returns {[string, () => void][]} */
function offers(tile) {
  const { bead = "", can = "", priority = "" } = tile.dataset;
  const may = new Set(can.split(" "));
  const now = Number(priority);
  /** @type {[string, () => void][]} */
  const found = [["Open", () => /** @type {HTMLElement} */ (tile.querySelector(".whole")).click()]];
  const set = (to) => act("edit", { bead, priority: String(to) });
  if (may.has("edit") && !may.has("reopen") && now > MOST_URGENT) found.push([`More urgent (P${now - 1})`, () => set(now - 1)]);
  if (may.has("edit") && !may.has("reopen") && now < LEAST_URGENT) found.push([`Less urgent (P${now + 1})`, () => set(now + 1)]);
  for (const command of ["hold", "release", "reopen"]) {
    if (may.has(command)) found.push([command[0].toUpperCase() + command.slice(1), () => act(command, { bead })]);
  }
  return found;
}

/** @param {HTMLElement} button */
function open(button) {
  document.getElementById("menu")?.remove();
  const menu = document.createElement("div");
  menu.id = "menu";
  menu.setAttribute("role", "menu");
  menu.popover = "auto";
  for (const [words, done] of offers(/** @type {HTMLElement} */ (button.closest(".tile")))) {
    const item = document.createElement("button");
    item.setAttribute("role", "menuitem");
    item.textContent = words;
    item.addEventListener("click", () => {
      menu.remove();
      button.focus();
      done();
    });
    menu.append(item);
  }
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...menu.children];
    const next = items[(items.indexOf(/** @type {Element} */ (document.activeElement)) + step + items.length) % items.length];
    /** @type {HTMLElement} */ (next).focus();
  });
  document.body.append(menu);
  menu.showPopover();
  const at = button.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - menu.offsetWidth - 8)) + scrollX}px`;
  menu.style.top = `${at.bottom + scrollY}px`;
  /** @type {HTMLElement} */ (menu.firstElementChild).focus();
}

document.addEventListener("click", (event) => {
  const button = /** @type {Element} */ (event.target).closest(".tile .menu");
  if (button) open(/** @type {HTMLElement} */ (button));
});

let dragged = /** @type {HTMLElement | null} */ (null);

/** The other tile under the pointer that can take it. @param {Event} event */
function under(event) {
  const over = /** @type {Element} */ (event.target).closest?.('.tile[draggable="true"]');
  return dragged && over && over !== dragged ? /** @type {HTMLElement} */ (over) : null;
}

document.addEventListener("dragstart", (event) => {
  dragged = /** @type {Element} */ (event.target).closest?.('.tile[draggable="true"]');
  if (dragged && event.dataTransfer) event.dataTransfer.effectAllowed = "move";
});
document.addEventListener("dragover", (event) => {
  const over = under(event);
  for (const one of document.querySelectorAll(".tile.over")) one.classList.toggle("over", one === over);
  if (!over) return;
  event.preventDefault();
  over.classList.add("over");
});
document.addEventListener("drop", (event) => {
  const over = under(event);
  if (!over || !dragged) return;
  event.preventDefault();
  const { priority = "" } = over.dataset;
  if (priority === dragged.dataset.priority) {
    say(`Both beads have priority ${priority}. The one that more beads wait for comes first.`);
  } else {
    act("edit", { bead: dragged.dataset.bead ?? "", priority });
  }
});
document.addEventListener("dragend", () => {
  dragged = null;
  for (const one of document.querySelectorAll(".tile.over")) one.classList.remove("over");
});

/** The menus need this script, and are shown by it. */
function show() {
  for (const button of document.querySelectorAll(".tile .menu[hidden]")) button.removeAttribute("hidden");
}

new MutationObserver(show).observe(/** @type {Element} */ (document.querySelector(".stacks")), { childList: true, subtree: true });
show();
