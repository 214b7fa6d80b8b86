// The page's one socket: it says from where the page goes on, hears what happened since, and comes back by itself.
// A page that has pieces is sent those that changed; every other page is asked for again. Both are brought in place
// (morph.js).
import { morph } from "./morph.js";
import { flush, unsent } from "./sending.js";

/** @typedef {{ seq: number, kind: string, bead: string | null, actor: string }} Happened */

const meta = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="nb"]'));
const { repo } = meta.dataset;
const DELAYS = [1, 2, 4, 8, 16];
const SLOW = 30;
const SILENT = 70_000;
const UNANSWERED = 20_000;
const IN_PIECES = ["now", "board"];
const WORDS = { on: "Live", trying: "Reconnecting…", lost: "Connection lost" };

const handlers = new Map();
const places = {};
const policy = window.trustedTypes?.createPolicy("nb", { createHTML: (html) => html });

let { boot } = meta.dataset;
let topics = (meta.dataset.topics ?? "").split(" ").filter(Boolean);
let after = Number(meta.dataset.seq);
let isFresh = true;
let tries = 0;
let timer = 0;
let heard = 0;
/** @type {keyof WORDS} */
let state = "trying";
/** @type {WebSocket | null} */
let socket = null;

/** Call `handler` for every message of this kind: `events` or `lines`. */
export function on(kind, handler) {
  handlers.set(kind, [...(handlers.get(kind) ?? []), handler]);
}

function emit(kind, value) {
  for (const handler of handlers.get(kind) ?? []) handler(value);
}

function hello() {
  if (socket?.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ boot, after, topics, lines: places, fresh: isFresh }));
  }
}

/** The element that the server rendered; scripts in it would not run. */
function element(html) {
  const template = document.createElement("template");
  template.innerHTML = /** @type {any} */ (policy ? policy.createHTML(html) : html);
  return template.content.firstElementChild;
}

function receive(message) {
  heard = Date.now();
  if (message.op === "reset") return renew();
  if (message.op === "welcome") {
    tries = 0;
    show("on");
    if (!isFresh) {
      again();
      emit("events", []);
    }
    isFresh = false;
    return flush();
  }
  if (message.op === "lines") {
    places[message.topic] = message.n;
    return emit("lines", message);
  }
  if (message.op !== "ev") return undefined;
  after = message.s;
  for (const { id, html } of message.parts ?? []) {
    const old = document.getElementById(id);
    const fresh = element(html);
    if (old && fresh) morph(old, fresh);
  }
  if (message.e?.length) emit("events", message.e);
  if (message.e?.length || message.parts?.some((part) => part.id === "bar-state")) again();
  return undefined;
}

/** The page at the address as the server renders it now; null: not now. @returns {Promise<Document | null>} */
export async function fetched(address = location.href) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (answer.redirected || answer.status === 401) location.reload();
  if (!answer.ok || answer.redirected) return null;
  const html = await answer.text();
  return new DOMParser().parseFromString(/** @type {any} */ (policy ? policy.createHTML(html) : html), "text/html");
}

/** @param {Document} page */
const scriptOf = (page) => page.querySelector('script[src$="/main.js"]')?.getAttribute("src");

/** @param {Document} page */
function bring(page) {
  for (const part of ["#main", "#bar-state", "nav.ways"]) {
    const old = document.querySelector(part);
    const fresh = page.querySelector(part);
    if (old && fresh) morph(old, fresh);
  }
  document.title = page.title;
  keepAsking();
  const { topics: wanted = "" } = /** @type {HTMLElement} */ (page.querySelector('meta[name="nb"]')).dataset;
  if (wanted === topics.join(" ")) return;
  topics = wanted.split(" ").filter(Boolean);
  hello();
}

/** Ask again while the page shows something that no event ends. */
function keepAsking() {
  if (document.querySelector("[data-again]")) window.setTimeout(() => again(true), 1500);
}

let asked = 0;
let asking = false;
let pause = 400;

/** Ask for the page again, soon, if it comes in no pieces. Many events are one question. */
function again(isWanted = false) {
  if (asked || !repo) return;
  if (!isWanted && (!topics.length || topics.some((topic) => IN_PIECES.includes(topic)))) return;
  asked = window.setTimeout(refresh, isWanted ? 0 : pause);
}

async function refresh() {
  asked = 0;
  if (document.visibilityState === "hidden") return undefined;
  if (asking) return again();
  asking = true;
  const begun = performance.now();
  try {
    const page = await fetched();
    if (page) bring(page);
  } catch {
    // the connection is lost: when it is back, the page is asked for again
  }
  asking = false;
  pause = Math.max(400, 4 * (performance.now() - begun));
  return undefined;
}

/** The server is another one, or remembers less than this page missed: start again with what it renders now. */
async function renew() {
  try {
    const page = await fetched();
    if (!page) return;
    if (scriptOf(page) !== scriptOf(document)) return location.reload();
    const { boot: now, seq } = /** @type {HTMLElement} */ (page.querySelector('meta[name="nb"]')).dataset;
    boot = now;
    after = Number(seq);
    bring(page);
    emit("events", []);
  } catch {
    // it comes again with the next try
  }
}

/** @param {keyof WORDS} now */
function show(now) {
  const line = document.getElementById("link-state");
  if (!line) return;
  state = now;
  const waiting = unsent().length;
  line.textContent = waiting ? `${WORDS[state]} · ${waiting} not sent yet` : WORDS[state];
  line.className = `link-state ${state}`;
  line.hidden = false;
  document.documentElement.dataset.link = state;
}

function connect() {
  clearTimeout(timer);
  if (socket && socket.readyState <= WebSocket.OPEN) return;
  const own = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/r/${repo}/socket`);
  socket = own;
  heard = Date.now();
  const unanswered = window.setTimeout(() => drop(own), UNANSWERED);
  own.addEventListener("open", hello);
  own.addEventListener("message", (event) => {
    clearTimeout(unanswered);
    if (own === socket) receive(JSON.parse(event.data));
  });
  own.addEventListener("close", () => {
    clearTimeout(unanswered);
    drop(own);
  });
}

/** Hear no more from this socket, and try another one soon: a closing one may wait for its other end for long. */
function drop(own) {
  if (own !== socket) return;
  socket = null;
  own.close();
  show(tries < DELAYS.length ? "trying" : "lost");
  const seconds = (DELAYS[tries] ?? SLOW) * (0.9 + Math.random() * 0.2);
  tries += 1;
  timer = window.setTimeout(connect, seconds * 1000);
}

function look() {
  if (document.visibilityState === "hidden") return;
  if (socket && Date.now() - heard > SILENT) drop(socket);
  if (!socket) connect();
  else if (state === "on" && unsent().length) flush();
}

if (repo) {
  connect();
  keepAsking();
  addEventListener("online", look);
  addEventListener("focus", look);
  document.addEventListener("nb:done", () => again(true));
  addEventListener("nb:unsent", () => show(state));
  document.addEventListener("visibilitychange", () => {
    look();
    if (document.visibilityState === "visible") again();
  });
  setInterval(look, 15_000);
}
