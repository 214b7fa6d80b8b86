// Commands are POSTs with a key: what could not be sent waits in this tab, and is sent once.

/** @typedef {{ ok: boolean, queued?: boolean, said?: string, undo?: number | null, data?: any, error?: { message: string, hint?: string } }} Answer */
/** @typedef {{ url: string, body: string, draft: string }} Unsent */

const QUEUE = "nb:unsent";

const LATER = "nb:said";

/**
 * A line at the foot of the page, which goes by itself. What was done can be undone from it.
 * @param {string | undefined} words @param {{ url: string, seq: number } | null} undo
 */
export function say(words, undo = null) {
  let line = document.getElementById("toast");
  if (!line) {
    line = document.createElement("p");
    line.id = "toast";
    line.setAttribute("role", "status");
    document.body.append(line);
  }
  line.textContent = words ?? "";
  line.hidden = !words;
  if (undo) line.append(undoing(undo));
  clearTimeout(Number(line.dataset.timer));
  line.dataset.timer = String(setTimeout(() => (line.hidden = true), undo ? 10_000 : 6000));
}

/** @param {{ url: string, seq: number }} undo */
function undoing({ url, seq }) {
  const button = document.createElement("button");
  button.textContent = "Undo";
  button.addEventListener("click", async () => {
    button.disabled = true;
    const answer = await send(url, new URLSearchParams({ seq: String(seq), request: newKey() }), "");
    say(answer.ok ? answer.said : told(answer));
    document.dispatchEvent(new Event("nb:done"));
  });
  return button;
}

/** Say it on the page that comes next. */
export function sayThere(words, undo) {
  sessionStorage.setItem(LATER, JSON.stringify([words, undo]));
}

/** Say what the page before had to say. */
export function sayLeft() {
  const left = sessionStorage.getItem(LATER);
  sessionStorage.removeItem(LATER);
  if (left) say(...JSON.parse(left));
}

/** Why it was not done. @param {Answer} answer */
export function told({ error, queued }) {
  if (queued) return "Not sent yet. The browser sends it when the connection is back.";
  return [error?.message, error?.hint].filter(Boolean).join(" — ");
}

/** A command with the same key is done once. */
export function newKey() {
  const drawn = crypto.getRandomValues(new Uint8Array(12));
  return `web-${[...drawn].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** What waits, oldest first. @returns {Unsent[]} */
export function unsent() {
  return JSON.parse(sessionStorage.getItem(QUEUE) ?? "[]");
}

/** @param {Unsent[]} waiting */
function keep(waiting) {
  sessionStorage.setItem(QUEUE, JSON.stringify(waiting));
  dispatchEvent(new Event("nb:unsent"));
}

/** @param {string} body */
const keyOf = (body) => new URLSearchParams(body).get("request");

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
 * @param {string} url @param {URLSearchParams} body @param {string} draft where what was typed is kept until it is done
 * @returns {Promise<Answer>}
 */
export async function send(url, body, draft) {
  try {
    return await post(url, body.toString());
  } catch {
    const rest = unsent().filter((one) => keyOf(one.body) !== body.get("request"));
    keep([...rest, { url, body: body.toString(), draft }]);
    return { ok: false, queued: true };
  }
}

let flushing = false;

/** Send what waits, now that there is a connection. */
export async function flush() {
  if (flushing) return;
  flushing = true;
  try {
    for (let first = unsent()[0]; first; first = unsent()[0]) {
      const answer = await post(first.url, first.body);
      keep(unsent().filter((one) => keyOf(one.body) !== keyOf(first.body)));
      if (answer.ok) sessionStorage.removeItem(first.draft);
      say(answer.ok ? answer.said : told(answer));
    }
  } catch {
    // still no connection: it waits on
  }
  flushing = false;
}
