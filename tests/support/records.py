"""Beads as records of Beads JSONL, as a store would write them."""

from collections.abc import Iterable

from nobrakes.core.beads.bead import Bead, Dependency, DependencyType
from nobrakes.interop import beads as interop
from nobrakes.ports.graph import Alike


def dumped(beads: Iterable[Bead], dependencies: Iterable[Dependency]) -> str:
    """The beads with what each of them waits for, a line each."""
    edges = [(one.bead, f"{one.needs} {one.type.value}", one.type) for one in dependencies]

    def own(bead: Bead) -> list[str]:
        return [
            text
            for whose, text, type_ in edges
            if whose == bead.id and (type_ is not DependencyType.PARENT_CHILD or text != f"{bead.epic} parent-child")
        ]

    return interop.dump(
        Alike(bead.id, bead.title, bead.description, bead.acceptance, bead.notes, own(bead), bead)
        for bead in sorted(beads, key=lambda bead: bead.id)
    )
