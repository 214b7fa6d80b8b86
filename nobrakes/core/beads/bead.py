"""Beads and what connects them, as plain frozen values.

1. Facts are stored here; whether a bead is ready or blocked is derived (core.graph.readiness), never a field.
2. Times are seconds since 1970-01-01 UTC, as floats; estimates are minutes.
3. A bead's id is ref-safe by construction: `is_bead_id` is the grammar, shared by every way in.
"""

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from ..errors import BadBead

MAX_TITLE = 500
_ID_FIRST = frozenset(string.ascii_letters + string.digits)
_ID_REST = _ID_FIRST | frozenset("-_.")


class Status(StrEnum):
    """Where a bead is in its life; waiting and working statuses alternate."""

    DRAFT = "draft"
    OPEN = "open"  # an epic, while its children are worked on
    NEEDS_TESTS = "needs_tests"
    WRITING_TESTS = "writing_tests"
    NEEDS_DOER = "needs_doer"
    DOING = "doing"
    NEEDS_REVIEW = "needs_review"
    REVIEWING = "reviewing"
    LANDED = "landed"  # on the branch of its epic, whose pull request people merge
    DONE = "done"
    ESCALATED = "escalated"
    CANCELLED = "cancelled"


WAITING_FOR_AGENT = (Status.NEEDS_TESTS, Status.NEEDS_DOER)
WORKING = (Status.WRITING_TESTS, Status.DOING, Status.REVIEWING)
CLOSED = (Status.DONE, Status.CANCELLED)


class BeadType(StrEnum):
    """What kind of work a bead is; the first part of its branch's name."""

    FEATURE = "feature"
    FIX = "fix"
    TASK = "task"
    CHORE = "chore"
    DOCS = "docs"
    TEST = "test"
    REFACTOR = "refactor"
    REPAIR = "repair"  # what turns a red main green: it may start and be merged there
    EPIC = "epic"


TYPE_ALIASES: Mapping[str, BeadType] = {
    "bug": BeadType.FIX,
    "feat": BeadType.FEATURE,
    "enhancement": BeadType.FEATURE,
    "story": BeadType.FEATURE,
    "spike": BeadType.TASK,
    "decision": BeadType.TASK,
    "doc": BeadType.DOCS,
}


class DependencyType(StrEnum):
    """How one bead hangs on another; only the first two decide readiness."""

    BLOCKS = "blocks"
    PARENT_CHILD = "parent-child"
    DISCOVERED_FROM = "discovered-from"
    RELATED = "related"


class Role(StrEnum):
    """Who works in an attempt. The Reviewer is a program, a person is a person, the others are agents."""

    SHAPER = "shaper"
    TEST_WRITER = "test_writer"
    DOER = "doer"
    REVIEWER = "reviewer"
    PERSON = "person"  # who took the bead, or handed something in for it


NO_AGENTS = (Role.REVIEWER, Role.PERSON)
"""Who works without an agent: there is no transcript of them, and nothing to go on with."""


class Dependency(NamedTuple):
    """`bead` depends on `needs`: it waits for it (blocks), or is its child (parent-child)."""

    bead: str
    needs: str
    type: DependencyType = DependencyType.BLOCKS


def blockers_of(bead: str, dependencies: Iterable[Dependency]) -> list[str]:
    """What the bead waits for, of these dependencies."""
    return [one.needs for one in dependencies if one.bead == bead and one.type is DependencyType.BLOCKS]


def blocked_by(bead: str, dependencies: Iterable[Dependency]) -> list[str]:
    """Who waits for the bead, of these dependencies."""
    return [one.bead for one in dependencies if one.needs == bead and one.type is DependencyType.BLOCKS]


@dataclass(frozen=True, slots=True)
class Bead:
    """One coherent unit of work with a clear done condition, as people and agents read it."""

    id: str
    title: str
    type: BeadType = BeadType.TASK
    description: str = ""
    acceptance: tuple[str, ...] = ()
    priority: int = 2
    labels: tuple[str, ...] = ()
    epic: str | None = None
    estimate: int | None = None
    needs_tests: bool = True
    scaffolding: bool = False
    touches: tuple[str, ...] = ()
    notes: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: Status = Status.DRAFT
    held: str | None = None  # the reason, while a person holds it
    defer_until: float | None = None
    created_at: float = 0.0
    updated_at: float = 0.0
    closed_at: float | None = None
    close_reason: str = ""
    failures: int = 0
    retry_at: float | None = None
    assignee: str | None = None
    fence: int = 0
    lease_until: float | None = None
    return_to: Status | None = None
    branch_kept: bool = False  # the next attempt goes on where the last one stopped
    merged_commit: str | None = None  # the last merge; of a live bead, one that does not count any more
    branch: str = ""  # what its branch is called; empty before its first attempt (core.beads.branches)
    stacks_on: str | None = None  # the blocker on whose open pull request it is worked on (core.pulls.stacking)
    proposed: Mapping[str, Any] = field(default_factory=dict)  # what waits for a person's yes (core.beads.proposals)


