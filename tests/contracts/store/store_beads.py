"""Beads for the store's contract, and the few steps that its tests repeat."""

from typing import Any

from nobrakes.beads.model import Attempt, Bead, BeadType, DependencyType, Outcome, Role, Status
from nobrakes.events.kinds import Kind
from nobrakes.store import Store

NAMES = ["Ada", "Bob", "Cleo"]
PARENT = DependencyType.PARENT_CHILD


def bead(id_: str, **more: Any) -> Bead:
    return Bead(id_, f"Do {id_}", **({"status": Status.NEEDS_DOER, "needs_tests": False} | more))


def epic(id_: str, **more: Any) -> Bead:
    return Bead(id_, f"All of {id_}", BeadType.EPIC, **({"status": Status.OPEN} | more))


def ready(store: Store) -> list[str]:
    return [one.id for one in store.ready(100)]


def claim(store: Store, id_: str, role: Role = Role.DOER) -> Attempt:
    attempt = store.open_attempt(id_, role, "script", NAMES, 60.0, "f" * 40)
    assert attempt is not None
    return attempt


def finish(store: Store, id_: str) -> None:
    store.close_attempt(claim(store, id_), Kind.WORK_SUBMITTED, Outcome.COMPLETED)
    store.close_attempt(claim(store, id_, Role.REVIEWER), Kind.MERGED, Outcome.COMPLETED, merged_commit="c" * 40)
