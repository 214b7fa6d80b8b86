"""What of the facts keeps work from going on: switches, limits, main, questions, and beads that stand still."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.beads.escalations import Escalation, EscalationType
from ...core.beads.events import Event
from ...core.beads.events import Kind as Happened
from ...core.beads.taking import is_with_person
from ...core.checks.contract import SETUP_FAILED
from ...core.forge.data_keys import ROLLBACK
from ...core.forge.feature import Feature, State
from ...core.hindrances import BACKGROUND, RUN_SINCE, Hindrance, Kind, of_board
from ...core.limits.machine import MachineLimits, MachineRoom
from ...core.review.journal import Journal
from ...core.standstill import SHOWN, Standstill
from ...core.text.cleaning import shorten
from ..flakes import quarantined
from ..held_memory import memory_of_agents
from ..machine_wide.views import MachineView, shown

if TYPE_CHECKING:
    from ...core.board import Board
    from ...ports.store import Store

FROZEN = "frozen"
MEND = 'nobrakes add "Mend main" --type repair --no-tests'
OF_A_RUN: tuple[str, ...] = ("nobrakes run",)
_OF_MAIN = (EscalationType.MAIN_RED, EscalationType.BROKEN_CHECKS)
_WHY = 300
"""Characters of a reason that are shown; the escalation has all of it."""
_TITLE = 60
_WHY_OF_ONE = 140
"""The same for a single bead's: there may be many of them."""


def of_switches(store: "Store", board: "Board", root: str) -> Iterator[Hindrance]:
    """What the person, a limit, a provider or the machine holds up."""
    paused_by = _paused_by(store) if board.paused or board.stopping else ""
    held = sum(memory_of_agents(board.all_runs).values()) if board.limits.agents_mb else 0
    yield from of_board(replace(board, machine=_room(shown(), root), memory_mb=held), paused_by)


def _room(view: MachineView | None, root: str) -> MachineRoom | None:
    if view is None:
        return None
    limits = MachineLimits(view.agents, view.usd_per_day, view.tokens_per_day)
    own = sum(one.agents for one in view.repositories if one.path == root)
    room = MachineRoom(limits, view.taken, own, view.usd, view.tokens)
    return replace(room, unknown=view.trouble, mend=view.mend, passes=view.passes)


def _paused_by(store: "Store") -> str:
    found = store.latest_events([Happened.PAUSED], limit=1)
    return f"{found[0].actor} paused it" if found else ""


def of_daemon(store: "Store", pid: int | None) -> Iterator[Hindrance]:
    """A daemon, or a run, that ended without being stopped. `pid`: of the one that works now."""
    if pid is not None:
        return
    began = store.latest_events([Happened.DAEMON_STARTED], limit=1)
    since = began[0] if began else Event(Happened.DAEMON_STARTED)
    dead = store.setting(BACKGROUND)
    if dead is not None:
        yield Hindrance(
            Kind.DAEMON_DEAD,
            f"the daemon is dead (it was process {dead}): nobody stopped it, and it works no more",
            "what it said last is at the end of .nobrakes/daemon.log; its agents' work is taken up again",
            ("nobrakes daemon start", "nobrakes daemon stop"),
        )
    elif store.setting(RUN_SINCE) is not None:
        process = since.data.get("pid")
        yield Hindrance(
            Kind.RUN_CUT_OFF,
            "the last run was cut off" + (f" (it was process {process})" if process else ""),
            "it did not end in order; the next one goes on where it was",
            ("nobrakes run",),
        )


def of_main(store: "Store", waiting: list[Escalation]) -> Iterator[Hindrance]:
    """A main that is red, or on which the checks could not be run."""
    asked = {one.type: one for one in reversed(waiting) if one.bead is None and one.type in _OF_MAIN}
    tip = store.setting(FROZEN)
    red, broken = asked.get(EscalationType.MAIN_RED), asked.get(EscalationType.BROKEN_CHECKS)
    if tip is not None and not (red is None and broken is not None):  # else the checks say why merges wait
        shown_by = (f"nobrakes escalation {red.id}",) if red else ("nobrakes doctor",)
        yield Hindrance(
            Kind.MAIN_RED,
            f"frozen: main is red at {tip[:12]}, nothing is merged until it is green",
            _said(red) if red else "",
            (*shown_by, MEND, "nobrakes run"),
            "mend main yourself and commit, or let an agent do it",
            number=red.id if red else None,
        )
    elif red is not None:
        yield _escalated(red)
    if broken is not None:
        yield Hindrance(
            Kind.CHECKS_BROKEN,
            broken.title,
            _said(broken),
            (f"nobrakes escalation {broken.id}", "nobrakes init --trial", "nobrakes run"),
            "mend the checks, or what they need",
            number=broken.id,
        )


def _said(one: Escalation) -> str:
    """What of the checks did not pass, on one line and bounded: the escalation has all of it."""
    rows = one.evidence.get("results")
    found = []
    for row in rows if isinstance(rows, list | tuple) else ():
        if str(row.get("reason")).startswith(SETUP_FAILED):
            return str(row["reason"])  # each check says the same
        if row.get("outcome") != "pass":
            failing = ", ".join(row.get("failing") or ())
            last = str(row.get("tail") or "").strip().splitlines()[-1:]
            found.append(": ".join([f"{row.get('name')}: {row.get('reason')}", *([failing] if failing else last)]))
    text = "; ".join(found) or "; ".join(line.strip() for line in one.detail.splitlines() if line.strip())
    return shorten(text, _WHY)


