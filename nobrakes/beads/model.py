"""Beads and their dependencies, as plain frozen values.

1. Facts are stored here; readiness is derived (beads.readiness), never a field.
2. Times are seconds since 1970-01-01 UTC, as floats; estimates are minutes.
3. A bead's id is ref-safe: `is_bead_id` is the grammar for every way in.
4. An attempt is one run of one role on one bead: the unit of history, cost and blame. It holds the bead by a name, a
   lease and a fence; a write under an older fence is refused. It has at most one child process (a Run) at a time.
5. `TABLE` has the consequences of each ending (docs/reference/outcomes.md). A usage limit, an outage or a broken
   machine does not count as the bead's failure.
6. Columns, options, plans, the snapshot and pages are generated from the fields of Bead.
"""

import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin

from ..errors import BadBead
from ..records import content, filler, frozen


class Outcome(StrEnum):
    """Why an attempt ended."""

    COMPLETED = "completed"
    # the work was not good enough: counts
    GAVE_UP_CONTEXT = "gave_up_context"
    GAVE_UP_TESTS = "gave_up_tests"
    FAILED = "failed"
    FAILED_REVIEW = "failed_review"
    BOUNDARY = "boundary"
    NOT_RED = "not_red"
    WEAK_TESTS = "weak_tests"
    NO_WORK = "no_work"
    CONTRADICTED_ITSELF = "contradicted_itself"
    EMPTY_OUTPUT = "empty_output"
    CRASHED = "crashed"
    KILLED = "killed"
    STALLED = "stalled"
    TIMED_OUT = "timed_out"
    CONTEXT_OVERFLOW = "context_overflow"
    INVALID_REQUEST = "invalid_request"
    TURN_LIMIT = "turn_limit"
    # waiting for a person: does not count
    BLOCKED = "blocked"
    CONFLICT = "conflict"
    CHECKS_CHANGED = "checks_changed"
    UNUSUAL_CONTENT = "unusual_content"
    FILTER_NOT_ALLOWED = "filter_not_allowed"
    MERGE_REVIEW = "merge_review"
    CODE_REVIEW = "code_review"
    FINDINGS = "findings"
    REMARKS = "remarks"
    ASKED_AGAIN = "asked_again"
    PULL_CLOSED = "pull_closed"
    # the machine or the provider: does not count
    BROKEN_CHECKS = "broken_checks"
    LOST = "lost"
    WORKSPACE_FAILED = "workspace_failed"
    SESSION_LOST = "session_lost"
    MISSING_EXECUTABLE = "missing_executable"
    BAD_CONFIGURATION = "bad_configuration"
    GUARD_FAILED = "guard_failed"
    NOBRAKES_FAILED = "nobrakes_failed"
    VERSION_UNSUPPORTED = "version_unsupported"
    AUTH = "auth"
    BILLING = "billing"
    RATE_LIMITED = "rate_limited"
    PROVIDER_DOWN = "provider_down"
    NETWORK = "network"
    MODEL_UNAVAILABLE = "model_unavailable"
    INTERRUPTED = "interrupted"
    CAPPED = "capped"
    CANCELLED = "cancelled"


class Retry(StrEnum):
    """When the next attempt may start."""

    AT_ONCE = "at once"
    BACKOFF = "after a while"  # longer each time it repeats
    GATE = "after the cooldown"
    STARTS = "when the agent starts again"
    WORKSPACE = "when workspaces can be created again"
    MODEL = "when the provider has the model again"
    PERSON = "after your decision"


class Session(StrEnum):
    """What the next attempt's agent remembers, if its CLI can."""

    RESUME = "resume"  # the session is whole and worth its context
    FRESH = "fresh"


class Told(StrEnum):
    """Who is notified."""

    NOBODY = "nobody"
    LAST = "you, at the last attempt"  # of so many failures, or of faults in a row
    ONCE = "you, once"  # for all beads together
    EACH = "you"


