"""What nobrakes tells people to type is accepted in the very state in which it says so."""

import inspect
import json
import re
import shlex
import subprocess
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Status
from nobrakes.cli import main
from nobrakes.command_table import AT_HOME, COMMANDS
from nobrakes.daemon.service import control
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.features.model import Criterion, Feature, Step
from nobrakes.features.reviewed_plan import YES, nodes_of
from nobrakes.host.locks import DaemonLock
from nobrakes.machine import registry
from nobrakes.store import Store, create_store, open_store

LONG = {"run", "daemon", "shape", "reshape"}
"""They begin a night's work, a talk or a screen."""
REFUSED = {2, 17, 23}


def feature(store: Store, stage: str = "review") -> None:
    """A feature with one draft, whose plan its Shaper called whole."""
    store.put([Bead("login", "Login", type=BeadType.EPIC), Bead("form", "The form", epic="login")], [], "me")
    store.begin_feature(Feature("login", "Login", "People log in.", (Criterion("Tests pass", "automated"),)))
    store.move_feature("login", Step.PROPOSED, "Shaper")
    if stage == "review":
        ready(store)


def ready(store: Store) -> None:
    store.keep_plan("login", nodes_of(store, "login"), "whole", "Shaper")
    store.move_feature("login", Step.PLAN_READY, "Shaper")


def asked_of(store: Store, *steps: Step) -> None:
    feature(store)
    for step in steps:
        store.move_feature("login", step, "me")


def changed(store: Store) -> None:
    feature(store)
    store.change("form", {"title": "Another form"}, "me")


def proposal(store: Store) -> None:
    feature(store, "planning")
    store.put([Bead("live", "Live", epic="login", status=Status.NEEDS_DOER)], [], "me")
    store.propose("live", {"title": {"before": "Live", "after": "Lively", "actor": "s", "at": 1.0}}, "s")
    ready(store)


def cancelled(store: Store) -> None:
    beads = [Bead("gone", "Gone", status=Status.CANCELLED), Bead("left", "Left", status=Status.NEEDS_DOER)]
    beads += [Bead("epic", "Epic", type=BeadType.EPIC, status=Status.CANCELLED)]
    beads += [Bead("below", "Below", epic="epic", status=Status.NEEDS_DOER)]
    store.put(beads, [Dependency("left", "gone")], "me")


def one(store: Store, status: Status = Status.NEEDS_DOER, **more: object) -> None:
    store.put([Bead("a", "A", status=status, **more)], [], "me")  # type: ignore[arg-type]


def escalation(type_: EscalationType) -> Callable[[Store], None]:
    def asks(store: Store) -> None:
        of_main = type_ in (EscalationType.MAIN_RED, EscalationType.BROKEN_CHECKS)
        one(store, Status.NEEDS_DOER if of_main else Status.ESCALATED)
        asked = NewEscalation(type_, "It does not work", "why")
        store.escalate(asked, None if of_main else "a", None, "nobrakes")

    return asks


def in_trouble(store: Store) -> None:
    one(store)
    asked = NewEscalation(EscalationType.BROKEN_ENVIRONMENT, "git hung", "Look.", {control.TROUBLE: True})
    store.escalate(asked, None, None, "nobrakes")
    store.set_setting(control.TROUBLE, "git hung. Look.")


def deferred(store: Store) -> None:
    one(store, defer_until=store.now() + 9e6)


def switched(name: str, value: str) -> Callable[[Store], None]:
    def switches(store: Store) -> None:
        one(store)
        store.set_setting(name, value)

    return switches


def under_way(store: Store) -> None:
    """A round of reviews that runs."""
    feature(store)
    store.begin_review("login", 1, "security", None)


STATES: dict[str, Callable[[Store], None]] = {
    "no bead": lambda store: None,
    "a draft": lambda store: one(store, Status.DRAFT),
    "a plan in the making": lambda store: feature(store, "planning"),
    "a plan under review": feature,
    "a round of reviews": under_way,
    "a plan of a paused feature": lambda store: asked_of(store, Step.PAUSED),
    "a plan of a feature that was taken back": lambda store: asked_of(store, Step.ROLLED_BACK),
    "a plan that is changed again": lambda store: asked_of(store, Step.CHANGE_ASKED),
    "a plan that somebody edited": changed,
    "a change of a live bead": proposal,
    "ready": one,
    "done": lambda store: one(store, Status.DONE),
    "what waits for cancelled beads": cancelled,
    "held": lambda store: one(store, held="not now"),
    "deferred": deferred,
    "an empty epic": lambda store: store.put([Bead("e", "E", type=BeadType.EPIC, status=Status.OPEN)], [], "me"),
    "paused": switched(control.PAUSED, "1"),
    "stopping": switched(control.STOPPING, "1"),
    "has an error": in_trouble,
    "frozen": switched("frozen", "0" * 40),
    **{f"escalated: {type_.value}": escalation(type_) for type_ in EscalationType},
}


