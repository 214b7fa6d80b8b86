"""Health on one page: the daemon, what its machine is used for, the last failures; and what a full look found."""

import os
import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from ..daemon.service.now import BarView, bar
from ..decisions.service.all_blockers import program_of
from ..events.kinds import Event, Kind
from ..features.reviewed_plan import approval
from ..host.locks import holder
from ..paths import Paths, which
from ..records import frozen
from ..text.cleaning import count

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..store import Store


Level = Literal["ok", "warning", "error"]
OK: Level = "ok"
WARNING: Level = "warning"
ERROR: Level = "error"


@frozen
class Finding:
    """One finding. `repair`: the name of its repair here, if any."""

    name: str
    level: Level
    text: str
    repair: str | None = None

    @property
    def ok(self) -> bool:
        """Warnings count as ok."""
        return self.level != ERROR


# `health` starts no process and costs a few rows. `looked` is the doctor's whole look, which somebody asked for; who
# serves keeps it with its time (Looks), for whoever reads the page next.
FAILURES = 20
_FAILED = (
    Kind.REVIEW_REJECTED,
    Kind.TESTS_REJECTED,
    Kind.DOER_STOPPED,
    Kind.TEST_WRITER_STOPPED,
    Kind.MAIN_FROZEN,
    Kind.GATE_CLOSED,
    Kind.CAP_REACHED,
    Kind.UNCONFINED,
    Kind.DEGRADED,
)


@frozen
class Looked:
    """The doctor's findings and their time (seconds since 1970)."""

    at: float
    findings: tuple[Finding, ...]


@frozen
class HealthView:
    """`free`, `total`: bytes of the disk; `workspaces`: how many; `started_at`: of the daemon."""

    bar: BarView
    started_at: float | None
    free: int
    total: int
    workspaces: int
    log: str
    failures: tuple[Event, ...]
    looked: Looked | None
    now: float


@frozen
class Step:
    """One need of a repository. `command`: what to type if it is missing."""

    name: str
    is_done: bool
    says: str
    command: str = ""


class Looks:
    """The last findings by repository, in memory."""

    def __init__(self) -> None:
        self._found: dict[str, Looked] = {}

    def last(self, root: str) -> Looked | None:
        """None: no look yet."""
        return self._found.get(root)

    def look(self, root: str, run: Callable[[], list[Finding]]) -> Looked:
        """The doctor's full look by `run`, which takes seconds and starts programs."""
        order = {ERROR: 0, OK: 2}
        made = Looked(time.time(), tuple(sorted(run(), key=lambda one: order.get(one.level, 1))))
        self._found[root] = made
        return made


def health(
    store: "Store", paths: Paths, config: "Config", looked: Looked | None, misconfigured: str = ""
) -> HealthView:
    """The present state, with the last full look."""
    disk = shutil.disk_usage(paths.folder)
    started = store.latest_events((Kind.DAEMON_STARTED,), None, 1)
    try:
        workspaces = len([name for name in os.listdir(paths.workspaces) if not name.startswith(".")])
    except OSError:
        workspaces = 0
    around = bar(store, paths, config, misconfigured)
    return HealthView(
        around,
        started[0].at if started and around.daemon is not None else None,
        disk.free,
        disk.total,
        workspaces,
        os.path.relpath(paths.daemon_log, paths.root),
        tuple(store.latest_events(_FAILED, None, FAILURES)),
        looked,
        store.now(),
    )


def set_up(store: "Store", paths: Paths, config: "Config", misconfigured: str) -> tuple[Step, ...]:
    """The steps from nothing to working agents, in order."""
    names = config.agents.agent_choice().names()
    missing = [name for name in names if not _is_there((*config.agents.command(name), "")[0])]
    checks = [one for one in config.checks if (program := program_of(one.command)) and not _is_there(program)]
    counts = store.counts()
    beads = sum(number for name, number in counts.items() if name not in ("epic", "held"))
    live = beads - counts["draft"]
    return (
        Step("Repository", True, f"{paths.root} uses nobrakes; main is {config.main}"),
        Step("Settings", not misconfigured, misconfigured or "config.toml is valid", "nobrakes config --check"),
        Step(
            "Checks",
            bool(config.checks) and not checks,
            ", ".join(f"{one.name}: {one.command}" for one in config.checks) or "no check, so nothing can be merged",
            'nobrakes init --test "…"',
        ),
        Step(
            "Agents",
            not missing,
            f"{', '.join(missing)}: not on PATH" if missing else ", ".join(names),
            "nobrakes init --agent NAME",
        ),
        Step(
            "Sandbox",
            config.sandbox.mode != "none",
            "agents run with your rights (sandbox.mode)" if config.sandbox.mode == "none" else config.sandbox.mode,
            "nobrakes doctor",
        ),
        Step("First plan", beads > 0, count(beads, "bead") if beads else "there is no bead yet", "nobrakes shape"),
        Step(
            "Approved",
            live > 0,
            count(live, "bead is live", "beads are live")
            if live
            else "drafts wait for your approval"
            if beads
            else "nothing to approve yet",
            approval(store, config.forge)[0],
        ),
        Step(
            "At work",
            counts["done"] > 0,
            count(counts["done"], "bead is merged", "beads are merged"),
            "nobrakes status" if holder(paths.lock) is not None else "nobrakes daemon start",
        ),
    )


def _is_there(program: str) -> bool:
    return bool(program) and (os.path.sep in program or which(program) is not None)
