"""Tests within files of code: a change that only adds some leaves all that were there, and every other is seen."""

import pytest

from nobrakes.checks.policy.inline_tests import found, may_hold, takes_away

RUST = """
/// Adds.
/// ```
/// assert_eq!(add(1, 2), 3);
/// ```
pub fn add(a: u32, b: u32) -> u32 { a + b }

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> u32 {
        2
    }

    #[test]
    fn adds() {
        assert_eq!(add(two(), two()), 4);
    }
}
"""
PYTHON = 'def add(a, b):\n    """Adds.\n\n    >>> add(1, 2)\n    3\n\n    More words.\n    """\n    return a + b\n'
VITEST = "export const one = 1;\nif (import.meta.vitest) {\n  it('is', () => {\n    expect(one).toBe(1);\n  });\n}\n"
ZIG = 'const one = 1;\ntest "one" {\n    try expect(one == 1);\n}\n'
CPP = 'int one() { return 1; }\nTEST_CASE("one") {\n  CHECK(one() == 1);\n}\n'
ELIXIR = '  @doc """\n  Adds.\n\n      iex> Sum.add(1, 2)\n      3\n\n  """\n  def add(a, b), do: a + b\n'

GUIDE = "# Guide\n\nIt adds:\n\n>>> add(1, 2)\n3\n\nMore words.\n"


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        ("src/lib.rs", RUST, "assert_eq!(add(two(), two()), 4);", ""),
        ("src/lib.rs", RUST, "fn adds() {\n", "fn adds() {\n        return;\n"),
        ("src/lib.rs", RUST, "    #[test]\n", "    #[test]\n    #[ignore]\n"),
        ("src/lib.rs", RUST, "    #[test]\n", ""),
        ("src/lib.rs", RUST, "        2\n", "        0\n"),
        ("src/lib.rs", RUST, "/// assert_eq!(add(1, 2), 3);\n", ""),
        ("src/lib.rs", RUST, "#[cfg(test)]\n", '#[cfg(all(test, feature = "slow"))]\n'),
        ("sum.py", PYTHON, ">>> add(1, 2)\n    3", ">>> add(1, 2)  # doctest: +SKIP\n    3"),
        ("sum.py", PYTHON, "    >>> add(1, 2)\n    3\n", ""),
        ("src/one.ts", VITEST, "expect(one).toBe(1);", ""),
        ("one.zig", ZIG, "    try expect(one == 1);\n", ""),
        ("one.cpp", CPP, "  CHECK(one() == 1);\n", ""),
        ("sum.ex", ELIXIR, "      3\n", "      3 + 0\n"),
        *((f"docs/guide.{end}", GUIDE, ">>> add(1, 2)\n3\n", "") for end in ("md", "rst", "txt", "adoc")),
        ("README.md", GUIDE, "3\n", "3 \n0\n"),
    ],
)
def test_an_edited_or_removed_test_is_not_there_any_more(path: str, before: str, old: str, new: str) -> None:
    assert old in before and may_hold(path)
    assert found(path, before) - found(path, before.replace(old, new, 1))


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        (
            "src/lib.rs",
            RUST,
            "    #[test]\n",
            "    #[test]\n    fn more() {\n        assert!(true);\n    }\n\n    #[test]\n",
        ),
        ("src/lib.rs", RUST, "{ a + b }", "{ b + a }"),
        ("sum.py", PYTHON, "    More words.\n", "    >>> add(2, 2)\n    4\n\n    More words.\n"),
        ("sum.py", PYTHON, "return a + b", "return b + a"),
        ("src/one.ts", VITEST, "one = 1;", "one = 2 - 1;"),
        ("one.cpp", CPP, "return 1;", "return 2 - 1;"),
        ("sum.ex", ELIXIR, "do: a + b", "do: b + a"),
    ],
)
def test_other_code_and_new_tests_leave_what_was_there(path: str, before: str, old: str, new: str) -> None:
    assert old in before
    assert not found(path, before) - found(path, before.replace(old, new, 1))


@pytest.mark.parametrize(
    ("path", "before", "after", "is_less"),
    [
        ("a.csv", "1,2\n3,4\n", "1,2\n3,4\n5,6\n", False),
        ("a.csv", "1,2\n3,4\n", "0,0\n1,2\n3,4", False),
        ("a.csv", "1,2\n3,4\n", "1,2\n", True),
        ("a.csv", "1,2\n3,4\n", "1,2\n3,5\n", True),
        ("a.csv", "1,2\n3,4\n", "3,4\n1,2\n", True),
        ("a.csv", "1,2\n", "1,2,\n", True),
        ("a.csv", "caf\udce9\n", "caf\udce8\n", True),
        ("a.JSON", "[\n  1\n]\n", "[\n  1,\n  2\n]\n", False),
        ("a.json", "[\n  1,\n  2\n]\n", "[\n  1\n]\n", True),
        ("a.json", '{"run": [\n1,\n2\n], "skip": [\n]}', '{"run": [\n1\n], "skip": [\n2\n]}', True),
        ("a.yml", "- a\n- b\n", "", True),
        ("a.toml", "", "a = 1\n", False),
        ("a.md", GUIDE, f"{GUIDE}\nMore.\n", False),
        ("a.md", GUIDE, GUIDE.replace("3", "4"), True),
    ],
)
def test_data_and_texts_with_examples_only_grow(path: str, before: str, after: str, is_less: bool) -> None:
    assert may_hold(path) and takes_away(path, before, after) is is_less


NESTED = "".join(f"{' ' * depth}{{row}}\n" for depth in range(500))
LONG = {
    "a.rs": ["#[test]\n", "#[test] mod a {\n", "#[cfg(test)]\nmod a {\nfn b() {}\n", "/// ```\n", "#[a]\n#[test]\n"],
    "a.py": [">>> a\n", ">>>\n#\n", "# # #\n"],
    "a.cpp": ["TEST(a)\n", "TEST TEST", "TEST\n "],
    "a.zig": ["test {", "test\n"],
}


@pytest.mark.parametrize(("path", "part"), [(path, part) for path, parts in LONG.items() for part in parts])
def test_a_text_becomes_about_as_much_text_whatever_it_holds(path: str, part: str) -> None:
    row = part.rstrip("\n").replace("\n", "")
    for text in (
        part * 20_000,
        NESTED.format(row=row) + "\n" * 100_000,
        NESTED.format(row=row) + " " * 501 + "a" * 100_000,
    ):
        assert sum(map(len, found(path, text).elements())) <= 50 * len(text)


def test_files_without_such_forms_are_not_read() -> None:
    assert not any(map(may_hold, ("README", "data.bin", "Makefile", "a.go")))
    assert found("empty.rs", "") == {}
