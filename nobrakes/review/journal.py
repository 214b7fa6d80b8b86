"""How far a review is, the content of a change, and merges that a person approves first.

1. `review.approve`: "always" for all work; "labelled" for a bead with the label `merge-review`, or below an epic with
   it; "never".
2. A person is asked after everything passed, right before the merge, about one content: the difference that would land
   (review.journal). On another base the approval holds while that is equal.
3. An approval is for one merge: merging again after a revert needs another.
4. If approval is no longer required, the bead continues without, and the event log says why.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace
from enum import StrEnum
from math import log
from typing import TYPE_CHECKING, Any

from ..beads.branches import is_approval
from ..decisions.model import Escalation, EscalationType
from ..events.kinds import Event
from ..records import as_values, frozen, restore

if TYPE_CHECKING:
    from ..daemon.model import Board

LABEL = "merge-review"
NOT_ASKED = "approval is no longer needed: "


def needed(board: "Board", bead: str) -> str:
    """Why the merge needs a person's approval; empty: it does not."""
    if board.limits.approve == "always":
        return 'review.approve is "always"'
    holder = board.labelled.get(bead) if board.limits.approve == "labelled" else None
    if holder is None:
        return ""
    return f"the bead has the label {LABEL}" if holder == bead else f"its epic {holder} has the label {LABEL}"


def given(
    asked: Iterable[Escalation], content: str, said: Iterable[Event], merged: int
) -> tuple[Escalation, Event] | None:
    """The latest approval of this content and its event. `said`: the bead's RESOLVED events; `merged`: the sequence
    number of its last merge, 0: none. Times are unreliable, since a clock may jump."""
    yes = {
        one.id: one
        for one in asked
        if one.type is EscalationType.MERGE_REVIEW
        and one.resolved_at is not None
        and is_approval(one.resolution)
        and one.evidence.get("content") == content
    }
    if not yes:
        return None  # no decision is read where none could count
    found = [one for one in said if one.seq > merged and one.data.get("escalation") in yes]
    last = max(found, key=lambda one: one.seq, default=None)
    return None if last is None else (yes[last.data["escalation"]], last)


def withdrawn_approvals(board: "Board") -> list[tuple[int, str]]:
    """The open questions that are no longer needed, with the text that resolves them."""
    if board.limits.approve == "never":
        why = 'review.approve is "never"'
    else:
        why = f'neither the bead nor an epic above it has the label {LABEL}, and review.approve is not "always"'
    return [(number, NOT_ASKED + why) for bead, number in board.to_approve.items() if not needed(board, bead)]


# Steps are journaled before the next one begins, and each may be done again after a crash. From the journaled intent to
# move main until its end a review cannot be taken away.
class Step(StrEnum):
    """The steps in their order; a lost race for main goes back to REBASE."""

    TAKE_IN = "take_in"
    BOUNDARIES = "boundaries"
    REBASE = "rebase"
    VALIDATE_REBASED = "validate_rebased"
    VALIDATE_BASE = "validate_base"  # only when the candidate failed: is main itself green?
    COUNT_BASE = "count_base"  # only when nobody ran main's tests yet: does the candidate have as many?
    SWAP = "swap"
    VALIDATE_MAIN = "validate_main"
    READING = "reading"  # only where an agent reviews what passed (review.reading); it holds no place in the queue
    PULL_REQUEST = "pull_request"  # in the place of the two before it, where people merge
    CLEAN_UP = "clean_up"


# A journal is stored as one flat object, so that no two of these records have a field of the same name.
@frozen
class Change:
    """The handed-in work and the rules of its review."""

    head: str = ""  # what the Doer handed in
    fork: str = ""  # where it left main
    epic: str = ""  # on whose branch it lands, which is main to this review; empty: on main itself
    is_scaffolding: bool = False  # the bead may change what decides whether work is good
    shares_run: bool = False  # with other changes: it leaves the tests that were there, and how they run
    anchor: str = ""  # where the evidence ended when the review began: the commits that it makes say so
    brings: str = ""  # the commit whose contract a person approved: this review goes by it (checks.policy.boundaries)
    gates: tuple[str, ...] = ()  # what decides whether work is good, and the branch may change


