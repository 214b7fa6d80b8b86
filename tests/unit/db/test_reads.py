"""What hot commands read is what the store says, and what agents write there is bounded and fenced."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.db import edits
from nobrakes.beads.model import ADDED, FIELDS, Attempt, AttemptLog, Bead, BeadType, Dependency, Outcome, Role, Status
from nobrakes.beads.progress import added_texts
from nobrakes.beads.service import bead_page
from nobrakes.db import fast
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NoSuchEscalation, NotAllowed, Stale, UsageError
from nobrakes.events.kinds import Event, Kind
from nobrakes.records import plain
from nobrakes.requests.model import PullRequest, PullState, view
from nobrakes.store import Store, create_store

HEAVY = [
    "json",
    "re",
    "enum",
    "dataclasses",
    "typing",
    "sqlite3",
    "sqlmodel",
    "collections.abc",
    "nobrakes.beads.model",
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "nobrakes.db")


@pytest.fixture
def store(path: str) -> Iterator[Store]:
    made = create_store(path)
    yield made
    assert made.check() == []
    made.close()


def filled(store: Store) -> Attempt:
    store.put(
        [
            Bead("e", "Epic", BeadType.EPIC, status=Status.OPEN),
            Bead(
                "a", "Ünï \"quoted\" 'x'", status=Status.NEEDS_DOER, epic="e", estimate=7, metadata={"k": [1.5, None]}
            ),
            Bead("b", "B", status=Status.NEEDS_DOER, acceptance=("one\n", "two\t"), labels=("l",), priority=0),
            Bead("w", "W", status=Status.NEEDS_DOER, held="why"),
            Bead("c", "C", status=Status.NEEDS_TESTS),
        ],
        [Dependency("c", "a")],
        "me",
    )
    attempt = store.open_attempt("c", Role.TEST_WRITER, "script", ["Ada"], 60.0, None)
    assert attempt is None
    attempt = store.open_attempt("b", Role.DOER, "script", ["Ada"], 60.0, None)
    assert attempt is not None
    return attempt


def bare(value: Any) -> Any:
    return json.loads(json.dumps(plain(value)))


def test_importing_it_costs_next_to_nothing() -> None:
    program = f"import sys, nobrakes.db.fast; print([m for m in {HEAVY!r} if m in sys.modules])"
    # without site: what other packages' .pth files import is not ours
    root = str(Path(fast.__file__).parents[2])
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {root!r}); {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "[]"


def test_the_fields_of_hot_commands_are_those_of_the_record() -> None:
    assert tuple(name.lstrip("?{") for name in fast.BEAD_FIELDS.split()) == FIELDS and fast.ADDED == ADDED


def test_fields_without_a_place_of_their_own_are_shown_by_name() -> None:
    names = ("close_reason", "labels", "needs_tests", "notes")
    bead = Bead("a", "A", labels=("x", "y"), close_reason="it works")
    shown = [("close reason", "it works"), ("labels", "x, y"), ("needs tests", "True")]
    assert added_texts(bead, names) == added_texts(plain(bead), names) == shown


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_ready_is_what_the_store_says(store: Store, path: str, limit: int) -> None:
    assert fast.ready_json(path, limit) == ("[]", 0)
    filled(store)
    store.put([Bead(f"m{i}", "More", status=Status.NEEDS_TESTS, priority=i % 5) for i in range(9)], [], "me")
    found, more = fast.ready_json(path, limit)
    assert json.loads(found) == bare(store.ready(limit))
    assert more == bead_page.ready_beyond(store, limit) == max(0, len(store.ready(1000)) - limit)


def test_ready_lets_in_what_has_come_due(store: Store, path: str) -> None:
    filled(store)
    store.record(Event(Kind.DEFERRED, "a", data={"until": store.now() + 3600}))
    assert json.loads(fast.ready_json(path, 9)[0]) == []
    store.run("UPDATE beads SET defer_until = 1.0 WHERE id = 'a'")
    assert [bead["id"] for bead in json.loads(fast.ready_json(path, 9)[0])] == ["a"]


def test_ready_lets_rise_what_has_waited_for_a_day(store: Store, path: str) -> None:
    store.put([Bead("old", "Old", status=Status.NEEDS_DOER), Bead("new", "New", status=Status.NEEDS_DOER)], [], "me")
    store.change("old", {"priority": 3}, "me")
    store.run(
        "UPDATE beads SET rises_at = rises_at - 2 * 86400, ready_since = ready_since - 2 * 86400 WHERE id = 'old'"
    )
    found = json.loads(fast.ready_json(path, 9)[0])
    assert [bead["id"] for bead in found] == ["old", "new"] and found == bare(store.ready(9))


def settled(cost: dict[str, Any], is_open: bool) -> dict[str, Any]:
    """The cost without the time of agents if it goes on between two looks."""
    if not is_open:
        return cost
    return {**cost, "seconds": 0, "providers": [{**one, "seconds": 0} for one in cost["providers"]]}


@pytest.mark.parametrize("bead", ["a", "b", "c", "e", "w"])
def test_show_is_what_the_store_says_without_tokens(store: Store, path: str, bead: str) -> None:
    attempt = filled(store)
    edits.agent_done(path, attempt.token, "failed", "sum", "bl", "le", keep=False)
    for title in ("idea", "other"):
        store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, title, evidence={"x": 1}), "a", None, "me")
    for priority in (3, 1):
        form = forms.as_values(forms.made("radio", ["x", "ü: \"q\"; costs 'all'"], priority=priority))
        asked = store.escalate(NewEscalation(EscalationType.QUESTION, "which?", form=form), "a", None, "me")
    store.escalate(NewEscalation(EscalationType.QUESTION, "any?"), "a", None, "me")
    store.answer(asked.id, "x", "me", "x")
    store.take_back(asked.id, "me")
    quoted = {"by": "ann", "text": "\"Ü'", "path": "", "line": 0}
    kept = PullRequest("a", PullState.OPEN, 7, "https://host/7", remarks=(quoted,), approved_by=("bob",), told=("x",))
    store.save_pull(kept)
    store.save_pull(PullRequest("c", url="javascript:x"))
    store.set_setting("pull/e", '{"number": 3}')  # as another version kept it
    pull = store.pull(bead)
    expected = bare(store.bead(bead)) | {
        "dependencies": bare(store.dependencies(bead)),
        "attempts": bare(store.attempts(bead)),
        "escalations": bare([e for e in store.escalations() if e.bead == bead]),
        "request": None if pull is None else bare(view(pull)),
    }
    shown = fast.show_json(path, bead)
    found = json.loads(shown or "{}")
    is_open = any(one.outcome is None for one in store.attempts(bead))
    assert settled(found.pop("cost"), is_open) == settled(bare(store.cost_of(bead)), is_open) and found == expected
    assert attempt.token not in shown
    assert fast.show_json(path, "ghost") is None


def test_an_agent_speaks(store: Store, path: str) -> None:
    attempt = filled(store)
    for word, kind in (("log", Kind.LOGGED), ("progress", Kind.PROGRESSED), ("notify", Kind.NOTIFIED)):
        edits.agent_say(path, attempt.token, word, f"{word} it", '{"step": 3}')
        event = store.events()[-1]
        assert (event.kind, event.bead, event.attempt, event.actor) == (kind, "b", attempt.id, "Ada")
        assert event.data == {"text": f"{word} it", "data": {"step": 3}}
    with pytest.raises(UsageError):
        edits.agent_say(path, attempt.token, "log", "x", "{not json")
    assert store.events()[-1].kind is Kind.NOTIFIED


def test_what_agents_say_is_bounded(store: Store, path: str) -> None:
    attempt = filled(store)
    edits.agent_say(path, attempt.token, "log", "a\0b\udcff" + "x" * 100_000)
    text = store.events()[-1].data["text"]
    assert text.startswith("ab?xxx") and text.endswith("x […]") and len(text) == edits.LIMIT
    edits.agent_done(path, attempt.token, "completed", "y" * 9000)
    assert len(store.attempt(attempt.id).log.summary) == edits.LIMIT
    number = edits.agent_escalate(path, attempt.token, "t" * 9000, "d\0" * 9000)
    assert len(store.escalation(number).title) == len(store.escalation(number).detail) == edits.LIMIT


def test_what_an_agent_says_of_its_end_outlives_the_journal(store: Store, path: str) -> None:
    attempt = filled(store)
    edits.agent_done(path, attempt.token, "gave_up_tests", "tried", "walls", "lots", keep=False)
    store.journal(attempt.id, {"phase": "agent"})
    found = store.attempt(attempt.id)
    assert found.data == {"phase": "agent", "said": "gave_up_tests"}
    assert found.log == AttemptLog("tried", "walls", "lots", False)
    assert store.events()[-1].data == {"outcome": "gave_up_tests"}
    after = store.close_attempt(found, Kind.DOER_STOPPED, Outcome.GAVE_UP_TESTS)
    assert after.branch_kept is False and store.attempt(attempt.id).log == found.log
    with pytest.raises(UsageError):
        other = store.open_attempt("b", Role.DOER, "script", ["Ada"], 60.0, None)
        assert other is not None
        edits.agent_done(path, other.token, "merged", "")


def test_an_agent_asks_and_is_answered(store: Store, path: str) -> None:
    attempt = filled(store)
    with pytest.raises(NoSuchEscalation):
        edits.agent_answer(path, attempt.token)
    number = edits.agent_ask(path, attempt.token, "which?")
    assert edits.agent_ask(path, attempt.token, "Which? ") == number
    assert edits.agent_answer(path, attempt.token, number) == edits.agent_answer(path, attempt.token) == (number, None)
    assert store.escalation(number).attempt == attempt.id
    foreign = store.escalate(NewEscalation(EscalationType.QUESTION, "mine"), "a", None, "me").id
    with pytest.raises(NoSuchEscalation):
        edits.agent_answer(path, attempt.token, foreign)
    store.answer(number, "that one", "me")
    assert edits.agent_answer(path, attempt.token, number) == (number, "that one")


OPTIONS = [{"label": "UTC", "means": "password: hunter2secret"}, {"label": "C\x1b[0mET\udcff"}]
FORM = json.dumps({"kind": "radio", "options": OPTIONS, "recommended": ["utc"], "priority": 1})


def test_an_agent_asks_with_a_form(store: Store, path: str) -> None:
    attempt = filled(store)
    number = edits.agent_ask(path, attempt.token, "which?", FORM)
    assert edits.agent_ask(path, attempt.token, "which?", FORM) == number
    assert edits.agent_ask(path, attempt.token, "which?") != number
    form = store.escalation(number).form
    assert form is not None and form["recommended"] == ["UTC"] and form["priority"] == 1
    assert [one["label"] for one in form["options"]] == ["UTC", "CET?"] and "hunter2" not in str(form)
    for wrong in ("{", "[]", '{"kind": "radio"}', '{"kind": "yes_no", "x": 1}', " " * 30_000, "[" * 900 + "]" * 900):
        with pytest.raises(UsageError):
            edits.agent_ask(path, attempt.token, "which now?", wrong)
    assert len(store.escalations()) == 2


@pytest.mark.parametrize("by", ["answer", "number", "bead"])
def test_who_reads_an_answer_acts_by_it(store: Store, path: str, by: str) -> None:
    attempt = filled(store)
    other = edits.agent_ask(path, attempt.token, "other?")
    number = edits.agent_ask(path, attempt.token, "which?")
    for one in (other, number):
        store.answer(one, "so", "me")
    seq = store.position().seq
    edits.agent_own(path, attempt.token)
    assert store.position().seq == seq, "nothing of it was shown"
    for _ in range(2):
        if by == "bead":
            assert '"answer":"so"' in edits.agent_own(path, attempt.token, reads=True)
        else:
            assert edits.agent_answer(path, attempt.token, number if by == "number" else None) == (number, "so")
    read = [other, number] if by == "bead" else [number]
    found = [(e.kind, e.actor, e.attempt, e.data["escalation"]) for e in store.events(seq)]
    assert found == [(Kind.ANSWER_READ, "Ada", attempt.id, one) for one in read]
    for one in read:
        with pytest.raises(NotAllowed, match="Ada read the answer"):
            store.take_back(one, "me")
    if by != "bead":
        assert store.take_back(other, "me").answer is None


def filed(store: Store, file: Callable[[Attempt], int]) -> list[list[tuple[Any, ...]]]:
    """Every row that a filing leaves, the times left out: they are the clock's."""
    attempt = filled(store)
    numbers = [file(attempt), file(attempt)]
    assert numbers[0] == numbers[1], "the same is filed once"
    assert store.check() == []
    run = store.connection.execute
    run("UPDATE beads SET created_at = 0, updated_at = 0, ready_since = 0, rank = 0, rises_at = 0, lease_until = 0")
    run("UPDATE attempts SET started_at = 0, token = ''")
    run("UPDATE events SET at = 0 WHERE at > 0")
    run("UPDATE escalations SET created_at = 0 WHERE created_at > 0")
    tables = ("beads", "attempts", "events", "escalations", "bead_text", "settings")
    return [[tuple(row) for row in run(f"SELECT * FROM {name} ORDER BY 1")] for name in tables]


