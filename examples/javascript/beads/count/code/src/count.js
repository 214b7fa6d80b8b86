/** How many words a text has. */
export function count(text) {
  return text.split(/\s+/).filter(Boolean).length;
}
