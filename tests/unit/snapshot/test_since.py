"""What is kept beside the database: whatever people do, and whoever is killed, a rebuilt database says the same."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from nobrakes.beads.branches import branch_of
from nobrakes.beads.model import CLOSED, Bead, BeadType, Dependency, DependencyType, Outcome, Role, Status
from nobrakes.beads.service import bead_commands as operation
from nobrakes.config.setup.init import _make
from nobrakes.daemon.service import control
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import BadBead, Deadlock, NobrakesError, NoMain, NotAllowed, Stale, StoreBusy
from nobrakes.events.kinds import MARKS_BEGIN, Event, Kind, Position
from nobrakes.paths import Paths
from nobrakes.snapshot import log as snapshot_log
from nobrakes.snapshot import service as snapshot_service
from nobrakes.snapshot.reader import read
from nobrakes.snapshot.service import rebuild
from nobrakes.store import Store, create_store, open_memory, open_store
from tests.support.records import dumped

ROOT = Path(__file__).resolve().parents[2]


def opened(paths: Paths, git: Any = None) -> Store:
    store = open_store(paths.database)
    snapshot_log.attach(store, paths, brings_back, (lambda: git) if git is not None else None)
    return store


def brings_back(said: str) -> None:
    """All that may be said: something was brought back, and nothing was in its way."""
    if not re.fullmatch(
        r"the database was older[^;]*(; \w+ was restored|; [^;]*: the line is damaged: skipped)*",
        said,
    ):
        pytest.fail(said)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = Paths(str(tmp_path / ".nobrakes"))
    _make(made, None, "main")
    return made


class Pins:
    """A git of which only refs are asked: the tests of every bead are proven, and every clone is there."""

    def __init__(self, ids: list[str]) -> None:
        self.ids = ids

    def kept(self) -> dict[str, str]:
        return {f"tests/{id_}": "c" * 40 for id_ in self.ids}

    def main(self) -> str:
        raise NoMain("there is none")

    def has_workspace(self, bead: str) -> bool:
        return True


def facts(store: Store) -> dict[str, Any]:
    """The plan, and what people were asked and said. Of a worker nothing is known in a rebuilt database."""
    beads = []
    asked = {e.bead for e in store.escalations() if e.type is not EscalationType.DOER_SUGGESTION}
    for bead in store.beads():
        status, back = bead.status, bead.return_to
        if status is Status.NEEDS_REVIEW:
            status = Status.NEEDS_DOER
        if status is Status.ESCALATED and bead.id not in asked:
            status = back or status
        if back is Status.NEEDS_REVIEW:
            back = Status.NEEDS_DOER
        back = back if status is Status.ESCALATED else None
        beads.append(replace(bead, status=status, return_to=back, fence=0, retry_at=None, assignee=None))
        beads[-1] = replace(beads[-1], branch=branch_of(bead))  # no name is the name by the usual pattern
    asked_for = [replace(e, attempt=None, behind=0) for e in store.escalations(open_only=False)]
    return {
        "beads": sorted(beads, key=lambda bead: bead.id),
        "edges": store.dependencies(),
        "asked": sorted(asked_for, key=lambda e: e.id),
        "settings": snapshot_log.settings(store),
    }


def put_back(paths: Paths, copy: str) -> None:
    for ending in ("-wal", "-shm"):
        Path(paths.database + ending).unlink(missing_ok=True)
    shutil.copy(copy, paths.database)


NUMBER = st.integers(0, 9)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
LINE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=9)
FIELDS = st.one_of(
    st.tuples(st.just("title"), LINE),
    st.tuples(st.sampled_from(["description", "notes"]), TEXT),
    st.tuples(st.just("priority"), st.integers(0, 4)),
    st.tuples(st.just("labels"), st.lists(LINE, max_size=2)),
    st.tuples(st.just("acceptance"), st.lists(TEXT, max_size=2)),
    st.tuples(st.just("touches"), st.lists(LINE, max_size=2)),
    st.tuples(st.just("metadata"), st.dictionaries(LINE, st.integers() | LINE, max_size=2)),
    st.tuples(st.just("estimate"), st.none() | st.integers(1, 99)),
    st.tuples(st.sampled_from(["needs_tests", "scaffolding"]), st.booleans()),
)
MOVES = st.sampled_from([Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.REOPENED, Kind.APPROVED, Kind.UNDONE, Kind.REVERTED])
REMARKS = st.sampled_from(
    [(Kind.HELD, {"reason": "why"}), (Kind.RELEASED, {}), (Kind.DEFERRED, {"until": 4e9}), (Kind.DEFERRED, {})]
)
TYPES = st.sampled_from([EscalationType.QUESTION, EscalationType.DOER_SUGGESTION, EscalationType.CONFLICT])
REFUSED = (NotAllowed, Deadlock, BadBead)
SURE = forms.as_values(forms.made("yes_no", recommended=["yes"], priority=1, context="why"))


class AnyPlanning(RuleBasedStateMachine):
    """Random people; now and then the process is killed between its commit and its line, or in its line."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.paths = Paths(os.path.join(self.folder.name, ".nobrakes"))
        _make(self.paths, None, "main")
        self.store = opened(self.paths)
        self.ids: list[str] = []
        self.copies: list[str] = []

    def teardown(self) -> None:
        try:
            self.lose("removal")
        finally:
            self.store.close()
            self.folder.cleanup()

    @initialize(drafts=st.lists(st.booleans(), min_size=2, max_size=4))
    def begin(self, drafts: list[bool]) -> None:
        for draft in drafts:
            self.add(False, draft, None, [])

    def pick(self, number: int) -> str:
        return self.ids[number % len(self.ids)]

    def again(self) -> None:
        self.store.close()
        self.store = opened(self.paths)

    @rule(epic=st.booleans(), draft=st.booleans(), parent=st.none() | NUMBER, needs=st.lists(NUMBER, max_size=2))
    def add(self, epic: bool, draft: bool, parent: int | None, needs: list[int]) -> None:
        id_ = f"b{len(self.ids)}"
        above = self.pick(parent) if parent is not None and self.ids else None
        wanted = [self.pick(n) for n in needs] if self.ids else []
        type_ = BeadType.EPIC if epic else BeadType.TASK
        try:
            operation.add(self.store, "A bead", type_, epic=above, needs=wanted, id=id_, draft=draft)
        except REFUSED:
            return
        self.ids.append(id_)

    @precondition(lambda self: self.ids)
    @rule(which=NUMBER, change=FIELDS)
    def edit(self, which: int, change: tuple[str, Any]) -> None:
        operation.edit(self.store, self.pick(which), dict([change]), "me")

    @precondition(lambda self: self.ids)
    @rule(a=NUMBER, b=NUMBER, type_=st.sampled_from(list(DependencyType)), away=st.booleans())
    def depend(self, a: int, b: int, type_: DependencyType, away: bool) -> None:
        edge = Dependency(self.pick(a), self.pick(b), type_)
        with suppress(*REFUSED):
            (self.store.remove_dependency if away else self.store.add_dependency)(edge, "me")

    @precondition(lambda self: self.ids)
    @rule(which=NUMBER, event=REMARKS)
    def remark(self, which: int, event: tuple[Kind, dict[str, Any]]) -> None:
        self.store.record(Event(event[0], self.pick(which), actor="me", data=event[1]))

    @precondition(lambda self: self.ids)
    @rule(which=NUMBER, kind=MOVES)
    def move(self, which: int, kind: Kind) -> None:
        with suppress(*REFUSED):
            self.store.record(Event(kind, self.pick(which), actor="me"))

    @precondition(lambda self: self.ids)
    @rule(which=st.none() | NUMBER, type_=TYPES, title=LINE)
    def ask(self, which: int | None, type_: EscalationType, title: str) -> None:
        bead = None if which is None else self.pick(which)
        if bead is not None and self.store.bead(bead).status in CLOSED:
            return
        form = SURE if type_ is EscalationType.QUESTION and len(title) % 2 else None
        self.store.escalate(NewEscalation(type_, title, "x", {"a": [1, None]}, form=form), bead, None, "me")

    @precondition(lambda self: any(one.answer is not None for one in self.store.escalations_as_filed()))
    @rule(which=NUMBER, back=st.booleans())
    def read_or_take_back(self, which: int, back: bool) -> None:
        found = [one for one in self.store.escalations_as_filed() if one.answer is not None]
        one = found[which % len(found)]
        with suppress(*REFUSED):
            if back:
                self.store.take_back(one.id, "me")
            else:
                self.store.act_by({one.id: str(one.answer)}, "Ada")

    @precondition(lambda self: self.store.escalations())
    @rule(which=NUMBER, text=TEXT, answered=st.booleans())
    def decide(self, which: int, text: str, answered: bool) -> None:
        asked = self.store.escalations()
        number = asked[which % len(asked)].id
        if answered:
            self.store.answer(number, text, "me", [text, 1, None])
        else:
            self.store.resolve(number, text, "me")

    @rule(pause=st.booleans())
    def breaker(self, pause: bool) -> None:
        (control.pause if pause else control.resume)(self.store, self.paths, "me")

    @rule()
    def snapshot(self) -> None:
        upto = self.store.position()
        text = dumped(self.store.beads(), self.store.dependencies())
        Path(self.paths.snapshot).write_text(text)
        snapshot_log.shorten(self.store, self.paths, upto)

    @rule(more=NUMBER)
    def is_killed_before_the_line(self, more: int) -> None:
        self.store.tell(lambda: None, lambda: None)
        if self.ids:
            self.store.change(self.pick(more), {"notes": f"unsaid {more}"}, "me")
        self.again()

    @rule(left=st.integers(1, 200))
    def is_killed_within_the_line(self, left: int) -> None:
        before = os.path.getsize(self.paths.since) if os.path.exists(self.paths.since) else 0
        if self.ids:
            self.store.change(self.pick(left), {"notes": f"torn {left}"}, "me")
        if os.path.exists(self.paths.since):
            after = os.path.getsize(self.paths.since)
            os.truncate(self.paths.since, max(before, after - left))
        self.again()

    @rule()
    def is_copied(self) -> None:
        self.copies.append(os.path.join(self.folder.name, f"copy-{len(self.copies)}"))
        with closing(sqlite3.connect(self.copies[-1])) as copy:
            self.store.connection.backup(copy)

    @precondition(lambda self: self.copies)
    @rule(which=NUMBER)
    def the_database_goes_back(self, which: int) -> None:
        before = facts(self.store)
        self.store.close()
        put_back(self.paths, self.copies[which % len(self.copies)])
        self.store = opened(self.paths, Pins(self.ids))
        assert facts(self.store) == before
        assert self.store.check() == []
        assert not [name for name in os.listdir(self.paths.folder) if name.startswith("beads.since.jsonl.")]

    @rule(by=st.sampled_from(["removal", "repair"]))
    def the_database_is_lost(self, by: str) -> None:
        self.lose(by)

    def lose(self, by: str) -> None:
        before = facts(self.store)
        self.store.close()
        if by == "removal":
            for ending in ("", "-wal", "-shm"):
                Path(self.paths.database + ending).unlink(missing_ok=True)
        rebuild(self.paths, Pins(self.ids))  # type: ignore[arg-type]
        self.store = opened(self.paths)
        assert facts(self.store) == before
        assert self.store.check() == []


