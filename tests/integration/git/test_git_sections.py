"""Cooldown sections of shared files: what decides whether work is good, told apart from the rest."""

import tomllib

import pytest
from git_worlds import RealWorld

from nobrakes.git.manifests import changed_parts, is_shared

PROJECT = b'[project]\nname = "x"\n[tool.ruff]\nline-length = 100\n[tool.pytest.ini_options]\naddopts = "-q"\n'
PACKAGE = b'{"name": "x", "scripts": {"test": "jest"}, "jest": {"bail": true}, "dependencies": {"a": "1"}}'


def toml(old: bytes | None, new: bytes | None) -> tuple[str, ...]:
    return changed_parts("sub/pyproject.toml", old, new)[0]


def json(old: bytes | None, new: bytes | None) -> tuple[str, ...]:
    return changed_parts("package.json", old, new)[0]


@pytest.mark.parametrize("path", ["pyproject.toml", "a/b/package.json", "PyProject.toml"])
def test_shared_files_are_known_anywhere_and_in_any_case(path):
    assert is_shared(path)


@pytest.mark.parametrize("path", ["pyproject.toml.bak", "package.json/x", "setup.cfg", "package-lock.json"])
def test_other_files_are_not_shared(path):
    assert not is_shared(path)
    assert changed_parts(path, b"1", b"2") == ((), False)


def test_dependencies_and_names_are_no_gate():
    assert toml(PROJECT, PROJECT.replace(b'"x"', b'"y"\ndependencies = ["z"]')) == ()
    assert toml(PROJECT, PROJECT + b'[build-system]\nrequires = ["hatchling"]\n') == ()
    assert json(PACKAGE, PACKAGE.replace(b'"1"', b'"2"')) == ()


def test_order_and_layout_are_no_change():
    assert toml(PROJECT, b'tool.ruff = { line-length = 100 }\n[tool.pytest]\nini_options.addopts = "-q"\n') == ()
    assert json(PACKAGE, PACKAGE.replace(b" ", b"\n")) == ()


@pytest.mark.parametrize("tool", ["ruff", "mypy", "coverage", "tox", "nox", "pytest", "pytest-xdist"])
def test_a_new_section_of_a_tool_is_named(tool):
    assert toml(b"", f"[tool.{tool}]\nx = 1\n".encode()) == (f"tool.{tool}",)


@pytest.mark.parametrize("tool", ["black", "poetry", "coveragerc"])
def test_other_tools_are_no_gate(tool):
    assert toml(b"", f"[tool.{tool}]\nx = 1\n".encode()) == ()


def test_changed_and_removed_sections_are_named_in_order():
    assert toml(PROJECT, b"[tool.ruff]\nline-length = 1\n") == ("tool.pytest", "tool.ruff")
    assert json(PACKAGE, b'{"scripts": {"test": "true"}}') == ("jest", "scripts")


def test_adding_or_removing_the_file_names_its_sections():
    assert toml(None, PROJECT) == ("tool.pytest", "tool.ruff")
    assert toml(PROJECT, None) == ("tool.pytest", "tool.ruff")
    assert json(None, b'{"name": "x"}') == ()


@pytest.mark.parametrize("broken", [b"[tool", b"\xff\xfe", b"tool = 1\n", b"[tool.ruff]\n[tool.ruff]\n"])
def test_unreadable_toml_counts_as_a_change(broken):
    assert toml(PROJECT, broken) == ("unreadable",)
    assert toml(broken, PROJECT) == ("unreadable",)


@pytest.mark.parametrize("path", ["pyproject.toml", "a/Pipfile", "Cargo.toml"])
@pytest.mark.parametrize("broken", [b".".join([b"a"] * 66) + b" = 1", b"#" * 200_001, b"x = " + b"[" * 5_000])
def test_toml_that_takes_long_counts_as_unreadable(path, broken):
    assert changed_parts(path, None, broken) == (("unreadable",), True)
    assert changed_parts(path, broken, b"") == (("unreadable",), True)


