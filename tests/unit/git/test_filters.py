"""What is said of git's filters."""

import shlex

from nobrakes.git.filters import allowing


def test_what_allows_a_filter_is_one_word_whatever_its_name() -> None:
    assert shlex.split(allowing("filters", ("lfs",), "$(touch${IFS}x)"))[-1] == "lfs,$(touch${IFS}x)"
