// Keys on every page, and a palette of pages, commands and beads (Ctrl-K). Nothing here changes anything: a key leads to a
// link, a form or a button of the page.

import { fetched } from "./stream.js";

const meta = /** @type {HTMLElement} */ (document.querySelector('meta[name="nb"]'));
const base = meta.dataset.repo ? `/r/${meta.dataset.repo}/` : "";
const PAGES = { n: "", d: "desk", b: "board", g: "graph", l: "live", p: "plan", f: "features", m: "merges", r: "requests", x: "breaker", s: "sessions", e: "settings", t: "sprints" };
const HELP = [
  ["j k", "Go to the next or the previous item"],
  ["Enter", "Open the item"],
  ["a", "Decide the item, or open the Desk"],
  [".", "Show the actions for the item"],
  ["/", "Search"],
  ["c", "Add a bead"],
  ["u", "Undo, while the line at the bottom offers it"],
  ["Ctrl-K", "Find a page, a command or a bead"],
  ["?", "Show this list"],
];
const MOST = 12;
const PREFIX_MS = 1500;

/** @param {Element | null | undefined} element */
const isShown = (element) => element instanceof HTMLElement && element.offsetParent !== null;

/** The items of the page that lead somewhere. @returns {HTMLAnchorElement[]} */
function items() {
  const found = [...document.querySelectorAll("#main li")].map((one) => /** @type {HTMLAnchorElement} */ (one.querySelector("a[href]")));
  return [...new Set(found)].filter(isShown);
}

/** The item that has the focus. */
const current = () => document.activeElement?.closest("#main li");

/** @param {number} step */
function move(step) {
  const all = items();
  const at = all.findIndex((one) => one.closest("li") === current());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** The page's own link to a page of the repository. @param {string} path */
const way = (path) => /** @type {HTMLAnchorElement | null} */ (base ? document.querySelector(`nav.ways a[href="${base}${path}"]`) : null);

function answer() {
  const act = current()?.querySelector(".act") ?? document.querySelector('#main form[data-command="answer"] :is(input:not([type=hidden]), textarea)');
  if (act instanceof HTMLAnchorElement) act.click();
  else if (act instanceof HTMLElement && isShown(act)) act.focus();
  else way("desk")?.click();
}

function offers() {
  const found = current()?.querySelector(".menu") ?? document.querySelector("#main .menu:focus-within, #h-do ~ * a, #h-do ~ details > summary");
  if (found instanceof HTMLButtonElement) found.click();
  else if (found instanceof HTMLElement) found.focus();
}

function search() {
  const field = document.querySelector("#main input[type=search]");
  if (field instanceof HTMLElement && isShown(field)) field.focus();
  else openPalette();
}

/** A dialog that Escape and a click beside it close. @param {string} name */
function dialog(name) {
  const made = document.createElement("dialog");
  made.className = "palette";
  made.setAttribute("aria-label", name);
  made.addEventListener("close", () => made.remove());
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  made.showModal();
  return made;
}

function help() {
  const made = dialog("Keys");
  const list = document.createElement("dl");
  const pages = Object.entries(PAGES).flatMap(([letter, path]) => {
    const name = way(path)?.querySelector("span")?.textContent;
    return name ? [[`g ${letter}`, name]] : [];
  });
  for (const [keys, words] of [...HELP, ...pages]) {
    const key = document.createElement("dt");
    key.textContent = keys;
    const meaning = document.createElement("dd");
    meaning.textContent = words;
    list.append(key, meaning);
  }
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => made.close());
  made.append(list, close);
  close.focus();
}

/** @typedef {{ words: string, more: string, href: string }} Entry */

/** @param {ParentNode | null} page @param {string} which @param {string} more @returns {Entry[]} */
function links(page, which, more) {
  return [...(page?.querySelectorAll(which) ?? [])].map((one) => ({
    words: (one.querySelector(".title, span") ?? one).textContent?.trim() ?? "",
    more: one.getAttribute("title") ?? more,
    href: one.getAttribute("href") ?? "",
  }));
}

