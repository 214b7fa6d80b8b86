// The page's one socket: it says from where the page goes on, hears what happened since, and comes back by itself.
// Pieces of a page come as the server rendered them, and replace what has their id. Commands are POSTs with a key:
// what could not be sent waits in this tab, and is sent once.

/** @typedef {{ seq: number, kind: string, bead: string | null, actor: string }} Happened */
/** @typedef {{ ok: boolean, queued?: boolean, said?: string, data?: any, error?: { message: string, hint?: string } }} Answer */

const meta = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="nb"]'));
const { repo, boot } = meta.dataset;
const DELAYS = [1, 2, 4, 8, 16];
const SLOW = 30;
const SILENT = 70_000;
const QUEUE = "nb:unsent";

const topics = new Set((meta.dataset.topics ?? "").split(" ").filter(Boolean));
const handlers = new Map();
const postponed = new Map();
const places = {};
const policy = window.trustedTypes?.createPolicy("nb", { createHTML: (html) => html });

let after = Number(meta.dataset.seq);
let tries = 0;
let timer = 0;
let heard = 0;
/** @type {WebSocket | null} */
let socket = null;

/** Call `handler` for every message of this kind: `events`, `part`, `lines` or `state`. */
export function on(kind, handler) {
  handlers.set(kind, [...(handlers.get(kind) ?? []), handler]);
}

function emit(kind, value) {
  return (handlers.get(kind) ?? []).map((handler) => handler(value)).some((taken) => taken === true);
}

/** Hear of this topic too, from now on. */
export function listen(...names) {
  for (const name of names) topics.add(name);
  hello();
}

/** Hear of it no more. */
export function leave(...names) {
  for (const name of names) topics.delete(name);
  hello();
}

function hello() {
  if (socket?.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify({ boot, after, topics: [...topics], lines: places }));
  }
}

/** A line at the foot of the page, which goes by itself. */
export function say(words) {
  let line = document.getElementById("toast");
  if (!line) {
    line = document.createElement("p");
    line.id = "toast";
    line.setAttribute("role", "status");
    document.body.append(line);
  }
  line.textContent = words ?? "";
  line.hidden = !words;
  clearTimeout(Number(line.dataset.timer));
  line.dataset.timer = String(setTimeout(() => (line.hidden = true), 6000));
}

/** The element that the server rendered; scripts in it would not run. */
export function element(html) {
  const template = document.createElement("template");
  template.innerHTML = /** @type {any} */ (policy ? policy.createHTML(html) : html);
  return template.content.firstElementChild;
}

function isTyping(old) {
  const active = document.activeElement;
  return active !== null && old.contains(active) && active.matches("input, textarea, select");
}

/** Put a piece in place of the one with its id. What a person types in is left until they are done. */
export function replace(id, html) {
  const old = document.getElementById(id);
  if (!old) return;
  if (isTyping(old)) {
    postponed.set(id, html);
    return;
  }
  const fresh = element(html);
  if (!fresh) {
    old.remove();
    return;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const same = focused?.id ? `#${CSS.escape(focused.id)}` : focused?.getAttribute("href") ? `a[href="${CSS.escape(focused.getAttribute("href") ?? "")}"]` : "";
  old.replaceWith(fresh);
  if (same) /** @type {HTMLElement | null} */ (fresh.matches(same) ? fresh : fresh.querySelector(same))?.focus();
}

document.addEventListener("focusout", () =>
  setTimeout(() => {
    for (const [id, html] of [...postponed]) {
      postponed.delete(id);
      replace(id, html);
    }
  }),
);

function receive(message) {
  heard = Date.now();
  if (message.op === "reset") return location.reload();
  if (message.op === "welcome") {
    tries = 0;
    show("on");
    return flush();
  }
  if (message.op === "lines") {
    places[message.topic] = message.n;
    return emit("lines", message);
  }
  if (message.op !== "ev") return undefined;
  after = message.s;
  for (const part of message.parts ?? []) if (!emit("part", part)) replace(part.id, part.html);
  if (message.e?.length && !emit("events", message.e)) again();
  return undefined;
}

const WHOLE = ["breaker", "desk", "health", "live", "merges", "sessions"];
let asked = 0;

/** A page without pieces of its own on the server is asked for again, and what has an id and changed is replaced. */
function again() {
  if (asked || ![...topics].some((topic) => WHOLE.includes(topic) || topic.startsWith("b:"))) return;
  asked = window.setTimeout(async () => {
    asked = 0;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok || answer.redirected) return;
      const html = await answer.text();
      const page = new DOMParser().parseFromString(/** @type {any} */ (policy ? policy.createHTML(html) : html), "text/html");
      const before = document.getElementById("main");
      const after = page.getElementById("main");
      if (!before || !after || sameText(before, after) || isTyping(before) || getSelection()?.toString()) return;
      for (const piece of after.querySelectorAll("section[id], ul[id], dl[id], div[id]")) {
        const old = document.getElementById(piece.id);
        if (old && !sameText(old, piece) && !piece.parentElement?.closest("section[id], ul[id], dl[id], div[id]")) old.replaceWith(piece);
      }
    } catch {
      // the next event asks again
    }
  }, 400);
}

