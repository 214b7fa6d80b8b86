"""The trial at work: whether agents may start, from what is known of main's tip (core.checks.trial).

1. It runs nothing itself: the canary looks at the tip, and what passed is remembered as any validation.
2. A main that goes on while its tip is tried need not be tried to its newest commit: a tip that passed, and that main
   still holds, opens it.
3. Once it was open in a run it stays so; a main that turns red later is for main's monitor and the reviews.
4. What a person has to do is told once for each tip and checks.
"""

from collections.abc import Sequence

from ...core.checks.contract import CheckOutcome, CheckResult, setup_failed
from ...core.checks.trial import Starts, advice, passed
from ...core.checks.verdict import Verdict
from ...core.errors import NoMain
from ...ports.people import Notice
from ..checks.validation import Validation
from ..ports import Ports
from ..review.culprits import FROZEN, NO_SETUP
from .monitor import MainMonitor

RED_MAIN = "red_main"
"""The setting with the tip on which a person lets agents start, whatever the checks say."""


class Trial:
    """Says which beads may be started."""

    def __init__(self, ports: Ports, validation: Validation, monitor: MainMonitor) -> None:
        self.ports = ports
        self.validation = validation
        self.monitor = monitor
        self._is_open = False
        self._proven = ""
        self._told: set[str] = set()
        monitor.heard = self.heard
        monitor.look_anew()

    def starts(self) -> Starts:
        """Which beads may be started now; asked once a turn."""
        if not self.ports.config().checks:
            self._tell(
                "no check", "No check is configured, so only beads marked --scaffolding or of type repair start."
            )
            return Starts.SCAFFOLDING
        if self._is_open:
            return Starts.OPEN
        try:
            main = self.ports.git.main()
        except NoMain:
            return Starts.OPEN  # whoever is to be started says so
        starts = self._at(main)
        self._is_open = starts is Starts.OPEN
        if self._is_open:
            self.monitor.opened()
        return starts

    def _at(self, main: str) -> Starts:
        store = self.ports.store
        if store.setting(RED_MAIN) == main:
            return Starts.OPEN
        if store.setting(FROZEN) is not None:
            why = store.setting(NO_SETUP) or "main is red"
            why = f"{why} at {main[:12]}: only beads of type repair start, `nobrakes escalations` says more."
            self._tell(f"red {main}", why)
            return Starts.REPAIRS
        if self.validation.recorded(self.ports.git.tree(main)) is not None:
            return Starts.OPEN
        if self._proven and self.ports.git.contains(self._proven, main):
            return Starts.OPEN  # main went on while it was tried: what came since is for main's monitor and the reviews
        tried = self.monitor.tried(main)
        if tried is None:
            tip = self.monitor.watch.tip
            if self.monitor.watch.trial and tip != main:  # agents do not wait for its newest commit
                what = f"main went on to {main[:12]} while its checks run at {tip[:12]}"
                self._tell(f"moved {tip}", f"{what}: agents start once they pass there.")
            return Starts.UNTRIED
        return Starts.OPEN if tried is Verdict.GREEN else Starts.SCAFFOLDING

    def heard(self, tip: str, results: Sequence[CheckResult], is_green: bool) -> None:
        """The tip was tried."""
        if is_green:
            self._proven = tip
            self._tell(f"green {tip}", passed(results))
            return
        checks = self.validation.present().checks
        what = f"main at {tip[:12]} does not pass its checks, so nothing starts but what mends it."
        if setup_failed(results):
            what = f"No check was started on main at {tip[:12]}, so nothing starts but what mends that."
        again = "`nobrakes run --red-main` lets agents start all the same."
        self._tell(f"tried {tip}", "\n".join([what, *said_of(results), *advice(results, checks), again]))

    def _tell(self, key: str, text: str) -> None:
        if key not in self._told:
            self._told.add(key)
            for line in text.splitlines():
                self.ports.notifier.tell(Notice(line, urgent=not key.startswith("green")))


def said_of(results: Sequence[CheckResult]) -> list[str]:
    """A line for each check that did not pass; one for a set-up that failed."""
    if why := setup_failed(results):
        return [why]
    return [f"{one.name}: {one.reason}{_last(one)}" for one in results if one.outcome is not CheckOutcome.PASS]


def _last(result: CheckResult) -> str:
    """The last line of what it printed, when it told of no test: there its runner says what is wrong."""
    lines = result.tail.strip().splitlines() if result.counts is None else []
    return f" ({lines[-1].strip()[:200]})" if lines else ""
