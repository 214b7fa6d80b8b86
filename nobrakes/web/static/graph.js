// The graph on a canvas: only what is seen is drawn, so that thousands of beads move as smoothly as ten.
// Colours come from the style sheet; a state has a shape and a word beside its colour.
import { say } from "./sending.js";
import { on } from "./stream.js";

const frame = /** @type {HTMLElement} */ (document.getElementById("graph"));
const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("canvas"));
const picked = /** @type {HTMLElement} */ (document.getElementById("picked"));
const meta = /** @type {HTMLElement} */ (document.querySelector('meta[name="nb"]'));
const base = `/r/${meta.dataset.repo}`;
const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
const WORDS = { escalated: "needs you", working: "doing", review: "review", ready: "ready", blocked: "blocked", done: "done", draft: "draft", cancelled: "cancelled" };
const NAMES = { escalated: "--asks", working: "--works", review: "--review", ready: "--ready", blocked: "--quiet", done: "--done", draft: "--quiet", cancelled: "--done" };

/** @type {any} */
let graph = { nodes: [], edges: [], lanes: [], width: 1, height: 1, box: [150, 34], structure: "" };
let mark = "";
/** @type {Map<string, any>} */
let byId = new Map();
/** @type {Map<string, string[]>} */
let sources = new Map();
/** @type {Map<string, string[]>} */
let targets = new Map();
let scale = 1;
let left = 0;
let top_ = 0;
/** @type {string} */
let chosen = "";
/** @type {Set<string>} */
let around = new Set();
let asked = false;
/** @type {Record<string, string>} */
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  document.body.append(probe);
  const names = ["--text", "--quiet", "--surface", "--raised", "--line", "--line-strong", "--critical", "--ground", "--focus", ...Object.values(NAMES)];
  for (const name of names) {
    probe.style.setProperty("color", style.getPropertyValue(name));
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

function size() {
  const box = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  draw();
}

const READABLE = 0.72;
const LIVE = ["escalated", "working", "review", "ready"];

/** The room at the left in which lanes have their names. */
const gutter = () => (graph.lanes.length ? Math.min(170, canvas.clientWidth / 4) : 0);

function fit() {
  const box = canvas.getBoundingClientRect();
  const room = box.width - gutter();
  const across = (room - 32) / graph.width;
  const down = (box.height - 32) / graph.height;
  scale = Math.min(1, Math.max(down > across / 4 ? Math.min(across, down) : across, 0.04));
  left = gutter() + Math.max(16, (room - graph.width * scale) / 2);
  top_ = graph.height * scale < box.height ? (box.height - graph.height * scale) / 2 : 16;
}

/** All of it where its words can be read, else the part of it that goes on now. */
function begin() {
  fit();
  const first = graph.nodes.find((node) => node.is_critical && LIVE.includes(node.column)) ?? graph.nodes.find((node) => LIVE.includes(node.column)) ?? graph.nodes[0];
  if (scale < READABLE && first) show(first);
}

/** Bring this corner of the picture near the upper left one, with words that can be read. @param {{ x: number, y: number }} corner */
function show({ x, y }) {
  scale = Math.max(scale, READABLE);
  left = gutter() + 24 - Math.max(0, x - 20) * scale;
  top_ = 24 - Math.max(0, y - 60) * scale;
  draw();
}

function draw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    paint();
  });
}

function paint() {
  const ratio = devicePixelRatio || 1;
  const width = canvas.width / ratio;
  const height = canvas.height / ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const seen = { x: -left / scale, y: -top_ / scale, right: (width - left) / scale, bottom: (height - top_) / scale };
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top_);
  const [w, h] = graph.box;
  for (const lane of graph.lanes) paintLane(lane, seen);
  pen.lineWidth = Math.max(1, 0.8 / scale);
  for (const edge of graph.edges) paintEdge(edge, seen, w, h);
  for (const node of graph.nodes) {
    if (node.x > seen.right || node.x + w < seen.x || node.y > seen.bottom || node.y + h < seen.y) continue;
    paintNode(node, w, h);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const lane of graph.lanes) nameLane(lane, height);
}

