"""The state machine of a review: what a step sees decides the next step and what is recorded.

1. The step names the daemon's work (fetch, build, validate, land, ...). Its result is reported as a `Fact`; `advance`
   returns the new journal and the next `Act`. Nobody else chooses a step.
2. A pair (step, fact) that is not in the table is refused; there is no default.
3. Each row names the journal fields that its fact sets, forgets and counts.
4. docs/design.md's diagram of a review is printed from this table (`mermaid()`), and a test compares them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from ..checks.contract import CheckOutcome, CheckResult, Verdict, verdict
from ..errors import NotAllowed
from ..events.kinds import Kind
from ..records import frozen
from .journal import RECORD_OF, Change, Journal, Step


class Act(StrEnum):
    """The action after a fact."""

    GO_ON = "go on"  # with the step that the journal names now
    WAIT = "wait"  # nothing can be done before something else happens
    VALIDATE = "validate"
    REJECT = "reject"  # send the work back; the review is over
    ASK = "ask"  # the same, but a person decides about it first
    GIVE_BACK = "give back"  # nobody is to blame; the review begins again later
    ASK_FIRST = "ask first"  # the same, once a person has looked
    REVERT = "revert"  # take the merge back; the review is over
    FINISH = "finish"


class Fact(StrEnum):
    """An observation in a step."""

    # the work as it was handed in
    TAKEN_IN = "taken_in"
    REFUSED = "refused"  # there is none, or it breaks a rule
    QUESTIONED = "questioned"  # it changes what only a person may change, or its runner seems bent
    IN_BOUNDS = "in_bounds"
    # what is known of the commit that the step is about
    PROVEN = "proven"
    UNPROVEN = "unproven"
    NO_CHECKS = "no_checks"  # so nothing can be proven
    NOT_YET = "not_yet"  # no validator is free, or others come first
    CHECKS_EDITED = "checks_edited"
    # the candidate
    FREED = "freed"  # what kept it from main is over
    STANDS = "stands"
    BUILT = "built"
    CONFLICTS_AHEAD = "conflicts_ahead"  # with the one before it, and not with main
    CONFLICTED = "conflicted"
    FELL_OFF = "fell_off"  # what it stood on is not there any more
    # the queue
    BLAMED = "blamed"
    BLAMED_UNSURE = "blamed_unsure"  # for runs that could not say whether the work is good
    PROVES_LESS = "proves_less"
    UNCOUNTED = "uncounted"  # nobody ran the tests of what it stands on
    COUNTED = "counted"
    COMMIT_PROVEN = "commit_proven"  # one of the commits that lead to the candidate
    FOLDED = "folded"
    MAY_LAND = "may_land"
    TO_READ = "to_read"  # it is proven, and an agent has to review it first
    READ = "read"
    SENT_BACK = "sent_back"  # for what the code review found
    # what a validation said
    RAN_GREEN = "ran_green"
    RAN_RED = "ran_red"
    RAN_UNSURE = "ran_unsure"
    RAN_BESIDE = "ran_beside"  # of a candidate that lands already
    RAN_OUTDATED = "ran_outdated"  # its checks were edited meanwhile
    RAN_SUSPECT = "ran_suspect"  # it may be a flake
    RAN_COMMIT = "ran_commit"  # of one of the commits that lead to the candidate
    RAN_COUNTED = "ran_counted"
    CUT_OFF = "cut_off"
    # whether main is to blame
    MAIN_PASSES = "main_passes"
    MAIN_RED = "main_red"
    MENDED = "mended"  # it passes, and what failed could not be run: perhaps it can by now
    MAIN_MOVED = "main_moved"  # it was red, and is another one by now
    # main's move
    BLOCKED = "blocked"
    IN_THE_WAY = "in_the_way"  # a file of a person's is, of this work alone: it leaves the queue
    BLOCKED_HEAD = "blocked_head"  # the one that it would have landed with
    HELD_UP = "held_up"  # the same, and the work is on main, or may be
    GIVES_WAY = "gives_way"  # to a repair of main
    LOST_RACE = "lost_race"
    LANDED = "landed"
    LANDED_BEFORE = "landed_before"  # in a review that did not hear of it
    MERGED = "merged"
    # pull requests
    MAY_ASK = "may_ask"  # it is proven, and people are asked to merge it
    ADOPTED = "adopted"  # the request that is there has the same content
    PULL_MERGED = "pull_merged"
    PULL_RED = "pull_red"  # the code host's checks
    PULL_REMARKED = "pull_remarked"  # people want changes
    PULL_ASKED_AGAIN = "pull_asked_again"  # people want the same change again
    PULL_CLOSED = "pull_closed"
    # from outside
    STOPPED = "stopped"
    STOPPED_BEFORE_LANDING = "stopped_before_landing"
    STOPPED_AFTER_LANDING = "stopped_after_landing"
    CANDIDATE_GONE = "candidate_gone"  # git lost its objects
    HEAD_GONE = "head_gone"  # and the workspace has it still
    WORK_GONE = "work_gone"  # nothing has it any more
    GONE_TOO_OFTEN = "gone_too_often"


@frozen
class Rule:
    """`to`: the next step, None: the same. Journal fields that the fact `sets`, `forgets` (resets) or `counts`."""

    to: Step | None
    act: Act
    sets: frozenset[str] = frozenset()
    forgets: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()


@frozen
class Next:
    """How a review goes on."""

    journal: Journal
    act: Act


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _to(step: Step, sets: str = "", forgets: str = "", counts: str = "") -> Rule:
    return Rule(step, Act.GO_ON, _names(sets), _names(forgets), _names(counts))


def _stays(sets: str = "", forgets: str = "", counts: str = "") -> Rule:
    return Rule(None, Act.GO_ON, _names(sets), _names(forgets), _names(counts))


def _ends(act: Act, sets: str = "", forgets: str = "") -> Rule:
    return Rule(None, act, _names(sets), _names(forgets))


_FIRST: Mapping[str, Any] = {name: getattr(getattr(Journal(), record), name) for name, record in RECORD_OF.items()}
_WAITS: Final = "waiting waiting_until waiting_since passing passing_since behind published"
_CONFIRMS: Final = "confirming again"
_JUDGED: Final = "results is_suspect"
_ALWAYS_STORED: Final = "is_scaffolding shares_run serial cut_off mended rebuilt"

_VALIDATE = Rule(None, Act.VALIDATE, _names("validating"), counts=_names("serial"))
_WAIT = Rule(None, Act.WAIT)
_REJECT = _ends(Act.REJECT)
_ASK = _ends(Act.ASK)
_GIVE_BACK = _ends(Act.GIVE_BACK)
_ASK_FIRST = _ends(Act.ASK_FIRST)
_OTHER_CHECKS = _to(Step.REBASE, forgets="failure tip waiting waiting_until")
_RAN_OTHER_CHECKS = _to(Step.REBASE, forgets=f"failure tip waiting waiting_until {_CONFIRMS}")
_CONFIRM = _stays(_CONFIRMS)

_EACH: Mapping[Fact, Rule] = {
    Fact.STOPPED: _GIVE_BACK,
    Fact.WORK_GONE: _REJECT,
    Fact.GONE_TOO_OFTEN: _ASK_FIRST,
    Fact.HEAD_GONE: Rule(
        Step.TAKE_IN, Act.GO_ON, forgets=frozenset(_FIRST) - _names(_ALWAYS_STORED), counts=_names("rebuilt")
    ),
}
_WITH_CANDIDATE: Mapping[Fact, Rule] = {
    **_EACH,
    Fact.STOPPED_AFTER_LANDING: _to(Step.CLEAN_UP, forgets="validating waiting_until"),
    Fact.CANDIDATE_GONE: Rule(
        Step.REBASE,
        Act.GO_ON,
        forgets=frozenset(_FIRST) - _names(_ALWAYS_STORED) - Change.__dataclass_fields__.keys(),
        counts=_names("rebuilt"),
    ),
}
_IN_THE_QUEUE: Mapping[Fact, Rule] = {
    **_WITH_CANDIDATE,
    Fact.MAY_LAND: _to(Step.SWAP, "tip approval reading"),  # its head takes it along, whatever it was about to do
}
_VALIDATES: Mapping[Fact, Rule] = {
    Fact.UNPROVEN: _VALIDATE,
    Fact.NO_CHECKS: _ASK_FIRST,
    Fact.NOT_YET: _WAIT,
    Fact.CUT_OFF: _stays(forgets="validating", counts="cut_off"),
}

TABLE: Mapping[Step, Mapping[Fact, Rule]] = {
    Step.TAKE_IN: {Fact.TAKEN_IN: _to(Step.BOUNDARIES, "head fork epic base anchor"), Fact.REFUSED: _REJECT, **_EACH},
    Step.BOUNDARIES: {
        Fact.IN_BOUNDS: _to(Step.REBASE, "gates is_scaffolding shares_run brings", forgets="base"),
        Fact.REFUSED: _REJECT,
        Fact.QUESTIONED: _ASK,
        **_EACH,
    },
    Step.REBASE: {
        Fact.BLOCKED: Rule(None, Act.WAIT, _names(_WAITS)),
        Fact.FREED: _stays(forgets=_WAITS),
        Fact.LANDED: _to(Step.VALIDATE_MAIN),
        Fact.LANDED_BEFORE: _to(Step.VALIDATE_MAIN, "base candidate contract tip tree"),
        Fact.STANDS: _to(Step.VALIDATE_REBASED, forgets="tip"),
        Fact.NOT_YET: _WAIT,
        Fact.CONFLICTS_AHEAD: _stays("apart"),
        Fact.CONFLICTED: _ASK,
        Fact.PULL_MERGED: _to(Step.CLEAN_UP, "merged_as base candidate tree contract", forgets=_WAITS),
        Fact.BUILT: _to(
            Step.VALIDATE_REBASED,
            "base candidate tree chain contract",
            forgets="checked kept apart red is_suspect is_broken counted before",
        ),
        **_IN_THE_QUEUE,
    },
    Step.VALIDATE_REBASED: {
        Fact.CHECKS_EDITED: _OTHER_CHECKS,
        Fact.FELL_OFF: _to(Step.REBASE, forgets="waiting waiting_until"),
        **_VALIDATES,
        Fact.BLAMED: _to(Step.VALIDATE_BASE),
        Fact.BLAMED_UNSURE: _ASK_FIRST,
        Fact.PROVES_LESS: _REJECT,
        Fact.QUESTIONED: _ASK,
        Fact.UNCOUNTED: _to(Step.COUNT_BASE),
        Fact.COMMIT_PROVEN: _stays("kept", counts="checked"),
        Fact.FOLDED: _stays("candidate proven", forgets="chain kept"),
        Fact.RAN_GREEN: _stays(f"{_JUDGED} proven", forgets=_CONFIRMS),
        Fact.RAN_RED: _stays(f"{_JUDGED} failure", forgets=f"is_broken {_CONFIRMS}", counts="red"),
        Fact.RAN_UNSURE: _stays(f"{_JUDGED} failure is_broken", forgets=_CONFIRMS, counts="red"),
        Fact.RAN_COMMIT: _stays(f"{_JUDGED} kept", forgets=_CONFIRMS, counts="checked"),
        Fact.RAN_OUTDATED: _RAN_OTHER_CHECKS,
        Fact.MAY_ASK: _to(Step.PULL_REQUEST, "approval reading"),
        Fact.TO_READ: _to(Step.READING),
        **_IN_THE_QUEUE,
    },
    Step.COUNT_BASE: {
        Fact.CHECKS_EDITED: _OTHER_CHECKS,
        Fact.COUNTED: _to(Step.VALIDATE_REBASED),
        **_VALIDATES,
        Fact.RAN_COUNTED: _to(Step.VALIDATE_REBASED, "counted before"),
        Fact.RAN_OUTDATED: _RAN_OTHER_CHECKS,
        **_IN_THE_QUEUE,
    },
    Step.VALIDATE_BASE: {
        Fact.CHECKS_EDITED: _OTHER_CHECKS,
        Fact.MAIN_PASSES: _REJECT,
        **_VALIDATES,
        Fact.RAN_UNSURE: _ASK_FIRST,
        Fact.RAN_SUSPECT: _CONFIRM,
        Fact.MAIN_RED: _GIVE_BACK,
        Fact.MENDED: _to(Step.VALIDATE_REBASED, forgets=f"failure red is_suspect {_CONFIRMS}", counts="mended"),
        Fact.MAIN_MOVED: _to(Step.REBASE, forgets=f"failure is_suspect {_CONFIRMS}"),
        Fact.RAN_OUTDATED: _RAN_OTHER_CHECKS,
        **_IN_THE_QUEUE,
    },
    Step.SWAP: {
        Fact.NOT_YET: _WAIT,
        Fact.FELL_OFF: _to(Step.REBASE, forgets=f"tip {_WAITS}"),
        Fact.BLOCKED: Rule(Step.VALIDATE_REBASED, Act.WAIT, _names(_WAITS), _names("tip")),
        Fact.IN_THE_WAY: Rule(Step.REBASE, Act.WAIT, _names(_WAITS), _names("tip candidate")),
        Fact.BLOCKED_HEAD: Rule(Step.VALIDATE_REBASED, Act.WAIT, forgets=_names("tip")),
        Fact.HELD_UP: Rule(None, Act.WAIT, _names(_WAITS)),
        Fact.GIVES_WAY: _GIVE_BACK,
        Fact.LOST_RACE: _to(Step.REBASE, forgets=_WAITS),
        Fact.LANDED: _to(Step.VALIDATE_MAIN, forgets=_WAITS),
        Fact.CUT_OFF: _VALIDATES[Fact.CUT_OFF],
        Fact.RAN_BESIDE: _stays(),
        Fact.STOPPED_BEFORE_LANDING: Rule(Step.REBASE, Act.GIVE_BACK, forgets=_names("tip")),
        **_IN_THE_QUEUE,
    },
    Step.VALIDATE_MAIN: {
        Fact.PROVEN: _to(Step.CLEAN_UP),
        **_VALIDATES,
        Fact.RAN_GREEN: _stays(f"{_JUDGED} proven", forgets=_CONFIRMS),
        Fact.RAN_UNSURE: _stays(f"{_JUDGED} proven", forgets=_CONFIRMS),
        Fact.RAN_RED: _ends(Act.REVERT, _JUDGED, forgets=_CONFIRMS),
        Fact.RAN_SUSPECT: _CONFIRM,
        Fact.RAN_OUTDATED: _stays(forgets=_CONFIRMS),
        **_WITH_CANDIDATE,
    },
    Step.READING: {
        Fact.NOT_YET: _WAIT,
        Fact.BLOCKED: Rule(None, Act.WAIT, _names(_WAITS)),
        Fact.READ: _to(Step.REBASE, forgets=f"candidate {_WAITS}"),  # it goes to the end of the queue
        Fact.SENT_BACK: _REJECT,
        Fact.QUESTIONED: _ASK,
        **_WITH_CANDIDATE,
    },
    Step.PULL_REQUEST: {
        Fact.NOT_YET: _WAIT,
        Fact.BLOCKED: Rule(None, Act.WAIT, _names(_WAITS)),
        Fact.ADOPTED: _stays("base candidate tree contract"),
        Fact.PULL_MERGED: _to(Step.CLEAN_UP, "merged_as base candidate tree contract", forgets=_WAITS),
        Fact.PULL_RED: _REJECT,
        Fact.PULL_REMARKED: _REJECT,
        Fact.PULL_ASKED_AGAIN: _ASK,
        Fact.PULL_CLOSED: _ASK,
        Fact.FELL_OFF: _to(Step.REBASE, forgets=_WAITS),
        **_WITH_CANDIDATE,
    },
    Step.CLEAN_UP: {Fact.MERGED: _ends(Act.FINISH), **_WITH_CANDIDATE},
}

GOES_TO: Mapping[Act, Kind] = {
    Act.REJECT: Kind.REVIEW_REJECTED,
    Act.ASK: Kind.REVIEW_REJECTED,
    Act.GIVE_BACK: Kind.REVIEW_INTERRUPTED,
    Act.ASK_FIRST: Kind.REVIEW_INTERRUPTED,
}
"""The bead's move after such an end (beads.lifecycle)."""


