"""Which globs may cover the same file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.core.globs import matches
from nobrakes.core.policy.collisions import meet

GLOBS = st.lists(st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "?", "a?", "**"]), min_size=2, max_size=3).map(
    "/".join
)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "abb"]), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("src/auth/**", "src/auth/login.py", True),
        ("src/*.py", "src/*.md", False),
        ("src/**/test_*.py", "src/a/b/test_login.*", True),
        ("*.md", "docs/guide.md", True),
        ("/README.md", "docs/README.md", False),
        ("README.md", "docs/**", False),
        ("src", "src/deep/down.py", True),
        ("src/a", "src/ab", False),
        ("a*c/x", "ab*/x", True),
        ("a*c/x", "*d/x", False),
    ],
)
def test_two_globs_collide_where_a_path_can_be_in_both(one: str, other: str, expected: bool) -> None:
    assert meet(one, other) is meet(other, one) is expected


@given(GLOBS, GLOBS, PATHS)
def test_what_covers_one_path_collides(one: str, other: str, path: str) -> None:
    if matches(path, [one]) and matches(path, [other]):
        assert meet(one, other)
