"""Every page that a repository has, with and without something on it; what agents wrote is text everywhere."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Role
from nobrakes.beads.service import bead_commands
from nobrakes.cli import main
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.features.model import Criterion, Feature, Finding, ItemKind, ReviewState, Step
from nobrakes.features.reviewed_plan import nodes_of
from nobrakes.requests.model import PullRequest, PullState
from nobrakes.sessions.model import SessionKind
from nobrakes.store import open_store
from nobrakes.web.commands import COMMANDS, NOT_HERE
from nobrakes.web.server import routes

EVIL = "<script>alert(1)</script>\x1b[31m"
PAGES = ["", "board", "board?q=header", "desk", "desk?all=1", "live", "merges", "requests", "breaker", "health", "set-up", "sessions",
         "cost", "machine", "settings", "settings?changed=1", "evidence", "evidence?bead=nb-1", "evidence?check=1",
         "sessions?q=ada&state=failed&sort=cost", "bead/nb-1", "bead/nb-2", "bead/nb-1/diff",
         "graph", "graph?mode=epics", "graph?mode=all&q=header", "plan", "plan?as=kanban", "plan?as=timeline",
         "features", "features?q=header&state=paused&sort=stage"]  # fmt: skip


class Reader(HTMLParser):
    """Collects elements and attributes that no page of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("style", "iframe", "object", "img", "base"):
            self.wrong.append(tag)
        if tag == "script" and not (given.get("src") or "").startswith("/static/"):
            self.wrong.append(tag)
        self.wrong += [name for name in given if name == "style" or name.startswith("on")]


def plain(text: str) -> None:
    """No markup but ours: R7 to R10."""
    assert "alert(1)</script>" not in text and "\x1b" not in text
    reader = Reader()
    reader.feed(text)
    assert reader.wrong == []


@pytest.mark.parametrize("page", PAGES)
def test_each_page_is_there_with_nothing_to_show(site, page) -> None:
    found = site.get(f"/r/shop/{page}")
    assert found.status_code == 200 and "<h1" in found.text
    plain(found.text)


@pytest.fixture
def busy(site, repository):
    """An agent at work on nb-1, and a decision of each sort that a page shows in its own way."""
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    attempt = store.open_attempt("nb-1", Role.TEST_WRITER, "script", ["Ada"], 600.0, None)
    assert attempt is not None
    folder = repository / ".nobrakes" / "runs" / f"{attempt.id}-agent"
    folder.mkdir(parents=True)
    (folder / "agent.out").write_text("".join(f"line {n} {EVIL}\n" for n in range(700)))
    form = {"kind": "radio", "options": [{"label": EVIL[:20], "means": EVIL, "costs": "a day"}, {"label": "Blue"}],
            "recommended": ["Blue"], "priority": 1}  # fmt: skip
    from nobrakes.decisions import forms

    made = forms.as_values(forms.form(form))
    store.escalate(NewEscalation(EscalationType.QUESTION, f"Which {EVIL}?", EVIL, form=made), "nb-2", None, "Ada")
    store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, f"More {EVIL}", EVIL), "nb-1", attempt.id, "Ada")
    store.escalate(NewEscalation(EscalationType.REPEATED_FAILURE, "Three failures", EVIL), "nb-2", None, "nobrakes")
    yield attempt.id
    store.close()


def test_a_pull_request_has_a_panel_and_what_others_wrote_there_is_text(site, repository) -> None:
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    wild = {"by": EVIL, "text": EVIL * 1000, "path": EVIL, "line": 3}
    check = {"name": EVIL, "state": "failed", "url": "javascript:alert(1)"}
    one = PullRequest(
        "nb-1", PullState.OPEN, 7, "https://code.invalid/team/thing/pull/7", EVIL, "task/bead-nb-1", "a" * 40
    )
    store.save_pull(replace(one, checks=(check,), remarks=(wild,), approved_by=(EVIL,), says="it waits for people"))
    store.save_pull(PullRequest("nb-2", PullState.MERGED, 8, "javascript:alert(1)", "Two", merged_as="b" * 40))
    for page in ("bead/nb-1", "bead/nb-2", "requests", "board"):
        found = site.get(f"/r/shop/{page}")
        assert found.status_code == 200 and 'href="javascript' not in found.text
        plain(found.text)
        if page == "bead/nb-1":
            link = 'href="https://code.invalid/team/thing/pull/7" target="_blank" rel="noopener noreferrer nofollow"'
            assert link in found.text and "View PR" in found.text and "it waits for people" in found.text
            assert len(found.text) < 100_000, "a long remark is cut"
        if page == "bead/nb-2":
            assert "View PR" not in found.text and "merged" in found.text
    said = site.get("/r/shop/api/pull-requests").json()["data"]
    assert [(row["number"], row["page"]) for row in said] == [(7, "https://code.invalid/team/thing/pull/7")]
    assert site.get("/r/shop/api/pull-requests/nb-2").json()["data"]["page"] == ""
    looked = site.post("/r/shop/do/pr-open", {"bead": "nb-1"}, accept="application/json")
    assert looked.json()["data"] == {"bead": "nb-1", "url": "https://code.invalid/team/thing/pull/7"}
    refused = site.post("/r/shop/do/pr-sync", {}, accept="application/json")
    assert refused.status_code == 409 and "does not use pull requests" in refused.text
    store.close()


