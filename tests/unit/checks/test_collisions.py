"""Which globs may cover the same file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import ReadyBead, Status
from nobrakes.checks.policy import shadows
from nobrakes.checks.policy.shadows import MAX_GLOBS, Busy, apart
from nobrakes.globs import matches

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
        ("src/a**b/c", "src/a1/x/2b/c", True),
        ("src/**/a/*.py", "src/x/b/**", True),
    ],
)
def test_two_globs_collide_where_a_path_can_be_in_both(one: str, other: str, expected: bool) -> None:
    assert Busy([[one]]).meets([other]) is Busy([[other]]).meets([one]) is expected
    others = ["docs/other.txt", "lib/*/x", "src/of/others/?"]
    assert Busy([others, [one]]).meets([other]) is (expected or Busy([others]).meets([other]))


@given(GLOBS, GLOBS, PATHS)
def test_what_covers_one_path_collides(one: str, other: str, path: str) -> None:
    if matches(path, [one]) and matches(path, [other]):
        assert Busy([[one]]).meets([other])


def test_a_turn_compares_so_much_and_leaves_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A glance costs a tenth of a second and never three, whatever agents said they would change."""
    looks = [0]
    same_name = Busy._same_name

    def counted(self: Busy, one: str, other: str) -> bool:
        looks[0] += 1
        return same_name(self, one, other)

    monkeypatch.setattr(Busy, "_same_name", counted)

    def waits(number: int) -> ReadyBead:
        touches = tuple(f"src/*{number}of{part}.py" for part in range(MAX_GLOBS))
        return ReadyBead(f"b{number}", Status.NEEDS_DOER, "task", 2, 0, touches=touches)

    ready = [waits(number) for number in range(64)]
    busy = Busy([[f"src/*{number}.md" for number in range(MAX_GLOBS)]])
    in_order = []
    for bead in apart(ready, busy):
        in_order.append(bead)
        busy.add(bead.touches)
    assert sorted(in_order, key=lambda bead: bead.id) == sorted(ready, key=lambda bead: bead.id)
    assert MAX_GLOBS < looks[0] < 2 * shadows.STEPS
