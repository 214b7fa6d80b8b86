"""Public events: every kind is thought of, every name has its example, and what began ends once."""

from dataclasses import fields, replace

import pytest

from docs.generate.public_samples import DATA, examples, sample
from nobrakes.beads.model import Attempt, Bead, Outcome, Role
from nobrakes.beads.work_status import SAYS, WorkStatus, after
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.events import payloads, words
from nobrakes.events.catalog import TABLE
from nobrakes.events.kinds import Event, Kind
from nobrakes.events.payloads import Name
from nobrakes.events.words import path_mistake
from nobrakes.records import mistakes, schema


class Known:
    """One bead with what is known of it."""

    def __init__(self, *attempts: Attempt, asked: tuple[Escalation, ...] = ()) -> None:
        self._attempts, self._asked = attempts, asked

    def bead(self, bead: str) -> Bead | None:
        return Bead(bead, "A title")

    def attempts(self, bead: str) -> tuple[Attempt, ...]:
        return self._attempts

    def escalations(self, bead: str) -> tuple[Escalation, ...]:
        return self._asked

    def status(self, event: Event) -> WorkStatus | None:
        return after(None, event) if event.kind in SAYS else None


def ada(number: int = 1, **more: object) -> Attempt:
    return replace(Attempt(number, "nb-1", number, Role.DOER, "Ada", 1, "", 100.0 * number), **more)


def test_no_kind_is_forgotten() -> None:
    assert list(TABLE) == list(Kind)
    assert all(bool(found.public) != bool(found.inside) for found in TABLE.values()), "rules, or why there are none"


def test_every_name_has_an_example() -> None:
    made = {one.name for kind in Kind for one in examples(kind)}
    assert made == set(Name) - {Name.LOG_BEGUN}
    assert set(DATA) == set(Kind)


@pytest.mark.parametrize("kind", Kind)
def test_what_is_said_fits_its_schema_and_is_one_language(kind: Kind) -> None:
    for one in examples(kind):
        said = one.as_values()
        assert list(said) == ["ts", "event", "task_id", "agent", "metadata"]
        own = {field.name: said["metadata"][field.name] for field in fields(one.payload)}
        assert mistakes(own, schema(type(one.payload))) == []
        about = {field.name: said["metadata"][field.name] for field in fields(one.about)}
        assert mistakes(about, schema(words.About)) == [] and about["language"] == words.LANGUAGE
        assert said["metadata"].keys() == own.keys() | about.keys()


def test_the_fields_of_a_payload_are_none_of_those_of_every_event() -> None:
    common = {field.name for field in fields(words.About)}
    for payload in payloads.KINDS:
        assert not common & {field.name for field in fields(payload)}, payload


def test_an_agent_speaks_under_its_name_and_not_its_programs() -> None:
    begun = Event(Kind.DOER_STARTED, "nb-1", 1, "nobrakes", {"name": "Ada", "agent": "claude", "number": 1}, 7, 100.0)
    spawned, started, status = words.public(begun, Known(ada()))
    assert spawned.as_values() == {
        "ts": "1970-01-01T00:01:40.000Z",
        "event": "doer_spawned",
        "task_id": "nb-1",
        "agent": "Ada",
        "metadata": {
            "language": 1,
            "seq": 7,
            "part": 1,
            "parts": 3,
            "attempt_count": 1,
            "last_outcome": None,
            "escalated": False,
            "area": None,
            "semantic_id": None,
            "attempt": 1,
            "number": 1,
            "role": "",
            "cli": "claude",
            "model": "",
        },
    }
    assert (started.name, started.about.part) == (Name.STEP_STARTED, 2)
    assert (status.name, status.payload) == (
        Name.STATUS,
        payloads.Status(
            attempt=1,
            step_id="nb-1",
            status="IN_PROGRESS",
            files_modified=0,
            tests_status="NOT_RUN",
            work_type="IMPLEMENTATION",
            progress=0,
            message="Ada started attempt 1",
        ),
    )


