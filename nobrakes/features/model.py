"""Features: an idea on its way to an approved plan and to main, and the tables of its stages and states.

1. A feature is an epic: its plan is drafts, a step is a bead, a planning turn is a session's turn, a question is on the
   Desk. Only what is specific to features is here.
2. The stage is its progress, the state whether it is active; each moves by its table.
3. One feature of a repository at a time is in discovery, planning or review and has the turn; a paused or expired one
   gives it up.
4. Only a person's `commit-strategy` makes a plan live.
5. During its rollback no step activates it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from ..beads.graph import typical
from ..beads.model import Bead
from ..errors import NotAllowed, UsageError
from ..records import frozen

# What a feature keeps in its `data` (Store.note_feature), and what a turn notes.
# --- its Shaper's session --------------------------------------------------------------------------------------------
LAST_TURN = "seen"  # the last turn that was dealt with
HELD = "held"  # why its session begins no turn: an About
ASKED = "asked"  # the questions of nobrakes, by About
NUDGED = "nudged"  # how often in a row it was told to go on
WARNED = "warned"  # the `turn_at` for which a person was told of the expiry
TALK = "talk"  # {STAGE_KEY, ROUND}: where the agent's conversation began
CONTEXT = "context"  # how full that is
ALLOWED = "allowed_usd"  # what its Shaper may cost, where a person let it cost more
LEFT = "left"  # how much waited for its session when it failed, expired, or a person said: only look
TOLD = "told"  # the turn after which it was told to go on last

# --- reviews of its plan ---------------------------------------------------------------------------------------------
REVISING = "revising"  # whether the Shaper works decisions into the plan; plan-ready takes it away
CLOSED_ROUND = "closed_round"  # the last round that was told as ended
REVIEWS_USD = "review_usd"  # what its reviews may cost, where a person raised it
HELD_WITH = "feature {feature} is paused"
"""Why a bead is held only because its feature is paused."""
RESHAPED = "the plan of feature {feature} is being changed because of it"
"""Why a failed bead is held until its feature's plan was changed."""
FORGIVEN = "go_on_round"  # the round after which a person said: go on, although no reviewer came through
SIGN_OFF_ASKED = "sign_off_asked"  # the version of the plan of which a person was told that they may sign it off
SINCE = "rounds_since"  # the last round before the plan was reopened: later ones are counted from 1 again
ANOTHER = "another_round"  # the round that a person asked for after the reviews had ended
ENOUGH = "reviews_closed"  # a person said that no more rounds begin
SIGNED = "signed_off"  # a person's approval of a version (features.reviewed_plan.SignOff); a changed plan needs another

# --- of a sprint's feature: what its project says of its plan ---
PERSONA = "persona"  # the persona of its Shaper, until the plan is changed for the first time
FIXED = "fixed"  # fields that each bead of its plan has, whatever its Shaper proposes
LABELS = "labels"  # each bead of its plan needs one of these

# --- while it is built -----------------------------------------------------------------------------------------------
CHECKPOINT_ASKED = "checkpoint_asked"  # a person asked for a checkpoint
SUGGESTED = "suggested_upto"  # the last suggestion that was looked at
SCANNED = "scanned"  # by bead, the merge that was looked at
ROLLBACK = "rollback"  # {"by", "bead"}: who asked for its rollback, and the bead that does it

# --- in a turn's data, and in TALK -----------------------------------------------------------------------------------
STAGE_KEY, ROUND = "stage", "round"  # where the feature was when it began


class Stage(StrEnum):
    """The stage of a feature."""

    DISCOVERY = "discovery"  # the Shaper looks at the code and asks
    PLANNING = "planning"  # it proposes beads, as drafts under the epic
    REVIEW = "review"  # reviewers look at the plan, and people decide their findings
    IMPLEMENTATION = "implementation"  # the plan was approved: its beads are built
    DONE = "done"


PULL_REQUEST, REQUEST_REVIEW = "pull_request", "pull_request_review"
"""How implementation is shown when some of a feature's pull requests are open, or all of them. They are facts of the
code host, so no step leads there (features.service.feature_page)."""