/** A lane's name, in sight as long as the lane is. */
function nameLane(lane, height) {
  const top = lane.y * scale + top_;
  const bottom = Math.min(height, top + lane.height * scale);
  if (bottom < 0 || top > height) return;
  pen.fillStyle = colours["--raised"];
  pen.fillRect(0, Math.max(0, top) + 1, gutter(), bottom - Math.max(0, top) - 1);
  if (lane.height * scale < 13) return;
  const line = Math.min(Math.max(0, top) + 16, bottom - 4);
  pen.fillStyle = colours["--text"];
  pen.font = "600 12px sans-serif";
  pen.fillText(cut(lane.title || "In no epic", gutter() - 14), 8, line);
  if (line + 16 > bottom - 2) return;
  const total = Object.values(lane.counts).reduce((sum, one) => sum + one, 0);
  pen.fillStyle = colours["--quiet"];
  pen.font = "12px sans-serif";
  pen.fillText(graph.match || graph.is_live_only ? `${total} shown` : `${lane.counts.done ?? 0} of ${total} done`, 8, line + 16);
}

function paintLane(lane, seen) {
  if (lane.y > seen.bottom || lane.y + lane.height < seen.y) return;
  pen.fillStyle = colours["--line"];
  pen.fillRect(seen.x, lane.y + lane.height, seen.right - seen.x, 1 / scale);
}

function paintEdge(edge, seen, w, h) {
  const { source, target, is_critical: critical } = edge;
  const from = byId.get(source);
  const to = byId.get(target);
  if (!from || !to) return;
  const down = graph.mode === "epics";
  const x1 = down ? from.x + w / 2 : from.x + w;
  const y1 = down ? from.y + h : from.y + h / 2;
  const x2 = down ? to.x + w / 2 : to.x;
  const y2 = down ? to.y : to.y + h / 2;
  if (Math.min(x1, x2) > seen.right || Math.max(x1, x2) < seen.x || Math.min(y1, y2) > seen.bottom || Math.max(y1, y2) < seen.y) return;
  const lit = chosen && around.has(source) && around.has(target);
  pen.globalAlpha = chosen && !lit ? 0.12 : critical || lit ? 1 : 0.6;
  pen.strokeStyle = critical ? colours["--critical"] : lit ? colours["--text"] : colours["--line-strong"];
  pen.beginPath();
  pen.moveTo(x1, y1);
  if (down) pen.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
  else pen.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
  pen.stroke();
  pen.globalAlpha = 1;
}

function paintNode(node, w, h) {
  const colour = colours[NAMES[node.column]] ?? colours["--quiet"];
  pen.globalAlpha = chosen && !around.has(node.id) ? 0.18 : 1;
  if (w * scale < 46) {
    pen.fillStyle = node.is_critical ? colours["--critical"] : colour;
    pen.fillRect(node.x, node.y, w, h);
    pen.globalAlpha = 1;
    return;
  }
  pen.fillStyle = colours["--surface"];
  pen.strokeStyle = node.id === chosen ? colours["--focus"] : node.is_critical ? colours["--critical"] : colours["--line-strong"];
  pen.lineWidth = (node.id === chosen ? 3 : node.is_critical ? 2 : 1) / Math.min(1, scale);
  pen.beginPath();
  pen.roundRect(node.x, node.y, w, h, 6);
  pen.fill();
  if (node.column === "blocked" || node.column === "draft") pen.setLineDash([4, 3]);
  pen.stroke();
  pen.setLineDash([]);
  shape(node.column, node.x + 14, node.y + Math.min(h / 2, 17), colour);
  pen.fillStyle = node.column === "done" || node.column === "cancelled" ? colours["--quiet"] : colours["--text"];
  pen.font = `${node.is_epic ? 600 : 400} 13px sans-serif`;
  pen.fillText(cut(node.title, w - 34), node.x + 26, node.y + Math.min(h / 2, 17) + 4.5);
  if (node.is_epic && h > 40) {
    const total = Object.values(node.counts).reduce((sum, one) => sum + one, 0) || 1;
    const done = node.counts.done ?? 0;
    pen.fillStyle = colours["--line"];
    pen.fillRect(node.x + 10, node.y + h - 12, w - 20, 4);
    pen.fillStyle = colours["--works"];
    pen.fillRect(node.x + 10, node.y + h - 12, ((w - 20) * done) / total, 4);
    pen.fillStyle = colours["--quiet"];
    pen.font = "12px sans-serif";
    pen.fillText(`${done} of ${total} done${node.counts.escalated ? `, ${node.counts.escalated} need you` : ""}`, node.x + 10, node.y + h - 18);
  }
  pen.globalAlpha = 1;
}

