// Forms of commands go out without leaving the page, once each, and keep what was typed until they are done.
import { newKey, say, sayLeft, sayThere, send, told } from "./sending.js";

/** Where the draft of a form is kept. @param {HTMLFormElement} form */
export const place = (form) => `draft:${location.pathname}:${form.action}`;

/** @param {HTMLFormElement} form */
export function keep(form) {
  const kept = {};
  for (const field of form.elements) {
    const { name, type, value, checked } = /** @type {HTMLInputElement} */ (field);
    if (!name || type === "hidden" || name === "code" || name === "typed") continue;
    if (type === "checkbox" || type === "radio") kept[`${name}=${value}`] = checked;
    else kept[name] = value;
  }
  try {
    sessionStorage.setItem(place(form), JSON.stringify(kept));
  } catch {
    // a browser that keeps nothing loses only the draft
  }
}

/** @param {HTMLFormElement} form */
function bring(form) {
  const kept = JSON.parse(sessionStorage.getItem(place(form)) ?? "null");
  for (const field of kept ? form.elements : []) {
    const input = /** @type {HTMLInputElement} */ (field);
    const is_box = input.type === "checkbox" || input.type === "radio";
    const value = kept[is_box ? `${input.name}=${input.value}` : input.name];
    if (value === undefined) continue;
    if (is_box) input.checked = value;
    else input.value = value;
  }
}

/** @param {HTMLFormElement} form @param {string} words */
function tell(form, words) {
  const line = form.querySelector(".form-says");
  if (!line || !form.isConnected) return say(words);
  line.textContent = words;
  /** @type {HTMLElement} */ (line).hidden = !words;
}

/** @param {SubmitEvent} event */
async function submit(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.matches("form.command")) return;
  event.preventDefault();
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form, event.submitter)));
  const isOfBar = form.closest("#bar-state") !== null; // it belongs to every page, and may be another one when this is done
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  tell(form, "");
  const answer = await send(form.action, body, place(form));
  for (const button of buttons) button.disabled = false;
  if (answer.queued) return say(told(answer));
  if (!answer.ok) return tell(form, told(answer));
  sessionStorage.removeItem(place(form));
  const undo = answer.undo ? { url: new URL("undo", form.action).href, seq: answer.undo } : null;
  const then = isOfBar ? "" : body.get("then");
  if (then && then !== location.pathname + location.search) {
    sayThere(answer.said, undo);
    return location.assign(then);
  }
  say(answer.said, undo);
  form.reset();
  renew(form);
  return document.dispatchEvent(new Event("nb:done"));
}

/** The next command of this form is another one. @param {HTMLFormElement} form */
function renew(form) {
  const key = /** @type {HTMLInputElement | null} */ (form.elements.namedItem("request"));
  if (key) key.value = newKey();
}

document.addEventListener("submit", submit);
sayLeft();
document.addEventListener("input", (event) => {
  const { form } = /** @type {HTMLInputElement} */ (event.target); // it may be elsewhere on the page
  if (form?.matches("form.command")) keep(form);
});
for (const form of document.querySelectorAll("form.command")) bring(/** @type {HTMLFormElement} */ (form));

document.addEventListener("click", async (event) => {
  const words = /** @type {Element} */ (event.target).closest("[data-copy]")?.getAttribute("data-copy");
  if (!words) return;
  await navigator.clipboard?.writeText(words); // a page of another machine without https has none
  say(navigator.clipboard ? `Copied: ${words}` : "This browser does not let the page copy. Select the line yourself.");
});

// A file that is chosen becomes the text of a field of its form; without scripts it is pasted.
for (const one of document.querySelectorAll("[data-scripted]")) /** @type {HTMLElement} */ (one).hidden = false;
document.addEventListener("change", async (event) => {
  const input = /** @type {HTMLInputElement} */ (event.target);
  const file = input.dataset?.into ? input.files?.[0] : null;
  if (!file || !input.form) return;
  const text = /** @type {HTMLTextAreaElement} */ (input.form.elements.namedItem(input.dataset.into));
  if (file.size > text.maxLength) return tell(input.form, `${file.name} is larger than ${text.maxLength} characters.`);
  text.value = await file.text();
  tell(input.form, "");
  keep(input.form);
});
