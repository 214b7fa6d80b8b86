"""What agents type is answered in one of two ways, and nobody can tell which: by the table alone, or by typer."""

import io
import os
import subprocess
from pathlib import Path

import pytest

from nobrakes.agents.service import agent_api, own_work
from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.cli import hot, main
from nobrakes.errors import UsageError
from nobrakes.events.kinds import Kind
from nobrakes.store import Store, create_store
from tests.support.dose import everyday


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store in which Ada works on her second attempt at a bead that asks for a plan; her door is this process's."""
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    folder = tmp_path / ".nobrakes"
    folder.mkdir()
    store = create_store(str(folder / "nobrakes.db"))
    bead = Bead("b1", "Pärse", notes="x\u202e", needs_tests=False, status=Status.NEEDS_DOER, labels=("plan-review",))
    store.put([bead], [], "me")
    first = store.open_attempt("b1", Role.DOER, "script", ("Ada",), 600.0, None)
    assert first is not None
    store.close_attempt(first, Kind.DOER_STOPPED, Outcome.GAVE_UP_TESTS, detail="no \x1b[31mway")
    attempt = store.open_attempt("b1", Role.DOER, "script", ("Ada",), 600.0, None)
    assert attempt is not None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOBRAKES_HOME", str(folder))
    monkeypatch.setenv("NOBRAKES_TOKEN", attempt.token)
    monkeypatch.delenv("NOBRAKES_WORKSPACE", raising=False)
    monkeypatch.setattr(own_work, "new_nonce", lambda: "0" * 12)
    return store


PLAIN = [
    ["bead"],
    ["attempts"],
    ["whats-next"],
    ["log", "tält\u200b"],
    ["log", "-"],
    ["log", "--", "--json"],
    ["progress", "half"],
    ["progress", "half", "--step", "5", "--of=9"],
    ["progress", "half", "--percent=40", "--work-type", "testing"],
    ["notify", "look"],
    ["ask", "Which?"],
    ["ask", "Which?", "--wait", "0"],
    ["ask", "Which?", "--option", "UTC: as the logs", "--option=C\x1b[0mET", "--recommend", "utc", "--priority", "1"],
    ["ask", "Which?", "--option", "a", "--option", "-", "--checkbox", "--optional", "--context", "so"],
    ["ask", "Sure?", "--yes-no", "--recommend=yes"],
    ["ask", "Why?", "--long"],
    ["request-review", "1. parse"],
    ["blocked", "No endpoint", "--option", "v1: slow", "--recommend=v1", "--tried", "404"],
    ["escalate", "Split", "--detail", "in two"],
    ["done"],
    ["done", "completed", "--summary", "all of it", "--learnings=CRLF"],
    ["done", "--outcome", "blocked", "--discard-branch"],
    ["done", "failed", "--outcome", "failed", "--keep-branch"],
]


def test_all_operations_are_here() -> None:
    # typer says them: a feature's session and a sprint's agent have the time
    of_features = {"propose", "plan", "plan-ready", "finding", "review", "document"}
    assert {words[0] for words in PLAIN} | {"answer", "test"} | of_features == {
        operation.name for operation in agent_api.OPERATIONS
    }


def both(words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is printed by the table alone, and by typer."""
    said = []
    for answer in (hot.answer, lambda words: main.run(["agent", *words])):
        monkeypatch.setattr("sys.stdin", io.StringIO("from stdin\n"))
        assert answer(words) == 0
        said.append(capsys.readouterr().out)
    return said


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(
    "words", everyday(*PLAIN[::3], ci=[one for one in PLAIN if one not in PLAIN[::3]]), ids=" ".join
)
def test_both_ways_say_the_same(
    store: Store, words: list[str], as_json: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [words[0], *(["--json"] if as_json else []), *words[1:]]
    fast, whole = both(asked, capsys, monkeypatch)
    assert fast == whole != ""
    if not as_json:  # a program gets what is there
        assert "\x1b" not in fast and "\u202e" not in fast and "\u200b" not in fast


def test_both_ways_read_the_same_answer(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both(["ask", "Which?"], capsys, monkeypatch)
    number = store.escalations()[0].id
    for words in (["answer"], ["answer", str(number)], ["answer", "--json"]):
        fast, whole = both(words, capsys, monkeypatch)
        assert fast == whole and str(number) in fast
    store.answer(number, "This \x1b[2Jone", "me")
    fast, whole = both(["answer"], capsys, monkeypatch)
    assert fast == whole == "This one\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["dance"],
        ["bead", "b2"],
        ["log"],
        ["log", ""],
        ["log", " \n"],
        ["log", "one", "two"],
        ["log", "one", "one"],
        ["answer", "1", "1"],
        ["done", "blocked", "blocked"],
        ["ask", "-", "--wait", "1.5"],
        ["escalate", "-", "--detail", "-"],
        ["progress", "x", "--step", "-1"],
        ["progress", "x", "--step", "one"],
        ["progress", "x", "--step", "0", "--of", "0"],
        ["ask", "Why?", "--wait", "3601"],
        ["ask", "Why?", "--wait", "1.5"],
        ["ask", "--question", "Why?"],
        ["ask", "Why?", "--priority", "4"],
        ["ask", "Why?", "--priority", "1", "--priority", "1"],
        ["ask", "Why?", "--option"],
        ["ask", "Why?", "--yes-no=1"],
        ["ask", "Why?", "--context", "-"],
        ["answer", "last"],
        ["escalate", "x", "--detail", "-"],
        ["done", "merged"],
        ["done", "failed", "--outcome", "blocked"],
        ["done", "--summary", "-"],
        ["done", "--keep-branch", "--discard-branch"],
        ["done", "--keep-branch=yes"],
        ["bead", "--help"],
        ["log", "x", "--json", "--json"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_the_whole_command_line(
    store: Store, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.events()[-1]
    stdin = io.StringIO("for whoever comes after us")
    monkeypatch.setattr("sys.stdin", stdin)
    assert hot.answer(words) is None
    assert stdin.read() == "for whoever comes after us"
    assert store.events()[-1] == before and os.environ["NOBRAKES_TOKEN"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--option", "one"], "from 2 to 12 options"),
        (["--option", "a", "--option", "A "], "two options"),
        (["--option", "a", "--option", "b", "--recommend", "c"], "is not an option"),
        (["--option", "a", "--option", "b", "--yes-no"], "has one kind"),
        (["--yes-no", "--long"], "has one kind"),
        (["--checkbox"], "needs options"),
        (["--recommend", "a"], "no options to recommend"),
        ([word for label in range(13) for word in ("--option", f"o{label}")], "at most 12"),
    ],
    ids=" ".join,
)
def test_a_wrong_form_is_refused_with_what_to_correct(
    store: Store, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=said):
        hot.answer(["ask", "Which?", *words])
    assert main.run(["agent", "ask", "Which?", *words]) == 2
    assert said in capsys.readouterr().err and store.escalations() == []
