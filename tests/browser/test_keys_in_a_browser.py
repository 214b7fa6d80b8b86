"""Keys on every page, the palette of pages, commands and beads, and the notices of the browser."""

import pytest

from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import open_store

pytestmark = pytest.mark.slow
FOCUSED = "() => document.activeElement.getAttribute('href')"


def test_keys_lead_from_page_to_page_and_from_item_to_item(person) -> None:
    page = person.goes("board")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == "/r/shop/bead/report"
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate(FOCUSED) == "/r/shop/bead/stock"
    page.keyboard.press(".")
    page.get_by_role("menuitem", name="Open").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("gn j")
    assert page.locator("#q").input_value() == "gn j", "in a field a key is a letter"
    page.goto("/r/shop/board")
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.wait_for_url("**/desk/1")
    page.keyboard.press("a")
    assert page.evaluate("() => document.activeElement.closest('form').dataset.command") == "answer"
    page.locator("h1").first.click()
    for keys, path in (("gn", ""), ("gd", "desk"), ("gb", "board"), ("gs", "sessions")):
        page.evaluate("() => document.activeElement.blur()")
        page.keyboard.type(keys)
        page.wait_for_url(f"**/r/shop/{path}")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    keys.get_by_text("Add a bead").wait_for()
    assert keys.get_by_text("Merges", exact=True).count() == 1
    assert keys.get_by_text("Requests", exact=True).count() == 0, "there is no such page here"
    page.keyboard.press("Escape")
    keys.wait_for(state="hidden")
    page.keyboard.press("c")
    page.wait_for_url("**/r/shop/do/add?then=*")
    person.made_no_errors()


def test_the_palette_finds_pages_commands_and_beads(person) -> None:
    page = person.goes("")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox")
    field.fill("merg")
    page.get_by_role("option", name="Merges page").wait_for()
    field.fill("retry")
    page.get_by_role("option", name="retry").first.wait_for()
    field.fill("till")
    page.get_by_role("option", name="Count the till bead").wait_for()
    field.press("Enter")
    page.wait_for_url("**/r/shop/bead/till")
    page.get_by_role("button", name="Find a page, a command or a bead").click()
    page.get_by_role("combobox").fill("health")
    page.get_by_role("option", name="Health page").wait_for()
    page.get_by_role("combobox").press("Enter")
    page.wait_for_url("**/r/shop/health")
    person.made_no_errors()


PRETENDS = """() => {
  window.shown = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static async requestPermission() { this.permission = "granted"; }
    constructor(title, options) { super(); window.shown.push([title, options.body]); }
  };
  Object.defineProperty(document, "hidden", { get: () => window.away === true });
}"""


def test_a_browser_that_may_tells_of_a_new_decision_while_one_looks_elsewhere(person, repository) -> None:
    page = person.page
    page.add_init_script(f"({PRETENDS})()")
    person.goes("desk")
    page.get_by_role("button", name="Notify me in this browser").click()
    page.get_by_role("button", name="Notify me in this browser").wait_for(state="hidden")
    page.wait_for_selector("#link-state.on", state="attached")
    waits = page.locator("#desk-badge").inner_text()
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which colour?", ""), "till", None, "Ada")
    page.wait_for_function("before => document.getElementById('desk-badge').textContent !== before", arg=waits)
    assert page.evaluate("() => window.shown") == [], "who looks at the page sees it"
    page.evaluate("() => { window.away = true; }")
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which size?", ""), "till", None, "Ada")
    store.close()
    page.wait_for_function("() => window.shown.length")
    assert page.evaluate("() => window.shown") == [["shop main", "Waiting for you: 5"]]