@frozen
class Consequence:
    """The effects. `gate_seconds`: the provider's first cooldown without a reset time."""

    counts: bool  # as a failed attempt of the bead
    retry: Retry
    session: Session
    told: Told
    gate_seconds: float = 0.0

    @property
    def backoff(self) -> bool:
        return self.retry is Retry.BACKOFF

    @property
    def needs_person(self) -> bool:
        return self.retry is Retry.PERSON

    @property
    def is_of_start(self) -> bool:
        return self.retry in (Retry.STARTS, Retry.WORKSPACE)

    @property
    def is_of_workspace(self) -> bool:
        return self.retry is Retry.WORKSPACE

    @property
    def is_of_model(self) -> bool:
        return self.retry is Retry.MODEL

    @property
    def starts_cooldown(self) -> bool:
        return self.retry is Retry.GATE


def _gate(seconds: float, told: Told = Told.NOBODY) -> Consequence:
    return Consequence(False, Retry.GATE, Session.RESUME, told, seconds)


_COUNTS = Consequence(True, Retry.AT_ONCE, Session.FRESH, Told.LAST)
_CUT_OFF = Consequence(True, Retry.AT_ONCE, Session.RESUME, Told.LAST)
_MACHINE = Consequence(False, Retry.BACKOFF, Session.FRESH, Told.LAST)
_PERSON = Consequence(False, Retry.PERSON, Session.FRESH, Told.EACH)
_VANISHED = Consequence(False, Retry.BACKOFF, Session.RESUME, Told.LAST)
_QUIET = Consequence(False, Retry.AT_ONCE, Session.RESUME, Told.NOBODY)
_MINUTE = 60.0
_START = Consequence(False, Retry.STARTS, Session.FRESH, Told.ONCE, _MINUTE / 2)

TABLE: Mapping[Outcome, Consequence] = {
    Outcome.COMPLETED: _QUIET,
    Outcome.GAVE_UP_CONTEXT: _COUNTS,
    Outcome.GAVE_UP_TESTS: _COUNTS,
    Outcome.FAILED: _COUNTS,
    Outcome.FAILED_REVIEW: _COUNTS,
    Outcome.BOUNDARY: _COUNTS,
    Outcome.NOT_RED: _COUNTS,
    Outcome.WEAK_TESTS: _COUNTS,
    Outcome.NO_WORK: _COUNTS,
    Outcome.CONTRADICTED_ITSELF: _COUNTS,
    Outcome.EMPTY_OUTPUT: _COUNTS,
    Outcome.CRASHED: _COUNTS,
    Outcome.KILLED: _CUT_OFF,
    Outcome.STALLED: _COUNTS,
    Outcome.TIMED_OUT: _COUNTS,
    Outcome.CONTEXT_OVERFLOW: _COUNTS,
    Outcome.INVALID_REQUEST: _COUNTS,
    Outcome.TURN_LIMIT: _CUT_OFF,
    Outcome.BLOCKED: Consequence(False, Retry.AT_ONCE, Session.RESUME, Told.EACH),
    Outcome.CONFLICT: _PERSON,
    Outcome.CHECKS_CHANGED: _PERSON,
    Outcome.UNUSUAL_CONTENT: _PERSON,
    Outcome.FILTER_NOT_ALLOWED: _PERSON,
    Outcome.MERGE_REVIEW: Consequence(False, Retry.PERSON, Session.RESUME, Told.EACH),
    Outcome.CODE_REVIEW: _PERSON,
    Outcome.FINDINGS: Consequence(False, Retry.AT_ONCE, Session.FRESH, Told.NOBODY),
    Outcome.REMARKS: Consequence(False, Retry.AT_ONCE, Session.FRESH, Told.NOBODY),
    Outcome.ASKED_AGAIN: _PERSON,
    Outcome.PULL_CLOSED: _PERSON,
    Outcome.BROKEN_CHECKS: _PERSON,
    Outcome.LOST: _VANISHED,
    Outcome.WORKSPACE_FAILED: Consequence(False, Retry.WORKSPACE, Session.FRESH, Told.ONCE, _MINUTE / 2),
    Outcome.SESSION_LOST: _MACHINE,
    Outcome.MISSING_EXECUTABLE: _START,
    Outcome.BAD_CONFIGURATION: _START,
    Outcome.GUARD_FAILED: _START,
    Outcome.NOBRAKES_FAILED: _PERSON,
    Outcome.VERSION_UNSUPPORTED: _START,
    Outcome.AUTH: _gate(15 * _MINUTE, Told.ONCE),
    Outcome.BILLING: _gate(15 * _MINUTE, Told.ONCE),
    Outcome.RATE_LIMITED: _gate(5 * _MINUTE, Told.ONCE),
    Outcome.PROVIDER_DOWN: _gate(_MINUTE, Told.ONCE),
    Outcome.NETWORK: _gate(_MINUTE / 2, Told.ONCE),
    Outcome.MODEL_UNAVAILABLE: Consequence(False, Retry.MODEL, Session.FRESH, Told.ONCE, 15 * _MINUTE),
    Outcome.INTERRUPTED: _QUIET,
    Outcome.CAPPED: _QUIET,
    Outcome.CANCELLED: _QUIET,
}


