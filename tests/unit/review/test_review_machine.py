"""The life of a review, told move by move; every move that is not told is refused."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Kind
from nobrakes.review.journal import Journal, Step
from nobrakes.review.machine import GOES_TO, TABLE, Act, Fact, Next, Rule, advance, mermaid

STORY = """
take_in           taken_in                boundaries
take_in           refused                 reject
boundaries        in_bounds               rebase
boundaries        refused                 reject
boundaries        questioned              ask

rebase            blocked                 wait
rebase            freed                   rebase
rebase            not_yet                 wait
rebase            landed                  validate_main
rebase            landed_before           validate_main
rebase            stands                  validate_rebased
rebase            conflicts_ahead         rebase
rebase            conflicted              ask
rebase            pull_merged             clean_up
rebase            built                   validate_rebased

validate_rebased  checks_edited           rebase
validate_rebased  fell_off                rebase
validate_rebased  unproven                validate
validate_rebased  no_checks               ask_first
validate_rebased  not_yet                 wait
validate_rebased  cut_off                 validate_rebased
validate_rebased  ran_green               validate_rebased
validate_rebased  ran_red                 validate_rebased
validate_rebased  ran_unsure              validate_rebased
validate_rebased  ran_commit              validate_rebased
validate_rebased  ran_outdated            rebase
validate_rebased  blamed                  validate_base
validate_rebased  blamed_unsure           ask_first
validate_rebased  proves_less             reject
validate_rebased  questioned              ask
validate_rebased  uncounted               count_base
validate_rebased  commit_proven           validate_rebased
validate_rebased  folded                  validate_rebased
validate_rebased  may_ask                 pull_request
validate_rebased  to_read                 reading

count_base        checks_edited           rebase
count_base        counted                 validate_rebased
count_base        unproven                validate
count_base        no_checks               ask_first
count_base        not_yet                 wait
count_base        cut_off                 count_base
count_base        ran_counted             validate_rebased
count_base        ran_outdated            rebase

validate_base     checks_edited           rebase
validate_base     main_passes             reject
validate_base     unproven                validate
validate_base     no_checks               ask_first
validate_base     not_yet                 wait
validate_base     cut_off                 validate_base
validate_base     ran_unsure              ask_first
validate_base     ran_suspect             validate_base
validate_base     ran_outdated            rebase
validate_base     main_red                give_back
validate_base     mended                  validate_rebased
validate_base     main_moved              rebase

swap              not_yet                 wait
swap              fell_off                rebase
swap              blocked                 validate_rebased wait
swap              in_the_way              rebase wait
swap              blocked_head            validate_rebased wait
swap              held_up                 wait
swap              gives_way               give_back
swap              lost_race               rebase
swap              landed                  validate_main
swap              cut_off                 swap
swap              ran_beside              swap
swap              stopped_before_landing  rebase give_back

validate_main     proven                  clean_up
validate_main     unproven                validate
validate_main     no_checks               ask_first
validate_main     not_yet                 wait
validate_main     cut_off                 validate_main
validate_main     ran_green               validate_main
validate_main     ran_unsure              validate_main
validate_main     ran_red                 revert
validate_main     ran_suspect             validate_main
validate_main     ran_outdated            validate_main

reading           not_yet                 wait
reading           blocked                 wait
reading           read                    rebase
reading           sent_back               reject
reading           questioned              ask

pull_request      not_yet                 wait
pull_request      blocked                 wait
pull_request      adopted                 pull_request
pull_request      pull_merged             clean_up
pull_request      pull_red                reject
pull_request      pull_remarked           reject
pull_request      pull_asked_again        ask
pull_request      pull_closed             ask
pull_request      fell_off                rebase

clean_up          merged                  finish
"""
"""Where the review is then, and what is done where it is not the step's own work."""

ANYWHERE = """
stopped                give_back
head_gone              take_in
work_gone              reject
gone_too_often         ask_first
"""
WITH_CANDIDATE = """
stopped_after_landing  clean_up
candidate_gone         rebase
"""
IN_THE_QUEUE = """
may_land               swap
"""

