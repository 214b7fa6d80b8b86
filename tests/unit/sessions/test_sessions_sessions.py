"""An agent's session, found and followed."""

from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.beads.model import Attempt, Bead, Outcome, Role
from nobrakes.daemon.model import Board
from nobrakes.errors import NoSuchBead, NotAllowed
from nobrakes.paths import Paths
from nobrakes.sessions.service import viewing

ADA = Attempt(1, "nb-1", 1, Role.DOER, "Ada", 1, "t", 100.0, agent="script")
REVIEW = Attempt(2, "nb-2", 1, Role.REVIEWER, "Reviewer", 1, "t", 150.0)


class Attempts:
    """As much of a store as sessions need."""

    def __init__(self, *attempts):
        self.all = {attempt.id: attempt for attempt in attempts}

    def board(self, limits):
        return Board(now=0.0, attempts=tuple(a for a in self.all.values() if a.outcome is None))

    def attempt(self, attempt):
        return self.all[attempt]

    def attempts(self, bead):
        return [a for a in self.all.values() if a.bead == bead]

    def bead(self, bead):
        if bead not in ("nb-1", "nb-2"):
            raise NoSuchBead(f"there is no bead '{bead}'")
        return Bead(bead, "T")

    def end(self, attempt, outcome=Outcome.COMPLETED):
        self.all[attempt] = replace(self.all[attempt], outcome=outcome)


@pytest.fixture
def paths(tmp_path):
    return Paths(str(tmp_path / ".nobrakes"))


def output_of(paths, attempt) -> Path:
    path = Path(viewing.attempt_output(paths, attempt).path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("wanted", ["Ada", "ada", "nb-1"])
def test_who_works_is_found_by_name_and_by_bead(paths, wanted):
    assert viewing.find_session(Attempts(ADA, REVIEW), paths, wanted).attempt == 1


def test_a_bead_at_rest_has_its_last_session(paths):
    later = replace(ADA, id=3, number=2, outcome=Outcome.FAILED)
    store = Attempts(replace(ADA, outcome=Outcome.FAILED), later, replace(REVIEW, bead="nb-1", id=4))
    assert viewing.find_session(store, paths, "nb-1").attempt == 3


def test_nobody_and_nothing_are_errors_that_say_who_works(paths):
    with pytest.raises(NoSuchBead) as nobody:
        viewing.find_session(Attempts(ADA), paths, "Bob")
    assert "Ada" in nobody.value.hint
    with pytest.raises(NotAllowed):
        viewing.find_session(Attempts(ADA, REVIEW), paths, "nb-2")


def test_following_gives_every_line_once_and_ends_with_the_attempt(paths):
    store = Attempts(ADA)
    path = output_of(paths, ADA)
    path.write_bytes(b"one\ntwo\nthr")
    turns = iter([lambda: append(b"ee\n"), lambda: (append(b"four"), store.end(1))])

    def append(data):
        with path.open("ab") as file:
            file.write(data)

    lines = viewing.transcript(
        store, viewing.attempt_output(paths, ADA), follow=True, last=1, wait=lambda seconds: next(turns)()
    )
    assert [line.text for line in lines] == ["two", "three", "four"]


def test_without_following_it_ends_at_once(paths):
    output_of(paths, ADA).write_bytes(b"one\ntwo\n")
    found = viewing.transcript(Attempts(ADA), viewing.attempt_output(paths, ADA), follow=False, last=100)
    assert [line.text for line in found] == ["one", "two"]


def test_an_agent_that_said_nothing_has_no_lines(paths):
    assert list(viewing.transcript(Attempts(ADA), viewing.attempt_output(paths, ADA), follow=False, last=5)) == []
    assert viewing.Rings(paths).last_line(ADA) == ""


def test_the_last_line_is_the_newest_one_that_says_something(paths):
    output_of(paths, ADA).write_bytes(b"one\ntwo\x1b[31m!\n\n")
    assert viewing.Rings(paths).last_line(ADA) == "two!"


def test_a_viewer_reads_on_and_remembers_the_last_hundred(paths):
    path = output_of(paths, ADA)
    rings = viewing.Rings(paths)
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(250)))
    assert rings.last_line(ADA) == "line 249"
    with path.open("ab") as file:
        file.write(b"one more\nand ha")
    assert rings.last_line(ADA) == "one more"
    assert len(rings._rings[ADA.id].last) == 100