@pytest.mark.parametrize("broken", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_unreadable_json_counts_as_a_change(broken):
    assert json(PACKAGE, broken) == ("unreadable",)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"dependencies": {"a": %s}}'),
        ("package.json", '{"jest": %s}'),
        ("composer.json", '{"scripts": %s}'),
        ("pyproject.toml", "[tool.ruff]\nx = %s\n"),
        ("pyproject.toml", "[dependency-groups]\nx = %s\n"),
        ("Pipfile", "[packages]\nx = %s\n"),
    ],
)
def test_what_is_nested_too_deep_to_compare_is_unreadable_at_once(path, text):
    near, deep = ((text % ("[" * many + "]" * many)).encode() for many in (90, 150))
    assert changed_parts(path, near, near + b"\n") == ((), False)
    assert changed_parts(path, None, near)[0] != ("unreadable",)
    for before, after in ((None, deep), (deep, deep + b"\n"), (deep, None), (near, deep)):
        assert changed_parts(path, before, after) == (("unreadable",), True)


def test_each_content_is_parsed_once(world: RealWorld, monkeypatch: pytest.MonkeyPatch):
    base, head = (world.commit_on_main({"pyproject.toml": f"[tool.ruff]\nx = {one}\n"}) for one in (1, 2))
    parsed, loads = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(text) or loads(text))
    (change,) = world.git.changes(base, head)
    assert (change.sections, change.dependencies, len(parsed)) == (("tool.ruff",), False, 2)


def test_values_of_another_type_differ():
    assert toml(b"[tool.mypy]\nstrict = true\n", b"[tool.mypy]\nstrict = 1\n") == ("tool.mypy",)
    assert toml(b"[tool.mypy]\nx = [1]\n", b"[tool.mypy]\nx = [true]\n") == ("tool.mypy",)
    assert json(b'{"jest": null}', b"{}") == ("jest",)


@pytest.mark.parametrize(
    ("path", "old", "new", "sections", "lists"),
    [
        ("package.json", b'{"dependencies": {"a": "1"}}', b'{"dependencies": {"a": "^2.0"}}', (), True),
        ("package.json", b"{}", b'{"devDependencies": {"jest": "file:./fake"}}', ("dependencies from elsewhere",), True),
        ("package.json", b"{}", b'{"devDependencies": {"jest": "me/fake"}}', ("dependencies from elsewhere",), True),
        ("package.json", b"{}", b'{"dependencies": {"a": "workspace:*"}}', (), True),
        ("package.json", b"{}", b'{"babel": {}, "exports": "./a.js"}', ("babel",), False),
        ("Cargo.toml", b'[package]\nname = "a"\n', b'[package]\nname = "a"\n[dependencies]\nb = "1"\n', (), True),
        ("Cargo.toml", b"", b'[dependencies]\nb = { path = "../b" }\n', ("dependencies from elsewhere",), True),
        ("Cargo.toml", b"", b'[lib]\npath = "a.rs"\n', (), False),
        ("Cargo.toml", b"", b"[lib]\ntest = false\n[profile.test]\nopt-level = 1\n", ("lib", "profile"), False),
        ("Cargo.toml", b"[package]\n", b"[package]\nautotests = false\n", ("package.autotests",), False),
        ("pom.xml", b"<project/>", b"<project><dependencies><dependency/></dependencies></project>", (), True),
        ("pom.xml", b"<project/>", b"<project><build><plugins/></build></project>", ("build",), False),
        ("pom.xml", b"<project/>", b"<project><properties><skipTests>true</skipTests></properties></project>",
         ("properties",), False),
        ("pom.xml", b"<project/>", b"<project><properties><a.version>2</a.version></properties></project>", (), True),
        ("pom.xml", b"<project/>", b'<!DOCTYPE x [<!ENTITY a "b">]><project/>', ("unreadable",), True),
        ("go.mod", b"module a\n", b"module a\nrequire (\n\tb v1\n)\n", (), True),
        ("go.mod", b"module a\n", b"module a\nreplace b => ./c\n", ("replace",), False),
        ("requirements-dev.txt", b"a==1\n", b"a==2\n", (), True),
        ("requirements.txt", b"", b"-e ./fake\n", ("dependencies from elsewhere",), True),
        ("pyproject.toml", b"", b'[project]\ndependencies = ["a"]\n', (), True),
        ("pyproject.toml", b"", b'[project]\ndependencies = ["a @ file:///x"]\n', ("dependencies from elsewhere",), True),
        ("pyproject.toml", b"", b'[project.entry-points.pytest11]\na = "b"\n', ("project.entry-points",), False),
        ("pyproject.toml", b"", b'[build-system]\nbackend-path = ["."]\n', ("build-system.backend-path",), False),
    ],
)  # fmt: skip
def test_lists_of_dependencies_are_told_apart_from_what_decides(path, old, new, sections, lists):
    assert changed_parts(path, old, new) == (sections, lists)