def retry_after(outcome: Outcome, repeats: int) -> float:
    """Seconds to wait after `repeats` such endings: 30 s doubling, at most 15 min; a provider's only without one."""
    if TABLE[outcome].retry not in (Retry.BACKOFF, Retry.GATE, Retry.STARTS, Retry.WORKSPACE):
        return 0.0
    return float(min(30 * 2 ** max(0, repeats - 1), 900))


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
    """Relation between beads; only the first two decide readiness."""

    BLOCKS = "blocks"
    PARENT_CHILD = "parent-child"
    DISCOVERED_FROM = "discovered-from"
    RELATED = "related"


class Role(StrEnum):
    """Roles of attempts. The Reviewer is a program, a person is a person, the others are agents."""

    SHAPER = "shaper"
    TEST_WRITER = "test_writer"
    DOER = "doer"
    REVIEWER = "reviewer"
    PERSON = "person"  # who took the bead, or handed something in for it


NO_AGENTS = (Role.REVIEWER, Role.PERSON)


class Dependency(NamedTuple):
    """`bead` depends on `needs`: it waits for it (blocks), or is its child (parent-child)."""

    bead: str
    needs: str
    type: DependencyType = DependencyType.BLOCKS


def blockers_of(bead: str, dependencies: Iterable[Dependency]) -> list[str]:
    return [one.needs for one in dependencies if one.bead == bead and one.type is DependencyType.BLOCKS]


def blocked_by(bead: str, dependencies: Iterable[Dependency]) -> list[str]:
    return [one.bead for one in dependencies if one.needs == bead and one.type is DependencyType.BLOCKS]


@frozen
class Bead:
    """One coherent unit of work with a clear done condition, as people and agents read it."""

    id: str
    title: str = content()
    type: BeadType = content("The kind of work.", "--type", "-t", default=BeadType.TASK, one_of=tuple(BeadType))
    description: str = content("The full description.", "--description", "-d", default="", reads_stdin=True)
    acceptance: tuple[str, ...] = content("An acceptance criterion.", "--accept", default=())
    priority: int = content("0 (first) to 4 (last); default 2.", "--priority", "-p", default=2, one_of=tuple("01234"))
    labels: tuple[str, ...] = content("A label; '' for none.", "--label", "-l", default=())
    epic: str | None = content("The epic that the bead belongs to; '' for none.", "--epic", default=None)
    estimate: int | None = content(
        "The estimated time, in minutes or as 45m, 2h, 1h30m.", "--estimate", default=None, metavar="TIME"
    )
    needs_tests: bool = content("Whether a Test Writer works first (default: yes).", "--tests/--no-tests", default=True)
    scaffolding: bool = content(default=False)
    touches: tuple[str, ...] = content("A glob of files that the bead will change.", "--touches", default=())
    notes: str = content("Notes for the bead's agents.", "--notes", default="")
    metadata: Mapping[str, Any] = content(default_factory=dict)
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
    merged_commit: str | None = None  # the last merge; of a live bead, one that no longer counts
    branch: str = ""  # what its branch is called; empty before its first attempt (beads.branches)
    proposed: Mapping[str, Any] = field(default_factory=dict)  # what waits for a person's approval (beads.proposals)
    # A new field comes here; CONTRIBUTING says what else it takes.


Said = tuple[str, Mapping[str, Any], tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None]]
"""What a plan says of a bead: id, fields by name, and dependencies by the kinds of beads.proposals.LISTS (None:
unsaid). A plain tuple, since plans have a hundred thousand."""