function shape(column, x, y, colour) {
  pen.fillStyle = colour;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.8;
  pen.beginPath();
  if (column === "escalated") {
    pen.moveTo(x, y - 6);
    pen.lineTo(x + 6, y);
    pen.lineTo(x, y + 6);
    pen.lineTo(x - 6, y);
    pen.closePath();
    pen.fill();
  } else if (column === "working") {
    pen.arc(x, y, 5, 0, Math.PI * 2);
    pen.stroke();
    pen.beginPath();
    pen.arc(x, y, 5, -Math.PI / 2, Math.PI / 2);
    pen.fill();
  } else if (column === "review") {
    pen.arc(x, y, 5, 0, Math.PI * 2);
    pen.stroke();
    pen.beginPath();
    pen.arc(x, y, 2.2, 0, Math.PI * 2);
    pen.fill();
  } else if (column === "done") {
    pen.moveTo(x - 5, y);
    pen.lineTo(x - 1, y + 4);
    pen.lineTo(x + 5, y - 4);
    pen.stroke();
  } else if (column === "cancelled") {
    pen.moveTo(x - 4, y - 4);
    pen.lineTo(x + 4, y + 4);
    pen.moveTo(x + 4, y - 4);
    pen.lineTo(x - 4, y + 4);
    pen.stroke();
  } else {
    if (column !== "ready") pen.setLineDash([2, 2]);
    pen.arc(x, y, 5, 0, Math.PI * 2);
    pen.stroke();
    pen.setLineDash([]);
  }
}

function cut(text, width) {
  if (pen.measureText(text).width <= width) return text;
  let end = Math.max(1, Math.floor((text.length * width) / (pen.measureText(text).width || 1)) - 1);
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

function take(found) {
  graph = found;
  byId = new Map(graph.nodes.map((node) => [node.id, node]));
  sources = new Map();
  targets = new Map();
  for (const { source, target } of graph.edges) {
    targets.set(source, [...(targets.get(source) ?? []), target]);
    sources.set(target, [...(sources.get(target) ?? []), source]);
  }
}

async function load() {
  const headers = mark ? { "if-none-match": mark } : undefined;
  // where the connection is lost, the graph is asked for again when it is back
  const answer = await fetch(`${base}/api/graph${location.search}`, { headers }).catch(() => null);
  if (!answer || answer.status === 304 || !answer.ok) return;
  mark = answer.headers.get("etag") ?? "";
  const before = graph.structure;
  take(await answer.json());
  if (!before) begin();
  draw();
}

/** @param {string} words @param {string} kind */
function line(words, kind = "p") {
  const made = document.createElement(kind);
  made.textContent = words;
  return made;
}

/** @param {any} node */
function tell(node) {
  const head = document.createElement("h2");
  const link = document.createElement("a");
  link.href = `${base}/bead/${encodeURIComponent(node.id)}`;
  link.textContent = node.title;
  head.append(link);
  const facts = line(`${node.id} · ${WORDS[node.column] ?? node.column}${node.is_critical ? " · critical" : ""}`);
  facts.className = "quiet";
  const parts = [head, facts];
  if (node.is_epic) {
    const inside = document.createElement("a");
    inside.href = `${base}/graph?mode=all&epic=${encodeURIComponent(node.id)}`;
    inside.className = "button";
    inside.textContent = "Its beads";
    parts.push(inside);
  }
  picked.replaceChildren(...parts);
}

/** Everything that is reached from `id` along `edges`, at any depth. @param {string} id @param {Map<string, string[]>} edges */
function reached(id, edges) {
  const found = new Set([id]);
  for (const one of found) for (const next of edges.get(one) ?? []) found.add(next); // it grows meanwhile
  return found;
}

function choose(id, center = false) {
  chosen = id;
  const node = byId.get(id);
  if (!node) {
    chosen = "";
    around = new Set();
    picked.replaceChildren(line("Choose a bead to see which beads it waits for and which beads it unblocks."));
    return draw();
  }
  around = new Set([...reached(id, sources), ...reached(id, targets)]);
  tell(node);
  if (center) {
    const box = canvas.getBoundingClientRect();
    const x = left + (node.x + graph.box[0] / 2) * scale;
    const y = top_ + (node.y + graph.box[1] / 2) * scale;
    if (x < 60 || y < 40 || x > box.width - 60 || y > box.height - 40) {
      left += box.width / 2 - x;
      top_ += box.height / 2 - y;
    }
  }
  return draw();
}

function at(event) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left - left) / scale;
  const y = (event.clientY - box.top - top_) / scale;
  return graph.nodes.find((node) => x >= node.x && x <= node.x + graph.box[0] && y >= node.y && y <= node.y + graph.box[1]);
}

/** The lane whose name is under the pointer. */
function named(event) {
  const box = canvas.getBoundingClientRect();
  const y = (event.clientY - box.top - top_) / scale;
  return event.clientX - box.left < gutter() ? graph.lanes.find((lane) => y >= lane.y && y <= lane.y + lane.height) : undefined;
}

