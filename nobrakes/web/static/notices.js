// A notice of the browser when more waits for a person than before, if they allowed it and look elsewhere.
const badge = document.getElementById("desk-badge");
const allow = document.getElementById("allow-notices");
const waits = () => Number(badge?.textContent) || 0;
let seen = waits();

if (badge && "Notification" in window) {
  new MutationObserver(() => {
    const now = waits();
    if (now > seen && document.hidden && Notification.permission === "granted") tell(now);
    seen = now;
  }).observe(badge, { childList: true, characterData: true, subtree: true });
  if (allow && Notification.permission === "default") {
    allow.hidden = false;
    allow.addEventListener("click", async () => {
      await Notification.requestPermission();
      allow.hidden = true;
    });
  }
}

/** @param {number} count */
function tell(count) {
  const where = document.querySelector(".where")?.textContent?.trim() ?? "nobrakes";
  const notice = new Notification(where, { body: `Waiting for you: ${count}`, tag: `nobrakes ${location.pathname.split("/")[2]}` });
  notice.addEventListener("click", () => {
    window.focus();
    const desk = /** @type {HTMLAnchorElement | null} */ (document.querySelector('nav.ways a[href$="/desk"]'));
    desk?.click();
    notice.close();
  });
}