@frozen
class Build:
    """What the Reviewer built to become main."""

    base: str = ""  # main when it was rebased
    candidate: str = ""  # the commit that shall become main
    tree: str = ""  # the candidate's
    tip: str = ""  # the candidate that main moves to, which is this one or stands on it
    apart: str = ""  # the candidate that this work conflicts with, though not with main: it waits for its end
    chain: tuple[str, ...] = ()  # with merge = rebase: the commits that lead to it
    checked: int = 0  # how many of the chain have been validated
    kept: tuple[str, ...] = ()  # those of the chain that passed alone
    contract: str = ""  # the key of the checks that the candidate, its chain and `failure` are judged by
    rebuilt: int = 0  # how often it was built again since git had lost what it names


@frozen
class Runs:
    """Results of checks."""

    red: int = 0  # runs of the candidate that were not green
    is_suspect: bool = False  # the last of them may be a flake
    is_broken: bool = False  # the last of them could not say whether the work is good
    proven: str = ""  # with revalidate = "always": the step and the commit of the last run that was green
    serial: int = 0  # numbers the validations
    cut_off: int = 0  # how many validations of this review were killed with their wrapper
    mended: int = 0  # how often the candidate could not be run and main passed right after: the machine may be to blame
    validating: str = ""  # the commit whose validation was started and not dealt with yet
    results: tuple[Mapping[str, Any], ...] = ()  # of the last validation
    counted: str = ""  # the commit under the candidate that was run for its tests alone
    before: tuple[Mapping[str, Any], ...] = ()  # what came of that, where it is not remembered since it did not pass
    failure: str = ""  # why the candidate failed, while main itself is being looked at
    confirming: str = ""  # the commit that failed, and is run once more before anybody is blamed
    again: int = 0  # how often it was red in this step
    carried: tuple[Mapping[str, Any], ...] = ()  # results that stand while what failed beside them is repeated
    carried_for: str = ""  # the commit and the key of the checks that they are of


@frozen
class Merging:
    """What the merge waits for and lands with."""

    waiting: str = ""  # why main cannot be moved just now
    waiting_until: float = 0.0
    waiting_since: float = 0.0  # when main could not be moved for the first time
    passing: bool = False  # what it waits for may pass by itself: no person is needed so far
    passing_since: float = 0.0  # when that began
    behind: int = 0  # the escalation that was filed for it
    published: bool = False  # it waits, and yet the candidate is at the remote, or may be
    approval: Mapping[str, Any] = field(default_factory=dict)  # the approval that it lands with; empty: it needs none
    reading: Mapping[str, Any] = field(default_factory=dict)  # what the code review said; empty: there was to be none
    merged_as: str = ""  # the commit that people merged it as; empty: the candidate itself came to main


@frozen
class Journal:
    """The state of a review."""

    step: Step = Step.TAKE_IN
    change: Change = field(default_factory=Change)
    build: Build = field(default_factory=Build)
    runs: Runs = field(default_factory=Runs)
    merging: Merging = field(default_factory=Merging)

    def with_values(self, **values: Any) -> "Journal":
        """Set fields by their stored names; raises KeyError."""
        changed: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            changed.setdefault(RECORD_OF[name], {})[name] = value
        return replace(self, **{record: replace(getattr(self, record), **said) for record, said in changed.items()})

    def as_data(self) -> dict[str, Any]:
        records = (self.change, self.build, self.runs, self.merging)
        return {"step": self.step.value, **{name: value for one in records for name, value in as_values(one).items()}}

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Journal":
        """The same object is read once while it is among the last READ; what is in an attempt is never changed."""
        known = _READ.get(id(data))
        if known is None or known[0] is not data:
            if len(_READ) >= READ:
                _READ.clear()
            known = _READ[id(data)] = data, Journal._read(data)
        return known[1]

    @staticmethod
    def _read(data: Mapping[str, Any]) -> "Journal":
        records = (restore(Change, data), restore(Build, data), restore(Runs, data), restore(Merging, data))
        return Journal(Step(data["step"]) if "step" in data else Journal().step, *records)


READ = 4096
_READ: dict[int, tuple[Mapping[str, Any], Journal]] = {}
"""By the object's identity, which the object itself keeps."""

