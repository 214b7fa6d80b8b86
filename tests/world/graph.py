"""Random plans: epics, chains and diamonds, beads without tests, scaffolding, drafts."""

import random
from collections.abc import Iterable
from dataclasses import replace

from nobrakes.beads.graph import Links, Node, TypicalMinutes, levels
from nobrakes.beads.model import Bead, BeadType, Dependency, Status, first_status
from nobrakes.beads.readiness import Readiness

_TYPES = (BeadType.FEATURE, BeadType.FIX, BeadType.TASK, BeadType.CHORE, BeadType.DOCS)


def random_bead(rng: random.Random, name: str, epic: str | None) -> Bead:
    """One bead; most are live at once, some are drafts."""
    bead = Bead(
        id=name,
        title=f"Bead {name}",
        type=rng.choice(_TYPES),
        priority=rng.randrange(5),
        epic=epic,
        estimate=rng.choice([None, 10, 60]),
        needs_tests=rng.random() < 0.8,
        scaffolding=rng.random() < 0.1,
    )
    status = Status.DRAFT if rng.random() < 0.1 else first_status(bead)
    return replace(bead, status=status)


def random_graph(rng: random.Random, count: int) -> tuple[list[Bead], list[Dependency]]:
    """`count` beads, a few epics round some of them, and dependencies that always point to earlier beads."""
    beads: list[Bead] = []
    dependencies: list[Dependency] = []
    epics: list[str] = []
    for number in range(1, count + 1):
        name = f"b{number:02}"
        epic = rng.choice(epics) if epics and rng.random() < 0.5 else None
        if rng.random() < 0.12:
            beads.append(Bead(name, f"Epic {name}", BeadType.EPIC, epic=epic, status=Status.OPEN))
            epics.append(name)
            continue
        beads.append(random_bead(rng, name, epic))
        workable = [bead.id for bead in beads[:-1] if bead.type is not BeadType.EPIC]
        for needs in rng.sample(workable, min(len(workable), rng.choice([0, 0, 1, 1, 2]))):
            dependencies.append(Dependency(name, needs))
    return beads, dependencies


def b_levels(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], expected: TypicalMinutes | None = None
) -> dict[str, int]:
    """The longest estimated chain behind each bead, itself included, in minutes."""
    return {bead: level.start for bead, level in levels(Links(nodes, dependencies), expected).items()}


def ready_beads(nodes: Iterable[Node], dependencies: Iterable[Dependency], now: float) -> list[str]:
    readiness = Readiness(Links(nodes, dependencies), now)
    return sorted(bead for bead in readiness.links.nodes if readiness.ready(bead))