PLANNED = frozenset({Stage.DISCOVERY, Stage.PLANNING, Stage.REVIEW})
"""Stages in which a feature has the repository's turn and its session may expire."""


class State(StrEnum):
    """Whether a feature is active."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    EXPIRED = "expired"  # nobody said a word for a day: its agent's session is given up, its questions are not
    ERROR = "error"  # its session does not go on: a person looks
    ROLLED_BACK = "rolled_back"


FACTS = "feature"
"""Metadata key of the feature's facts on its epic (features.db); agents cannot write it."""


class Step(StrEnum):
    """What moves a feature."""

    PROPOSED = "proposed"  # the Shaper's first beads were accepted as drafts
    PLAN_READY = "plan_ready"  # the Shaper says that the plan is complete: a version of it is kept
    CHANGE_ASKED = "change_asked"  # a person wants the plan changed
    APPROVED = "approved"  # a person's approval made it live
    CHECKPOINT = "checkpoint"  # what was collected while it is built goes to review
    MERGED = "merged"  # all of it is on main
    PAUSED = "paused"
    RESUMED = "resumed"
    BEGUN_AGAIN = "begun_anew"  # a person lets its planning begin from its base again
    EXPIRED = "expired"
    FAILED = "failed"
    ROLLED_BACK = "rolled_back"


STAGES: Mapping[Stage, Mapping[Step, Stage]] = {
    Stage.DISCOVERY: {
        Step.BEGUN_AGAIN: Stage.DISCOVERY,
        Step.PROPOSED: Stage.PLANNING,
        Step.PLAN_READY: Stage.REVIEW,
        Step.CHANGE_ASKED: Stage.DISCOVERY,
        Step.APPROVED: Stage.IMPLEMENTATION,
    },
    Stage.PLANNING: {
        Step.BEGUN_AGAIN: Stage.DISCOVERY,
        Step.PROPOSED: Stage.PLANNING,
        Step.PLAN_READY: Stage.REVIEW,
        Step.CHANGE_ASKED: Stage.PLANNING,
        Step.APPROVED: Stage.IMPLEMENTATION,
    },
    Stage.REVIEW: {
        Step.BEGUN_AGAIN: Stage.DISCOVERY,
        Step.PROPOSED: Stage.REVIEW,
        Step.PLAN_READY: Stage.REVIEW,
        Step.CHANGE_ASKED: Stage.PLANNING,
        Step.APPROVED: Stage.IMPLEMENTATION,
    },
    Stage.IMPLEMENTATION: {
        Step.CHECKPOINT: Stage.REVIEW,
        Step.CHANGE_ASKED: Stage.PLANNING,
        Step.MERGED: Stage.DONE,
        Step.APPROVED: Stage.IMPLEMENTATION,
    },
    Stage.DONE: {},
}
"""The stage after each step; a step without an entry keeps it."""

STATES: Mapping[State, Mapping[Step, State]] = {
    State.ACTIVE: {
        Step.PAUSED: State.PAUSED,
        Step.EXPIRED: State.EXPIRED,
        Step.FAILED: State.ERROR,
        Step.MERGED: State.COMPLETED,
        Step.ROLLED_BACK: State.ROLLED_BACK,
        Step.APPROVED: State.ACTIVE,
    },
    State.PAUSED: {
        Step.RESUMED: State.ACTIVE,
        Step.ROLLED_BACK: State.ROLLED_BACK,
        Step.MERGED: State.COMPLETED,
        Step.APPROVED: State.ACTIVE,
    },
    State.EXPIRED: {
        Step.RESUMED: State.ACTIVE,
        Step.BEGUN_AGAIN: State.ACTIVE,
        Step.PAUSED: State.PAUSED,
        Step.ROLLED_BACK: State.ROLLED_BACK,
        Step.APPROVED: State.ACTIVE,
    },
    State.ERROR: {
        Step.RESUMED: State.ACTIVE,
        Step.APPROVED: State.ACTIVE,
        Step.PAUSED: State.PAUSED,
        Step.ROLLED_BACK: State.ROLLED_BACK,
        Step.MERGED: State.COMPLETED,
    },
    State.COMPLETED: {Step.ROLLED_BACK: State.ROLLED_BACK},
    State.ROLLED_BACK: {},
}
"""The state after each step: approving the plan activates it from any state. A step in no row keeps an active feature
active."""

