"""Modules are small, say their rules first, and explain what they offer."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeGuard

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nobrakes"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 800
MAX_PLAIN = 3
"""A function of so few statements explains itself."""
MAX_FUNCTION = 60
MAX_METHODS = 25
BANNED = ("util", "utils", "helper", "helpers", "manager", "managers", "misc", "common", "base")


def name_of(module: Path) -> str:
    return str(module.relative_to(ROOT))


@cache
def text_of(module: Path) -> str:
    return module.read_text(encoding="utf-8")


@cache
def outline(module: Path) -> tuple[list[str], set[str], int]:
    """What has no docstring, what is too large, and how many statements it has: all of one reading."""
    tree = ast.parse(text_of(module))
    return list(_bare(tree, subject_of(module))), set(_large(tree)), len(tree.body)


@cache
def ports() -> list[tuple[str, str, set[str]]]:
    """The subject, name and methods of each Protocol and abstract class."""
    found = [(module, node) for module in MODULES for node in ast.walk(ast.parse(text_of(module))) if _is_port(node)]
    return [(subject_of(module), node.name, _methods(node)) for module, node in found]


def port_methods(subject: str, node: ast.ClassDef) -> set[str]:
    """The methods that a port explains, so that an implementation does not repeat that: a port of the same subject, one
    that the class names as its base, or one that it fulfils."""
    bases, own = {ast.unparse(base).partition("[")[0] for base in node.bases}, _methods(node)
    theirs = [
        methods
        for of, name, methods in ports()
        if of == subject or name in bases or (len(methods) > 1 and methods <= own)
    ]
    return set().union(*theirs)


def subject_of(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0]


def _methods(node: ast.ClassDef) -> set[str]:
    return {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def _is_port(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    bases = node.bases if isinstance(node, ast.ClassDef) else ()
    return any(ast.unparse(one).startswith(("Protocol", "ABC")) for one in bases)


def _bare(tree: ast.Module, subject: str) -> Iterator[str]:
    if not ast.get_docstring(tree):
        yield "the module itself"
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        offered = [node, *(one for one in getattr(node, "body", ()) if isinstance(node, ast.ClassDef))]
        for one in offered:
            is_function = isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_")
            if one is not node and (not is_function or one.name in port_methods(subject, node)):
                continue
            if (isinstance(one, ast.ClassDef) or len(one.body) > MAX_PLAIN) and not ast.get_docstring(one):
                yield one.name


def _large(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION:
            yield node.name
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            if len(methods) > MAX_METHODS:
                yield node.name


def test_a_module_is_small_enough_to_be_read_at_once() -> None:
    lengths = {name_of(module): len(text_of(module).splitlines()) for module in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_what_a_module_offers_is_explained() -> None:
    bare = {name_of(module): outline(module)[0] for module in MODULES}
    assert {name: names for name, names in bare.items() if names} == {}, "these have no docstring"


@pytest.mark.parametrize(
    ("subject", "base", "bare"), [("git", "", []), ("web", "Building", []), ("web", "", ["squash"])]
)
def test_a_port_explains_the_methods_of_its_implementations_alone(subject: str, base: str, bare: list[str]) -> None:
    lines = [
        '"""Rules."""',
        f"class One({base}):",
        '    """One."""',
        "    def squash(self):",
        *["        self.go()"] * 4,
    ]
    assert list(_bare(ast.parse("\n".join(lines)), subject)) == bare


def test_functions_and_classes_are_small_or_named() -> None:
    assert {f"{module.relative_to(PACKAGE)}:{name}" for module in MODULES for name in outline(module)[1]} == set()


def test_a_packages_init_holds_nothing_but_its_docstring() -> None:
    inits = [module for module in MODULES if module.name == "__init__.py" and module.parent != PACKAGE]
    assert [name_of(module) for module in inits if outline(module)[2] != 1] == []


def test_a_module_imports_a_name_once() -> None:
    twice = []
    for module in [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))]:
        if " as " not in text_of(module):  # ruff merges all others (I001)
            continue
        froms = [node for node in ast.parse(text_of(module)).body if isinstance(node, ast.ImportFrom)]
        names = Counter((node.level, node.module, one.name) for node in froms for one in node.names)
        twice += [f"{name_of(module)}: {name}" for (_, _, name), times in names.items() if times > 1]
    assert twice == []


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    assert [name_of(module) for module in MODULES if module.stem in BANNED] == []


def test_nothing_is_left_for_later() -> None:
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")
    found = []
    for module in MODULES:
        for number, line in enumerate(text_of(module).splitlines(), start=1):
            if not any(word in line for word in words):
                continue
            # in backticks it is somebody else's word, as in a test runner's output
            # what comments are called that a feature collects are names of the program
            bare = re.sub(r"`[^`]*`|\b(ItemKind|Name)\.\w+|^ {4}\w+ = \"\w+(\.\w+)?\"", "", line)
            found += [f"{name_of(module)}:{number}: {line.strip()}" for word in words if word in bare]
    assert not found, "\n".join(found)


UNIT = ROOT / "tests" / "unit"


def test_a_unit_test_lies_where_its_package_does() -> None:
    wrong = []
    for module in sorted(UNIT.rglob("test_*.py")):
        package = PACKAGE / module.parent.relative_to(UNIT)
        where = ".".join(package.relative_to(ROOT).parts)
        imported = set(re.findall(r"\bnobrakes(?:\.\w+)*", module.read_text(encoding="utf-8")))
        if not package.is_dir():
            wrong.append(f"{name_of(module)}: {name_of(package)} is no package")
        elif not any(name == where or name.startswith(where + ".") for name in imported):
            wrong.append(f"{name_of(module)}: it imports nothing of {where}")
    assert wrong == []


def test_the_environment_is_copied_in_one_place_and_never_iterated() -> None:
    """Another thread may change it: a name may be gone before its value is asked for."""
    asked = re.compile(r"os\.environ(\.(get|pop|update)\b|\[)")
    found = []
    for module in MODULES:
        if module == PACKAGE / "paths.py" or "environ" not in text_of(module):
            continue
        for node in ast.walk(ast.parse(text_of(module))):
            kept = isinstance(node, ast.Attribute) and asked.match(ast.unparse(node))
            kept = kept or (isinstance(node, ast.Subscript) and asked.match(ast.unparse(node)))
            kept = kept or (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn))
            for inner in () if kept else ast.iter_child_nodes(node):
                if isinstance(inner, ast.Attribute) and inner.attr == "environ" and ast.unparse(inner) == "os.environ":
                    found.append(f"{name_of(module)}:{inner.lineno}")
    assert found == [], "use nobrakes.paths"


COUNTED = (
    *("address(?:e)?", "agent", "attempt", "bead", "byte", "check", "commit", "day", "decision", "document", "draft"),
    *("escalation", "file", "finding", "folder", "hour", "item", "iteration", "line", "minute", "module", "notice"),
    *("option", "place", "question", "request", "review", "round", "schedule", "second", "session", "sprint", "task"),
    *("test", "time", "tree", "trie", "turn", "workspace"),
)
NEVER_ONE = re.compile(r"[A-Z_]{4,}|:,|:\.1f|^f'\{allowed\}'$")
"""A constant, a number that is written with a comma or a decimal, and the bounds of options (`from 2 to 12`)."""
PLURAL = re.compile(rf" (?:(?!of|has|from)[a-z]+ )?(?:{'|'.join(COUNTED)})s\b(?!\.)")
VALUE = re.compile(r"\{\{[^{}]*\}\}(?:</\w+>)?|\$?\{[^{}]*\}|%[ds]")
"""Where a template, a script, or a text that is filled in later has its value."""


IS_NO = re.compile(
    r"(?<!here )(?<!herever )(?<!here\n)\b(is|are|was|were) no (?!longer|more|later|earlier|matter|worse|less|better|other|"
    r"need|way|such|use|one)[a-z]"
)


def test_a_sentence_says_what_something_is_not() -> None:
    """`the owner is no bead` is read twice: `is not a bead`."""
    docs = [one for one in (ROOT / "docs").rglob("*.md") if one.parent.name != "reference"]
    found = [f"{one.name}: {said[0]}" for one in [*MODULES, *docs] for said in IS_NO.finditer(text_of(one))]
    assert not found, "\n".join(found)


def test_a_number_and_its_noun_agree():
    """`1 beads` is no English: text.cleaning.count writes a number that may be one, whatever its name says."""
    found = []
    for path in MODULES:
        texts = [node for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.JoinedStr | ast.Constant)]
        parts = {id(one) for node in texts if isinstance(node, ast.JoinedStr) for one in node.values}
        for node in texts:
            where = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            for value, text in pairwise(node.values) if isinstance(node, ast.JoinedStr) else ():
                is_counted = isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)
                if is_counted and PLURAL.match(str(text.value)):
                    said = ast.unparse(ast.JoinedStr([value]))
                    if not NEVER_ONE.search(said) and "count(" not in said:
                        found.append(f"{where}: {said}{text.value[:40]}")
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                found += [f"{where}: {one}" for one in _filled_in(node.value)]
    for path in sorted(one for end in ("html", "js") for one in PACKAGE.rglob(f"*.{end}")):
        found += [f"{path.relative_to(PACKAGE)}: {one}" for one in _filled_in(path.read_text())]
    assert not found, "\n".join(found)


def _filled_in(text: str) -> list[str]:
    """The values of a text that a plural follows, and that do not choose it by their number."""
    ends = ((found[0], text[found.end() : found.end() + 60]) for found in VALUE.finditer(text))
    return [value + after[:40] for value, after in ends if PLURAL.match(after) and "count(" not in value]


@pytest.mark.parametrize("text", ["failed {n} times", "{{ view.first }} older lines", "${count} lines", "%d beads"])
def test_a_text_that_is_filled_in_later_is_looked_into(text: str) -> None:
    assert _filled_in(text)


def test_every_rule_of_a_style_sheet_is_closed():
    for path in sorted(PACKAGE.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        depth = 0
        for number, line in enumerate(text.splitlines(), 1):
            depth += line.count("{") - line.count("}")
            assert 0 <= depth <= 2, f"{path.name}:{number}: a rule in a rule"
        assert depth == 0, path.name