/** @type {Promise<Entry[]> | null} */
let commands = null;

/** @param {string} words @param {Entry} entry */
function fits(words, entry) {
  const text = `${entry.words} ${entry.more}`.toLowerCase();
  return words.split(/\s+/).every((word) => text.includes(word));
}

/** What begins with the words comes first, then what has them in its name. @param {string} words @param {Entry} entry */
function rank(words, entry) {
  const name = entry.words.toLowerCase();
  return name.startsWith(words) ? 0 : name.includes(words) ? 1 : 2;
}

function openPalette() {
  if (document.querySelector("dialog.palette")) return;
  const made = dialog("Find a page, a command or a bead");
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = base ? "A page, a command or a bead" : "A repository";
  const attributes = { role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-label": field.placeholder, autocomplete: "off" };
  for (const [key, value] of Object.entries(attributes)) field.setAttribute(key, value);
  const list = document.createElement("ul");
  list.id = "found";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  made.append(field, list);
  const pages = base ? links(document, "nav.ways a", "page") : links(document, ".repositories a.title", "repository");
  commands ??= base ? fetched(`${base}do`).then((page) => links(page, "#main .commands a", "command")) : Promise.resolve([]);
  let at = 0;
  let asked = 0;

  /** @param {Entry[]} found */
  function show(found) {
    list.replaceChildren(
      ...found.slice(0, MOST).map((one, place) => {
        const item = document.createElement("li");
        item.id = `found-${place}`;
        item.setAttribute("role", "option");
        item.dataset.href = one.href;
        const more = document.createElement("span");
        more.className = "quiet";
        more.textContent = one.more;
        item.append(one.words, " ", more);
        item.addEventListener("click", () => location.assign(one.href));
        return item;
      }),
    );
    choose(0);
  }

  /** @param {number} place */
  function choose(place) {
    at = Math.max(0, Math.min(place, list.children.length - 1));
    for (const [number, item] of [...list.children].entries()) item.setAttribute("aria-selected", String(number === at));
    field.setAttribute("aria-activedescendant", list.children.length ? `found-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  async function find() {
    const mine = ++asked;
    const words = field.value.trim().toLowerCase();
    const known = [...pages, ...((await commands) ?? [])].filter((one) => fits(words, one));
    known.sort((a, b) => rank(words, a) - rank(words, b));
    if (mine !== asked) return;
    show(known);
    if (words.length < 2 || !base) return;
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (mine !== asked) return;
    const beads = links(await fetched(`${base}board?q=${encodeURIComponent(words)}`), ".tile a.whole", "bead");
    if (mine === asked) show([...known.slice(0, MOST / 2), ...beads]);
  }

  field.addEventListener("input", find);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(at + step);
    }
    const chosen = /** @type {HTMLElement | undefined} */ (list.children[at]);
    if (event.key === "Enter" && chosen?.dataset.href) location.assign(chosen.dataset.href);
  });
  find();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: answer,
  ".": offers,
  "/": search,
  c: () => base && location.assign(`${base}do/add?then=${encodeURIComponent(location.pathname + location.search)}`),
  u: () => /** @type {HTMLElement | null} */ (document.querySelector("#toast:not([hidden]) button"))?.click(),
  "?": help,
};
let prefixed = 0;

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return openPalette();
  }
  const on = /** @type {Element} */ (event.target);
  if (event.ctrlKey || event.metaKey || on.closest("input, textarea, select, dialog[open], [role=menu], [data-keys]")) return;
  if (event.key === "g" && performance.now() > prefixed) {
    prefixed = performance.now() + PREFIX_MS;
    return;
  }
  const path = performance.now() < prefixed ? PAGES[event.key] : undefined;
  prefixed = 0;
  if (path === undefined && !KEYS[event.key]) return;
  event.preventDefault();
  if (path === undefined) KEYS[event.key]();
  else way(path)?.click();
});

const button = document.getElementById("keys");
button?.removeAttribute("hidden");
button?.addEventListener("click", openPalette);
