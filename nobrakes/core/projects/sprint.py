"""Sprints of a project: what is kept of them, and how far one is. Pure.

1. A person's yes is a run: so many sprints inside the brief, the checks and the caps as they were then (`terms`).
2. A sprint is one bead. Its plan is written by a session that reads main, its review by the bead's agent; the documents
   about it are two beads whose work nobrakes makes itself. All three end in the same Reviewer.
3. One run of a repository goes on at a time, and one sprint of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..errors import NotAllowed, UsageError
from . import documents


class RunState(StrEnum):
    """Whether a run goes on."""

    GOING = "going"
    WAITS = "waits"  # only a person's new yes lets it go on; `why` says what happened
    COMPLETE = "complete"  # every success criterion is met, and whats-next is silent
    OVER = "over"  # all of its sprints are done, and the project is not complete


class Stage(StrEnum):
    """How far a sprint is."""

    PLANNING = "planning"  # a session reads main and hands the plan in
    OPENING = "opening"  # the plan goes to main
    EXECUTING = "executing"  # the sprint's bead is worked on
    CLOSING = "closing"  # its review goes to main
    DONE = "done"


class Kind(StrEnum):
    """What agents hand in for a project's documents."""

    PLAN = "plan"
    REVIEW = "review"
    DECISION = "decision"
    DEVIATION = "deviation"
    WISH = "wish"


PLACES: Mapping[Kind, str] = {
    Kind.DECISION: "DECISIONS.md",
    Kind.DEVIATION: "DEVIATIONS.md",
    Kind.WISH: "WISHLIST.md",
}
"""Where what is told on the way is appended."""
MOST = 30_000
"""Characters of a document that is handed in."""
NAME = 40
"""Characters of a sprint's name."""
ASKED = 50
"""As many sprints one yes may be for."""


@dataclass(frozen=True, slots=True)
class SprintRun:
    """A yes for `asked` sprints. `terms`: by name, what the brief, the checks and the caps were when it was given."""

    id: int
    asked: int
    needs_tests: bool
    terms: Mapping[str, str]
    state: RunState
    why: str
    actor: str
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True)
class Sprint:
    """A sprint. `session` plans it, `bead` is its work, `opening` and `closing` are the beads of its documents."""

    number: int
    run: int
    name: str
    stage: Stage
    session: int | None = None
    bead: str | None = None
    opening: str | None = None
    closing: str | None = None
    nudged: int = 0
    began_at: float = 0.0
    ended_at: float | None = None

    @property
    def title(self) -> str:
        """Its folder's name, as far as it has one."""
        return f"s{self.number}-{self.name}" if self.name else f"s{self.number}"

    @property
    def folder(self) -> str:
        """Where its documents are, from the root of the repository."""
        return f"{documents.SPRINTS}/{self.title}"


@dataclass(frozen=True, slots=True)
class Document:
    """Something that was handed in for a sprint."""

    id: int
    sprint: int
    kind: Kind
    text: str
    actor: str
    at: float


@dataclass(frozen=True, slots=True)
class Going:
    """The run that a repository has last, its present sprint (None: between two), and how many of it are done."""

    run: SprintRun
    sprint: Sprint | None = None
    done: int = 0
    last: int = 0  # the highest number of any sprint here
    documents: tuple[Document, ...] = ()


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the terms that are not as they were when the yes was given."""
    return tuple(name for name in now if before.get(name) != now[name])


def going_already(run: SprintRun) -> NotAllowed:
    """Why no other yes can be given while this run goes on."""
    return NotAllowed(
        f"{run.asked} sprints were asked for already, and they go on",
        "`nobrakes project status` says how far they are.",
    )


def slug(text: str) -> str:
    """A sprint's name as its folder has it: small letters, digits and '-'."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in text.casefold()).split()
    return "-".join(words)[:NAME].strip("-") or "work"


def require(kind: Kind, text: str) -> str:
    """The text without space around it; UsageError where it cannot be such a document."""
    plain = text.strip()
    if not plain:
        raise UsageError(f"the {kind.value} is empty", "Say something in it.")
    if len(plain) > MOST:
        raise UsageError(f"a {kind.value} has at most {MOST} characters, and this has {len(plain)}", "Shorten it.")
    if kind is Kind.PLAN and not documents.tasks(plain):
        raise UsageError(
            "the plan names no task",
            "Write each task as `- [ ] what is to be done` below a heading `## Tasks`.",
        )
    return plain
