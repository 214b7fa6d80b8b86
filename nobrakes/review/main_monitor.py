"""The canary: whether main's tip still passes its checks, and if not, which commit broke it.

1. It runs only when idle: nothing runs or waits, and the tip was not validated for a while or was moved by others.
   Earlier passes do not count: only a new run shows a drifting machine.
2. Red three times is red (review.queue) and freezes the queue, immediately if a review was red on a red main. Red and
   then green is a flake, and reported.
3. The last tip seen green by the canary runs again first. If red, the environment is the cause. If green, the commits
   since are bisected.
4. A bead's merge is reverted by a commit that passes the checks, if main fails them once more after that: a person
   may have repaired the machine during the search. A person's own commit is never reverted.
5. If main moves meanwhile, it is checked again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from ..checks.contract import Verdict
from ..daemon.deciders import is_idle
from ..daemon.model import Board
from ..records import as_values, frozen, restore
from .queue import TIMES

ASKED = "asked"
NOBODY = 0
IDLE_SECONDS = 60.0
"""Idle time before main is checked."""
AGAIN_SECONDS = 3600.0
"""A frozen main is checked again after this time: the machine may be repaired."""
SOON_SECONDS = 60.0
"""The first wait where main's checks cannot run; it doubles each time."""


class Phase(StrEnum):
    """What the canary is at."""

    REST = "rest"
    LOOK = "look"  # the tip is run
    CONFIRM = "confirm"  # it was red, and is run again
    KNOWN = "known"  # the last tip that was seen green is run again
    SEARCH = "search"  # a commit in the middle is run
    PROVE = "prove"  # main without the culprit is run
    RECHECK = "recheck"  # it passed, and the tip is run once more
    LAND = "land"  # the tip failed again, and the repair lands


TIP_PHASES = (Phase.LOOK, Phase.CONFIRM, Phase.RECHECK)


def run_label(phase: Phase) -> str:
    return "main" if phase in TIP_PHASES else f"main_{phase.value}"


@frozen
class Watch:
    """The monitor's state, stored for any daemon."""

    phase: Phase = Phase.REST
    green: str = ""  # the last tip that main's monitor saw green
    looked_at: float = 0.0  # when it last knew what main's tip is like
    tip: str = ""  # the tip in question
    frozen: bool = False
    reds: int = 0  # how often in a row the tip was red
    searched: str = ""  # the red tip whose search is over
    line: tuple[str, ...] = ()  # the commits since `green`, oldest first; the last one is the tip
    low: int = 0
    high: int = 0
    culprit: str = ""
    candidate: str = ""  # what takes the culprit back
    onto: str = ""  # main when that was made
    serial: int = 0  # numbers the runs
    commit: str = ""  # what is run now; empty: nothing is
    started_at: float = 0.0
    pid: int | None = None
    born: str = ""
    timed_out: bool = False
    cut_off: int = 0  # how many runs of this commit were killed from outside
    results: tuple[Mapping[str, Any], ...] = ()  # of the run that was red
    escalation: int = 0
    unwatched: bool = False  # a review found main red where the canary is switched off: nobody looks, or searches
    trial: bool = False  # agents wait for what this look says
    contract: str = ""  # the key of the checks by which a frozen main was last looked at

    def as_data(self) -> dict[str, Any]:
        return as_values(self)

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Watch":
        return restore(Watch, data)

    @property
    def run(self) -> str:
        return f"canary-{self.serial}"


def again_at(watch: Watch, broken_since: float | None) -> float:
    """When an unchanged frozen main is checked again. `broken_since`: since when its checks cannot run; None: they can.
    Each wait lasts as long as the trouble at the last run's start, so that work stops for at most twice the trouble,
    and a run or two."""
    lasted = AGAIN_SECONDS if broken_since is None else watch.started_at - broken_since
    return watch.looked_at + min(max(lasted, SOON_SECONDS), AGAIN_SECONDS)


