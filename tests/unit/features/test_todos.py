"""What is left to do, as comments say it: these files, these folders, one a line."""

import pytest

from nobrakes.features.model import ItemKind, is_affected, is_scanned, new_in, scan

TODO, FIXME = ItemKind.TODO, ItemKind.FIXME


@pytest.mark.parametrize(
    "name", ["a.ts", "a.tsx", "a.js", "a.jsx", "x/a.py", "a.go", "a.rs", "A.java", "building/a.py"]
)
def test_source_files_are_looked_into(name: str) -> None:
    assert is_scanned(name)


@pytest.mark.parametrize(
    "name", ["a.md", "a.pyc", "py", "node_modules/a.js", "x/.git/a.py", "dist/a.js", "build/x/a.py", "x/vendor/y/a.go"]
)
def test_others_are_not(name: str) -> None:
    assert not is_scanned(name) and scan(name, "# TODO: this\n") == ()


def test_every_opener_is_found_where_it_stands() -> None:
    text = "// TODO: a\nx = 1  # TODO:  b  c \n/* TODO: d */ y\n//FIXME: e\n# todo: no\n# TODO no\nTODO: no\n# FIXME: f # TODO: g\n"
    found = [(one.kind, one.text, one.line) for one in scan("a.py", text)]
    assert found == [(TODO, "a", 1), (TODO, "b c", 2), (TODO, "d", 3), (FIXME, "e", 4), (FIXME, "f # TODO: g", 8)]


def test_lines_that_moved_are_nothing_new() -> None:
    before = scan("a.py", "# TODO: a\n# TODO: a\n# FIXME: b\n")
    after = scan("a.py", "\n\n# FIXME: b\n# TODO: a\n# TODO: a\n# TODO: a\n# TODO: c\n")
    assert [(one.text, one.line) for one in new_in(after, before)] == [("a", 6), ("c", 7)]
    assert new_in(before, after) == ()


def test_what_a_feature_touches_is_named_matched_or_in_a_folder() -> None:
    files = ("src/a.py", "web/", "lib/*.go")
    assert [is_affected(path, files) for path in ("src/a.py", "web/x/y.ts", "lib/z.go")] == [True] * 3
    assert not any(is_affected(path, files) for path in ("src/a.pyx", "website/a.ts", "src/b.py", "x/web/a.ts"))
    assert not is_affected("a.py", ())
