"""The whole answer to "what keeps work from going on", for every surface: the one place where it is put together.

1. What can be told from the facts is told everywhere. This machine is looked at only where no daemon works, since a
   daemon has a PATH and keys of its own; `here` None: it is not looked at, and of the settings what `misconfigured`
   says and whether a check is named, unless that is None too.
2. A `run` that is let start on any main (`red_main`) is not refused for its checks, nor is one in which scaffolding
   waits for the Reviewer: it may bring them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.beads.bead import Status
from ...core.checks.trial import Starts
from ...core.errors import Hindered
from ...core.forge.feature import Feature, State
from ...core.hindrances import Hindrance, Kind, in_order
from ...core.standstill import Standstill
from ...host.locks import holder
from ...paths import Paths
from ...wording.hindrances import refusal
from .. import control
from . import machine, work
from .machine import Here

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...ports.store import Store


@dataclass(frozen=True, slots=True)
class Hindrances:
    """What stands in the way, the heaviest first. `more`: how many of a kind are not named."""

    found: tuple[Hindrance, ...]
    more: tuple[tuple[Kind, int], ...] = ()

    def require(self, now: float) -> None:
        """Hindered where a run would do nothing from its first moment."""
        refused = tuple(one for one in self.found if one.refuses)
        if refused:
            raise Hindered(*refusal(refused, now))


NOTHING = Hindrances(())


def hindrances(
    store: "Store",
    paths: Paths,
    config: "Config",
    here: Here | None = None,
    red_main: bool = False,
    misconfigured: str | None = None,
) -> Hindrances:
    """Everything that keeps work from going on, as far as it can be told without starting anything."""
    pid = holder(paths.lock)
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    still, counts = store.standstill(), store.counts()
    waiting, features = store.escalations(), store.features()
    found = [
        *work.of_switches(store, board, paths.root),
        *work.of_daemon(store, pid),
        *work.of_main(store, waiting),
        *work.of_questions(waiting),
        *work.of_features(store, features),
        *work.of_merges(store, pid is not None),
        *work.of_beads(still, len(store.by_priority((Status.DRAFT,))), pid is not None),
        *work.of_quarantine(store),
    ]
    if here is not None:
        found += machine.of_config(here.misconfigured)
        if pid is None:
            found += _of_machine(store, paths, config, here, red_main, features, still, counts)
    elif misconfigured is not None:
        found += [*machine.of_config(misconfigured), *machine.of_no_check(config)]
    return Hindrances(in_order(found), tuple(work.more(still).items()))


def _of_machine(
    store: "Store",
    paths: Paths,
    config: "Config",
    here: Here,
    red_main: bool,
    features: Sequence[Feature],
    still: Standstill,
    counts: Mapping[str, int],
) -> list[Hindrance]:
    wanted = tuple((status in (Status.NEEDS_TESTS, Status.WRITING_TESTS), kind) for status, kind in still.wanted)
    agents = machine.of_roles(config, here, wanted)
    checks = list(machine.of_checks(config, paths, here))
    is_work = bool(wanted) or bool(counts["review"])
    if any(one.has_turn and one.state is State.ACTIVE for one in features):
        told = {one.what for one in agents}
        agents += [one for one in machine.of_shapers(config, here, not is_work) if one.refuses or one.what not in told]
    mends = store.board(replace(control.limits(store, config), starts=Starts.SCAFFOLDING), 1).ready
    reviewed = store.beads(statuses=(Status.NEEDS_REVIEW, Status.REVIEWING)) if counts["review"] else ()
    if red_main or mends or not is_work or any(one.scaffolding for one in reviewed):
        checks = [replace(one, refuses=False) for one in checks]
    closure = [replace(one, refuses=is_work) for one in machine.of_closure(config, here)]
    return [*checks, *agents, *closure]
