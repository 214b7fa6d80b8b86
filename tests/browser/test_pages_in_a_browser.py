"""Every page in a real Chromium: for people who see, who do not, and who hold a phone in the dark."""

from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, BeadType, Role, Status
from nobrakes.cli import main
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.projects.model import Brief, RunState
from nobrakes.projects.service import coding, projects_folder
from nobrakes.store import open_store
from tests.browser.conftest import DESKTOP, EVIL, PHONE, ROOT, Person

AXE = ROOT / ".ci" / "web" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = ["", "desk", "desk/1", "desk/2", "board", "bead/till", "bead/stock", "bead/till/diff", "live", "live/1", "do/add", "do/undo", "do/undepend?bead=report&needs=till", "do/resolve", "graph", "graph?mode=all", "plan", "plan?as=kanban", "plan?as=timeline", "features", "features/f-1", "features/f-1?as=kanban", "features/f-1?as=timeline", "merges",
         "breaker", "health", "set-up", "settings", "sessions", "cost", "machine", "evidence", "evidence?check=1", "../tea/sprints?check=1", "../../projects", "../../sessions", "../.."]  # fmt: skip
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
"""What axe looks for."""
SMALL = """() => [...document.querySelectorAll('button, summary, nav a, .whole, .act, .button, select, .option')]
    .filter(one => one.offsetParent !== null && !one.closest('[hidden]'))
    .map(one => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
    .filter(([, box]) => box.height < 43.5 || box.width < 43.5).map(([html, box]) => `${html} ${box.height}`)"""
"""What a finger would miss."""
pytestmark = pytest.mark.slow


@pytest.fixture
def tea(repository) -> None:
    """A project whose sprints may be approved."""
    made = projects_folder.create(Brief("tea", objective=EVIL, criteria=("It is `sold`", EVIL)), "ada")
    with (Path(made.path) / ".nobrakes" / "config.toml").open("a") as file:
        file.write('[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n')
    with coding.project_store(made.path) as (store, _):
        run = store.begin_sprints(3, False, {"items": "R1", "usd": "20", "until": "2099-12-31"}, "ada")
        store.put([Bead("sprint-1", "Sprint 1", type=BeadType.EPIC)], [], "ada")
        store.add_sprint(1, run.id, "sprint-1")
        store.set_run_state(run.id, RunState.WAITS, f"the brief changed {EVIL}", "nobrakes")


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.night),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.night),
    ],
)
def test_no_page_has_a_barrier_or_is_wider_than_its_screen(chromium, served, tea, theme, size) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm ci --prefix .ci/web")
    axe = Path(AXE).read_text()
    person = Person(chromium, served, viewport=size, color_scheme=theme, has_touch=size is PHONE).log_in()
    found = []
    for path in PAGES:
        page = person.goes(path)
        page.evaluate(axe)
        for violation in page.evaluate("rules => axe.run(rules)", RULES)["violations"]:
            nodes = [node["html"][:160] for node in violation["nodes"][:3]]
            found.append((path, violation["id"], nodes))
        if page.evaluate("() => document.documentElement.scrollWidth > innerWidth"):
            found.append((path, "wider than the screen", []))
        assert page.evaluate("() => window.hit") is None
    assert found == []
    assert person.errors == []
    person.close()


def test_what_is_pressed_on_a_phone_is_large_enough(chromium, served, tea) -> None:
    person = Person(chromium, served, viewport=PHONE, has_touch=True).log_in()
    found = [(path, one) for path in PAGES for one in person.goes(path).evaluate(SMALL)]
    assert found == []
    person.close()


@pytest.mark.parametrize("path", ["board", "../.."])
def test_a_person_logs_out_on_a_phone(chromium, served, path) -> None:
    person = Person(chromium, served, viewport=PHONE, has_touch=True).log_in()
    person.goes(path).get_by_role("button", name="Log out").click()
    person.page.wait_for_url("**/login")
    person.page.goto("/r/shop/board")
    assert "/login?next=" in person.page.url
    person.close()