def advance(journal: Journal, fact: Fact, **brought: Any) -> Next:
    """The next journal and action. NotAllowed without a row; TypeError unless `brought` has just the row's fields."""
    rule = TABLE[journal.step].get(fact)
    if rule is None:
        raise NotAllowed(f"a review in the step '{journal.step.value}' cannot see '{fact.value}'")
    if brought.keys() != rule.sets:
        raise TypeError(f"{journal.step}, {fact}: brings {sorted(rule.sets)}, and not {sorted(brought)}")
    if not (rule.to or brought or rule.forgets or rule.counts):
        return Next(journal, rule.act)
    changed = {name: _FIRST[name] for name in rule.forgets} | brought
    changed |= {name: getattr(getattr(journal, RECORD_OF[name]), name) + 1 for name in rule.counts}
    return Next(replace(journal.with_values(**changed), step=rule.to or journal.step), rule.act)


_SHARED = {"any_step": _EACH, "with_a_candidate": _WITH_CANDIDATE, "in_the_queue": _IN_THE_QUEUE}
"""Facts of many steps, by their names in the diagram."""


def mermaid() -> str:
    """The table as a Mermaid state diagram, in its order; moves of many steps are drawn once."""
    lines = ["stateDiagram-v2", f"    [*] --> {next(iter(Step)).value}"]
    for step, row in TABLE.items():
        lines += _lines(step.value, {fact: rule for fact, rule in row.items() if _IN_THE_QUEUE.get(fact) is not rule})
    drawn: set[Fact] = set()
    for name, row in _SHARED.items():
        lines += _lines(name, {fact: rule for fact, rule in row.items() if fact not in drawn})
        drawn |= row.keys()
    return "\n".join(lines)