def test_agents_at_work_and_decisions_are_shown_and_their_words_are_text(site, busy) -> None:
    for page in [*PAGES, f"live/{busy}", f"live/{busy}?before=300", "desk/1", "desk/2", "desk/3", "desk/3?whole=1"]:
        found = site.get(f"/r/shop/{page}")
        assert found.status_code == 200, (page, found.text)
        plain(found.text)
    assert "line 699" in site.get("/r/shop/live").text and "older lines" in site.get(f"/r/shop/live/{busy}").text
    assert "line 299" in site.get(f"/r/shop/live/{busy}?before=300").text
    board = site.get("/r/shop/board").text
    assert "Ada, test writer" in board and 'href="/r/shop/desk/1"' in board


def test_an_answer_takes_an_option_and_the_second_one_is_refused(site, busy) -> None:
    page = site.get("/r/shop/desk/1").text
    assert re.search(r'value="Blue" required checked', page) and "recommended" in page
    assert site.post("/r/shop/do/answer", {"number": "1", "text": "Green"}).status_code == 422
    assert site.post("/r/shop/do/answer", {"number": "1", "text": "Blue"}).status_code == 303
    again = site.post("/r/shop/do/answer", {"number": "1", "text": "Blue"})
    assert again.status_code == 409
    assert "Blue" in site.get("/r/shop/desk/1").text


def test_an_unknown_bead_decision_or_attempt_is_not_found(site) -> None:
    for page in ("bead/none", "bead/none/diff", "desk/99", "sessions/99"):
        assert site.get(f"/r/shop/{page}").status_code == 404, page
    assert site.get("/r/shop/desk/x").status_code == 404
    assert site.get("/r/shop/sessions?sort=upside").status_code == 422


def test_the_doctor_looks_when_asked_and_its_findings_have_an_age(site) -> None:
    assert "has not checked yet" in site.get("/r/shop/health").text
    assert site.get("/r/shop/health/look").status_code == 405
    assert site.post("/r/shop/health/look", {}).status_code == 303
    found = site.get("/r/shop/health").text
    assert "ago" in found and "sandbox" in found


def test_every_page_has_a_way_to_it(site) -> None:
    ways = set(re.findall(r'href="/r/shop/([a-z-]*)"', site.get("/r/shop/").text))
    pages = {route.path.removeprefix("/r/{repo}/") for route in routes() if getattr(route, "path", "").count("/") == 3}
    assert {page for page in pages if page and "{" not in page and page != "socket"} - {"requests", "sprints"} <= ways
    assert "requests" not in ways, "work does not land by them"
    assert main.run(["config", "set", "review.land", "pull_request"]) == 0
    assert "requests" in re.findall(r'href="/r/shop/([a-z-]*)"', site.get("/r/shop/").text)


def test_the_list_of_sessions_is_searched_and_sorted(site, busy) -> None:
    assert main.run(["list"]) == 0
    assert "Parse the header" in site.get("/r/shop/sessions?q=parse+ada&state=active").text
    assert "Parse the header" not in site.get("/r/shop/sessions?q=parse&state=completed").text
    assert "Parse the header" not in site.get("/r/shop/sessions?q=100%25").text


@pytest.fixture
def feature(site, repository) -> str:
    """A feature of which everybody said something hostile."""
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    bead_commands.add(store, "Windows", BeadType.EPIC, id="f-1", actor="ada")
    own = Criterion(f"fast {EVIL}", "manual", usual=False)
    store.begin_feature(Feature("f-1", f"Windows {EVIL}", EVIL, (own,), (f"src/{EVIL}",), EVIL, actor="ada"))
    store.put([Bead("step", f"Paths {EVIL[:25]}", epic="f-1", estimate=30)], [], "Shaper")
    store.put([Bead("step-2", "Long paths", epic="f-1")], [Dependency("step-2", "step")], "Shaper")
    session = store.begin_session(SessionKind.PLANNING, "f", "t", ("script", "", ""), f"Begin {EVIL}", "nobrakes").id
    store.change_feature("f-1", {"session": session}, "nobrakes")
    store.escalate(NewEscalation(EscalationType.QUESTION, f"Which {EVIL}?", session=session), None, None, "Shaper")
    store.keep_plan("f-1", [{"id": "step", "title": EVIL}], EVIL, "Shaper")
    store.keep_plan("f-1", [{"id": "step", "title": "Paths"}, {"id": "step-2", "title": EVIL}], EVIL, "Shaper")
    store.begin_review("f-1", 1, "backend", None)
    store.add_finding(Finding(0, "f-1", 1, "backend", f"security {EVIL}", 1, EVIL, EVIL, (EVIL,), "step"))
    store.end_review("f-1", 1, "backend", ReviewState.FAILED, EVIL)
    store.collect("f-1", ItemKind.TODO, f"long {EVIL}", "Ada", file=f"a{EVIL}.py", line=3, blocks=True)
    store.close()
    return "f-1"