_FIELDS = tuple(Bead.__dataclass_fields__)
_WRITE = [getattr(Bead, name).__set__ for name in _FIELDS]


def bead_of(values: Iterable[Any]) -> Bead:
    """The bead of these values of all fields, in their order: for whole graphs, since it takes half the time."""
    made = object.__new__(Bead)
    for write, value in zip(_WRITE, values, strict=True):
        write(made, value)
    return made


_PLACES = {name: place for place, name in enumerate(_FIELDS)}
_DEFAULTS = [getattr(Bead("", ""), name) for name in _FIELDS]


def new_bead(id_: str, *given: Mapping[str, Any]) -> Bead:
    """A bead of which these fields are given, the others as they begin; KeyError for a field that there is not."""
    values = _DEFAULTS.copy()
    values[0] = id_
    for fields in given:
        for name, value in fields.items():
            values[_PLACES[name]] = value
    return bead_of(values)


CONTENT = (
    "title",
    "type",
    "description",
    "acceptance",
    "priority",
    "labels",
    "epic",
    "estimate",
    "needs_tests",
    "scaffolding",
    "touches",
    "notes",
    "metadata",
)
"""The fields that people write; everything else of a bead is what happened to it."""
assert {*CONTENT} < {*Bead.__dataclass_fields__}


def is_bead_id(text: str) -> bool:
    """Whether `text` may be a bead's id: 1 to 64 of letters, digits, `-_.`, safe inside a ref name."""
    return (
        0 < len(text) <= 64
        and text[0] in _ID_FIRST
        and _ID_REST.issuperset(text)
        and ".." not in text
        and not text.endswith((".", ".lock"))
    )


def first_status(bead: Bead) -> Status:
    """Where a live bead starts: epics only contain, and `needs_tests: false` skips the Test Writer."""
    if bead.type is BeadType.EPIC:
        return Status.OPEN
    return Status.NEEDS_TESTS if bead.needs_tests else Status.NEEDS_DOER


def parse_type(text: str) -> BeadType:
    """The type that `text` names, aliases included; BadBead for any other word."""
    word = text.strip().lower()
    if word in TYPE_ALIASES:
        return TYPE_ALIASES[word]
    try:
        return BeadType(word)
    except ValueError:
        known = ", ".join(t.value for t in BeadType)
        raise BadBead(f"'{text[:40]}' is not a type of bead", f"Use one of: {known}.") from None


def check_bead(bead: Bead) -> None:
    """Raise BadBead where a field has a value that no bead may have."""
    if not is_bead_id(bead.id):
        raise BadBead(
            f"'{bead.id[:80]!s}' cannot be a bead's id".replace("\n", "\\n"),
            "Use 1 to 64 letters, digits, '-', '_' or '.', beginning with a letter or digit.",
        )
    if not bead.title.strip():
        raise BadBead(f"bead {bead.id} has no title", "Give it a title of one line.")
    if len(bead.title) > MAX_TITLE:
        raise BadBead(
            f"the title of bead {bead.id} has {len(bead.title)} characters, more than {MAX_TITLE}",
            "Shorten the title and put the rest into the description.",
        )
    if not bead.title.isprintable():
        raise BadBead(
            f"the title of bead {bead.id} has line breaks or control characters",
            "A title is one line of printable text; put the rest into the description.",
        )
    if not 0 <= bead.priority <= 4:
        raise BadBead(f"bead {bead.id} has priority {bead.priority}", "Use 0 (first) to 4 (last).")
    if bead.estimate is not None and bead.estimate <= 0:
        raise BadBead(f"bead {bead.id} has an estimate of {bead.estimate}", "Estimates are minutes above 0.")
    if bead.epic == bead.id:
        raise BadBead(f"bead {bead.id} is its own epic")