def _lines(name: str, row: Mapping[Fact, Rule]) -> Iterator[str]:
    for fact, rule in row.items():
        if rule.act not in (Act.GO_ON, Act.WAIT, Act.VALIDATE):
            yield f"    {name} --> [*]: {fact.value}, {rule.act.value}"
        elif rule.to is not None:
            yield f"    {name} --> {rule.to.value}: {fact.value}"


# Checks that were edited while they ran decide nothing, but where main passed what it was merged under. Main is not to
# blame when it passes, when it fails in other checks only, and never for a repair, which has to turn it green.
_RUN_FACTS = {Verdict.GREEN: Fact.RAN_GREEN, Verdict.RED: Fact.RAN_RED, Verdict.UNSURE: Fact.RAN_UNSURE}


def run_fact(results: Sequence[CheckResult]) -> Fact:
    return _RUN_FACTS[verdict(results)]


def main_fact(journal: Journal, results: Sequence[CheckResult], is_repair: bool, neither_runs: bool = False) -> Fact:
    """Whether main is to blame for the failure, by its decided results. A repair and scaffolding have to turn main
    green. `neither_runs`: no check runs on either."""
    has_to_mend = (is_repair or journal.change.is_scaffolding) and not neither_runs
    is_better = has_to_mend or _fails_elsewhere(journal.runs.results, results)
    return Fact.MAIN_PASSES if is_better or run_fact(results) is Fact.RAN_GREEN else Fact.MAIN_RED


def _fails_elsewhere(work: Sequence[Mapping[str, Any]], main: Sequence[CheckResult]) -> bool:
    failed_on_main = {result.name for result in main if result.outcome is not CheckOutcome.PASS}
    failed_here = {str(row["name"]) for row in work if row["outcome"] != CheckOutcome.PASS.value}
    return bool(failed_here) and not failed_here & failed_on_main


def outdated(journal: Journal, results: Sequence[CheckResult], was_edited: bool) -> Fact | None:
    """The fact for a run whose checks were edited; None: it counts. After a merge a pass counts: it is not reverted."""
    is_good_news = journal.step is Step.VALIDATE_MAIN and run_fact(results) is Fact.RAN_GREEN
    return Fact.RAN_OUTDATED if was_edited and not is_good_news else None
