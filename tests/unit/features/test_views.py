"""What is shown is what the reference says, field by field, and no secret is in it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from nobrakes.agents.adapter import LineKind, TranscriptLine
from nobrakes.agents.limits import Cooldown
from nobrakes.beads.model import Attempt, Bead, Dependency, Outcome, Retried, Role
from nobrakes.beads.service import bead_commands, bead_page, board
from nobrakes.config.sections import CheckSettings, ForgeSettings
from nobrakes.config.settings import Config
from nobrakes.daemon.service import now, status
from nobrakes.decisions.commands import Approval, Waiting
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.decisions.service import page
from nobrakes.decisions.service.all_blockers import NOTHING
from nobrakes.events.kinds import Event, Kind
from nobrakes.features import reviewed_plan
from nobrakes.features.service import approving, feature_page, rollback, strategy
from nobrakes.features.service import controls as forging
from nobrakes.features.service.controls import scan_of
from nobrakes.features.service.feature_page import difference, listed, view
from nobrakes.fleet.model import FleetView, Loss, Node, NodeRun
from nobrakes.paths import Paths
from nobrakes.pictures.service import graph_view
from nobrakes.projects.model import Box
from nobrakes.projects.service.projects_folder import Confirmed, ProjectsView, ProjectView
from nobrakes.projects.service.sprint_approval import NextView, ProjectPage
from nobrakes.projects.sprints import Contradiction, Finding
from nobrakes.records import mistakes, plain, schema
from nobrakes.requests.model import IssueReport, PullRequest, PullState
from nobrakes.requests.model import view as shown_of
from nobrakes.review.service import merges
from nobrakes.review.service.previews import Preview
from nobrakes.sessions.model import SessionKind
from nobrakes.sessions.service import relay, viewing
from nobrakes.sessions.service.relay import Landing, SessionView, Summary
from nobrakes.store import Store
from nobrakes.web import openapi


@pytest.fixture
def lively(store: Store) -> Store:
    """A store with something of everything that is shown."""
    bead_commands.add(store, "An epic", id="e", type="epic", draft=False, actor="me")
    for id_ in ("a", "b", "c"):
        bead_commands.add(
            store, f"Bead {id_}", id=id_, needs_tests=False, draft=False, actor="me", epic="e", labels=("x",)
        )
    bead_commands.add(store, "A draft", id="d", needs=("a",), actor="me")
    bead_commands.add(store, "One that is ready", id="f", needs_tests=False, draft=False, actor="me")
    bead_commands.hold(store, "c", "later", "me")
    attempt = store.open_attempt("a", Role.DOER, "script", ["Ada"], 60.0, None)
    assert attempt is not None and attempt.token
    store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED, head="1" * 40)
    review = store.open_attempt("a", Role.REVIEWER, "", ["Reviewer"], 60.0, None)
    assert review is not None
    store.journal(review.id, {"step": "validate_rebased", "results": [{"name": "unit", "outcome": "pass"}]})
    assert store.open_attempt("b", Role.DOER, "script", ["Bo"], 60.0, None) is not None
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which?", evidence={"tried": [1]}), "c", None, "Ada")
    store.start_cooldown(Cooldown("north", Outcome.AUTH, "no key", 1.0, 9e9, 1, told=False))
    config = Config(checks=(CheckSettings(name="unit", command="make"),))
    merges.quarantine(store, config, "unit", "a test", "it fails at times", "me")
    data = {"check": "unit", "tests": ["a test"], "tree": "2" * 40, "run": "1-1"}
    store.record(Event(Kind.FLAKED, "a", review.id, data=data))
    return store


class Code:
    """One file with something left to do."""

    def main(self) -> str:
        return "c0de" * 10

    def paths(self, commit: str) -> frozenset[str]:
        return frozenset({"src/a.py"})

    def read(self, commit: str, path: str, most: int) -> bytes:
        return b"# TODO: long paths\n"


def features(store: Store, folder: Path) -> dict[str, Any]:
    git: Any = Code()
    paths = Paths(str(folder))
    wanted = forging.Wanted("Windows", "Support it", ("review: it is short",), frozenset({4}), ("src",), "paths first")
    made = forging.begin(store, paths, Config(), git, wanted, "me")
    store.put([Bead("step", "A step", epic=made.id, estimate=10)], [], "Shaper")
    store.keep_plan(made.id, [{"id": "step", "title": "A step"}], "it is whole", "Shaper")
    store.put([Bead("more", "One more", epic=made.id)], [Dependency("more", "step")], "Shaper")
    store.keep_plan(made.id, [{"id": "step", "title": "The step"}, {"id": "more", "title": "x"}], "a finding", "Shaper")
    return {
        "forge list": listed(store, words="windows"),
        "forge show": view(store, made.id),
        "forge show --version": difference(store, made.id, 2),
        "forge scan": scan_of(store, git, made.id),
        "forge rollback": rollback.look(store, git, made.id),
        "forge reviews": feature_page.reviews(store, ForgeSettings(), made.id),
        "forge answer": store.items(made.id)[0],
        "forge sign-off": reviewed_plan.SignOff(2, 1, 10, "me", 1.0, True, "small enough"),
        **dict.fromkeys((f"forge {name}" for name in FORGE), store.feature(made.id)),
    }


def projects() -> dict[str, Any]:
    one = ProjectView("shop", "shop", True, "running", 1, None, "me")
    box = Box(False, "It sells", 12)
    doubt = Finding(
        Contradiction.ROADMAP_BEHIND, "task.md", "a box is ticked, and its file is not there", ("src/till.py",)
    )
    return {
        "project list": ProjectsView("workspace", "projects", (one,)),
        "project show": ProjectPage(one, "Shop", "Sell", "active", "s1", (box,)),
        "project use": Confirmed("chat", "shop", "shop", False, "Working on shop."),
        "project whats-next": NextView("shop", (doubt,)),
        **dict.fromkeys(("project new", "project archive"), one),
    }


PULL = PullRequest("a", PullState.OPEN, 7, "https://code.invalid/7", "A", "task/bead-a", "1" * 40, "2" * 40)
FORGE = ("checkpoint", "new", "edit", "change", "discuss", "pause", "resume", "cancel", "archive")


def _no_git() -> NoReturn:
    raise AssertionError("what nobody has worked on has no branch")


def session(store: Store, folder: Path) -> SessionView:
    spec = ("script", "script", "")
    one = store.begin_session(SessionKind.PLANNING, "person:me", "Look", spec, "Look at it.", "me")
    assert store.open_turn(one.id) is not None
    commits, files = (("a" * 40, "Add one"),), (("A", "one"),)
    done = Summary(one, "/shop", "Done.", "relay/1", commits, files, ("pytest",), 1, 2.0, "work", None, "")
    return replace(relay.view(store, Paths(str(folder)), one.id), work=done)


def shown(store: Store, folder: Path) -> dict[str, Any]:
    escalation = store.escalations()[0]
    attempt = store.attempts("a")[0]
    bead = store.bead("c")
    nodes = FleetView(
        "tls://10.0.0.1:8786",
        1.0,
        "",
        (Node("tls://10.0.0.2:1", "n1", 4, {"1-agent-0f": 1}, "", {"python": "3.11"}),),
        (NodeRun("n1", "1-agent-0f", 1, "a", "doer", "Ada"),),
        (Loss(1.0, "2-agent-0f", "n1", "it does not answer"),),
    )
    return {
        "status": status.status(store, Paths(str(folder)), Config()),
        "board": board.board(store),
        "list": bead_page.with_requests(bead_page.listing(store, labels=("x",))),
        "show": bead_page.bead_detail(store, "a"),
        "ready": bead_page.ready(store),
        "ready --explain": bead_page.explain(store),
        "escalations": page.listed(store),
        "escalation": page.decision(store, Paths(str(folder)), _no_git, Config, escalation.id),
        "history": bead_page.history(store, None, "a"),
        "review": bead_page.reviews(store),
        "diff": merges.DiffView(
            "a", "branch", "1" * 40, "2" * 40, (merges.FileDiff("new", "renamed", 1, 0, False, "old"),), "+x\n"
        ),
        "history --transcript": [viewing.AttemptLines(attempt, (TranscriptLine(LineKind.TEXT, "hello"),))],
        "flakes": merges.flakes(store),
        **{f"graph --{mode}": graph_view(store, mode) for mode in ("focus", "epics", "all")},
        "commit-strategy --dry-run": strategy.strategy(store),
        "commit-strategy": approving.Approved(("d",), None),
        **features(store, folder),
        **projects(),
        "pr list": [shown_of(PULL)],
        "pr show": shown_of(PULL),
        "answer": escalation,
        "answers": [escalation],
        "resolve": escalation,
        "approve": Approval(
            "", (Waiting("drafts@1", "one", "nobrakes approve drafts@1", True),), (Waiting("f", "it", "c"),)
        ),
        **dict.fromkeys(("add", "edit", "hold", "release", "defer", "cancel", "done", "reopen"), bead),
        "depend": Dependency("a", "b"),
        "session show": session(store, folder),
        "session hand-in": Landing(1, "b", "a" * 40, "relay/1"),
        "preview start": Preview("a", "running", "http://localhost:1/", 1.0, "ada", ""),
        "retry": Retried(bead, (1,), "later", 1, 0),
        **dict.fromkeys(("fleet", "fleet drain", "fleet resume"), nodes),
        "sync github": IssueReport("github.com/team/thing", ("gh-3",), problems=("issue #5 is not imported",)),
    }


def test_every_view_is_as_it_is_described(lively: Store, tmp_path: Path) -> None:
    found = shown(lively, tmp_path)
    assert found.keys() == openapi.views().keys()
    tokens = {attempt.token for bead in "ab" for attempt in lively.attempts(bead)}
    for words, value in found.items():
        values = plain(value)
        assert mistakes(values, openapi.schema_of(words), words) == []
        assert values, f"{words} shows nothing here, and proves nothing"
        assert not [token for token in tokens if token in json.dumps(values)]


def test_the_next_step_is_a_view(lively: Store) -> None:
    assert mistakes(plain(now.next_step(lively, NOTHING, ForgeSettings())), schema(now.NextStep)) == []


def test_the_keys_that_scripts_know_are_there(lively: Store, tmp_path: Path) -> None:
    """They are version 1: one that goes, or means something else, is another version."""
    found = {words: plain(value) for words, value in shown(lively, tmp_path).items()}
    known = {
        "status": "main daemon paused frozen stopping counts epics working escalations limits checks next_at gates caps "
        "degraded quarantined behind off_main unknown first",
        "board": "columns counts working gates frozen",
        "history": "bead dependencies events attempts reviews escalations commit archived cost",
        "commit-strategy --dry-run": "drafts new changed removed becomes_ready critical_path deadlocks needs",
        "commit-strategy": "approved commit",
    }
    for words, keys in known.items():
        assert set(keys.split()) <= found[words].keys(), words
    assert list(found["show"])[-5:] == ["dependencies", "attempts", "escalations", "request", "cost"]
    assert set(found["history --transcript"][0]) == {"attempt", "lines"}
    assert {"id", "type", "bead", "title", "detail", "answer", "behind"} <= found["escalation"].keys()


def test_a_value_that_is_not_as_described_is_seen() -> None:
    of = schema(list[Attempt])
    good = plain([Attempt(1, "a", 1, Role.DOER, "Ada", 1, "secret", 1.0)])
    assert mistakes(good, of) == [] and "secret" not in json.dumps(good)
    for change in ({"id": "1"}, {"role": "cook"}, {"more": 1}, {"history --transcript": None}):
        assert mistakes([good[0] | change], of)
    assert mistakes([{key: value for key, value in good[0].items() if key != "name"}], of)
