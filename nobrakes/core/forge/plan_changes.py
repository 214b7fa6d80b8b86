"""What one version of a plan has other than another, bead by bead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MACHINE = frozenset({"id", "status"})
"""Fields that are no part of what was planned."""

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Changed:
    """A bead that is in both: its fields that differ, each (before, after); None where it had none."""

    id: str
    title: str
    fields: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """The beads that came, that went, and that changed, by id."""

    added: tuple[Node, ...] = ()
    gone: tuple[Node, ...] = ()
    changed: tuple[Changed, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the two are the same plan."""
        return not (self.added or self.gone or self.changed)


def changes(before: Sequence[Node], after: Sequence[Node]) -> PlanChanges:
    """What `after` has other than `before`."""
    was = {str(node["id"]): node for node in before}
    now = {str(node["id"]): node for node in after}
    both = [(id_, _fields(was[id_], now[id_])) for id_ in sorted(was.keys() & now.keys())]
    return PlanChanges(
        tuple(now[id_] for id_ in sorted(now.keys() - was.keys())),
        tuple(was[id_] for id_ in sorted(was.keys() - now.keys())),
        tuple(Changed(id_, str(now[id_].get("title", "")), fields) for id_, fields in both if fields),
    )


def _fields(before: Node, after: Node) -> dict[str, tuple[Any, Any]]:
    names = sorted((before.keys() | after.keys()) - MACHINE)
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