class BeadRow(NamedTuple):
    """A bead as stored: its own values (`labels` as JSON), its dependencies besides the epic (`<id> <type>`), and a
    bead with the same other fields, shared by many."""

    id: str
    title: str
    description: str
    acceptance: Sequence[str]
    notes: str
    labels: str
    estimate: int | None
    created_at: float
    updated_at: float
    edges: Sequence[str]
    like: Bead


FIELDS = tuple(Bead.__dataclass_fields__)
CONTENT = tuple(name for name, of in Bead.__dataclass_fields__.items() if of.metadata)
"""The fields that people write; the others record events."""
ADDED = FIELDS[FIELDS.index("proposed") + 1 :]
"""Fields shown generically by their type; earlier ones have places of their own."""


@cache
def kind_of(name: str) -> type:
    """A field's type when it is not None: str, bool, int, float, tuple (of texts), Mapping or an enumeration."""
    kind = Bead.__dataclass_fields__[name].type
    found: type = get_args(kind)[0] if isinstance(kind, UnionType) else get_origin(kind) or kind
    return found


def bead_of(values: Iterable[Any]) -> Bead:
    """Takes all fields in order; five times as fast, for whole graphs."""
    return filler(Bead)(values)  # type: ignore[no-any-return]


FIRST = {name: getattr(Bead("", ""), name) for name in FIELDS}


def differing(bead: Bead, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(bead, name)) != FIRST[name]}


def new_bead(id_: str, *given: Mapping[str, Any]) -> Bead:
    """A bead with these fields, the others at their defaults. Raises ValueError."""
    values = {**FIRST, "id": id_}
    for fields in given:
        values.update(fields)
    return bead_of(values.values())


def is_bead_id(text: str) -> bool:
    """1 to 64 letters, digits, `-_.`, safe inside a ref name."""
    return (
        0 < len(text) <= 64
        and text[0] in _ID_FIRST
        and _ID_REST.issuperset(text)
        and ".." not in text
        and not text.endswith((".", ".lock"))
    )


def first_status(bead: Bead) -> Status:
    if bead.type is BeadType.EPIC:
        return Status.OPEN
    return Status.NEEDS_TESTS if bead.needs_tests else Status.NEEDS_DOER


def parse_type(text: str) -> BeadType:
    """Accepts aliases. Raises BadBead."""
    if (word := text.strip().lower()) in TYPE_ALIASES:
        return TYPE_ALIASES[word]
    try:
        return BeadType(word)
    except ValueError:
        known = ", ".join(t.value for t in BeadType)
        raise BadBead(f"'{text[:40]}' is not a type of bead", f"Use one of: {known}.") from None


def check_bead(bead: Bead) -> None:
    """Raises BadBead for an invalid field."""
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


UNSURE = "unsure"
FORK = "fork"
"""In an attempt's data: its base commit of main."""


class RunKind(StrEnum):
    """What a child process is for."""

    AGENT = "agent"
    RED_PROOF = "red_proof"
    CHEAT = "cheat"
    VALIDATION = "validation"


@frozen
class AttemptLog:
    """What an attempt leaves for the next one: untrusted text."""

    summary: str = ""
    blockers: str = ""
    learnings: str = ""
    keep_branch: bool = True


@frozen
class Attempt:
    """One run of one role on one bead. Ended when `outcome` is set."""

    id: int
    bead: str
    number: int  # counts this bead's attempts of every role, from 1
    role: Role
    name: str
    fence: int
    token: str
    started_at: float
    agent: str = "script"
    base: str | None = None  # commit that the branch started from
    head: str | None = None  # commit that the attempt handed in
    ended_at: float | None = None
    outcome: Outcome | None = None
    detail: str = ""
    log: AttemptLog = field(default_factory=AttemptLog)
    data: Mapping[str, Any] = field(default_factory=dict)  # the review's journal; the agent's session
    provider: str = ""
    model: str = ""  # empty: the agent's own choice
    cost_usd: float = 0.0
    tokens: int = 0
    session: int | None = None  # the conversation that it works in; None: it has none yet
    provider_session: str | None = None  # the CLI's own id of that; None: not known yet


