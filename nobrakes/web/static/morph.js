// Brings a piece of the page to what the server rendered now, in place. What is equal stays the same element, so a
// draft, the focus, a selection, what was scrolled to and what was unfolded are not lost. Elements with `data-own`
// belong to a script of their page and are left alone, as is the key of a form whose fields are the same.

const OWN = "[data-own], input[name=request]";

/**
 * What an element is known by among those beside it, "" where its place says it: a form never becomes another one under
 * the hand of whoever presses its button.
 * @param {Element} element
 */
function name(element) {
  if (element.id) return `#${element.id}`;
  if (element.hasAttribute("aria-labelledby")) return `=${element.getAttribute("aria-labelledby")}`;
  if (element instanceof HTMLFormElement) return `form ${fixed(element)}`;
  if (element.localName === "details") {
    const form = element.querySelector("form");
    return `details ${form ? fixed(form) : element.querySelector("summary")?.textContent}`;
  }
  if (element.localName === "tr") return `tr ${element.querySelector("th")?.textContent ?? ""}`;
  const link = element.matches("li, article, p") ? element.querySelector("a[href]") : null;
  return link ? `${element.localName} ${link.getAttribute("href")}` : "";
}

/** What a form does, to what. @param {HTMLFormElement} form */
function fixed(form) {
  const hidden = [...form.querySelectorAll("input[type=hidden]:not([name=request])")];
  return [form.getAttribute("action"), ...hidden.map((one) => one.getAttribute("value"))].join(" ");
}

/** @param {Element} old @param {Element} fresh @returns {boolean} whether anything was changed */
function attributes(old, fresh) {
  let changed = false;
  for (const { name: key } of [...old.attributes]) {
    if (key === "open" || fresh.hasAttribute(key)) continue;
    old.removeAttribute(key);
    changed = true;
  }
  for (const { name: key, value } of fresh.attributes) {
    if (key === "open" || old.getAttribute(key) === value) continue;
    old.setAttribute(key, value);
    changed = true;
  }
  return changed;
}

/** @param {Element} parent */
function named(parent) {
  const found = new Map();
  for (const child of parent.children) {
    const key = name(child);
    if (key) found.set(key, [...(found.get(key) ?? []), child]);
  }
  return found;
}

/** The one among `old`'s children, from `place` on, that `wanted` is to become. */
function match(wanted, place, known) {
  const key = wanted instanceof Element ? name(wanted) : "";
  if (key) {
    const found = known.get(key)?.shift();
    return found?.localName === wanted.localName ? found : null;
  }
  for (let one = place; one; one = one.nextSibling) {
    if (one.nodeType !== wanted.nodeType) {
      if (wanted.nodeType !== Node.ELEMENT_NODE) return null;
      continue;
    }
    if (one.nodeType !== Node.ELEMENT_NODE) return one;
    if (one.localName === wanted.localName && !name(one)) return one;
  }
  return null;
}

/** @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} field */
function isTouched(field) {
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (field instanceof HTMLSelectElement) return [...field.options].some((one) => one.selected !== one.defaultSelected) && field.selectedIndex > 0;
  return field.type !== "hidden" && (field.value !== field.defaultValue || field.checked !== field.defaultChecked);
}

/** Take a node away, unless somebody has begun to fill in a form in it: then the form says so. */
function remove(node) {
  const forms = node instanceof HTMLFormElement ? [node] : node instanceof Element ? [...node.querySelectorAll("form.command")] : [];
  const begun = forms.filter((form) => [...form.querySelectorAll("input, textarea, select")].some(isTouched));
  for (const form of begun) {
    const line = /** @type {HTMLElement | null} */ (form.querySelector(".form-says"));
    if (!line || !line.hidden) continue;
    line.textContent = "This item changed while you were typing. Your text is still here.";
    line.hidden = false;
  }
  if (!begun.length) /** @type {ChildNode} */ (node).remove();
  return !begun.length;
}

/** @param {Element} old @param {Element} fresh */
function children(old, fresh) {
  let changed = false;
  const known = named(old);
  const wanted = named(fresh);
  for (const [key, gone] of known) {
    for (const one of gone.splice(wanted.get(key)?.length ?? 0)) changed = remove(one) || changed;
  }
  let place = old.firstChild;
  for (const one of [...fresh.childNodes]) {
    const found = match(one, place, known);
    if (!found) {
      old.insertBefore(one, place);
      changed = true;
      continue;
    }
    while (place && place !== found && place.nodeType !== Node.ELEMENT_NODE) {
      const blank = place;
      place = place.nextSibling;
      blank.remove();
    }
    if (found === place) place = place.nextSibling;
    else old.insertBefore(found, place);
    if (found instanceof Element) changed = change(found, one) || changed;
    else if (found.nodeValue !== one.nodeValue) {
      found.nodeValue = one.nodeValue;
      changed = true;
    }
  }
  while (place) {
    const rest = place;
    place = place.nextSibling;
    changed = remove(rest) || changed;
  }
  return changed;
}

/** @param {Element} old @param {Element} fresh */
function change(old, fresh) {
  if (old.matches(OWN) || old.isEqualNode(fresh)) return false;
  const changed = [attributes(old, fresh), children(old, fresh)].includes(true);
  if (changed && old instanceof HTMLFormElement) {
    const key = /** @type {HTMLInputElement | null} */ (old.querySelector("input[name=request]"));
    const drawn = fresh.querySelector("input[name=request]");
    if (key && drawn) key.value = drawn.getAttribute("value") ?? "";
  }
  return changed;
}

/**
 * Make `old` what `fresh` is. The focus stays where it is; where its element is gone, it goes to the page's content.
 * @param {Element} old @param {Element} fresh
 */
export function morph(old, fresh) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  change(old, fresh);
  if (!active || active === document.activeElement) return;
  const there = active.isConnected ? active : document.getElementById("main");
  there?.focus({ preventScroll: true });
}