WAITS = "waiting waiting_until waiting_since passing passing_since behind published"
CANDIDATE = "base candidate tree chain contract"
OF_A_CANDIDATE = "checked kept apart red is_suspect is_broken counted before"
REST = (
    f"{CANDIDATE} {OF_A_CANDIDATE} {WAITS} tip approval proven validating results failure confirming again carried "
    "carried_for merged_as reading"
)

FIELDS = f"""
taken_in               brings head fork epic base anchor
in_bounds              brings gates is_scaffolding shares_run brings; forgets base
unproven               brings validating; counts serial
cut_off                forgets validating; counts cut_off
ran_green              brings results is_suspect proven; forgets confirming again
validate_rebased.ran_red brings results is_suspect failure; forgets is_broken confirming again; counts red
validate_rebased.ran_unsure brings results is_suspect failure is_broken; forgets confirming again; counts red
ran_commit             brings results is_suspect kept; forgets confirming again; counts checked
validate_main.ran_unsure brings results is_suspect proven; forgets confirming again
validate_main.ran_red  brings results is_suspect; forgets confirming again
ran_suspect            brings confirming again
ran_counted            brings counted before
ran_outdated           forgets failure tip waiting waiting_until confirming again
validate_main.ran_outdated forgets confirming again
checks_edited          forgets failure tip waiting waiting_until
blocked                brings {WAITS}
swap.blocked           brings {WAITS}; forgets tip
in_the_way             brings {WAITS}; forgets tip candidate
blocked_head           forgets tip
held_up                brings {WAITS}
freed                  forgets {WAITS}
landed_before          brings base candidate contract tip tree
stands                 forgets tip
conflicts_ahead        brings apart
built                  brings {CANDIDATE}; forgets {OF_A_CANDIDATE}
fell_off               forgets waiting waiting_until
swap.fell_off          forgets tip {WAITS}
pull_request.fell_off  forgets {WAITS}
may_ask                brings approval reading
adopted                brings base candidate tree contract
pull_merged            brings merged_as base candidate tree contract; forgets {WAITS}
commit_proven          brings kept; counts checked
folded                 brings candidate proven; forgets chain kept
may_land               brings tip approval reading
read                   forgets candidate {WAITS}
lost_race              forgets {WAITS}
swap.landed            forgets {WAITS}
main_moved             forgets failure is_suspect confirming again
mended                 forgets failure red is_suspect confirming again; counts mended
stopped_before_landing forgets tip
stopped_after_landing  forgets validating waiting_until
candidate_gone         forgets {REST}; counts rebuilt
head_gone              forgets {REST} head fork epic anchor brings gates; counts rebuilt
"""
"""What the journal takes up, forgets and counts, by the fact or by the step and the fact."""


def told() -> dict[tuple[Step, Fact], tuple[Step, Act]]:
    found = {}
    for line in STORY.split("\n"):
        if line:
            step, fact, *rest = line.split()
            found[Step(step), Fact(fact)] = _end(Step(step), rest)
    train = (Step.REBASE, Step.VALIDATE_REBASED, Step.COUNT_BASE, Step.VALIDATE_BASE, Step.SWAP)
    candidate = (*train, Step.VALIDATE_MAIN, Step.READING, Step.PULL_REQUEST, Step.CLEAN_UP)
    for lines, steps in ((ANYWHERE, tuple(Step)), (WITH_CANDIDATE, candidate), (IN_THE_QUEUE, train)):
        for step, line in product(steps, filter(None, lines.split("\n"))):
            fact, *rest = line.split()
            found[step, Fact(fact)] = _end(step, rest)
    return found


def _end(step: Step, words: list[str]) -> tuple[Step, Act]:
    acts = {act.name.lower(): act for act in Act}
    act = next((acts[word] for word in words if word in acts), Act.GO_ON)
    return next((Step(word) for word in words if word not in acts), step), act


