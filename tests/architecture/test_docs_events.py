"""docs/reference/events.md says what the store records: observed, not believed."""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from docs.generate.event_keys import KEYS
from nobrakes.agents.db import edits
from nobrakes.agents.limits import Breaker, Cooldown, State
from nobrakes.beads.model import BeadType, Outcome, Role, person_owner
from nobrakes.beads.service import bead_commands
from nobrakes.config.sections import CheckSettings
from nobrakes.config.settings import Config
from nobrakes.daemon.service import control
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.decisions.service import desk
from nobrakes.events.catalog import TABLE
from nobrakes.events.kinds import Event, Kind
from nobrakes.events.words import as_json
from nobrakes.features.model import Feature, Finding, FindingState, ItemKind, ItemState, ReviewState, Step
from nobrakes.features.service import approving
from nobrakes.paths import Paths
from nobrakes.plans.nodes import plan_of
from nobrakes.review.service import merges, undo
from nobrakes.sessions.model import SessionKind
from nobrakes.store import create_store
from tests.world.world import World

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "events.md"

Seen = dict[Kind, set[str]]


def note(seen: Seen, store: Any) -> None:
    for event in store.events(0, 100_000):
        seen[event.kind] |= set(event.data)


def a_feature(store: Any) -> None:
    """A feature whose plan was reviewed, that was built, and that collected something."""
    bead_commands.add(store, "Windows", BeadType.EPIC, id="windows", actor="me")
    store.begin_feature(Feature("windows", "Windows", "Support Windows", actor="me"))
    store.change_feature("windows", {"notes": "paths first"}, "me")
    store.keep_plan("windows", [{"id": "d", "title": "D"}], "the Shaper says so", "Shaper")
    store.move_feature("windows", Step.PLAN_READY, "nobrakes", "the plan is complete")
    store.begin_review("windows", 1, "backend", None)
    found = Finding(0, "windows", 1, "backend", "security", 1, "No check", "Anybody may", ("Check it",), "d")
    number = store.add_finding(found).id
    store.end_review("windows", 1, "backend", ReviewState.DONE, "")
    store.resolve_finding(number, FindingState.ANSWERED, "Check it", "me")
    item = store.collect("windows", ItemKind.TODO, "long paths", "nobrakes", file="a.py", line=3, bead="a")
    store.resolve_items({item.id}, ItemState.REVIEWED, "me")


def people_and_agents(folder: Path) -> Any:
    """A store in which people decided all they can decide, and an agent said all it can say."""
    path = str(folder / "store.db")
    store = create_store(path)
    paths = Paths(str(folder))
    for id_ in ("a", "b", "c"):
        bead_commands.add(store, id_, id=id_, needs_tests=False, draft=False, actor="me")
    bead_commands.edit(store, "a", {"title": "A"}, "me")
    bead_commands.cancel(store, "b", "no", "me")
    for _ in range(2):
        undo.undo(store, None, "me")
    control.stop(store, paths, "me")
    control.resume(store, paths, "me")
    control.set_limits(store, {"doers": "2"}, "me")
    contract = Config(checks=(CheckSettings(name="unit", command="make"),))
    merges.quarantine(store, contract, "unit", "a test", "it fails at times", "me")
    merges.lift(store, "unit", "a test", "me")
    attempt = store.open_attempt("a", Role.DOER, "script", ["Ada"], 60.0, None)
    assert attempt is not None
    for verb in edits.SAYING:
        edits.agent_say(path, attempt.token, verb, "a text")
    edits.agent_escalate(path, attempt.token, "More work", severity="urgent")
    control.stop_one(store, paths, "Ada", None, "me")
    edits.agent_done(path, attempt.token, "completed", "a summary")
    for id_, how in (("b", "cancel"), ("c", "done")):
        number = store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), id_, None, "me").id
        desk.resolve(store, number, how, "a note", "me")
    store.start_cooldown(Cooldown("north", Outcome.AUTH, "no key", 1.0, 2.0, 1, told=False))
    assert store.end_cooldown("north", "me")
    store.save_breaker("bead:b", "north", Breaker(State.OPEN, 3, 3, "failed"))
    assert store.reset_breakers("b", "me") == 1
    bead_commands.reopen(store, "b", "me", "after all")
    store.approve([bead_commands.add(store, "drafted").id], "me")
    asked = store.escalate(NewEscalation(EscalationType.QUESTION, "And which now?"), "b", None, "me")
    desk.answer(store, asked.id, "this one", "me")
    desk.take_back(store, asked.id, "me")
    desk.answer(store, asked.id, "that one", "me")
    assert store.act_by({asked.id: "that one"}, "Ada")
    store.escalate(NewEscalation(EscalationType.QUESTION, "And then?"), "b", None, "me")
    bead_commands.cancel(store, "b", "no more", "me")
    undo.undo(store, None, "me")
    bead_commands.add(store, "D", id="d", draft=False)
    a_feature(store)
    wish = plan_of([{"id": "d", "title": "Better", "priority": 0}], "plan")
    approving.propose(store, wish, "Shaper")
    approving.approve(store, approving.Choice(only=frozenset({"d:title"})), "me")
    approving.drop(store, {"d:priority"}, "me")
    talk = store.begin_session(SessionKind.CHAT, person_owner("me"), "A talk", ("script", "script", ""), "Hello", "me")
    assert store.open_turn(talk.id) is not None
    store.stop_session(talk.id, "me")
    store.end_session(talk.id, "me")
    return store