RECORD_OF: Mapping[str, str] = {
    name: record
    for record, kind in {"change": Change, "build": Build, "runs": Runs, "merging": Merging}.items()
    for name in kind.__dataclass_fields__  # type: ignore[attr-defined]
}


def is_landing(data: Mapping[str, Any]) -> bool:
    return Journal.of(data).step in (Step.SWAP, Step.VALIDATE_MAIN, Step.CLEAN_UP)


def may_land(data: Mapping[str, Any]) -> bool:
    return Journal.of(data).step is Step.SWAP


def is_unqueued(step: Step) -> bool:
    return step in (Step.PULL_REQUEST, Step.READING)


def waits_for_people(data: Mapping[str, Any]) -> bool:
    return Journal.of(data).step is Step.PULL_REQUEST


# It is of git's difference without what only says where: numbers of lines, the function of a hunk, ids of texts. White
# space counts, and every file is a text.
def content_of(lines: Iterable[bytes]) -> str:
    """The digest of a difference as `git diff-tree -p --text` prints it, without renames."""
    import hashlib  # loads OpenSSL, and few ask for this

    digest = hashlib.sha256()
    for line in lines:
        if not line.startswith(b"index "):
            digest.update((b"@@" if line.startswith(b"@@ ") else line.removesuffix(b"\n")) + b"\n")
    return digest.hexdigest()


CORES = "check_cores"
"""The setting with the cores that the last validation kept busy."""

UNKNOWN_VALIDATORS = 2

MAX_VALIDATORS = 4
"""More than a batch, the two on top of it and a change that came since are not tried at once."""

LEAST_CORES = 0.5


# The pace of the merge queue (review.queue), and how it works as the config says.
PACE = "queue_pace"

MAX_BATCH = 16

WINDOW_OF_SHARE = 20
"""How many recent changes determine the share of bad ones."""

LIKELY = 0.4
"""Minimal chance of a green batch: then searches for the culprit pay off."""

DEEP = 3
"""Batches tried at once, each on the one before, while no recent change was bad; then one less."""

SOME_BAD = 0.05
"""Above this share of bad changes, a batch on another one is too often in vain."""


@frozen
class Pace:
    """How many changes go together, learnt from the last results. Stored with the queue."""

    size: int = MAX_BATCH
    debt: int = 0  # validations that were run, less changes that were landed or blamed
    ends: str = ""  # of the last changes: "+" landed, "-" blamed

    @property
    def together(self) -> int:
        if self.debt > 2 * MAX_BATCH or self.bad_share == 1:
            return 1
        return self.size if not self.bad_share else max(1, min(self.size, round(log(LIKELY, 1 - self.bad_share))))

    def deep(self, validators: int) -> int:
        """Batches to try at once, each on top of the one before."""
        if self.debt > 2 * MAX_BATCH or self.bad_share > SOME_BAD:
            return 1
        return min(validators, DEEP - 1 if self.bad_share else DEEP)

    @property
    def bad_share(self) -> float:
        """0 to 1; unknown changes count as good."""
        return self.ends.count("-") / WINDOW_OF_SHARE

    def ran(self, runs: int = 1) -> "Pace":
        return replace(self, debt=self.debt + runs)

    def landed(self, changes: int) -> "Pace":
        size = min(2 * self.size, MAX_BATCH) if changes >= self.size else self.size
        return replace(self, size=size, debt=self.debt - changes, ends=(self.ends + "+" * changes)[-WINDOW_OF_SHARE:])

    def blamed(self) -> "Pace":
        return replace(self, size=max(1, self.size // 2), debt=self.debt - 1, ends=(self.ends + "-")[-WINDOW_OF_SHARE:])

    def as_text(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def parse(text: str | None) -> "Pace":
        return Pace(**json.loads(text)) if text else Pace()


@frozen
class Rules:
    """The queue's settings. `validators`: parallel validations. `every_commit_green`: each bead's commit needs a pass.
    `is_serial`: one review at a time, since each needs its own runs."""

    validators: int = UNKNOWN_VALIDATORS
    every_commit_green: bool = False
    is_serial: bool = False

    def on(self, cores: int, used: float) -> "Rules":
        """With as many validators as fit on so many cores. `used`: cores that the last validation kept busy."""
        return replace(self, validators=max(1, min(MAX_VALIDATORS, int(cores / max(used, LEAST_CORES)))))