ROWS = dict(line.split(maxsplit=1) for line in FIELDS.split("\n") if line)


def fields_of(step: Step, fact: Fact) -> dict[str, frozenset[str]]:
    text = ROWS.get(f"{step.value}.{fact.value}", ROWS.get(fact.value, ""))
    parts = dict(part.split(maxsplit=1) for part in text.split("; ") if part)
    return {what: frozenset(parts.get(what, "").split()) for what in ("brings", "forgets", "counts")}


MOVES = told()
FIRST = Journal().as_data()
FULL: dict[str, Any] = {
    name: {bool: True, int: 7, float: 7.5, str: "was", tuple: ("was",), dict: {"was": 1}}[type(value)]
    for name, value in FIRST.items()
    if name != "step"
}
BROUGHT: dict[str, Any] = {
    name: {bool: True, int: 8, float: 8.5, str: "is", tuple: ("is",), dict: {"is": 1}}[type(value)]
    for name, value in FULL.items()
}


def at(step: Step) -> Journal:
    """A journal in which every field says something."""
    return Journal(step).with_values(**FULL)


def brought_to(step: Step, fact: Fact) -> tuple[dict[str, Any], Next]:
    """What the fact brings to this step, and what is to come of it."""
    then, act = MOVES[step, fact]
    fields = fields_of(step, fact)
    brought = {name: BROUGHT[name] for name in fields["brings"]}
    changed = {name: FIRST[name] for name in fields["forgets"]} | brought
    changed |= {name: FULL[name] + 1 for name in fields["counts"]}
    return brought, Next(replace(at(step).with_values(**changed), step=then), act)


@pytest.mark.parametrize("step", Step)
def test_every_step_and_every_fact(step: Step) -> None:
    for fact in Fact:
        if (step, fact) not in MOVES:
            with pytest.raises(NotAllowed, match=f"'{step.value}' cannot see '{fact.value}'"):
                advance(at(step), fact)
        else:
            brought, after = brought_to(step, fact)
            assert advance(at(step), fact, **brought) == after, fact


