"""Events as lines and as JSON."""

import json

import pytest

from nobrakes.cli.output import dumps
from nobrakes.core.beads.events import Event, Kind
from nobrakes.wording import event_text

AT = 1_900_000_000.25


def test_the_public_schema():
    event = Event(Kind.DOER_STARTED, "nb-1", 7, "nobrakes", {"name": "Ada"}, seq=3, at=AT)
    assert json.loads(dumps(event_text.as_json(event))) == {
        "ts": "2030-03-17T17:46:40.250Z",
        "event": "doer_spawned",
        "task_id": "nb-1",
        "agent": "nobrakes",
        "metadata": {"seq": 3, "kind": "doer_started", "attempt": 7, "name": "Ada"},
    }


def test_a_kind_without_a_public_name_keeps_its_own():
    assert event_text.as_json(Event(Kind.PAUSED))["event"] == "paused"


def test_public_names_are_not_used_twice():
    names = [event_text.PUBLIC_NAMES.get(kind, kind.value) for kind in Kind]
    assert len(set(names)) == len(names)


def test_a_line_says_when_who_what_and_where():
    event = Event(Kind.TEST_WRITER_STARTED, "nb-1", 7, "nobrakes", {}, at=AT)
    line = event_text.as_line(event, "Parse the header", "Ada")
    assert line[8:] == "  Ada          test_writer started   nb-1  Parse the header"


def test_a_line_is_one_line_whatever_the_title_holds():
    event = Event(Kind.NOTIFIED, "nb-1", None, "Ada\x1b[31m", {"text": "two\nlines\x07" + "x" * 10_000})
    line = event_text.as_line(event, "a\x1b[2Jb", width=100)
    assert "\n" not in line and "\x1b" not in line and len(line) <= 100


@pytest.mark.parametrize(("commit", "word"), [("1" * 40, " culprit found"), (None, "no culprit found")])
def test_a_search_for_who_broke_main_says_whether_it_found_somebody(commit: str | None, word: str) -> None:
    line = event_text.as_line(Event(Kind.CULPRIT_FOUND, data={"commit": commit, "why": "unsure"}))
    assert word in line and ("no culprit" in line) == (commit is None)