TITLES = ["Why?", "  Ünï \"q\" \\ / 'x' ", "tab\tline\nend\r\x01\x7f\u2028ß", "a\0b\udcff", "T" * 9000]


@pytest.mark.parametrize("title", TITLES, ids=range(len(TITLES)))
@pytest.mark.parametrize("form", [None, forms.as_values(forms.made("radio", ['ü: "q"', "'x'"], priority=3))])
@pytest.mark.parametrize("type_", [EscalationType.QUESTION, EscalationType.DOER_SUGGESTION])
def test_what_an_agent_files_leaves_the_rows_that_the_store_leaves(
    tmp_path: Path, type_: EscalationType, title: str, form: dict[str, Any] | None
) -> None:
    if type_ is not EscalationType.QUESTION:
        form = None
    detail = "" if type_ is EscalationType.QUESTION else f"more: {title}"
    here, there = str(tmp_path / "hot.db"), str(tmp_path / "whole.db")

    def by_hot(attempt: Attempt) -> int:
        if type_ is EscalationType.QUESTION:
            return edits.agent_ask(here, attempt.token, title, json.dumps(form) if form else "")
        return edits.agent_escalate(here, attempt.token, title, detail)

    def by_store(attempt: Attempt) -> int:
        new = NewEscalation(type_, edits.bounded(title), edits.bounded(detail), form=form)
        return whole.escalate(new, attempt.bead, attempt.id, attempt.name).id

    made, whole = create_store(here), create_store(there)
    assert filed(made, by_hot) == filed(whole, by_store)
    made.close()
    whole.close()