function zoom(by, x, y) {
  const next = Math.min(3, Math.max(0.03, scale * by));
  left = x - ((x - left) * next) / scale;
  top_ = y - ((y - top_) * next) / scale;
  scale = next;
  draw();
}

/** @type {Map<number, PointerEvent>} */
const fingers = new Map();
let moved = 0;
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  moved = 0;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  if (fingers.size === 2) {
    const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId) ?? before;
    const far = Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY);
    const near = Math.hypot(before.clientX - other.clientX, before.clientY - other.clientY);
    const box = canvas.getBoundingClientRect();
    if (near > 0) zoom(far / near, (event.clientX + other.clientX) / 2 - box.left, (event.clientY + other.clientY) / 2 - box.top);
  } else {
    left += event.clientX - before.clientX;
    top_ += event.clientY - before.clientY;
    draw();
  }
  moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
  fingers.set(event.pointerId, event);
});
for (const end of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(end, (event) => {
    fingers.delete(/** @type {PointerEvent} */ (event).pointerId);
    if (end !== "pointerup" || moved >= 5) return;
    const lane = named(event);
    if (lane) show({ x: Math.min(...graph.nodes.filter((node) => node.lane === lane.id).map((node) => node.x)), y: lane.y });
    else choose(at(event)?.id ?? "");
  });
}
canvas.addEventListener("dblclick", (event) => {
  const node = at(event);
  if (node) location.assign(`${base}/bead/${encodeURIComponent(node.id)}`);
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

function step(key) {
  if (!chosen) return choose(graph.nodes[0]?.id ?? "", true);
  const here = byId.get(chosen);
  const next = key === "ArrowRight" ? targets.get(chosen) : key === "ArrowLeft" ? sources.get(chosen) : undefined;
  if (next?.length) return choose(next[0], true);
  if (key === "ArrowRight" || key === "ArrowLeft") return undefined;
  const way = key === "ArrowDown" ? 1 : -1;
  const beside = graph.nodes.filter((node) => node !== here && (node.y - here.y) * way > 0);
  beside.sort((a, b) => Math.hypot(a.x - here.x, a.y - here.y) - Math.hypot(b.x - here.x, b.y - here.y));
  return beside.length ? choose(beside[0].id, true) : undefined;
}

canvas.addEventListener("keydown", (event) => {
  const box = canvas.getBoundingClientRect();
  if (event.key.startsWith("Arrow")) step(event.key);
  else if (event.key === "+" || event.key === "=") zoom(1.25, box.width / 2, box.height / 2);
  else if (event.key === "-") zoom(0.8, box.width / 2, box.height / 2);
  else if (event.key === "0") {
    fit();
    draw();
  }
  else if (event.key === "Escape") choose("");
  else if (event.key === "Enter" && chosen) location.assign(`${base}/bead/${encodeURIComponent(chosen)}`);
  else if ("fea".includes(event.key)) /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${event.key}"]`))?.click();
  else return;
  event.preventDefault();
});

for (const [words, name, done] of /** @type {[string, string, () => void][]} */ ([
  ["Whole", "Show the whole graph", () => fit()],
  ["+", "Zoom in", () => zoom(1.4, canvas.clientWidth / 2, canvas.clientHeight / 2)],
  ["−", "Zoom out", () => zoom(0.7, canvas.clientWidth / 2, canvas.clientHeight / 2)],
])) {
  const button = document.createElement("button");
  button.textContent = words;
  button.className = "small";
  button.setAttribute("aria-label", name);
  button.addEventListener("click", () => {
    done();
    draw();
  });
  /** @type {HTMLElement} */ (document.getElementById("zoom")).append(button);
}

let place = -1;
const search = /** @type {HTMLFormElement} */ (document.querySelector("form[role=search]"));
search.addEventListener("submit", (event) => {
  const words = search.q.value.trim().toLowerCase();
  const found = words ? graph.nodes.filter((node) => `${node.id} ${node.title}`.toLowerCase().includes(words)) : [];
  if (!found.length || event.submitter === search.querySelector("[data-draw]")) return;
  event.preventDefault();
  place = (place + 1) % found.length;
  show(found[place]);
  choose(found[place].id, true);
  say(`${place + 1} of ${found.length}: ${found[place].title}`);
});
search.addEventListener("input", () => (place = -1));

let waiting = 0;
on("events", () => {
  clearTimeout(waiting);
  waiting = window.setTimeout(load, 800);
});
addEventListener("resize", size);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  draw();
});

frame.hidden = false;
readColours();
size();
load().then(() => frame.dataset.chosen && choose(frame.dataset.chosen, true));