@pytest.mark.parametrize(("step", "fact"), [(step, fact) for step, row in TABLE.items() for fact in row])
def test_a_row_that_is_changed_is_seen(step: Step, fact: Fact, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = TABLE[step][fact]
    others = [replace(rule, to=to) for to in Step if to is not (rule.to or step)]
    others += [replace(rule, act=act) for act in Act if act is not rule.act]
    for name in FULL:
        others += _with_other_field(rule, name)
    brought, after = brought_to(step, fact)
    assert advance(at(step), fact, **brought) == after
    for other in others:
        with monkeypatch.context() as changed:
            changed.setitem(TABLE, step, {**TABLE[step], fact: other})
            try:
                found: object = advance(at(step), fact, **brought)
            except TypeError as refused:  # it brings something else
                found = refused
        assert (found == after) is False, other


def _with_other_field(rule: Rule, name: str) -> list[Rule]:
    one = frozenset({name})
    found = [replace(rule, sets=rule.sets ^ one)]
    if name not in rule.sets | rule.counts:
        found.append(replace(rule, forgets=rule.forgets ^ one))
    if isinstance(FULL[name], int) and not isinstance(FULL[name], bool) and name not in rule.sets | rule.forgets:
        found.append(replace(rule, counts=rule.counts ^ one))
    return found


def test_what_a_fact_brings_is_all_that_its_row_names() -> None:
    for brought in ({}, {"apart": "x", "tip": "y"}, {"tip": "y"}):
        with pytest.raises(TypeError, match="brings \\['apart'\\]"):
            advance(Journal(Step.REBASE), Fact.CONFLICTS_AHEAD, **brought)


def test_a_wait_that_changes_nothing_gives_the_journal_back() -> None:
    journal = Journal(Step.REBASE)
    assert advance(journal, Fact.NOT_YET).journal is journal


# --- stories -----------------------------------------------------------------------------------------------------


class Review:
    """A review that is told what it sees."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.act = Act.GO_ON

    def sees(self, fact: Fact, **brought: Any) -> "Review":
        assert self.act in (Act.GO_ON, Act.WAIT, Act.VALIDATE), "it is over"
        self.journal, self.act = (following := advance(self.journal, fact, **brought)).journal, following.act
        return self

    def is_handed_in(self) -> "Review":
        self.sees(Fact.TAKEN_IN, head="h1", fork="m0", epic="", base="m0", anchor="e0")
        return self.sees(Fact.IN_BOUNDS, gates=(), is_scaffolding=False, shares_run=True, brings="")

    def passes(self) -> "Review":
        return self.sees(Fact.UNPROVEN, validating="c1").sees(Fact.RAN_GREEN, results=(), is_suspect=False, proven="p")

    def fails(self) -> "Review":
        failed = {"results": ({"name": "tests"},), "is_suspect": False, "failure": "tests: fail"}
        return self.sees(Fact.UNPROVEN, validating="c1").sees(Fact.RAN_RED, **failed)

    def is_built(self, on: str = "m0", candidate: str = "c1") -> "Review":
        return self.sees(Fact.BUILT, base=on, candidate=candidate, tree="t", chain=(), contract="k")

    def is_validated(self) -> "Review":
        return self.is_handed_in().is_built().passes()


def test_good_work_lands() -> None:
    review = Review().is_validated()
    assert review.journal.step is Step.VALIDATE_REBASED
    review.sees(Fact.MAY_LAND, tip="c1", approval={}, reading={}).sees(Fact.LANDED)
    assert (review.journal.step, review.journal.build.tip) == (Step.VALIDATE_MAIN, "c1")
    review.passes().sees(Fact.PROVEN).sees(Fact.MERGED)
    assert review.act is Act.FINISH


def test_work_that_fails_is_sent_back_once_main_was_seen_to_pass() -> None:
    review = Review().is_handed_in().is_built().fails().sees(Fact.BLAMED)
    assert (review.journal.step, review.journal.runs.failure) == (Step.VALIDATE_BASE, "tests: fail")
    assert review.sees(Fact.UNPROVEN, validating="c1").act is Act.VALIDATE
    assert review.sees(Fact.MAIN_PASSES).act is Act.REJECT


def test_on_a_red_main_nobody_is_blamed() -> None:
    review = Review().is_validated().fails().sees(Fact.BLAMED).sees(Fact.UNPROVEN, validating="c1").sees(Fact.MAIN_RED)
    assert review.act is Act.GIVE_BACK


def test_only_work_that_is_to_blame_or_asked_about_goes_back_to_a_doer() -> None:
    assert {act for act, kind in GOES_TO.items() if kind is Kind.REVIEW_REJECTED} == {Act.REJECT, Act.ASK}
    over = {rule.act for row in TABLE.values() for rule in row.values()} - {Act.GO_ON, Act.WAIT, Act.VALIDATE}
    assert over == {*GOES_TO, Act.REVERT, Act.FINISH}
    for step, row in TABLE.items():
        for fact in (Fact.RAN_UNSURE, Fact.NO_CHECKS, Fact.MAIN_RED, Fact.STOPPED, Fact.GIVES_WAY):
            if fact in row and row[fact].act in GOES_TO:
                assert GOES_TO[row[fact].act] is Kind.REVIEW_INTERRUPTED, (step, fact)


def test_a_lost_race_begins_again_on_the_new_main_with_nothing_held_against_it() -> None:
    review = Review().is_validated().fails()
    assert review.journal.runs.red == 1
    review.sees(Fact.MAY_LAND, tip="c1", approval={}, reading={}).sees(Fact.LOST_RACE)
    review.is_built(on="m1", candidate="c2")
    assert (review.journal.build.base, review.journal.build.candidate, review.journal.runs.red) == ("m1", "c2", 0)


def test_a_checkout_in_the_way_is_waited_for_with_the_candidate_as_it_is() -> None:
    waits = {name: BROUGHT[name] for name in WAITS.split()}
    review = Review().is_validated().sees(Fact.MAY_LAND, tip="c1", approval={}, reading={}).sees(Fact.BLOCKED, **waits)
    assert (review.journal.step, review.journal.build.tip, review.act) == (Step.VALIDATE_REBASED, "", Act.WAIT)
    review.sees(Fact.MAY_LAND, tip="c1", approval={}, reading={}).sees(Fact.LANDED)
    assert review.journal.merging.waiting == "" and not review.journal.merging.published


def test_work_that_a_persons_file_is_in_the_way_of_leaves_the_queue_and_comes_back_behind_the_others() -> None:
    waits = {name: BROUGHT[name] for name in WAITS.split()}
    review = Review().is_validated().sees(Fact.MAY_LAND, tip="c1", approval={}, reading={})
    review.sees(Fact.IN_THE_WAY, **waits)
    assert (review.journal.step, review.journal.build.candidate, review.act) == (Step.REBASE, "", Act.WAIT)
    review.sees(Fact.BLOCKED, **waits).is_built(on="m1", candidate="c2")
    assert review.journal.step is Step.VALIDATE_REBASED


def test_what_was_lost_is_built_again_from_the_head() -> None:
    review = Review().is_validated().sees(Fact.CANDIDATE_GONE)
    assert (review.journal.step, review.journal.change.head, review.journal.build.candidate) == (Step.REBASE, "h1", "")
    review.sees(Fact.HEAD_GONE)
    assert (review.journal.step, review.journal.change.head, review.journal.build.rebuilt) == (Step.TAKE_IN, "", 2)


def test_a_red_main_after_the_merge_takes_it_back() -> None:
    review = (
        Review()
        .is_validated()
        .sees(Fact.MAY_LAND, tip="c1", approval={}, reading={})
        .sees(Fact.LANDED)
        .sees(Fact.UNPROVEN, validating="c1")
    )
    assert review.sees(Fact.RAN_RED, results=(), is_suspect=False).act is Act.REVERT


def test_edited_checks_validate_again() -> None:
    review = Review().is_validated().sees(Fact.CHECKS_EDITED)
    assert review.journal.step is Step.REBASE
    blamed = Review().is_validated().fails().sees(Fact.BLAMED).sees(Fact.CHECKS_EDITED)
    assert (blamed.journal.step, blamed.journal.runs.failure) == (Step.REBASE, "")


def test_every_step_can_be_reached_and_every_review_ends() -> None:
    seen, todo = set(), [Step.TAKE_IN]
    while todo:
        step = todo.pop()
        if step not in seen:
            seen.add(step)
            todo += [rule.to for rule in TABLE[step].values() if rule.to is not None]
    assert seen == set(Step)
    outside = {Fact(line.split()[0]) for line in (ANYWHERE + WITH_CANDIDATE).splitlines() if line}
    for step, row in TABLE.items():
        own = [rule for fact, rule in row.items() if fact not in outside]
        assert any(rule.act not in (Act.GO_ON, Act.WAIT, Act.VALIDATE) for rule in own), step


def test_the_diagram_has_every_move_once() -> None:
    lines = mermaid().splitlines()
    assert lines[0] == "stateDiagram-v2" and len(lines) == len(set(lines))
    drawn = {line.strip() for line in lines}
    shared = ("any_step", "with_a_candidate", "in_the_queue")
    for (step, fact), (then, act) in MOVES.items():
        if act not in (Act.GO_ON, Act.WAIT, Act.VALIDATE):
            ending = f"[*]: {fact.value}, {act.value}"
        elif TABLE[step][fact].to is not None:
            ending = f"{then.value}: {fact.value}"
        else:
            continue
        assert drawn & {f"{name} --> {ending}" for name in (step.value, *shared)}, (step, fact)