TestAnyPlanning = AnyPlanning.TestCase
TestAnyPlanning.settings = settings(
    max_examples=25 if settings.default.max_examples > 25 else 8,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

STEPS: dict[str, Callable[[Store, Paths], object]] = {
    "add": lambda store, _: operation.add(store, "New", id="new", needs=["one"]),
    "edit": lambda store, _: operation.edit(store, "one", {"priority": 0}, "me"),
    "hold": lambda store, _: operation.hold(store, "one", "why", "me"),
    "release": lambda store, _: operation.release(store, "held", "me"),
    "defer": lambda store, _: operation.defer(store, "one", 4e9, "me"),
    "cancel": lambda store, _: operation.cancel(store, "one", "why", "me"),
    "done": lambda store, _: operation.done(store, "one", "why", "me"),
    "reopen": lambda store, _: operation.reopen(store, "closed", "me"),
    "depend": lambda store, _: operation.depend(store, "one", "held"),
    "undepend": lambda store, _: operation.undepend(store, "two", "one"),
    "into an epic": lambda store, _: operation.depend(store, "one", "all", DependencyType.PARENT_CHILD),
    "approve": lambda store, _: store.approve(["idea"], "me"),
    "ask": lambda store, _: store.escalate(NewEscalation(EscalationType.QUESTION, "?"), "one", None, "me"),
    "suggest": lambda store, _: store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "more"), None, None, "me"),
    "ask again, answer the first": lambda store, _: (
        store.escalate(NewEscalation(EscalationType.QUESTION, "And?"), "asked", None, "me"),
        store.answer(1, "so", "me"),
    ),
    "answer": lambda store, _: store.answer(1, "so", "me"),
    "ask with a form": lambda store, _: store.escalate(
        NewEscalation(EscalationType.QUESTION, "?", form=SURE), "one", None, "me"
    ),
    "answer with a value": lambda store, _: store.answer(1, "no", "me", False),
    "act by the answer": lambda store, _: (store.answer(1, "so", "me"), store.act_by({1: "so"}, "Ada")),
    "resolve": lambda store, _: store.resolve(2, "dismiss", "me"),
    "pause": lambda store, paths: control.pause(store, paths, "me"),
    "limits": lambda store, paths: control.set_limits(store, {"doers": "1"}, "me", paths),
}


