"""Beads as records of Beads JSONL, as a store would write them."""

from collections import defaultdict
from collections.abc import Iterable

from nobrakes.beads.model import Bead, BeadRow, Dependency
from nobrakes.db.rows import texts
from nobrakes.snapshot import beads_jsonl as interop


def dumped(beads: Iterable[Bead], dependencies: Iterable[Dependency]) -> str:
    """The beads with what each of them waits for, a line each."""
    edges: defaultdict[str, list[str]] = defaultdict(list)
    for one in dependencies:
        edges[one.bead].append(f"{one.needs} {one.type.value}")
    return interop.dump(
        BeadRow(
            bead.id,
            bead.title,
            bead.description,
            bead.acceptance,
            bead.notes,
            texts(bead.labels),
            bead.estimate,
            bead.created_at,
            bead.updated_at,
            edges.get(bead.id, ()),
            bead,
        )
        for bead in sorted(beads, key=lambda bead: bead.id)
    ).decode()