STATE_STEPS = frozenset(step for row in STATES.values() for step in row)
_STAGE_STEPS = frozenset(step for row in STAGES.values() for step in row)


AUTOMATED, MANUAL = "automated", "manual"


@frozen
class Criterion:
    """An acceptance criterion. `how` it is judged: `automated` (a check), `manual` (a person), `review`."""

    text: str
    how: str
    usual: bool = True  # one of the eight that every feature begins with; False: the person's own

    @property
    def judged(self) -> str:
        """`how`, as far as nobrakes can see it: a person's own words name no check that decides them."""
        return MANUAL if self.how == AUTOMATED and not self.usual else self.how


@frozen
class Feature:
    """A feature. `id`: its epic's; `plan`: last version of its plan, 0: none. `turn_at`: when its Shaper's last turn
    ended, or it was begun or resumed, in seconds. `round`: last iteration of plan reviews, 0: none; `clean`: how many
    in a row found nothing."""

    id: str
    title: str
    description: str
    criteria: tuple[Criterion, ...] = ()
    files: tuple[str, ...] = ()
    notes: str = ""
    base: str = ""  # main's commit when it began; empty: main had none
    stage: Stage = Stage.DISCOVERY
    state: State = State.ACTIVE
    replannings: int = 0
    session: int | None = None  # its Shaper's; None: the next turn begins a new one
    plan: int = 0
    round: int = 0
    clean: int = 0
    turn_at: float = 0.0
    created_at: float = 0.0
    updated_at: float = 0.0
    archived: bool = False
    actor: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_planned_now(self) -> bool:
        return self.has_turn and self.state is State.ACTIVE

    @property
    def is_sign_off_asked(self) -> bool:
        """Whether a person was asked to sign this version of the plan off, and may."""
        return self.data.get(SIGN_OFF_ASKED) == self.plan and self.state is State.ACTIVE

    @property
    def has_turn(self) -> bool:
        return self.stage in PLANNED and self.state in (State.ACTIVE, State.ERROR)


def advance(feature: Feature, step: Step) -> tuple[Stage, State]:
    """Stage and state after the step. Raises NotAllowed."""
    stage, state = STAGES[feature.stage].get(step), STATES[feature.state].get(step)
    refused = (step in STATE_STEPS and state is None) or (step in _STAGE_STEPS and stage is None)
    if step not in STATE_STEPS and feature.state is not State.ACTIVE:
        refused = True
    if refused or (step is Step.EXPIRED and feature.stage not in PLANNED):
        raise NotAllowed(
            f"feature {feature.id} is {feature.state.value.replace('_', ' ')} in {feature.stage.value}, "
            f"so '{step.value.replace('_', ' ')}' is not possible now",
            f"`nobrakes forge show {feature.id}` shows the feature's state.",
        )
    after = state or feature.state
    if after is State.ACTIVE:
        refuse_while_rolling(feature)
    return stage or feature.stage, after


def refuse_while_rolling(feature: Feature) -> None:
    if rolling := feature.data.get(ROLLBACK):
        raise NotAllowed(
            f"bead {rolling['bead']} is rolling feature {feature.id} back",
            f"`nobrakes show {rolling['bead']}` shows the progress; `nobrakes cancel {rolling['bead']}` stops it.",
        )


def require(feature: Feature, stage: Stage, needed: str) -> None:
    """NotAllowed unless the feature is active in this stage; `needed` completes the message."""
    if feature.stage is stage and feature.state is State.ACTIVE:
        return
    where = feature.state.value if feature.state is not State.ACTIVE else feature.stage.value
    raise NotAllowed(
        f"feature {feature.id} is {where.replace('_', ' ')}: {needed}",
        f"`nobrakes forge show {feature.id}` shows what comes next.",
    )


