"""Features by a person's hand: begun with what the scan finds, paused and resumed, approved by commit-strategy alone."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Role, Status
from nobrakes.config.sections import CheckSettings, ForgeSettings
from nobrakes.config.settings import Config
from nobrakes.errors import FileTooLarge, NoSuchFeature, NotAllowed, UsageError
from nobrakes.events.kinds import Event, Kind
from nobrakes.features import commands
from nobrakes.features.model import Feature, ItemKind, ItemState, Stage, State, Step
from nobrakes.features.reviewed_plan import nodes_of, to_sign
from nobrakes.features.service import approving, controls, feature_page
from nobrakes.features.service.controls import Wanted
from nobrakes.features.service.feature_page import sign_off
from nobrakes.features.worker.forge import complete
from nobrakes.paths import Paths
from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store

CONFIG = Config(checks=(CheckSettings(name="test", command="make test"),))
LARGE = b"# TODO: large\n" * 90_000
CODE: dict[str, bytes | None] = {
    "src/a.py": b"# TODO: a\n# TODO: a\n",
    "web/b.ts": b"// FIXME: b\n",
    "vendor/c.py": b"# TODO: c\n",
    "d.md": b"",
    "src/large.py": LARGE,
    "src/link.py": None,
}


class Code:
    """A main with some files."""

    def __init__(self) -> None:
        self.looked_into: list[str] = []

    def main(self) -> str:
        return "c0de" * 10

    def paths(self, commit: str) -> frozenset[str]:
        assert commit == self.main()
        return frozenset(CODE)

    def read(self, commit: str, path: str, most: int) -> bytes | None:
        self.looked_into.append(path)
        found = CODE[path]
        if found is not None and len(found) > most:
            raise FileTooLarge(path)
        return found


GIT: Any = Code()


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(str(tmp_path))


def begun(store: Store, paths: Paths, title: str = "Windows", **more: Any) -> Feature:
    return controls.begin(store, paths, CONFIG, GIT, Wanted(title, "Support it", **more), "me")


def planned(store: Store, feature: str) -> None:
    beads = [Bead("one", "One", epic=feature, estimate=10), Bead("two", "Two", epic=feature)]
    store.put(beads, [Dependency("two", "one")], "Shaper")


def yes(store: Store, **choice: Any) -> tuple[str, ...]:
    with store.write():
        made = approving.approve(store, approving.Choice(**choice), "me")
        return approving.feature_approval_approved(store, made.drafts, made.changes, "me")


def test_only_finds_in_files_that_it_touches_are_open_points(store: Store, paths: Paths) -> None:
    GIT.looked_into.clear()
    one = begun(store, paths, files=("src",), own=("review: short",), without=frozenset({2}))
    assert (one.base, one.files, len(one.criteria)) == (GIT.main(), ("src",), 8)
    assert store.bead(one.id).status is Status.DRAFT and store.bead(one.id).type.value == "epic"
    assert GIT.looked_into == ["src/a.py", "src/large.py", "src/link.py"]
    items = store.items(one.id)
    assert [(item.file, item.line, item.kind, item.blocks) for item in items] == [
        ("src/a.py", 1, ItemKind.TODO, True),
        ("src/a.py", 2, ItemKind.TODO, True),
    ]
    found = controls.scan_of(store, GIT, one.id)
    assert [todo.file for todo in found.others] == ["web/b.ts"] and len(found.blocking) == 2 and found.files == 4
    assert found.skipped == ("src/large.py",)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("", "x"),
        Wanted("t", " "),
        Wanted("t" * 201, "x"),
        Wanted("t", "x", files=("/etc",)),
        Wanted("t", "x", files=("a/../b",)),
        Wanted("t", "x", only=frozenset({0})),
    ],
)
def test_what_cannot_be_leaves_nothing_behind(store: Store, paths: Paths, wanted: Wanted) -> None:
    with pytest.raises(UsageError):
        controls.begin(store, paths, CONFIG, GIT, wanted, "me")
    assert store.features(going=False) == [] and store.nodes() == []


def test_a_second_one_is_refused_whole(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    with pytest.raises(NotAllowed):
        begun(store, paths, "Linux")
    assert [bead.id for bead in store.nodes()] == [one.id]
    controls.pause(store, paths, one.id, "me")
    other = begun(store, paths, "Linux")
    with pytest.raises(NotAllowed):
        controls.resume(store, paths, one.id, "me")
    with pytest.raises(NotAllowed):
        controls.archive(store, other.id, True, "me")
    controls.archive(store, one.id, True, "me")
    shown = feature_page.listed(store)
    assert [card.id for card in shown.features] == [other.id] and shown.hidden == 1
    assert [card.id for card in feature_page.listed(store, archived=True).features] == [one.id]
    assert feature_page.listed(store, words="linux nope").features == ()
    controls.pause(store, paths, other.id, "me")
    assert not controls.resume(store, paths, one.id, "me").archived, "what goes on is in lists"
    with pytest.raises(UsageError):
        feature_page.listed(store, state="lost")
    with pytest.raises(NoSuchFeature):
        controls.pause(store, paths, "nope", "me")


def test_its_epic_alone_has_its_title_and_description(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    store.change(one.id, {"title": "Windows 11", "acceptance": ("It runs",)}, "me")
    assert controls.edit(store, paths, CONFIG, one.id, Wanted(notes="long paths"), "me").title == "Windows 11"
    epic = store.bead(one.id)
    assert (epic.title, epic.acceptance, epic.notes) == ("Windows 11", ("It runs",), "long paths")
    controls.edit(store, paths, CONFIG, one.id, Wanted("Windows 12", "All of it"), "me")
    assert (store.bead(one.id).title, store.feature(one.id).description) == ("Windows 12", "All of it")
    told = [event.data["parts"] for event in store.events(0, 1000) if event.kind is Kind.FEATURE_CHANGED]
    assert told == [["notes"], ["description", "title"]]


def test_cancel_ends_the_turn_and_keeps_the_rest(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    session = store.begin_session(SessionKind.PLANNING, "f", "t", ("script", "", ""), "begin", "nobrakes").id
    store.change_feature(one.id, {"session": session}, "nobrakes")
    planned(store, one.id)
    assert store.open_turn(session) is not None
    assert controls.cancel(store, paths, one.id, "me").state is State.PAUSED
    assert store.session(session).stop_asked and store.bead("one").status is Status.DRAFT
    assert controls.cancel(store, paths, one.id, "me").state is State.PAUSED  # again changes nothing
    assert controls.resume(store, paths, one.id, "me").state is State.ACTIVE


def test_cancel_stops_the_agents_of_its_beads_and_names_them(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    planned(store, one.id)
    yes(store)
    store.put([Bead("other", "Other", status=Status.NEEDS_DOER)], [], "me")
    for bead, name in (("one", "Ada"), ("other", "Bob")):
        role = Role.TEST_WRITER if bead == "one" else Role.DOER
        assert store.open_attempt(bead, role, "script", (name,), 60.0, None) is not None
    told = commands.cancel(SimpleNamespace(store=store, paths=paths), "me", one.id)[1]
    board = store.board(CONFIG.board_limits())
    assert [at.name for at in board.attempts if board.is_stop_asked(at)] == ["Ada"]
    assert [e.bead for e in store.events() if e.kind is Kind.STOP_ASKED] == ["one"]
    assert "Ada on bead one is stopping" in told and "Bob" not in told
    controls.cancel(store, paths, one.id, "me")
    assert len([e for e in store.events() if e.kind is Kind.STOP_ASKED]) == 1


def test_cancel_says_that_nothing_ran(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    assert "no agent is working now" in commands.cancel(SimpleNamespace(store=store, paths=paths), "me", one.id)[1]


def test_a_change_is_told_to_the_shaper_with_its_step(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    with pytest.raises(NotAllowed, match="has not begun"):
        controls.ask_change(store, paths, one.id, "smaller", "me")
    session = store.begin_session(SessionKind.PLANNING, "f", "t", ("script", "", ""), "begin", "nobrakes").id
    store.change_feature(one.id, {"session": session}, "nobrakes")
    planned(store, one.id)
    store.move_feature(one.id, Step.PLAN_READY, "nobrakes")
    with pytest.raises(UsageError):
        controls.discuss(store, paths, one.id, "why?", "me", "nope")
    assert controls.discuss(store, paths, one.id, "why?", "me", "one").stage is Stage.REVIEW
    assert controls.ask_change(store, paths, one.id, "smaller", "me", "one").stage is Stage.PLANNING
    told = [message.text for message in store.messages(session)[1:]]
    assert len(told) == 2 and all("step one (One)" in text for text in told) and "smaller" in told[1]


def test_an_open_point_blocks_the_sign_off_and_the_yes_until_it_is_answered(store: Store, paths: Paths) -> None:
    one = begun(store, paths, files=("src",), notes="paths")
    planned(store, one.id)
    first, second = store.items(one.id)
    with pytest.raises(NotAllowed, match=r"2 open points .*src/a\.py:1 \(TODO: ") as refused:
        yes(store)
    commands = [f'`nobrakes forge answer {one.id} {item.id} "…"`' for item in (first, second)]
    assert all(command in refused.value.hint for command in commands)
    controls.answer_point(store, paths, one.id, first.id, "Leave {it}", "me")
    assert store.feature(one.id).notes == "paths\nsrc/a.py:1 (TODO: a): Leave {it}", "for its Shaper"
    session = store.begin_session(SessionKind.PLANNING, "f", "t", ("script", "", ""), "begin", "nobrakes").id
    store.change_feature(one.id, {"session": session}, "nobrakes")
    store.keep_plan(one.id, nodes_of(store, one.id), "whole", "Shaper")
    store.move_feature(one.id, Step.PLAN_READY, "Shaper")
    assert to_sign(store, ForgeSettings(), store.feature(one.id))[0] == commands[1].strip("`")
    with pytest.raises(NotAllowed, match="1 open point "):
        sign_off(store, ForgeSettings(), one.id, "me", take_risk=True)
    for number, text in ((first.id, "again"), (99, "?"), (second.id, " ")):
        with pytest.raises((NotAllowed, UsageError)):
            controls.answer_point(store, paths, one.id, number, text, "me")
    controls.answer_point(store, paths, one.id, second.id, "In this {feature}", "me")
    said = store.messages(session)[-1].text
    assert "src/a.py:2 (TODO: a)" in said and "In this {feature}" in said
    assert {item.state for item in store.items(one.id)} == {ItemState.RESOLVED}
    sign_off(store, ForgeSettings(), one.id, "me", take_risk=True)
    assert yes(store) == (one.id,)


def test_a_part_of_the_plan_is_not_the_plan(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    assert yes(store, only=frozenset({one.id})) == ()  # its epic alone is no plan
    planned(store, one.id)
    assert yes(store, only=frozenset({"one"})) == () and store.feature(one.id).stage is Stage.DISCOVERY
    controls.pause(store, paths, one.id, "me")
    assert yes(store) == (one.id,)
    after = store.feature(one.id)
    assert (after.stage, after.state, after.plan) == (Stage.IMPLEMENTATION, State.ACTIVE, 1)
    assert begun(store, paths, "Linux").has_turn


def test_a_plan_that_is_signed_off_goes_live_in_parts(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    planned(store, one.id)
    store.put([Bead("live", "Live", epic=one.id, status=Status.NEEDS_DOER)], [], "me")
    store.propose("live", {"title": {"before": "Live", "after": "Lively", "actor": "Shaper", "at": 1.0}}, "Shaper")
    store.put([Bead("given-up", "No more", epic=one.id, status=Status.NEEDS_DOER)], [], "me")
    store.propose("given-up", {"cancel": {"before": False, "after": True, "actor": "Shaper", "at": 1.0}}, "Shaper")
    kept = store.keep_plan(one.id, nodes_of(store, one.id), "whole", "Shaper")
    store.move_feature(one.id, Step.PLAN_READY, "Shaper")
    with pytest.raises(NotAllowed, match="not signed off"):
        yes(store, only=frozenset({one.id, "one"}))
    sign_off(store, ForgeSettings(), one.id, "me", take_risk=True)
    assert yes(store, only=frozenset({one.id, "one"})) == () and yes(store, only=frozenset({"live"})) == ()
    assert yes(store, only=frozenset({"given-up"})) == () and store.bead("given-up").status is Status.CANCELLED
    assert (store.bead("one").status, store.bead("live").title) == (Status.NEEDS_TESTS, "Lively")
    store.change("two", {"title": "Another"}, "me")
    with pytest.raises(NotAllowed, match="not signed off"):
        yes(store)
    store.change("two", {"title": "Two"}, "me")
    assert kept.number == 1 and yes(store) == (one.id,)


def test_it_is_done_with_its_epic_unless_something_waits(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    planned(store, one.id)
    yes(store)
    for bead in ("one", "two"):
        store.record(Event(Kind.DONE_BY_HAND, bead, actor="me", data={"reason": "by hand"}))
    item = store.collect(one.id, ItemKind.TODO, "left", "nobrakes", file="a.py", line=1)
    assert item is not None and not complete(store, one.id) and not complete(store, "other")
    store.resolve_items({item.id}, ItemState.REVIEWED, "me")
    assert complete(store, one.id) and not complete(store, one.id)
    assert (store.feature(one.id).stage, store.feature(one.id).state) == (Stage.DONE, State.COMPLETED)


def test_the_plan_is_in_the_order_of_work_and_each_bead_below_its_epic(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    beads = [Bead("page", "P", epic=one.id), Bead("back", "B", type=BeadType.EPIC, epic=one.id, priority=0)]
    beads += [
        Bead("endpoint", "E", epic="back"),
        Bead("store", "S", epic="back"),
        Bead("none", "N", type=BeadType.EPIC),
    ]
    store.put(beads, [Dependency("page", "endpoint"), Dependency("endpoint", "store")], "Shaper")
    store.put([Bead("zero", "Z", epic=one.id, estimate=5), Bead("alone", "A", epic=one.id)], [], "Shaper")
    shown = [(step.bead.id, step.depth) for step in feature_page.view(store, one.id).plan.steps]
    assert [name for name, _ in shown if name not in ("zero", "alone")] == ["back", "store", "endpoint", "page"]
    assert dict(shown) == {"back": 0, "store": 1, "endpoint": 1, "page": 0, "zero": 0, "alone": 0}


def test_the_plan_is_a_tree_columns_and_a_timeline(store: Store, paths: Paths) -> None:
    one = begun(store, paths)
    planned(store, one.id)
    store.keep_plan(one.id, [{"id": "one", "title": "1"}], "first", "Shaper")
    store.keep_plan(one.id, [{"id": "one", "title": "One"}, {"id": "two", "title": "Two"}], "a finding", "Shaper")
    found = feature_page.view(store, one.id)
    assert [(step.bead.id, step.needs) for step in found.plan.steps] == [("one", ()), ("two", ("one",))]
    assert [(bar.bead.id, bar.begin) for bar in found.plan.bars] == [("one", 0), ("two", 10)] and found.plan.span == 20
    assert [step.bead.id for step in found.plan.column("pending")] == ["one", "two"]
    second = found.versions[1].changes
    assert [node["id"] for node in second.added] == ["two"] and second.changed[0].fields == {"title": ("1", "One")}
    assert feature_page.difference(store, one.id, 2) == second
    assert feature_page.difference(store, one.id, 1).added == ({"id": "one", "title": "1"},)
    with pytest.raises(UsageError, match="no version 3"):
        feature_page.difference(store, one.id, 3)
    assert found.card.beads == 2 and found.card.done == 0
