"""The index of a clone, in any form: what cannot be read says nothing of a tree, and ends soon."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.git.workspaces.salvage import _tree_in

WIDTH = 20


def test_the_tree_that_an_index_was_made_of(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    (tmp_path / "a").write_text("a")
    (tmp_path / ("b" * 200)).write_text("b")
    git("add", ".")
    tree = git("write-tree")
    assert _tree_in((tmp_path / ".git" / "index").read_bytes(), WIDTH) == tree


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"DIRC\0\0\0\2\xff\xff\xff\xff",
        b"DIRC\0\0\0\2\0\0\0\1" + b"\0" * 60 + b"\x0f\xff" + b"a" * 50,
        b"DIRC\0\0\0\2\0\0\0\0TREE",
        b"DIRC\0\0\0\2\0\0\0\0TREE\0\0\0\0\0",
    ],
)
def test_an_odd_index_says_nothing(index: bytes) -> None:
    assert _tree_in(index, WIDTH) is None


@given(st.binary(max_size=300))
def test_any_bytes_end(rest: bytes) -> None:
    _tree_in(b"DIRC\0\0\0\2" + rest, WIDTH)