/** @param {Element} one @param {Element} other */
const sameText = (one, other) => one.textContent?.replace(/\s+/g, " ") === other.textContent?.replace(/\s+/g, " ");

function show(state) {
  const line = document.getElementById("link-state");
  if (!line) return;
  const words = { on: "Live", trying: "Reconnecting…", lost: "Connection lost" };
  line.textContent = words[state];
  line.className = `link-state ${state}`;
  line.hidden = false;
  document.documentElement.dataset.link = state;
  emit("state", state);
}

function connect() {
  clearTimeout(timer);
  if (socket && socket.readyState <= WebSocket.OPEN) return;
  const own = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/r/${repo}/socket`);
  socket = own;
  own.addEventListener("open", hello);
  own.addEventListener("message", (event) => receive(JSON.parse(event.data)));
  own.addEventListener("close", () => {
    if (own !== socket) return;
    socket = null;
    show(tries < DELAYS.length ? "trying" : "lost");
    const seconds = (DELAYS[tries] ?? SLOW) * (0.9 + Math.random() * 0.2);
    tries += 1;
    timer = window.setTimeout(connect, seconds * 1000);
  });
}

function look() {
  if (document.visibilityState === "hidden") return;
  if (socket && Date.now() - heard > SILENT) socket.close();
  if (!socket) connect();
}

/** @returns {{ url: string, body: string }[]} */
function unsent() {
  return JSON.parse(sessionStorage.getItem(QUEUE) ?? "[]");
}

async function post(url, body) {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(body), headers: { accept: "application/json" } });
  if (answer.status === 401) {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
    throw new TypeError("logged out");
  }
  return answer.json();
}

/**
 * Send a command. Without a connection it waits in this tab; the key in it lets it be done once only.
 * @param {string} url @param {URLSearchParams} body @returns {Promise<Answer>}
 */
export async function send(url, body) {
  try {
    return await post(url, body.toString());
  } catch {
    sessionStorage.setItem(QUEUE, JSON.stringify([...unsent(), { url, body: body.toString() }]));
    return { ok: false, queued: true };
  }
}

let flushing = false;
async function flush() {
  if (flushing) return;
  flushing = true;
  try {
    for (let first = unsent()[0]; first; first = unsent()[0]) {
      const answer = await post(first.url, first.body);
      sessionStorage.setItem(QUEUE, JSON.stringify(unsent().slice(1)));
      say(answer.ok ? answer.said : answer.error.message);
    }
  } catch {
    // still no connection: it waits on
  }
  flushing = false;
}

if (repo) {
  connect();
  addEventListener("online", () => connect());
  addEventListener("focus", look);
  document.addEventListener("visibilitychange", look);
  setInterval(look, 15_000);
}
