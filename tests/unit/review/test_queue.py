"""The merge queue: what is validated next, what is published, who is blamed, and how many go together."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.checks.contract import Verdict
from nobrakes.review.journal import DEEP, MAX_BATCH, Pace
from nobrakes.review.queue import CONFIRMING, Move, decide, red
from tests.support.dose import everyday

WORDS = {"?": Verdict.UNKNOWN, ".": Verdict.RUNNING, "+": Verdict.GREEN, "-": Verdict.RED, "!": Verdict.CONFIRMED}


def batch(words: str, free: int = 1, **said: object) -> Move:
    return decide([WORDS[word] for word in words], free, every=False, **said)  # type: ignore[arg-type]


def each(words: str, free: int = 1, **said: object) -> Move:
    return decide([WORDS[word] for word in words], free, every=True, **said)  # type: ignore[arg-type]


def test_an_empty_queue_asks_for_nothing() -> None:
    assert batch("+") == each("+") == Move()


def test_a_batch_is_validated_as_a_whole_and_published_as_a_whole() -> None:
    assert batch("+????") == Move(validate=(4,))
    assert batch("+???.") == Move()
    assert batch("+???+") == Move(publish=4)


def test_who_broke_a_batch_is_found_by_halving_it() -> None:
    assert batch("+???-") == Move(validate=(2,))
    assert batch("+?+?-") == Move(validate=(3,), publish=2)
    assert batch("+?++-") == Move(publish=3, blame=4)
    assert batch("+?+--") == Move(publish=2, blame=3)


def test_a_later_change_may_mend_an_earlier_one() -> None:
    assert batch("+-?+") == Move(publish=3)


def test_main_itself_is_looked_at_before_the_first_change_is_blamed() -> None:
    assert batch("?-") == each("?-") == Move(validate=(0,))
    assert batch("+-") == each("+-") == Move(blame=1)


def test_two_probes_at_once_look_for_who_broke_a_batch_where_validators_idle() -> None:
    assert batch("+???????-", free=1) == Move(validate=(4,))
    assert batch("+???????-", free=3) == Move(validate=(3, 5))
    assert batch("+???-", free=3) == Move(validate=(2,)), "of four halving takes fewer runs"
    assert batch("+???.???-", free=3) == Move(), "what runs tells more first"


def test_idle_validators_take_the_next_batch_on_top_of_the_one_that_is_tried() -> None:
    assert batch("+????????", free=3, size=4) == Move(validate=(4, 8))
    assert batch("+???.????", free=2, size=4) == Move(validate=(8,))
    assert batch("+???.???", free=2, size=4) == Move(validate=(7,)), "no validator idles while more wait"
    assert batch("+???-????", free=2, size=4) == Move(validate=(2,)), "what stands on a red one waits"
    assert batch("+.????", free=2, size=4, suspect={1}) == Move(), "and what stands on one that is confirmed"


def test_while_no_more_wait_than_validators_are_free_each_is_validated_by_itself() -> None:
    assert batch("+?") == Move(validate=(1,)) and batch("+??", free=2, size=16) == Move(validate=(1, 2))
    assert batch("+??", free=1, size=16) == batch("+??", free=2, size=16, coming=1) == Move(validate=(2,))
    assert batch("+.?", free=1, size=16) == Move(validate=(2,)), "on top of the one that runs"
    assert batch("+????", free=4, size=2) == Move(validate=(1, 2)), "as many as will probably stand"


def test_a_change_that_goes_apart_shares_its_run_with_no_other() -> None:
    assert batch("+?????", apart={3}) == Move(validate=(2,)), "those before it"
    assert batch("+?????", free=3, size=16, apart={3}) == Move(validate=(2, 3, 5))
    assert batch("+?+???", apart={3}) == Move(validate=(3,), publish=2), "then it"
    assert batch("+?++??", apart={3}) == Move(validate=(5,), publish=3), "then those behind it"
    assert batch("+???+", apart={2}) == Move(validate=(1,)), "a pass of the whole proves nothing of it"
    assert batch("+++.+", free=0, apart={4}) == Move(publish=2)
    assert batch("+?", apart={1}) == Move(validate=(1,)) and batch("++", apart={1}) == Move(publish=1)
    assert batch("+?.-", apart={2}, free=1) == Move(validate=(1,)), "its run was cut off"


def test_few_batches_stand_on_one_another_where_many_changes_are_bad() -> None:
    assert Pace(size=4).deep(8) == DEEP and Pace(size=4).deep(1) == 1
    assert Pace(size=4, ends="-").deep(8) == DEEP - 1 and Pace(size=16, ends="--").deep(8) == 1
    assert Pace(size=4, debt=2 * MAX_BATCH + 1).deep(8) == 1


def test_a_red_that_may_be_a_flake_is_confirmed_before_it_is_held_against_anybody() -> None:
    assert batch("++-", suspect={2}) == Move(validate=(2,), publish=1)
    assert batch("++!", suspect={2}) == Move(publish=1, blame=2)
    assert each("?-", suspect={1}) == Move(validate=(1,)), "nor is main looked at for it"
    assert red(1) is Verdict.RED and red(1 + CONFIRMING) is Verdict.CONFIRMED


def test_with_every_commit_green_each_change_is_validated_on_top_of_those_before_it() -> None:
    assert each("+???", free=2) == Move(validate=(1, 2))
    assert each("+.??", free=1) == Move(validate=(2,))
    assert each("+++?", free=1) == Move(validate=(3,), publish=2)


def test_what_is_green_on_something_unproven_waits_for_it() -> None:
    assert each("+.+", free=1) == Move()


def test_what_stands_on_a_red_change_is_not_validated() -> None:
    assert each("+-??", free=4) == Move(blame=1)
    assert each("++-?", free=4) == Move(publish=1, blame=2)
    assert each("?.-?", free=4) == Move()


VERDICTS = st.lists(st.sampled_from(list(Verdict)), min_size=1, max_size=MAX_BATCH + 1)


PLACES = st.sets(st.integers(1, MAX_BATCH))


@given(VERDICTS, st.integers(0, 4), st.booleans(), st.integers(0, MAX_BATCH), PLACES, PLACES, st.integers(0, 3))
def test_only_what_is_proven_is_published_and_only_who_is_proven_guilty_is_blamed(
    verdicts: list[Verdict], free: int, every: bool, size: int, suspect: set[int], apart: set[int], coming: int
) -> None:
    move = decide(verdicts, free, every, size, suspect, apart, coming)
    assert len(move.validate) <= free
    for number in move.validate:
        assert verdicts[number] is Verdict.UNKNOWN or (verdicts[number] is Verdict.RED and number in suspect)
    if move.publish:
        assert verdicts[move.publish] is Verdict.GREEN
        assert not every or set(verdicts[1 : move.publish + 1]) == {Verdict.GREEN}
        for place in (place for place in apart if place <= move.publish):
            assert verdicts[place] is Verdict.GREEN, "each that goes apart has a pass of its own"
            assert place == 1 or verdicts[place - 1] is Verdict.GREEN, "and so has what it stands on"
    if move.blame:
        assert verdicts[move.blame] in (Verdict.RED, Verdict.CONFIRMED)
        assert verdicts[move.blame - 1] is Verdict.GREEN
        assert move.blame not in suspect or verdicts[move.blame] is Verdict.CONFIRMED


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("validators", [1, 3])
@pytest.mark.parametrize("seed", everyday(*range(10), ci=range(10, 40)))
def test_any_queue_comes_to_its_end_within_its_bound(seed: int, validators: int, every: bool) -> None:
    chance = random.Random(seed)
    changes = list(range(chance.randint(1, 60)))
    bad = {change for change in changes if chance.random() < chance.choice((0, 0.1, 0.5, 1))}
    main: list[int] = []
    waiting, runs, pace = list(changes), 0, Pace()
    known = {(): Verdict.GREEN}
    while waiting:
        size = pace.together
        tried = waiting[: 2 if every else size * pace.deep(validators)]
        trees = [tuple(main + tried[:number]) for number in range(len(tried) + 1)]
        known[trees[0]] = Verdict.GREEN
        move = decide([known.get(tree, Verdict.UNKNOWN) for tree in trees], validators, every, size)
        assert move != Move(), "the queue would stand still"
        for number in move.validate:
            runs, pace = runs + 1, pace.ran()
            known[trees[number]] = Verdict.RED if bad & set(trees[number]) else Verdict.GREEN
        if move.blame:
            assert tried[move.blame - 1] in bad
            waiting.remove(tried[move.blame - 1])
            pace = pace.blamed()
        main += tried[: move.publish]
        waiting = waiting[move.publish :]
        if move.publish:
            pace = pace.landed(move.publish)
    assert main == [change for change in changes if change not in bad]
    assert runs <= len(changes) + 2 * MAX_BATCH + 5 + 2 * (validators - 1)


def test_the_pace_doubles_with_good_changes_and_halves_with_bad_ones() -> None:
    assert Pace().together == MAX_BATCH, "as long as nothing is known"
    pace = Pace(size=8)
    assert pace.landed(8).together == 16
    assert pace.landed(2).together == 8
    assert pace.blamed().landed(40).together == 8
    assert Pace(size=MAX_BATCH).landed(MAX_BATCH).together == MAX_BATCH
    assert Pace(size=1).blamed().together == 1


def test_a_batch_is_likely_enough_to_be_good_as_the_last_changes_were() -> None:
    assert [Pace(size=MAX_BATCH, ends="-" * bad).together for bad in (0, 1, 2, 4, 10, 20)] == [
        MAX_BATCH,
        MAX_BATCH,
        9,
        4,
        1,
        1,
    ]


def test_who_has_cost_more_runs_than_were_won_goes_one_by_one() -> None:
    pace = Pace(size=MAX_BATCH)
    assert pace.ran(2 * MAX_BATCH).together == MAX_BATCH
    assert pace.ran(2 * MAX_BATCH + 1).together == 1
    assert pace.ran(2 * MAX_BATCH + 1).landed(1).together == MAX_BATCH


def test_the_share_of_bad_changes_is_that_of_the_last_ones() -> None:
    pace = Pace().landed(18).blamed().blamed()
    assert pace.bad_share == 0.1
    assert pace.landed(20).bad_share == 0
    assert Pace.parse(pace.as_text()) == pace and Pace.parse(None) == Pace()