def test_a_feature_is_shown_as_text_and_its_forms_are_the_commands(site, feature) -> None:
    for page in ("features", *(f"features/{feature}?as={way}" for way in ("tree", "kanban", "timeline", "none"))):
        found = site.get(f"/r/shop/{page}")
        assert found.status_code == 200 and "Windows" in found.text and "&lt;script&gt;" in found.text
        plain(found.text)
    assert all(
        word in found.text for word in ("Request a change", "Discuss a step", "Version 2", "open point", "Which")
    )
    assert site.get("/r/shop/features/none").status_code == 404
    for name, more in (
        ("change", {"text": "smaller", "step": "step"}), ("pause", {}), ("archive", {}), ("archive", {"back": "1"}),
        ("edit", {"title": "Windows", "notes": "short"}), ("resume", {}), ("cancel", {})):  # fmt: skip
        done = site.post(f"/r/shop/do/forge-{name}", {"feature": feature, **more}, accept="application/json")
        assert done.status_code == 200, (name, done.text)
    said = {"title": "Linux", "description": "Too", "only": ["0", "1"], "criterion": "review: short"}
    made = site.post("/r/shop/do/forge-new", said, accept="application/json")
    assert made.status_code == 200, made.text
    assert [one["how"] for one in made.json()["data"]["criteria"]][1:] == ["review"]
    assert ">Resume<" in site.get("/r/shop/features").text


def test_a_plan_is_signed_off_and_a_checkpoint_asked_for_on_its_page(site, feature, repository) -> None:
    def press(name: str, status: int = 200, **more: str) -> dict:
        done = site.post(f"/r/shop/do/forge-{name}", {"feature": feature, **more}, accept="application/json")
        assert done.status_code == status, (name, done.text)
        return done.json()

    def shown(path: str = f"features/{feature}") -> str:
        return site.get(f"/r/shop/{path}").text

    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.keep_plan(feature, nodes_of(store, feature), "whole", "Shaper")
    assert ">Sign off<" not in shown() and "is discovery" in press("sign-off", 409)["error"]["message"]
    store.move_feature(feature, Step.PLAN_READY, "Shaper")
    assert ">Answer the open point<" in shown() and ">Sign off<" not in shown()
    assert "open point" in press("sign-off", 409, take_risk="1", reason="small")["error"]["message"]
    press("answer", number=str(store.items(feature)[0].id), text=f"Leave it {EVIL}")
    assert ">Sign off<" in shown() and "Add the collected items to the plan now" not in shown()
    assert "reviews" in press("sign-off", 409, reason="small")["error"]["message"]
    kept = press("sign-off", take_risk="1", reason=f"small {EVIL}")["data"]
    assert (kept["version"], kept["risk"], kept["open"]) == (3, True, 1)
    press("checkpoint", 409)
    plan = {"revision": site.get("/r/shop/api/plan", accept="application/json").json()["data"]["revision"]}
    yes = site.post("/r/shop/do/commit-strategy", plan, accept="application/json")
    assert yes.json()["data"]["features"] == [feature] and f"agents now build feature {feature}" in yes.text, yes.text
    assert "Add the collected items to the plan now" in shown() and ">Sign off<" not in shown()
    press("checkpoint")
    assert store.feature(feature).data["checkpoint_asked"]
    press("pause")
    press("archive")
    store.close()
    assert "Show in lists again" in shown() and feature not in shown("features") and "Archived (1)" in shown("features")
    away = shown("features?archived=1&q=windows")
    assert feature in away and ">Show again<" in away and 'name="archived" value="1"' in away
    press("archive", back="1")
    assert feature in shown("features") and ">Archive<" in shown()


def test_a_page_starts_a_session_that_works(site) -> None:
    done = site.post("/r/shop/do/session-start", {"text": "Write a file", "works": "1", "agent": "script"})
    assert done.status_code == 303, done.text
    page = site.get("/r/shop/sessions/1").text
    assert "relay" in page and "nothing is committed yet" in page and "session-hand-in" not in page
    refused = site.post("/r/shop/do/session-hand-in", {"number": "1"}, accept="application/json")
    assert refused.status_code == 409 and "nothing of session 1 to hand in" in refused.text