def test_a_page_works_without_scripts(chromium, served) -> None:
    person = Person(chromium, served, java_script_enabled=False)
    page = person.page
    page.goto("/login?next=/r/shop/desk/1")
    page.get_by_label("code").fill(served.new_code())
    page.get_by_role("button", name="Log in").click()
    assert page.get_by_role("radio", name="Round").is_checked()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("escalation 1 is answered: Round").wait_for()
    page.goto("/r/shop/desk/1")
    assert page.get_by_role("button", name="Take the answer back").is_visible()
    person.close()


def test_two_screens_answer_once_and_the_second_is_told(person, chromium, served) -> None:
    other = Person(chromium, served).log_in()
    for one in (person, other):
        one.goes("desk/1")
    other.page.get_by_role("radio", name="Cut").check()
    person.page.get_by_role("button", name="Answer").click()
    person.page.wait_for_url("**/desk")
    other.page.get_by_text("This item changed while you were typing").wait_for()
    assert "Round" in other.page.get_by_text("Decided 2").inner_text()
    assert other.page.get_by_role("radio", name="Cut").is_checked(), "what was chosen is still there"
    other.page.get_by_role("button", name="Answer", exact=True).click()
    told = other.page.locator(".answer .form-says", has_text="answered").or_(
        other.page.locator(".answer .form-says", has_text="decided")
    )
    told.wait_for()
    assert [one for one in other.errors if "409" not in one] == []
    other.close()


def test_a_draft_of_an_answer_is_kept(person) -> None:
    page = person.goes("desk/2")
    page.get_by_role("radio", name="Try again").check()
    page.get_by_role("textbox", name="Note").fill("It was the fixture")
    page.reload()
    assert page.get_by_role("textbox", name="Note").input_value() == "It was the fixture"
    page.get_by_role("button", name="Decide").click()
    page.wait_for_url("**/desk")
    assert "stock failed" not in page.locator("#desk-list").inner_text()


def test_open_pages_show_what_happens_and_keep_what_a_person_did(chromium, served, repository) -> None:
    person = Person(chromium, served, viewport={"width": 1280, "height": 320}).log_in()
    shown = {"desk": "Which currency?", "graph?mode=all": "Fresh title", "plan": "Fresh title", "bead/later": "Fresh title",
             "breaker": "Bowie", "health": "2 of 4", "live": "Bowie", "sessions": "Bowie", "board?q=title": "Fresh title"}  # fmt: skip
    typed = {"plan": ("File a plan as drafts", "plan"), "bead/later": ("Edit here", "description"), "breaker": ("", "limits.doers"),
             "sessions": ("Start a session with an agent", "text")}  # fmt: skip
    tabs = {}
    for path in shown:
        page = tabs[path] = person.context.new_page()
        page.goto(f"/r/shop/{path}")
        page.wait_for_selector("#link-state.on", state="attached")
        page.evaluate("() => { window.isTheSame = true; }")
        if path in typed:
            summary, name = typed[path]
            if summary:
                page.get_by_text(summary, exact=True).click()
            page.locator(f"[name='{name}']").first.fill("7" if path == "breaker" else "half a word")
            page.keyboard.press("ArrowLeft")
        else:
            page.locator("#main a").last.focus()
        page.evaluate("() => scrollBy(0, -20)")
    state = """() => { const one = document.activeElement;
        return [one.name ?? one.getAttribute("href"), one.value ?? "", one.selectionStart ?? 0, Math.round(one.getBoundingClientRect().top)]; }"""
    before = {path: page.evaluate(state) for path, page in tabs.items()}
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    assert main.run(["edit", "later", "--title", "Fresh title"]) == 0
    store.put([Bead("another", "Another", status=Status.NEEDS_DOER, needs_tests=False)], [], "ada")
    assert store.open_attempt("another", Role.DOER, "script", ["Bowie"], 900.0, None) is not None
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which currency?", "Or none?"), "later", None, "Bowie")
    store.close()
    for path, page in tabs.items():
        page.wait_for_function("wanted => document.getElementById('main').innerText.includes(wanted)", arg=shown[path])
        assert page.locator("#desk-badge").inner_text() == "4", "two questions, a failure and a draft"
        assert page.evaluate("() => window.isTheSame"), path
        now = page.evaluate(state)
        assert now[:3] == before[path][:3], path
        assert abs(now[3] - before[path][3]) < 60, (path, before[path], now)
    person.made_no_errors()
    person.close()