@pytest.mark.parametrize("step", STEPS)
def test_each_step_alone_is_written_down(paths: Paths, step: str) -> None:
    store = opened(paths)
    operation.add(store, "An epic", BeadType.EPIC, id="all", draft=False)
    for id_ in ("one", "held", "closed", "asked"):
        operation.add(store, id_, id=id_, draft=False)
    operation.add(store, "Two", id="two", needs=["one"], draft=False)
    operation.add(store, "An idea", id="idea")
    operation.hold(store, "held", "why", "me")
    operation.done(store, "closed", "why", "me")
    store.escalate(NewEscalation(EscalationType.QUESTION, "?"), "asked", None, "me")
    store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "!"), None, None, "me")
    unchanged = facts(store)
    STEPS[step](store, paths)
    before = facts(store)
    assert before != unchanged
    store.close()
    os.unlink(paths.database)
    rebuild(paths, Pins([]))  # type: ignore[arg-type]
    assert facts(open_store(paths.database)) == before


KILLED = """
import os, signal, sys
from nobrakes.beads.service import bead_commands as beads
from nobrakes.snapshot import log as keeping
from nobrakes.snapshot import log as snapshotlog
from nobrakes.paths import Paths
from nobrakes.store import open_store
places = Paths(sys.argv[1])
store = open_store(places.database)
keeping.attach(store, places, print)
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write = os.write
def half(descriptor, content):
    write(descriptor, content[: len(content) // 2])
    die()
if sys.argv[2] == "before":
    keeping.keep_up = die
elif sys.argv[2] == "within":
    os.write = half
elif sys.argv[2] == "snapshot":
    os.replace = die
    snapshotlog.shorten(store, places, store.position())
beads.edit(store, "one", {"notes": "typed"}, "me")
beads.add(store, "Two", id="two", draft=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["before", "within", "snapshot"])
def test_killed_at_the_worst_moment(paths: Paths, where: str) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one")
    operation.add(store, "Other", id="other", needs=["one"])
    store.close()
    done = subprocess.run([sys.executable, "-c", KILLED, paths.folder, where], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    store = opened(paths)
    before = facts(store)
    store.close()
    assert where == "snapshot" or before["beads"][0].notes == "typed"
    os.unlink(paths.database)
    rebuild(paths, None)
    assert facts(open_store(paths.database)) == before


@pytest.mark.parametrize("step", ["shorten", "replace"])
def test_a_rebuild_that_is_killed_is_done_again(paths: Paths, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one", notes="typed", draft=False)
    before = facts(store)
    store.close()
    os.unlink(paths.database)

    class Killed(Exception):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as now, pytest.raises(Killed):
        if step == "shorten":
            now.setattr(snapshot_service, "shorten", die)
        else:
            replace_ = os.replace
            now.setattr(os, "replace", lambda a, b: die() if b == paths.database else replace_(a, b))
        rebuild(paths, None)
    assert not os.path.exists(paths.database)
    rebuild(paths, None)
    again = facts(open_store(paths.database))
    assert [b.notes for b in again["beads"]] == ["typed"] and again["edges"] == before["edges"]


def test_many_writers_at_once_miss_nothing(paths: Paths) -> None:
    opened(paths).close()

    def work(name: str) -> None:
        store = opened(paths)
        for number in range(15):
            operation.add(store, "A bead", id=f"{name}{number}", draft=True)
            store.change(f"{name}{number}", {"notes": "last"}, "me")
        store.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = open_store(paths.database)
    before = facts(store)
    store.close()
    os.unlink(paths.database)
    rebuild(paths, None)
    assert facts(open_store(paths.database)) == before and len(before["beads"]) == 60


def test_what_agents_say_costs_nothing_here(paths: Paths) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one")
    before = os.stat(paths.since)
    for kind in (Kind.LOGGED, Kind.PROGRESSED, Kind.NOTIFIED, Kind.HANDED_OFF):
        store.record(Event(kind, "one", data={"text": "x"}))
    assert os.stat(paths.since).st_mtime_ns == before.st_mtime_ns
    assert not store.changes(Position(1, store.events()[0].at))


def test_a_line_is_one_bead_whatever_the_size_of_the_graph(paths: Paths) -> None:
    store = opened(paths)
    store.put([Bead(f"b{n}", "A bead") for n in range(300)], [], "me")
    before = os.path.getsize(paths.since)
    store.change("b7", {"notes": "x"}, "me")
    assert os.path.getsize(paths.since) - before < 500


def test_who_cannot_lock_the_file_says_so_and_the_next_one_writes(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(paths.database)
    said: list[str] = []
    snapshot_log.attach(store, paths, said.append)
    monkeypatch.setattr(snapshot_log, "TIMEOUT_SECONDS", 0.0)
    with snapshot_log.locked(paths.since):
        operation.add(store, "One", id="one")
        operation.edit(store, "one", {"notes": "x"}, "me")
    assert len(said) == 1 and "beads.since.jsonl" in said[0]
    with snapshot_log.locked(paths.since), pytest.raises(StoreBusy):
        snapshot_log.keep_up(store, paths)
    operation.add(store, "Two", id="two")
    text = Path(paths.since).read_text()
    assert '"id":"one"' in text and '"id":"two"' in text


def test_a_disk_that_is_full_leaves_no_torn_line(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one")
    before = Path(paths.since).read_bytes()
    real = os.write

    def full(descriptor: int, content: bytes) -> int:
        real(descriptor, content[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as now:
        now.setattr(os, "write", full)
        with pytest.raises(pytest.fail.Exception, match="no space"):
            operation.add(store, "Two", id="two")
    assert Path(paths.since).read_bytes() == before
    assert store.bead("two")


def test_the_file_that_another_database_left_is_brought_back_into_this_one(paths: Paths) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one")
    store.close()
    os.unlink(paths.database)
    create_store(paths.database).close()
    store = open_store(paths.database)
    operation.add(store, "Other", id="other")
    said: list[str] = []
    snapshot_log.attach(store, paths, said.append)
    assert len(said) == 1 and "1 bead, 0 attempts and 0 escalations were restored" in said[0]
    assert {bead.id for bead in store.beads()} == {"one", "other"}
    assert {name for name in os.listdir(paths.folder) if "since" in name} == {"beads.since.jsonl"}
    text = Path(paths.since).read_text()
    assert '"id":"one"' in text and '"id":"other"' in text
    snapshot_log.attach(store, paths, pytest.fail)
    assert Path(paths.since).read_text() == text, "it is brought back once"


@pytest.mark.parametrize("step", STEPS)
def test_each_step_is_there_again_when_the_database_of_before_it_comes_back(
    paths: Paths, step: str, tmp_path: Path
) -> None:
    store = opened(paths)
    operation.add(store, "An epic", BeadType.EPIC, id="all", draft=False)
    for id_ in ("one", "held", "closed", "asked"):
        operation.add(store, id_, id=id_, draft=False)
    operation.add(store, "Two", id="two", needs=["one"], draft=False)
    operation.add(store, "An idea", id="idea")
    operation.hold(store, "held", "why", "me")
    operation.done(store, "closed", "why", "me")
    store.escalate(NewEscalation(EscalationType.QUESTION, "?"), "asked", None, "me")
    store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, "!"), None, None, "me")
    copy = str(tmp_path / "copy")
    with closing(sqlite3.connect(copy)) as kept:
        store.connection.backup(kept)
    STEPS[step](store, paths)
    before, last = facts(store), store.position()
    store.close()
    put_back(paths, copy)
    store = opened(paths)
    assert facts(store) == before and store.check() == []
    (told,) = [event for event in store.events() if event.kind is Kind.BROUGHT_BACK and event.bead is None]
    assert told.seq > last.seq, "events are counted on"
    operation.add(store, "Later", id="later")
    assert store.position().seq > told.seq
    store.close()
    put_back(paths, copy)
    store = opened(paths)
    assert store.bead("later").title == "Later" and "later" not in before


def test_who_works_on_what_comes_back_does_so_no_more(paths: Paths, tmp_path: Path) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one", draft=False, needs_tests=False)
    attempt = store.open_attempt("one", Role.DOER, "script", ["Ada"], 60.0, None)
    assert attempt is not None
    copy = str(tmp_path / "copy")
    with closing(sqlite3.connect(copy)) as kept:
        store.connection.backup(kept)
    store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED, counts=True)
    operation.hold(store, "one", "why", "me")
    before = facts(store)
    store.close()
    put_back(paths, copy)
    store = opened(paths, Pins(["one"]))
    assert facts(store) == before
    ended = store.attempts("one")[0]
    assert ended.outcome is Outcome.FAILED and store.bead("one").fence > attempt.fence
    with pytest.raises(Stale):
        store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED)


def test_nobody_else_may_work_while_it_is_rebuilt(paths: Paths) -> None:
    from nobrakes.host.locks import DaemonLock

    with DaemonLock(paths.lock), pytest.raises(NobrakesError, match="already running"):
        rebuild(paths, None)


def test_what_was_synced_outlives_a_power_cut(paths: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The disk has of each file what it had when it was last synced."""
    disk = tmp_path / "disk"
    store = opened(paths)

    def fsync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.is_file():
            (disk / path.name).write_bytes(path.read_bytes())

    disk.mkdir()
    for path in Path(paths.folder).glob("nobrakes.db*"):
        (disk / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(os, "fsync", fsync)
    store.put([Bead("kept", "before the sync", status=Status.NEEDS_DOER)], [], "a person")
    store.sync()
    store.put([Bead("gone", "after it", status=Status.NEEDS_DOER)], [], "a person")
    store.close()
    (disk / "nobrakes.db-shm").unlink(missing_ok=True)
    after = open_store(str(disk / "nobrakes.db"))
    assert [bead.id for bead in after.beads()] == ["kept"]
    after.close()
    log = (disk / "beads.since.jsonl").read_text()
    assert '"kept"' in log and '"gone"' not in log


def test_an_answer_that_was_taken_back_is_open_again_everywhere(paths: Paths) -> None:
    store = opened(paths)
    operation.add(store, "One", id="one", draft=False)
    number = store.escalate(NewEscalation(EscalationType.QUESTION, "?", form=SURE), "one", None, "me").id
    store.answer(number, "yes", "me", True)
    store.take_back(number, "me")
    before = facts(store)
    store.close()
    os.unlink(paths.database)
    rebuild(paths, Pins([]))  # type: ignore[arg-type]
    again = open_store(paths.database)
    assert facts(again) == before and again.escalation(number).form == SURE
    assert again.bead("one").status is Status.ESCALATED


def test_an_answer_of_a_line_of_before_counts_as_read(paths: Paths) -> None:
    store = opened(paths)
    store.escalate(NewEscalation(EscalationType.QUESTION, "?"), None, None, "me")
    store.answer(1, "so", "me")
    assert store.escalation(1).read_at is None
    store.close()
    text = Path(paths.since).read_text()
    assert ',"form":{}' in text
    Path(paths.since).write_text(text.replace(',"form":{}', ""))
    os.unlink(paths.database)
    rebuild(paths, Pins([]))  # type: ignore[arg-type]
    found = open_store(paths.database).escalation(1)
    assert found.read_at == found.answered_at is not None


def test_much_is_written_in_parts_that_each_have_a_mark(tmp_path, monkeypatch):
    paths = Paths(str(tmp_path))
    store = open_memory()
    store.put([Bead(f"b{n}", f"B{n}") for n in range(10)], [Dependency("b9", "b0")], "me")
    snapshot_log.keep_up(store, paths)
    with open(paths.since) as file:
        at_once = file.read()
    os.remove(paths.since)
    monkeypatch.setattr(snapshot_log, "PAGE", 3)
    snapshot_log.keep_up(store, paths)
    with open(paths.since) as file:
        in_parts = file.read()
    marks = [line for line in in_parts.splitlines() if MARKS_BEGIN in line]
    assert len(marks) == 4 and at_once.splitlines()[-1] == marks[-1]
    assert read(in_parts, "x").records == read(at_once, "x").records
    snapshot_log.keep_up(store, paths)
    with open(paths.since) as file:
        assert file.read() == in_parts
