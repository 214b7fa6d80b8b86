"""The picture of a run."""

import io

from nobrakes.beads.model import Attempt, Bead, Role
from nobrakes.cli import daemon
from nobrakes.cli.screen import Screen
from nobrakes.daemon.model import Board
from nobrakes.daemon.service import status
from nobrakes.events.kinds import Event, Kind
from nobrakes.host.port import Notice
from nobrakes.review.journal import Journal, Step
from nobrakes.text.cleaning import width


class Beads:
    """As much of a store as titles need; counts its questions."""

    def __init__(self):
        self.asked = 0

    def bead(self, bead):
        self.asked += 1
        return Bead(bead, f"Title of {bead} \U0001f680" + "x" * 500)

    def attempt(self, attempt):
        return ADA if attempt == 1 else REVIEW


ADA = Attempt(1, "nb-1", 1, Role.DOER, "Ada", 1, "t", 100.0)
REVIEW = Attempt(2, "nb-2", 1, Role.REVIEWER, "Reviewer", 1, "t", 150.0, data=Journal(Step.VALIDATE_REBASED).as_data())


def test_one_line_a_worker_with_its_last_words_then_counts_and_events():
    board = Board(now=160.0, attempts=(ADA, REVIEW))
    lines = daemon.picture(
        board,
        221.0,
        daemon.Titles(Beads()),
        lambda a: "reads\x1b[2J parser.py",
        "1 done, 2 ready",
        [("green", "12:00:00 merged")],
        Screen(100),
    )
    assert [line.split()[:3] for line in lines[:2]] == [["Ada", "doer", "nb-1"], ["Reviewer", "reviewer", "nb-2"]]
    assert "2 min" in lines[0] and "reads parser.py" in lines[0] and "\x1b" not in lines[0]
    assert "checking on top of main" in lines[1]
    assert lines[2] == "1 done, 2 ready" and lines[3] == "12:00:00 merged"
    assert all(width(line) < 100 for line in lines)


def test_a_review_that_waits_says_for_what():
    waiting = Attempt(
        2, "nb-2", 1, Role.REVIEWER, "R", 1, "t", 0.0, data=Journal().with_values(waiting="main has edits").as_data()
    )
    assert status.review_step(waiting) == "waits: main has edits"


def test_a_paused_board_says_so():
    assert daemon.picture(Board(now=1.0, paused=True), 1.0, daemon.Titles(Beads()), str, "", [], Screen(80)) == [
        "  paused"
    ]


def test_the_picture_is_drawn_over_the_last_one(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    with daemon.Picture(Beads(), lambda a: "", lambda: "1 ready") as view:
        view.event(Event(Kind.DOER_STARTED, "nb-1", 1, at=1.0))
        view.board(Board(now=160.0, attempts=(ADA,)))
        view._draw()
    first, second = out.getvalue().split("\x1b[3A")
    assert first.count("\n") == second.count("\n") == 3 and "1 ready" in second


def test_titles_are_read_once():
    store = Beads()
    titles = daemon.Titles(store)
    assert titles.of("nb-1") == titles.of("nb-1") and titles.of(None) == "" and store.asked == 1


def test_elsewhere_it_is_one_line_an_event(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    daemon.Plain(Beads(), 1.0).event(Event(Kind.DOER_STARTED, "nb-1", 1, at=1.0))
    assert out.getvalue().count("\n") == 1 and "Ada" in out.getvalue() and "doer started" in out.getvalue()


def test_a_line_with_the_date_stands_where_a_new_day_begins(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    lines = daemon.Plain(Beads(), 0.0)
    for day in (3, 3, 4):
        lines.event(Event(Kind.PAUSED, actor="kim", at=day * 86400.0))
    assert [line.startswith("---") for line in out.getvalue().splitlines()] == [True, False, False, True, False]


def test_what_a_notice_says_is_not_said_again_by_its_event(capsys):
    plain = daemon.Plain(Beads(), 0.0)
    asked = {"escalation": 1, "type": "question", "title": "Which tea?"}
    plain.tell(Notice("escalation 1: question: Which tea?", "nb-1", urgent=True))
    for kind in (Kind.ESCALATED, Kind.SUGGESTED):
        plain.event(Event(kind, "nb-1", actor="nobrakes", data=asked))
    plain.event(Event(Kind.RESOLVED, "nb-1", actor="Ada", data={"how": "retry"}))
    said = capsys.readouterr().out
    assert said.count("Which tea?") == 1 and said.startswith("! nb-1: escalation 1") and "resolved" in said


def test_frozen_merges_wait_until_main_is_green_whatever_fails_there():
    lines = daemon.picture(Board(now=1.0, frozen=True), 1.0, daemon.Titles(Beads()), str, "", [], Screen(80))
    assert lines == ["  waiting  merges frozen until main passes its checks"]
