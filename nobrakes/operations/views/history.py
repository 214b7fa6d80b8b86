"""What happened: everything about one bead, for a post-mortem, and the Reviewer's latest work."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead, Dependency, Role
from ...core.beads.escalations import Escalation
from ...core.beads.events import Event
from ...core.beads.outcomes import Outcome

if TYPE_CHECKING:
    from ...ports.git import Git
    from ...ports.store import Store

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Review:
    """One attempt of the Reviewer. `results` are the checks of its last validation, as JSON values.

    `outcome` None: it is under way, at `step`. `commit` is what main, or the branch `onto`, became.
    """

    attempt: int
    bead: str
    title: str
    outcome: Outcome | None
    started_at: float
    ended_at: float | None
    detail: str
    step: str
    commit: str | None
    results: tuple[Mapping[str, Any], ...]
    gates: tuple[str, ...] = ()  # what decides whether work is good, and the branch changes
    onto: str = ""  # the epic on whose branch it lands; empty: on main


@dataclass(frozen=True, slots=True)
class BeadHistory:
    """Everything about one bead. `commit` is where it is on main, `archived` the (ref, commit) of kept branches."""

    bead: Bead
    dependencies: tuple[Dependency, ...]
    events: tuple[Event, ...]
    attempts: tuple[Attempt, ...]
    reviews: tuple[Review, ...]
    escalations: tuple[Escalation, ...]
    commit: str | None
    archived: tuple[tuple[str, str], ...]


def review_of(attempt: Attempt, bead: Bead) -> Review:
    """An attempt of the Reviewer as a review."""
    results, onto = attempt.data.get("results"), str(attempt.data.get("epic") or "")
    commit = str(attempt.data.get("candidate", "")) if onto else bead.merged_commit
    return Review(
        attempt.id,
        attempt.bead,
        bead.title,
        attempt.outcome,
        attempt.started_at,
        attempt.ended_at,
        attempt.detail,
        str(attempt.data.get("step", "")),
        commit if attempt.outcome is Outcome.COMPLETED else None,
        tuple(results) if isinstance(results, list | tuple) else (),
        tuple(map(str, attempt.data.get("gates") or ())),
        onto,
    )


def reviews(store: "Store", limit: int = 20) -> list[Review]:
    """The Reviewer's latest work, newest first, with what the checks said."""
    attempts = store.reviews(limit)
    beads = {bead.id: bead for bead in store.beads(ids=[a.bead for a in attempts])} if attempts else {}
    return [review_of(attempt, beads[attempt.bead]) for attempt in attempts]


def history(store: "Store", git: "Git | None", id: str) -> BeadHistory:
    """The post-mortem of one bead; NoSuchBead. Without `git` nothing is said about commits and archives."""
    bead = store.bead(id)
    attempts = store.attempts(id)
    events: list[Event] = []
    after = 0
    while True:
        page = store.events(after, PAGE, id)
        events += page
        if len(page) < PAGE:
            break
        after = page[-1].seq
    commit = bead.merged_commit
    archived: list[tuple[str, str]] = []
    if git is not None:
        archived = git.archived(id)
        commit = commit or git.merged().get(id)
    return BeadHistory(
        bead,
        tuple(store.dependencies(id)),
        tuple(events),
        tuple(attempts),
        tuple(review_of(attempt, bead) for attempt in attempts if attempt.role is Role.REVIEWER),
        tuple(store.escalations(open_only=False, bead=id)),
        commit,
        tuple(archived),
    )
