"""What a bead's branch is called: by a pattern that names each bead's own, and for as long as the bead lives."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.branches import branch_of, is_branch_name, named, pattern_mistake
from nobrakes.beads.model import Bead, BeadType, is_bead_id

IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,12}", fullmatch=True).filter(is_bead_id)
GOOD = (
    "{type}/bead-{id}",
    "feature/{id}",
    "agents/{type}/{id}",
    "{id}/{type}",
    "{type}-{id}-wip",
    "b{id}",
    "{type}/{id}",
)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", GOOD)
def test_a_good_pattern_names_every_bead_and_no_two_the_same(pattern: str) -> None:
    assert pattern_mistake(pattern) is None

    @given(st.lists(st.tuples(IDS, st.sampled_from(list(BeadType))), min_size=2, max_size=20, unique_by=lambda x: x[0]))
    def holds(beads: list[tuple[str, BeadType]]) -> None:
        names = [named(Bead(id_, "x", type=type_), pattern) for id_, type_ in beads]
        assert len({*names}) == len(names) and all(map(is_branch_name, names))

    holds()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "{id} once"),
        ("{type}/bead", "{id} once"),
        ("{id}/{id}", "{id} once"),
        ("{type}/{type}/{id}", "at most once"),
        ("{type}{id}", "between {type} and {id}"),
        ("{id}{type}", "between {type} and {id}"),
        ("{area}/{id}", "only {type} and {id}"),
        ("{id}}", "only {type} and {id}"),
        ("{id}", "besides {id}"),
        ("a b/{id}", "git does not allow"),
        ("a..b/{id}", "git does not allow"),
        ("{type}//{id}", "git does not allow"),
        ("/{id}/x", "git does not allow"),
        ("-{id}", "git does not allow"),
        ("{id}.lock", "git does not allow"),
        ("{id}/.x", "git does not allow"),
        ("x~{id}", "git does not allow"),
        ("x" * 200 + "{id}", "git does not allow"),
    ],
)
def test_a_pattern_that_names_no_branch_is_told_why(pattern: str, why: str) -> None:
    found = pattern_mistake(pattern)
    assert found is not None and why in found


@pytest.mark.parametrize("name", ["a", "a/b", "a.b", "HEAD", "a@{b", "a.lock", ".a", "a/.b", "a b", "-a", "a/", "é"])
def test_git_agrees_about_names(name: str) -> None:
    git = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    assert is_branch_name(name) is (git.returncode == 0)


def test_a_bead_keeps_the_name_that_it_was_started_with() -> None:
    assert branch_of(Bead("a1", "x", type=BeadType.FIX)) == "fix/bead-a1"
    assert branch_of(Bead("a1", "x", type=BeadType.FIX, branch="old/a1")) == "old/a1"
    assert re.fullmatch(r"agents/fix/a1", named(Bead("a1", "x", type=BeadType.FIX), "agents/{type}/{id}"))
