// The code in the fragment of the link: taken out of the address, put into the form, and sent.
const form = /** @type {HTMLFormElement} */ (document.getElementById("login"));
const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) {
  history.replaceState(null, "", location.pathname + location.search);
  /** @type {HTMLInputElement} */ (form.elements.namedItem("code")).value = code;
  form.requestSubmit();
}
