import { count } from "./count.js";
import { slug } from "./slug.js";

/** A line about a text. */
export function summary(title, text) {
  const words = count(text);
  return `${slug(title)}: ${words} ${words === 1 ? "word" : "words"}`;
}
