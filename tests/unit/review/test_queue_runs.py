"""How many runs of the checks a change costs as installed, those that confirm a red included, on a virtual clock."""

import sys
from pathlib import Path
from statistics import mean

import pytest

from nobrakes.review.queue import CONFIRMING

sys.path.append(str(Path(__file__).resolve().parents[3] / "benchmarks"))

from merge_queue import CHANGES, SCENES, Ends, drawn, installed, one_at_a_time

SHARES = {"1 % bad": 0.2, "5 % bad": 0.5, "20 % bad": 1.35}


def ends(policy, name: str, seeds: int = 6) -> list[Ends]:
    return [policy(drawn(*SCENES[name], seed)) for seed in range(seeds)]


@pytest.mark.parametrize(("name", "most"), SHARES.items())
def test_under_load_a_change_costs_so_many_runs(name: str, most: float) -> None:
    found = ends(installed, name)
    assert mean((one.runs + one.again) / CHANGES for one in found) <= most
    assert not any(one.red for one in found), "main held something bad"


@pytest.mark.parametrize("name", SHARES)
def test_one_at_a_time_a_change_costs_one_run_and_a_bad_one_those_that_confirm_it(name: str) -> None:
    for one in ends(one_at_a_time, name):
        assert one.runs == CHANGES
        assert one.again == CONFIRMING * len(one.refused) == CONFIRMING * SCENES[name][0] * CHANGES


def test_a_flake_sends_no_good_change_back() -> None:
    assert sum(len(one.refused) for one in ends(installed, "2 % flakes")) == 0