@pytest.mark.slow
def test_the_keys_of_an_event_are_those_that_the_store_records(tmp_path: Path) -> None:
    seen: Seen = defaultdict(set)
    store = people_and_agents(tmp_path)
    note(seen, store)
    store.close()
    unseen = {Kind.REVERTED, Kind.DAEMON_STARTED, Kind.DAEMON_STOPPED}
    unseen |= {Kind.UNCONFINED, Kind.DEGRADED, Kind.HOSTS_REFUSED, Kind.FLAKED}
    # tests/simulation/test_simulated_main_monitor
    unseen |= {Kind.MAIN_REWRITTEN, Kind.MAIN_FROZEN, Kind.MAIN_UNFROZEN, Kind.CULPRIT_FOUND}
    unseen |= {Kind.TAKEN, Kind.HANDED_IN, Kind.RETRIED}  # tests/acceptance/test_take_and_hand_in, test_take_part
    unseen |= {
        Kind.FEATURE_TOLD,
        Kind.PLAN_ROUND_ENDED,
        Kind.SIGN_OFF_ASKED,
        Kind.SIGNED_OFF,
    }  # tests/unit/daemon/forge
    unseen |= {Kind.PULL_OPENED, Kind.PULL_REVIEW_BEGAN, Kind.PULL_ISSUE_FOUND, Kind.PULL_APPROVED, Kind.PULL_MERGED}
    unseen |= {Kind.PUSH_ALLOWED}  # tests/acceptance/test_requests_by_feature
    unseen |= {Kind.CODE_REVIEW_BEGAN, Kind.CODE_REVIEW_ENDED}  # tests/acceptance/test_fresh_eyes
    unseen |= {Kind.LANDED, Kind.EPIC_LANDED}  # tests/acceptance/test_epic_requests
    unseen |= {Kind.TESTS_RUN}  # tests/unit/daemon/test_work_watch
    unseen |= {Kind.SPRINT_MOVED}  # tests/acceptance/test_sprints
    unseen |= {Kind.CONFIG_CHANGED}  # tests/acceptance/test_config_commands
    unseen |= {Kind.PREVIEW_STARTED, Kind.PREVIEW_STOPPED}  # tests/acceptance/test_previews
    unseen |= {Kind.DANGER_SEEN}  # tests/unit/daemon/test_danger_watch
    unseen |= {Kind.PROJECT_SET}  # tests/acceptance/test_projects
    unseen |= {Kind.ARCHIVE_EXPIRED}  # tests/acceptance/test_archive_retention
    unseen |= {Kind.BROUGHT_BACK}  # tests/acceptance/test_put_back, tests/unit/operations/test_keeping
    unseen |= {Kind.FOUND_MERGED}  # tests/acceptance/test_put_back, tests/simulation/test_store_goes_back
    rare = {"epic", "red"}  # tests/acceptance/test_epic_requests, tests/acceptance/test_bases_of_features
    for seed in range(40):  # as many stories as it takes until everything has happened, with all its keys
        if set(Kind) - set(seen) <= unseen and not _untold(seen, unseen, rare):
            break
        world = World(seed)
        world.run()
        note(seen, world.store)
    assert set(Kind) - set(seen) <= unseen
    told = {kind: set(TABLE[kind].keys) for kind in seen}
    assert {kind: keys - told[kind] for kind, keys in seen.items() if keys - told[kind]} == {}
    assert _untold(seen, unseen, rare) == {}
    assert {key for found in TABLE.values() for key in found.keys} == set(KEYS)


def test_an_event_as_json_has_the_keys_of_the_page() -> None:
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    shown = json.loads(block)
    event = Event(Kind.DOER_STARTED, "cli", 7, data=dict.fromkeys(("agent", "model", "name", "number", "role"), ""))
    assert list(shown) == list(as_json(event))
    assert list(shown["metadata"]) == list(as_json(event)["metadata"])


def _untold(seen: Seen, unseen: set[Kind], rare: set[str]) -> dict[Kind, set[str]]:
    """Keys that the glossary has and no story; what few stories have need not have had all its keys in one of them."""
    often = {kind: set(TABLE[kind].keys) - keys - rare for kind, keys in seen.items() if kind not in unseen}
    return {kind: keys for kind, keys in often.items() if keys}
