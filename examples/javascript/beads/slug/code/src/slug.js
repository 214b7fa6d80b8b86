/** A title as part of an address: lower case words joined by one hyphen. */
export function slug(title) {
  return (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-");
}