CALLS: dict[str, Callable[[str, str], object]] = {
    "say": lambda path, token: edits.agent_say(path, token, "log", "x"),
    "done": lambda path, token: edits.agent_done(path, token, "completed", "x"),
    "ask": lambda path, token: edits.agent_ask(path, token, "x"),
    "escalate": lambda path, token: edits.agent_escalate(path, token, "x"),
    "answer": lambda path, token: edits.agent_answer(path, token),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_door_is_closed_to_everybody_else(store: Store, path: str, call: Callable[[str, str], object]) -> None:
    attempt = filled(store)
    wrong = ["", "x", f"{attempt.id}.", attempt.token[:-1], attempt.token + "x", "9" * 30, "\udcff", "²"]
    for token in wrong:
        with pytest.raises(Stale):
            call(path, token)
    store.record(Event(Kind.CANCELLED, "b"))
    before = store.events()
    with pytest.raises(Stale):
        call(path, attempt.token)
    assert store.events() == before and store.escalations() == []


def test_who_is_blocked_has_asked_and_ended_or_neither(store: Store, path: str) -> None:
    attempt, form = filled(store), json.dumps(forms.as_values(forms.made("radio", ["a", "b"])))
    with sqlite3.connect(path) as own:
        own.execute("CREATE TRIGGER full BEFORE UPDATE OF said ON attempts BEGIN SELECT raise(ABORT, 'full'); END")
    with pytest.raises(Exception, match="full"):
        edits.agent_blocked(path, attempt.token, "No endpoint", form)
    assert store.escalations() == []
    with sqlite3.connect(path) as own:
        own.execute("DROP TRIGGER full")
    number = edits.agent_blocked(path, attempt.token, "No endpoint", form)
    asked, ended = store.escalation(number), store.attempt(attempt.id)
    assert (asked.title, dict(asked.evidence), ended.data["said"]) == ("No endpoint", {"blocker": True}, "blocked")
    assert (
        ended.log.blockers == "No endpoint" and edits.agent_blocked(path, attempt.token, "No endpoint", form) == number
    )