def due_at(
    watch: Watch,
    board: Board,
    main: str,
    ours_at: float | None,
    idle_since: float,
    hours: float,
    broken_since: float | None = None,
) -> float:
    """When to check main without other events. `ours_at`: when a review landed this tip; None: someone else did."""
    if watch.frozen:
        # what nobody looked at yet may be the repair
        return board.now if main != watch.searched else again_at(watch, broken_since)
    known = main == watch.tip or ours_at is not None
    seen = max(watch.looked_at if main == watch.tip else 0.0, ours_at or 0.0)
    rested = idle_since + min(IDLE_SECONDS, hours * 3600)
    return max(rested, seen + hours * 3600) if known else rested


def is_mended(watch: Watch, contract: str) -> bool:
    """The checks changed since main froze: check it immediately."""
    return watch.frozen and watch.contract != contract


def may_begin(watch: Watch, board: Board) -> bool:
    """Not while agents work, unless all wait for a green main."""
    return not (board.paused or board.stopping) and (watch.frozen or (is_idle(board) and not board.attempts))


def look(watch: Watch, main: str) -> Watch:
    # what was made of another tip is no use for this one
    begun = replace(watch, phase=Phase.LOOK, tip=main, reds=0, unwatched=False)
    return replace(begun, commit="", cut_off=0, candidate="", onto="")


def freeze_red(watch: Watch, main: str, results: Sequence[Mapping[str, Any]]) -> Watch:
    """Check a tip that already failed with a branch; nothing merges meanwhile."""
    return replace(look(watch, main), frozen=True, searched="", results=tuple(results))


def freeze_unwatched(watch: Watch, main: str, results: Sequence[Mapping[str, Any]], contract: str, now: float) -> Watch:
    """Freeze a red tip that the monitor does not check."""
    return replace(freeze_red(watch, main, results), phase=Phase.REST, unwatched=True, contract=contract, looked_at=now)


def wanted(watch: Watch) -> str:
    """The commit to run in this phase; empty: none."""
    if watch.phase in TIP_PHASES:
        return watch.tip
    if watch.phase is Phase.KNOWN:
        return watch.green
    if watch.phase is Phase.SEARCH:
        return watch.line[(watch.low + watch.high) // 2]
    return watch.candidate if watch.phase is Phase.PROVE else ""


def at_rest(watch: Watch, now: float) -> Watch:
    """This tip needs no further runs."""
    return replace(watch, phase=Phase.REST, looked_at=now, searched=watch.tip if watch.frozen else "")


def after(watch: Watch, seen: Verdict, now: float) -> Watch:
    """The state after a run. If `frozen` changes, freeze or release the queue."""
    watch = replace(watch, commit="", pid=None, born="", timed_out=False, cut_off=0)
    if watch.phase in TIP_PHASES:
        if seen is Verdict.GREEN:
            healed = replace(watch, green=watch.tip, frozen=False, reds=0, culprit="", candidate="", line=())
            return at_rest(healed, now)
        if seen is Verdict.UNSURE:
            return at_rest(watch, now)
        if watch.phase is Phase.RECHECK:
            return replace(watch, phase=Phase.LAND)
        if not watch.frozen and watch.reds + 1 < TIMES:
            return replace(watch, phase=Phase.CONFIRM, reds=watch.reds + 1)
        if watch.frozen and watch.tip == watch.searched:
            return at_rest(watch, now)
        return replace(watch, phase=Phase.KNOWN, frozen=True, culprit="", candidate="", line=())
    if watch.phase is Phase.KNOWN:
        if seen is not Verdict.GREEN:
            return at_rest(watch, now)
        return _search(replace(watch, low=0, high=len(watch.line) - 1))
    if watch.phase is Phase.SEARCH:
        middle = (watch.low + watch.high) // 2
        if seen is Verdict.UNSURE:
            return at_rest(watch, now)
        return _search(replace(watch, high=middle) if seen is Verdict.RED else replace(watch, low=middle + 1))
    return replace(watch, phase=Phase.RECHECK) if seen is Verdict.GREEN else at_rest(watch, now)


def _search(watch: Watch) -> Watch:
    """Continue in the remaining half; a single commit is the culprit, and PROVE tests its revert."""
    if watch.low < watch.high:
        return replace(watch, phase=Phase.SEARCH)
    return replace(watch, phase=Phase.PROVE, culprit=watch.line[watch.high])
