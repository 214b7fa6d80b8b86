// What agents say: lines are added as they come, filtered or raw, and the end is followed until somebody scrolls up.
import { on } from "./stream.js";

const MOST = 400;
const MOST_READ = 4000; // lines of a stream in which somebody reads further up

/** How high each stream was when it was measured last: since then lines were added to it that nobody saw.
 * @type {WeakMap<HTMLElement, number>} */
const heights = new WeakMap();

/** @type {Set<HTMLElement>} To be brought to their end with the next picture. */
const due = new Set();

/** Whether its reader is at the end of what they saw. @param {HTMLElement} stream */
function atEnd(stream) {
  if (!due.has(stream)) heights.set(stream, stream.scrollHeight);
  return (heights.get(stream) ?? stream.scrollHeight) - stream.scrollTop - stream.clientHeight < 40;
}

/** @param {HTMLElement} stream */
function follow(stream) {
  const height = stream.scrollHeight;
  heights.set(stream, height);
  stream.scrollTop = height;
}

/** To the end with the next picture: twenty streams are measured once for it, and not with every line. @param {HTMLElement} stream */
function followSoon(stream) {
  if (!due.size)
    requestAnimationFrame(() => {
      const still = [...due].filter(isFollowed);
      due.clear();
      for (const one of still) follow(one);
    });
  due.add(stream);
}

/** Whether its reader was at the end when they scrolled last. @param {HTMLElement} stream */
function isFollowed(stream) {
  const end = /** @type {HTMLElement | null} */ (stream.parentElement?.querySelector('[data-do="end"]'));
  return end ? end.hidden : atEnd(stream);
}

/** @param {HTMLElement} stream @param {{ number: number, kind: string, text: string, is_telling: boolean }} line */
function add(stream, line) {
  const item = document.createElement("li");
  item.className = `l-${line.kind}${line.is_telling ? " telling" : ""}`;
  item.dataset.n = String(line.number);
  const word = document.createElement("span");
  word.className = "hidden";
  word.textContent = `${line.kind.replaceAll("_", " ")}: `;
  item.append(word, line.text);
  stream.append(item);
}

/** What was said while nobody listened, and is no longer at hand. @param {HTMLElement} stream @param {number} count */
function skip(stream, count) {
  const item = document.createElement("li");
  item.className = "quiet";
  item.textContent = `… lines missing here: ${count}. Reload the page to see them.`;
  stream.append(item);
}

on("lines", (message) => {
  for (const stream of document.querySelectorAll(`.stream[data-topic="${CSS.escape(message.topic)}"]`)) {
    const list = /** @type {HTMLElement} */ (stream);
    const follows = isFollowed(list);
    const known = Number(list.dataset.n);
    const fresh = message.lines.filter((line) => line.number >= known);
    if (!fresh.length) continue;
    list.querySelector(".nothing")?.remove();
    if (fresh[0].number > known) skip(list, fresh[0].number - known);
    for (const line of fresh) add(list, line);
    list.dataset.n = String(fresh[fresh.length - 1].number + 1);
    while (list.childElementCount > (follows ? MOST : MOST_READ)) list.firstElementChild?.remove();
    if (follows) followSoon(list);
    if (isSearched(list)) find(list);
  }
});

/** @param {HTMLElement} stream */
function isSearched(stream) {
  return Boolean(/** @type {HTMLInputElement | null} */ (stream.parentElement?.querySelector('[data-do="find"]'))?.value);
}

/** @param {HTMLElement} stream */
function find(stream) {
  const field = /** @type {HTMLInputElement | null} */ (stream.parentElement?.querySelector('[data-do="find"]'));
  const wanted = field?.value.toLowerCase() ?? "";
  for (const line of stream.children) {
    /** @type {HTMLElement} */ (line).hidden = Boolean(wanted) && !line.textContent?.toLowerCase().includes(wanted);
  }
}

/** @param {HTMLElement} agent */
function equip(agent) {
  const stream = /** @type {HTMLElement} */ (agent.querySelector(".stream"));
  const tools = /** @type {HTMLElement | null} */ (agent.querySelector(".stream-tools"));
  if (!tools || !tools.hidden) return;
  tools.hidden = false;
  const raw = /** @type {HTMLElement} */ (tools.querySelector('[data-do="raw"]'));
  const end = /** @type {HTMLElement} */ (tools.querySelector('[data-do="end"]'));
  const press = () => raw.setAttribute("aria-pressed", String(!stream.classList.contains("filtered")));
  press();
  raw.addEventListener("click", () => {
    stream.classList.toggle("filtered");
    press();
    follow(stream);
  });
  tools.querySelector('[data-do="copy"]')?.addEventListener("click", () => {
    const lines = [...stream.children].filter((line) => /** @type {HTMLElement} */ (line).offsetParent !== null);
    navigator.clipboard.writeText(lines.map((line) => line.lastChild?.textContent ?? "").join("\n"));
  });
  tools.querySelector('[data-do="find"]')?.addEventListener("input", () => find(stream));
  end.addEventListener("click", () => {
    end.hidden = true;
    follow(stream);
  });
  stream.addEventListener("scroll", () => (end.hidden = atEnd(stream)));
  follow(stream);
}

for (const agent of document.querySelectorAll(".agent")) equip(/** @type {HTMLElement} */ (agent));
new MutationObserver(() => {
  for (const agent of document.querySelectorAll(".agent")) equip(/** @type {HTMLElement} */ (agent));
}).observe(document.getElementById("main") ?? document.body, { childList: true, subtree: true });