@frozen
class PlanVersion:
    """The plan when the Shaper called it complete: one node a bead, in plan file format."""

    feature: str
    number: int  # counts from 1
    at: float
    actor: str
    why: str
    beads: tuple[Mapping[str, Any], ...]


class ReviewState(StrEnum):
    """State of one reviewer's look at a plan."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # it crashed or took too long: the round goes on without it, and says so


@frozen
class PlanReview:
    """One reviewer's look at one plan version, for one domain, in its own session."""

    feature: str
    round: int
    domain: str
    plan: int
    session: int | None
    state: ReviewState
    started_at: float
    ended_at: float | None = None
    detail: str = ""


class FindingState(StrEnum):
    """Whether a finding is decided."""

    OPEN = "open"
    ANSWERED = "answered"  # the answer goes to the Shaper, which changes the plan
    RISK_ACCEPTED = "risk_accepted"  # a person takes it as it is, and said why


@frozen
class Finding:
    """A reviewer's finding. `escalation`: the question about it on the Desk."""

    id: int
    feature: str
    round: int
    domain: str
    category: str
    priority: int  # 1 must be mended, 2 should be, 3 may be
    issue: str
    impact: str
    options: tuple[str, ...]
    bead: str | None = None
    state: FindingState = FindingState.OPEN
    escalation: int | None = None
    answer: str = ""


class ItemKind(StrEnum):
    """What is collected while a feature is built."""

    TODO = "todo"
    FIXME = "fixme"
    SUGGESTION = "suggestion"
    DEPENDENCY = "dependency"
    SCOPE = "scope"
    ESCALATION = "escalation"  # what a bead waits for a person with


class ItemState(StrEnum):
    """Whether a collected item was looked at."""

    WAITING = "waiting"  # for the next checkpoint
    RESOLVED = "resolved"  # a person decided it before
    REVIEWED = "reviewed"  # it went to a re-planning


@frozen
class Item:
    """Something collected for the next checkpoint, or found by the first scan; `blocks`: in an affected file. `line`:
    of `file`, or the number of an escalation."""

    id: int
    feature: str
    kind: ItemKind
    text: str
    file: str = ""
    line: int = 0
    bead: str | None = None
    blocks: bool = False
    state: ItemState = ItemState.WAITING
    at: float = 0.0

    @property
    def is_open_point(self) -> bool:
        """Whether it waits for a person's answer before the sign-off."""
        return self.blocks and self.state is ItemState.WAITING

    @property
    def where(self) -> str:
        """Of a comment: its file, line and text."""
        return f"{self.file}:{self.line} ({self.kind.name}: {' '.join(self.text.split())[:80]})"


# A bead begins as soon as all that it waits for is done, however many agents there are; one without an estimate takes
# as long as those that have one do as a rule (beads.graph), or an hour.
DEFAULT_MINUTES = 60


@frozen
class Bar:
    """A draft in time, in minutes from the start. `is_guess`: nobody estimated it."""

    bead: Bead
    begin: int
    minutes: int
    is_guess: bool
    is_critical: bool


def timeline(drafts: Sequence[Bead], needs: Mapping[str, Sequence[str]], critical: frozenset[str]) -> tuple[Bar, ...]:
    """Each draft at its earliest start, in order; needs outside the drafts count as done."""
    known = [draft.estimate for draft in drafts if draft.estimate]
    usual = typical(known) if known else DEFAULT_MINUTES
    minutes = {draft.id: draft.estimate or usual for draft in drafts}
    begins: dict[str, int] = {}
    waiting = {draft.id: [one for one in needs.get(draft.id, ()) if one in minutes] for draft in drafts}
    while waiting:
        free = sorted(id for id, of in waiting.items() if all(one in begins for one in of))
        if not free:  # a circle, which the strategy names: its beads have no beginning
            break
        for id in free:
            begins[id] = max((begins[one] + minutes[one] for one in waiting.pop(id)), default=0)
    bars = [
        Bar(draft, begins[draft.id], minutes[draft.id], not draft.estimate, draft.id in critical)
        for draft in drafts
        if draft.id in begins
    ]
    return tuple(sorted(bars, key=lambda bar: (bar.begin, -bar.minutes, bar.bead.id)))