def of_questions(waiting: list[Escalation]) -> Iterator[Hindrance]:
    """What waits for the person's decision, but for main."""
    yield from (_escalated(one) for one in waiting if one.bead is not None or one.type not in _OF_MAIN)


def _escalated(one: Escalation) -> Hindrance:
    kind = one.type.value.replace("_", " ")
    about = f" on {one.bead}" if one.bead else ""
    behind = f"{one.behind} beads wait behind it" if one.behind > 1 else "1 bead waits behind it" if one.behind else ""
    reason = "; ".join(line.strip() for line in one.detail.splitlines() if line.strip())
    is_said = one.title == f"{one.bead}: {kind}"
    return Hindrance(
        Kind.ESCALATION,
        f"escalation {one.id}, {kind}{about}" + ("" if is_said else f": {one.title}"),
        "; ".join(part for part in (shorten(reason, _WHY_OF_ONE), behind) if part),
        (f"nobrakes escalation {one.id}",),
        beads=(one.bead,) if one.bead else (),
        number=one.id,
    )


_STANDS: Mapping[State, str] = {
    State.ERROR: "does not go on",
    State.EXPIRED: "has expired: nobody said a word for too long",
    State.PAUSED: "is paused",
}


def of_features(store: "Store", features: Sequence[Feature]) -> Iterator[Hindrance]:
    """Features that begin no turn before somebody goes on with them."""
    for one in features:
        if one.archived or one.state not in _STANDS or ROLLBACK in one.data:
            continue
        failed = one.state is State.ERROR and one.session is not None
        why = store.session(one.session).detail.partition("\n")[0] if failed and one.session is not None else ""
        what = f"feature {one.id} ({shorten(one.title, _TITLE)}) {_STANDS[one.state]}"
        typed = (f"nobrakes forge resume {one.id}", f"nobrakes forge show {one.id}")
        yield Hindrance(Kind.FEATURE, what, shorten(why, _WHY), typed, beads=(one.id,))


def of_merges(store: "Store", daemon: bool) -> Iterator[Hindrance]:
    """Reviews that wait: for git's locks, for edits in a checkout, for a remote."""
    for one in store.reviewing():
        journal = Journal.of(one.data)
        if journal.waiting:
            until = journal.waiting_until or None
            what = f"{one.bead} waits to be merged: {journal.waiting}"
            why = "it is looked at again by itself" if until else ""
            commands = () if daemon else OF_A_RUN
            yield Hindrance(Kind.MERGE_WAITS, what, why, commands, until=until, beads=(one.bead,))


def of_beads(found: Standstill, drafts: int, daemon: bool) -> Iterator[Hindrance]:
    """Beads that stand still. `daemon`: one works, and goes on with what comes due."""
    for bead, blocker in found.cancelled_blockers:
        yield Hindrance(
            Kind.CANCELLED_BLOCKER,
            f"{bead} waits for {blocker}, which is cancelled: that will never be done",
            "a bead waits until what it depends on is done",
            (f"nobrakes undepend {bead} {blocker}", f"nobrakes reopen {blocker}"),
            beads=(bead,),
        )
    for bead, epic in found.cancelled_parents:
        yield Hindrance(
            Kind.CANCELLED_PARENT,
            f"{bead} belongs to {epic}, which is cancelled",
            "nothing of a cancelled epic is started",
            (f'nobrakes edit {bead} --epic ""', f"nobrakes reopen {epic}"),
            beads=(bead,),
        )
    for node in found.held:
        words = ("hand-in", "retry") if is_with_person(node.held) else ("release",)
        typed = tuple(f"nobrakes {word} {node.id}" for word in words)
        yield Hindrance(Kind.HELD, f"{node.id} is held: {node.held}", "", typed, beads=(node.id,))
    if drafts:
        what = "1 draft waits" if drafts == 1 else f"{drafts} drafts wait"
        yield Hindrance(Kind.DRAFTS, f"{what} for your approval", "", ("nobrakes commit-strategy",))
    for epic in found.empty_epics:
        yield Hindrance(
            Kind.EMPTY_EPIC, f"epic {epic} has no bead, so it is never done", "", ("nobrakes shape",), beads=(epic,)
        )
    for node in found.deferred:
        commands = (f"nobrakes defer {node.id} now",)
        yield Hindrance(Kind.DEFERRED, f"{node.id} is deferred", "", commands, until=node.defer_until, beads=(node.id,))
    for node in found.resting:
        what, why = f"{node.id} waits before its next attempt", "it goes on by itself"
        then = () if daemon else OF_A_RUN
        yield Hindrance(Kind.RETRY, what, why, then, until=node.retry_at, beads=(node.id,))


def of_quarantine(store: "Store") -> Iterator[Hindrance]:
    """Tests and checks that a person lets fail."""
    for one in quarantined(store):
        what = f"{one.test} of {one.check}" if one.test else f"the check {one.check}"
        words = [one.check, one.test] if one.test else [one.check]
        yield Hindrance(
            Kind.QUARANTINED,
            f"quarantined: {what} may fail",
            f"{one.by}: {one.reason}",
            (f"nobrakes quarantine {shlex.join(words)} --lift",),
        )


def more(found: Standstill) -> dict[Kind, int]:
    """How many of each kind are not named."""
    kinds = {
        "held": Kind.HELD,
        "deferred": Kind.DEFERRED,
        "resting": Kind.RETRY,
        "cancelled_blockers": Kind.CANCELLED_BLOCKER,
        "cancelled_parents": Kind.CANCELLED_PARENT,
        "empty_epics": Kind.EMPTY_EPIC,
    }
    return {kind: found.counts[name] - SHOWN for name, kind in kinds.items() if found.counts.get(name, 0) > SHOWN}