class Form(HTMLParser):
    """The fields of the form for one command: (tag, attributes) by name, and what it would send as it stands."""

    def __init__(self, page: str, slug: str) -> None:
        super().__init__()
        self.slug, self.is_in, self.select = slug, False, ""
        self.fields: dict[str, tuple[str, dict[str, str | None]]] = {}
        self.sends: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.is_in = (given["action"] or "").endswith(f"/do/{self.slug}") and given.get(
                "class", ""
            ).strip() == "command"
        if not self.is_in:
            return
        if name := given.get("name"):
            self.fields[name] = tag, given
            self.select = name if tag == "select" else ""
            if tag == "textarea" or (tag == "input" and given.get("type") not in ("checkbox", "radio")):
                self.sends[name] = given.get("value") or ""
        if tag == "option" and (self.select not in self.sends or "selected" in given):
            self.sends[self.select] = given.get("value") or ""


def test_each_command_has_a_form_of_its_fields_or_says_why_not(site) -> None:
    for command in COMMANDS:
        found = site.get(f"/r/shop/do/{command.slug}")
        assert found.status_code == 200, found.text
        plain(found.text)
        form = Form(found.text, command.slug)
        own = {"request", "then", "sparse"} | ({"typed", "code"} if command.danger else set())
        assert form.fields.keys() - own == {one.name for one in command.parameters}
        for one in command.parameters:
            tag, given = form.fields[one.name]
            assert not one.is_required() or "required" in given, one.name
            wanted = "select" if one.field.one_of else "textarea" if one.type.__name__ == "tuple" else ""
            assert not wanted or tag == wanted, one.name
            assert not one.field.choices or all(f'value="{word}"' in found.text for word in one.field.choices)
        assert ("typed" in form.fields) == bool(command.danger)
    for words in [*NOT_HERE, "nothing"]:
        found = site.get(f"/r/shop/do/{words.replace(' ', '-')}")
        assert found.status_code == 422 and "pages cannot run the command" in found.text


FILLED = {
    "add": {"title": "Count the till", "labels": "money\nurgent", "needs_tests": "0", "estimate": "2h", "id": "nb-9"},
    "edit": {"bead": "nb-1", "title": "Parse it"}, "depend": {"bead": "nb-1", "needs": "nb-9"},
    "undepend": {"bead": "nb-2", "needs": "nb-1"}, "hold": {"bead": "nb-2"}, "retry": {"bead": "nb-2"},
    "defer": {"bead": "nb-1", "until": "8h"}, "undo": {}, "done": {"bead": "nb-1"}, "cancel": {"bead": "nb-2"},
    "reopen": {"bead": "nb-2"}, "approve": {}, "quarantine": {"check": "build", "reason": "slow"},
    "plan apply": {"plan": "beads:\n  - {id: p-1, title: From a plan}\n"}, "pause": {}, "resume": {},
    "propose": {"plan": "# Tills\n\n- [ ] Count the coins\n"}, "set": {"limits": "doers=2\nidle_minutes=9"},
    "session start": {"text": "What is here?", "agent": "script"},
    "forge new": {"title": "Windows", "description": "Too", "without": "1, 2"},
}  # fmt: skip


def test_a_form_that_is_sent_as_it_stands_does_its_command(site) -> None:
    """What is left empty changes nothing."""
    for words, filled in FILLED.items():
        slug = words.replace(" ", "-")
        form = Form(site.get(f"/r/shop/do/{slug}?then=/r/shop/board").text, slug)
        done = site.post(f"/r/shop/do/{slug}", {**form.sends, **filled}, accept="text/html")
        assert (done.status_code, done.headers.get("location")) == (303, "/r/shop/board"), (words, done.text)
    bead = site.get("/r/shop/api/beads/nb-9").json()["data"]
    assert (bead["labels"], bead["needs_tests"], bead["estimate"]) == (["money", "urgent"], False, 120)
    assert (bead["priority"], bead["epic"], bead["type"]) == (2, None, "task")
    assert site.get("/r/shop/api/beads/nb-1").json()["data"]["title"] == "Parse it"
    assert site.get("/r/shop/api/beads/nb-2").json()["data"]["status"] == "needs_tests"
    assert [one["title"] for one in site.get("/r/shop/api/features").json()["data"]["features"]] == ["Windows"]


def test_a_form_is_filled_from_the_address_and_leads_back_only_to_a_page_of_ours(site) -> None:
    query = "bead=nb-2&needs=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&nothing=1&then=//evil.invalid"
    page = site.get(f"/r/shop/do/undepend?{query}").text
    plain(page)
    form = Form(page, "undepend")
    assert (form.sends["bead"], form.sends["type"], form.sends["then"]) == ("nb-2", "blocks", "/")