@pytest.mark.parametrize("kind", sorted(words.TAKES_AWAY))
def test_who_loses_the_bead_to_a_decision_has_ended(kind: Kind) -> None:
    event = Event(kind, "nb-1", 1, "you", {"before": "doing"}, 9, 200.0)
    ended, *others = words.public(event, Known(ada()))
    assert (ended.name, ended.agent, ended.payload) == (
        Name.DOER_FAILED,
        "Ada",
        payloads.Ended(1, 1, "doer", "cancelled", kind.value),
    )
    assert all(other.agent == "you" for other in others)


def test_a_decision_on_a_bead_that_nobody_has_ends_nothing() -> None:
    (said,) = words.public(Event(Kind.CANCELLED, "nb-1", None, "you", {"reason": "no"}, 9, 200.0), Known(ada()))
    assert said.name is Name.STEP_CANCELLED


@pytest.mark.parametrize(("outcome", "names"), [("crashed", 2), ("timed_out", 2), ("failed", 1)])
def test_a_silent_end_is_said_twice(outcome: str, names: int) -> None:
    event = Event(Kind.DOER_STOPPED, "nb-1", 1, "nobrakes", {"outcome": outcome}, 9, 200.0)
    said = words.public(event, Known(ada()))
    assert [one.name for one in said] == [*[Name.CRASH_TIMEOUT, Name.DOER_FAILED][-names:], Name.STATUS]


def test_what_held_then_is_said_whatever_happened_since() -> None:
    first = ada(1, ended_at=150.0, outcome=Outcome.STALLED)
    second = ada(2, ended_at=260.0, outcome=Outcome.COMPLETED)
    asked = Escalation(1, EscalationType.QUESTION, "nb-1", "Which?", created_at=120.0, resolved_at=180.0)
    known = Known(first, second, asked=(asked,))

    def about(at: float, attempt: int | None) -> tuple[object, ...]:
        (said,) = words.public(Event(Kind.LOGGED, "nb-1", attempt, "Ada", {"text": "x"}, 5, at), known)
        return said.about.attempt_count, said.about.last_outcome, said.about.escalated

    assert about(110.0, 1) == (1, None, False)
    assert about(130.0, 1) == (1, None, True)
    assert about(210.0, 2) == (2, "stalled", False)
    assert about(300.0, None) == (2, "completed", False)


def test_data_of_another_form_is_borne() -> None:
    odd = {"outcome": 5, "number": "many", "head": None, "detail": ["x"]}
    said, status = words.public(Event(Kind.WORK_SUBMITTED, "nb-1", 1, "nobrakes", odd, 3, 1.0), Known(ada()))
    assert mistakes(said.as_values()["metadata"], {"type": "object", "additionalProperties": {}}) == []
    assert (said.payload.outcome, said.payload.number) == ("5", None)  # type: ignore[attr-defined]
    wild = {"text": 7, "data": [1], "changed": "many", "passed": "x", "title": None}
    for kind in (Kind.PROGRESSED, Kind.FILES_CHANGED, Kind.TESTS_RUN, Kind.ESCALATED):
        told = words.public(Event(kind, "nb-1", 1, "Ada", wild, 4, 1.0), Known(ada()))[-1]
        assert told.name is Name.STATUS and told.payload.progress == 0  # type: ignore[attr-defined]
    assert status.name is Name.STATUS


def test_a_bead_that_is_gone_is_still_spoken_of() -> None:
    class Nobody(Known):
        def bead(self, bead: str) -> None:
            return None

    (said,) = words.public(sample(Kind.HELD), Nobody())
    assert said.task_id == "cli" and said.about.attempt_count is None


@pytest.mark.parametrize(
    "path", [".git/x", "a/.GIT/x", ".nobrakes/EVENTS.jsonl", "/r/.nobrakes/x", "../x", "a/../x", "a/", ".", "a\x1b/b"]
)
def test_places_that_are_refused(path: str) -> None:
    assert path_mistake(path)


@pytest.mark.parametrize("path", ["", "EVENTS.jsonl", "logs/events.jsonl", "/var/log/events.jsonl", ".gitlog"])
def test_places_that_may_be(path: str) -> None:
    assert path_mistake(path) == ""