@frozen
class Run:
    """A child process, planned before its start. Of an attempt, a session's turn, or (both 0) the machine."""

    id: str  # "<attempt>-<n>" or "s<turn>-agent": file names, and the mark in the child's environment
    attempt: int
    kind: RunKind
    started_at: float
    pid: int | None = None  # None: planned, perhaps never started
    born: str = ""  # boot id and start time: a pid alone may be reused
    hard_deadline: float = 0.0
    idle_seconds: float = 0.0  # 0: only the hard deadline counts
    active_at: float = 0.0
    sampled_at: float = 0.0  # when somebody last looked for signs of life; 0: nobody did
    activity: str = ""  # fingerprint of what was last seen: output, files, commits, CPU
    stopping: Outcome | None = None  # why it is being stopped
    term_at: float | None = None
    turn: int = 0


@frozen
class ReadyBead:
    """A waiting bead as the deciders need it."""

    id: str
    status: Status
    type: str
    priority: int
    failures: int
    retry_at: float | None = None
    rank: int = 0  # the class that it competes in (beads.graph)
    touches: tuple[str, ...] = ()  # globs of the files that it will change


def next_name(names: Sequence[str], cursor: int, in_use: Collection[str]) -> tuple[str, int]:
    """The next free name and cursor. If all are used, names get numbers: 'Ada 2'."""
    for round_ in range(1, len(in_use) + 2):
        for step in range(len(names)):
            place = (cursor + step) % len(names)
            name = names[place] if round_ == 1 else f"{names[place]} {round_}"
            if name not in in_use:
                return name, (place + 1) % len(names)
    raise AssertionError("every agent name is in use")


def fences(refs: Iterable[str]) -> dict[str, int]:
    """The highest fence of each bead in refs below refs/nobrakes/, which new attempts must exceed."""
    found: dict[str, int] = {}
    for name in refs:
        kind, _, rest = name.partition("/")
        bead, _, last = rest.partition("/")
        number = last.partition("-")[0]
        if kind in ("incoming", "archive") and number.isdigit():
            found[bead] = max(found.get(bead, 0), int(number))
    return found


def last_attempt(runs: Iterable[str]) -> int:
    return max(map(int, _numbers(runs, "")), default=0)


def last_turn(runs: Iterable[str]) -> int:
    return max(map(int, _numbers(runs, "s")), default=0)


def last_clone(clones: Iterable[str]) -> int:
    return max((int(name) for name in clones if name.isascii() and name.isdigit()), default=0)


def _numbers(runs: Iterable[str], begin: str) -> list[str]:
    words = (name.partition("-")[0] for name in runs)
    numbers = (word.removeprefix(begin) for word in words if word.startswith(begin))
    return [number for number in numbers if number.isascii() and number.isdigit()]


# An owner is a word: `bead:<id>`, `session:<number>`, `person:<name>`, or `part:<name>`, a part of the daemon that
# works for the whole repository.
BEAD, SESSION, PERSON, PART = "bead", "session", "person", "part"


def bead_owner(bead: str) -> str:
    return f"{BEAD}:{bead}"


def session_owner(session: int) -> str:
    return f"{SESSION}:{session}"


def person_owner(name: str) -> str:
    return f"{PERSON}:{name}"


def part_owner(name: str) -> str:
    return f"{PART}:{name}"


def owners_bead_of(owner: str) -> str | None:
    """None: the owner is not a bead."""
    kind, _, name = owner.partition(":")
    return name if kind == BEAD else None


def called(owner: str) -> str:
    kind, _, name = owner.partition(":")
    return f"session {name}" if kind == SESSION else name


def is_part(owner: str) -> bool:
    return owner.startswith(f"{PART}:")


@frozen
class Retried:
    """The bead now, its resolved escalations, and why it was held."""

    bead: Bead
    resolved: tuple[int, ...]
    released: str | None
    failures: int
    breakers: int


# In what words a bead is held that a person works on (`Bead.held`): only the command named beside them hangs on it.
_TAKEN = "taken by "
_BACK = "handed back to "
MAX_REASON = 1500


def taken(person: str, folder: str) -> str:
    return f"{_TAKEN}{person}: {folder}"


def handed_back(person: str, why: str) -> str:
    return f"{_BACK}{person}: {why.strip()[:MAX_REASON]}"


def is_with_person(held: str | None) -> bool:
    return held is not None and held.startswith((_TAKEN, _BACK))


def is_handed_back(held: str | None) -> bool:
    return held is not None and held.startswith(_BACK)
