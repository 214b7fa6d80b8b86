"""A check that needs a tool is told which version is there, and what it says instead."""

import pytest

from nobrakes.checks.contract import as_text, found_in, meets, mistake, unmet


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("Python 3.11.4\n", "3.11.4"),
        ("v20.11.1\n", "20.11.1"),
        ("go version go1.22.1 linux/amd64", "1.22.1"),
        ("cargo 1.78.0-nightly (54d8815d0 2024-03-26)", "1.78.0"),
        ("openjdk 21 2023-09-19\nOpenJDK Runtime Environment (build 21+35)", "21"),
        ("GNU Make 4.3\nBuilt for x86_64-pc-linux-gnu", "4.3"),
        ("git version 2.39.2 (Apple Git-143)", "2.39.2"),
        ("ruff 0.4.1", "0.4.1"),
        ("no number at all", None),
        ("", None),
    ],
)
def test_a_version_is_found_in_what_a_tool_says(said: str, version: str | None) -> None:
    found = found_in(said)
    assert (as_text(found) if found else None) == version


@pytest.mark.parametrize(
    ("version", "wanted", "good"),
    [
        ((3, 11, 4), ">=3.11", True),
        ((3, 11), ">=3.11.0", True),
        ((3, 9), ">=3.11", False),
        ((3, 12), ">=3.11,<3.13", True),
        ((3, 13), ">=3.11, <3.13", False),
        ((20, 11, 1), "20", True),
        ((2, 0), "20", False),
        ((200,), "20", False),
        ((20, 11, 1), "20.11", True),
        ((1, 2, 3), "==1.2.3", True),
        ((1, 2), "==1.2.0", True),
        ((1, 2, 4), "!=1.2.3", True),
        ((4,), ">4", False),
    ],
)
def test_a_version_is_wanted_or_not(version: tuple[int, ...], wanted: str, good: bool) -> None:
    assert meets(version, wanted) is good and mistake(wanted) is None


@pytest.mark.parametrize("wanted", ["", "newest", ">=", "3.x", "~=3", ">=3.11 <4", "1.2-rc1"])
def test_what_is_no_version_is_a_mistake(wanted: str) -> None:
    assert "is not a version: write" in str(mistake(wanted))


@pytest.mark.parametrize(
    ("code", "said", "told"),
    [
        (0, "v20.1.0", None),
        (0, "v18.19.0", "the check needs node 20, but found 18.19.0"),
        (127, "sh: node: not found", "the check needs node 20, but node is not installed"),
        (None, "", "the check needs node 20, but node did not print its version"),
        (0, "hello\n", "the check needs node 20, but instead of its version node printed: hello"),
        (
            1,
            "v20.1.0 is broken",
            "the check needs node 20, but instead of its version node printed: v20.1.0 is broken",
        ),
    ],
)
def test_a_tool_that_is_not_as_it_should_be_is_told_with_what_was_found(
    code: int | None, said: str, told: str | None
) -> None:
    assert unmet("node", "20", code, said) == told