def test_keys_lead_past_the_bar_to_the_page(person) -> None:
    page = person.goes("board")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the page"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"


def test_a_transcript_is_filtered_raw_and_searched(person) -> None:
    page = person.goes("live")
    stream = page.locator(".stream")
    assert stream.locator("li").count() == 100
    assert page.evaluate(
        "() => {const s = document.querySelector('.stream'); return s.scrollHeight - s.scrollTop - s.clientHeight < 40}"
    )
    page.get_by_role("button", name="Raw").click()
    assert page.get_by_role("button", name="Raw").get_attribute("aria-pressed") == "true"
    page.get_by_placeholder("Search").fill("line 299")
    assert stream.locator("li:visible").count() == 1


def test_a_bead_that_is_chosen_in_the_graph_is_told_beside_it(person) -> None:
    page = person.goes("graph?mode=all&bead=till")
    page.wait_for_selector("#picked h2 a")
    assert page.locator("#picked").inner_text().split("\n")[0] == "Count the till"
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => !document.querySelector('#picked h2').textContent.includes('till')")
    assert page.locator("#picked button").count() == 0


def test_what_was_done_is_undone_from_the_toast_or_from_the_list(person) -> None:
    page = person.goes("bead/stock")
    page.locator("summary", has_text="Hold").click()
    page.get_by_role("button", name="Hold").click()
    toast = page.locator("#toast")
    toast.get_by_role("button", name="Undo").click()
    page.get_by_text("undone: held stock").wait_for(timeout=5000)
    page.get_by_text("Held:").wait_for(state="detached")
    person.goes("bead/stock")
    page.locator("summary", has_text="Hold").click()
    page.get_by_role("button", name="Hold").click()
    page.get_by_text("Held").first.wait_for()
    row = page.locator(".news li", has=page.get_by_role("button", name="Undo")).first
    assert "held" in row.inner_text()
    row.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Release").wait_for(state="detached")
    person.made_no_errors()


def test_an_answer_is_confirmed_on_the_page_that_comes_next(person) -> None:
    page = person.goes("desk/1")
    page.get_by_role("radio", name="Round").check()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("escalation 1 is answered: Round").wait_for()
    person.made_no_errors()


def test_the_board_fits_and_its_tiles_are_moved_by_menu_and_by_dragging(person) -> None:
    page = person.goes("board")
    fits = "() => { const it = document.querySelector('.stacks'); return it.scrollWidth <= it.clientWidth; }"
    assert page.evaluate(fits), "all columns are in sight at 1280 pixels"
    page.locator("#column-draft summary").click()
    first, second = page.locator("#column-draft .tile").all()
    assert (first.get_attribute("data-priority"), second.get_attribute("data-priority")) == ("2", "2")
    bead = first.get_attribute("data-bead")
    first.hover()
    first.get_by_role("button", name=f"Actions for {bead}").click()
    assert page.get_by_role("menuitem").all_inner_texts() == ["Open", "More urgent (P1)", "Less urgent (P3)", "Hold"]
    page.get_by_role("menuitem", name="More urgent").press("Enter")
    page.locator(f"#tile-{bead}[data-priority='1']").wait_for()
    other = second.get_attribute("data-bead")
    page.locator(f"#tile-{other}").drag_to(page.locator(f"#tile-{bead}"))
    page.locator(f"#tile-{other}[data-priority='1']").wait_for()
    page.locator("#toast").get_by_role("button", name="Undo").click()
    page.locator(f"#tile-{other}[data-priority='2']").wait_for()
    person.made_no_errors()


def test_a_search_in_the_graph_jumps_from_match_to_match(person) -> None:
    page = person.goes("graph?mode=all")
    field = page.get_by_label("Part of an id or a title")
    field.fill("t")
    seen = []
    for _ in range(2):
        field.press("Enter")
        page.locator("#toast", has_text=" of ").wait_for()
        seen.append(page.locator("#picked h2").inner_text())
    assert seen[0] != seen[1] and "mode=all" in page.url and "q=" not in page.url, "the picture stays whole"
    page.get_by_role("button", name="Show the whole graph").click()
    field.fill("Windows")
    page.get_by_role("button", name="Draw only these").click()
    page.wait_for_url("**q=Windows*")
    person.made_no_errors()