class Place:
    """A repository whose database is put into a state, as often as is wished."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder / ".nobrakes", capsys
        self.lock = str(self.folder / "daemon.lock")

    def put(self, state: Callable[[Store], None]) -> None:
        for path in self.folder.glob("nobrakes.db*"):
            path.unlink()
        store = create_store(str(self.folder / "nobrakes.db"))
        state(store)
        store.close()

    def typed(self, *words: str) -> tuple[int, Any]:
        code = main.run([*words, "--json"])
        shown = json.loads(self.capsys.readouterr().out)
        return code, shown["data"] if shown["ok"] else shown["error"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_HOME"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=tmp_path, check=True)
    (tmp_path / ".nobrakes").mkdir()
    (tmp_path / ".nobrakes" / "config.toml").write_text('main = "main"\n')
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, capsys)


COMPLETE = """main = "main"
[[checks]]
name = "test"
command = "true"
[agents]
test_writer = "script"
doer = "script"
shaper = "script"
[agents.script]
command = ["true"]
"""
"""Settings with which a run can start."""
STARTS = ("nobrakes run", "nobrakes daemon start")


def commands_of(place: Place) -> set[str]:
    """Everything that status, the overview and the escalations say to type."""
    _, status = place.typed("status")
    found = {place.typed()[1]["next"]["command"]}
    found |= {command for one in status["hindrances"]["found"] for command in one["commands"]}
    for asked in status["escalations"]:
        _, shown = place.typed("escalation", str(asked["id"]))
        found |= {one["command"] for one in shown["choices"]}
    return {command for command in found if command.startswith("nobrakes ")}


def words_of(command: str) -> list[str]:
    return [*shlex.split(command)[1:], *(["--yes"] if command == YES else [])]


@pytest.mark.parametrize("works", [False, True], ids=["at rest", "at work"])
@pytest.mark.parametrize("state", STATES)
def test_what_is_printed_is_accepted(place: Place, state: str, works: bool) -> None:
    place.put(STATES[state])
    with DaemonLock(place.lock) if works else nullcontext():
        printed = commands_of(place)
        assert not works or not printed & set(STARTS), "a daemon works"
        for command in sorted(one for one in printed if words_of(one)[0] not in LONG):
            place.put(STATES[state])
            code, said = place.typed(*words_of(command))
            assert code not in REFUSED, (command, said)


def suggested(store: Store) -> None:
    """A suggestion on one bead, while the plan of a feature waits for its sign-off."""
    feature(store)
    one(store)
    store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "Cache it", "It is slow."), "a", None, "Doer")


def test_a_draft_that_a_suggestion_became_waits_for_what_a_plan_under_review_waits_for(place: Place) -> None:
    place.put(suggested)
    assert main.run(["resolve", "1", "--add"]) == 0
    command = place.capsys.readouterr().out.strip().rpartition(": ")[2]
    assert command.startswith("nobrakes forge sign-off login")
    assert place.typed(*words_of(command))[0] == 0


@pytest.mark.parametrize("typed", ["take form", "hand-in form", "retry form", "commit-strategy"])
def test_what_drafts_under_review_are_refused_with_is_accepted(place: Place, typed: str) -> None:
    place.put(feature)
    code, said = place.typed(*typed.split())
    commands = re.findall("`(nobrakes .*?)`", said["hint"])
    assert code in REFUSED and commands
    found = [place.typed(*shlex.split(command)[1:]) for command in commands]
    assert [code for code, _ in found] == [0] * len(commands), commands
    if YES in commands:
        (later,) = found[commands.index(YES)][1]["later"]
        assert place.typed(*words_of(later["command"]))[0] == 0, later


@pytest.mark.parametrize("state", [state for state in STATES if state.startswith("a ")])
def test_who_follows_what_is_next_gets_the_drafts_live(place: Place, state: str) -> None:
    """Where a Shaper or reviewers are at it, it is their turn, and the page of the feature is next."""
    (place.folder / "config.toml").write_text(COMPLETE)
    place.put(STATES[state])
    followed = []
    for _ in range(6):
        command = place.typed()[1]["next"]["command"]
        if command in followed or command == "nobrakes run":
            break
        followed.append(command)
        code, said = place.typed(*words_of(command))
        assert code == 0, (command, said)
    theirs = {"a plan that is changed again", "a plan that somebody edited", "a round of reviews"}
    assert followed[-1].startswith("nobrakes forge ") if state in theirs else followed[-1] == YES, followed


def test_commands_of_a_persons_own_place_keep_it(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path / "own"))
    paths = registry.made()
    with closing(
        create_store(paths.database) if not Path(paths.database).exists() else open_store(paths.database)
    ) as own:
        asked = own.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), None, None, "Session 1").id
    for typed in (["escalations"], ["escalation", str(asked)], ["answer", str(asked), "so"], ["answer", "99", "so"]):
        main.run([*typed, "--user"])
        out, error = place.capsys.readouterr()
        commands = re.findall(r"nobrakes (?:answer|escalations?|resolve)\b[^`\n#]*", out + error)
        assert all("--user" in command for command in commands), commands
        assert commands or typed[0] == "answer"


def test_each_command_that_takes_user_is_known() -> None:
    found = {one.words for one in COMMANDS if "user" in inspect.signature(main.function_of(one)).parameters}
    assert found == AT_HOME