# Comments that say what is left to do: a comment's opener, the word in capitals, a colon, and the text, one a line, in
# source files outside of `FOLDERS`. Two finds are the same where file, word and text are; of several such in a file
# they are counted (`nth`), so that lines that moved make nothing new.
ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".py", ".go", ".rs", ".java")
FOLDERS = frozenset({"node_modules", ".git", "dist", "build", "vendor"})
MAX_TEXT = 500
MAX_BYTES = 1_000_000
"""Larger files are not scanned."""
_MARKER_NAMES = "|".join(kind.name for kind in (ItemKind.TODO, ItemKind.FIXME))
_FIND = re.compile(rf"(?://|#|/\*)\s*({_MARKER_NAMES}):[ \t]*(.*)")


@frozen
class Todo:
    """A find; `line` counts from 1, `nth`: among those in the file with the same word and text."""

    kind: ItemKind
    text: str
    file: str
    line: int
    nth: int = 1


def is_scanned(path: str) -> bool:
    *folders, name = path.split("/")
    return name.endswith(ENDINGS) and not FOLDERS.intersection(folders)


def scan(path: str, text: str) -> tuple[Todo, ...]:
    """The finds of one file, by line; none if the file is not scanned."""
    if not is_scanned(path):
        return ()
    found: list[Todo] = []
    seen: Counter[tuple[ItemKind, str]] = Counter()
    for number, line in enumerate(text.split("\n"), start=1):
        if (match := _FIND.search(line)) is None:
            continue
        kind = ItemKind[match[1]]
        words = " ".join(match[2].partition("*/")[0].split())[:MAX_TEXT]
        seen[kind, words] += 1
        found.append(Todo(kind, words, path, number, seen[kind, words]))
    return tuple(found)


def new_in(after: Iterable[Todo], before: Iterable[Todo]) -> tuple[Todo, ...]:
    """What is new in `after`, at whatever line."""
    known = {_key(one) for one in before}
    return tuple(one for one in after if _key(one) not in known)


def _key(one: Todo) -> tuple[str, ItemKind, str, int]:
    return one.file, one.kind, one.text, one.nth


def is_affected(path: str, files: Sequence[str]) -> bool:
    return any(path == one or fnmatchcase(path, one) or path.startswith(f"{one.rstrip('/')}/") for one in files)


MACHINE = frozenset({"id", "status"})

Node = Mapping[str, Any]


@frozen
class Changed:
    """A bead in both versions: fields that differ, each (before, after); None: not set."""

    id: str
    title: str
    fields: Mapping[str, tuple[Any, Any]]


@frozen
class PlanChanges:
    """Added, removed and changed beads, by id."""

    added: tuple[Node, ...] = ()
    gone: tuple[Node, ...] = ()
    changed: tuple[Changed, ...] = ()

    @property
    def is_empty(self) -> bool:
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


ACCEPT_RISK = "accept the risk"
"""The last option of every finding."""


def decision(finding: Finding, answer: str) -> tuple[FindingState, str]:
    """The state that an answer gives the finding, with the option or reason. UsageError: a risk without a reason."""
    said = " ".join(answer.split())
    if not said.casefold().startswith(ACCEPT_RISK):
        return FindingState.ANSWERED, said
    if not (reason := said[len(ACCEPT_RISK) :].strip(" :,;-–—.")):
        raise UsageError(
            f"to accept the risk of finding {finding.id}, give a reason; nobrakes stores the reason",
            f'Say why: "{ACCEPT_RISK}: REASON".',
        )
    return FindingState.RISK_ACCEPTED, reason


def get_built_feature(features: Sequence[Feature], above: Sequence[str]) -> Feature | None:
    """The feature of a live bead, also while its plan is changed."""
    found = (one for one in features if one.id in above and (one.stage is Stage.IMPLEMENTATION or one.replannings))
    return next(found, None)
