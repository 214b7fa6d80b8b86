"""Objects are wired by constructors: none is given to another after that one was made."""

import ast
from pathlib import Path

NO_WIRING = {"_watch.daemon"}
"""A thread of the standard library."""
PACKAGE = Path(__file__).resolve().parents[2] / "nobrakes"


def test_no_constructor_sets_an_attribute_of_another_object() -> None:
    """`self.one.two = ...` in `__init__` hides what `one` needs: it is an argument of its constructor."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for made in ast.walk(ast.parse(text)) if "def __init__" in text else ():
            if isinstance(made, ast.FunctionDef) and made.name == "__init__":
                wrong += [f"{path.relative_to(PACKAGE)}:{line}" for line in _set_elsewhere(made)]
    assert wrong == []


def _set_elsewhere(made: ast.FunctionDef) -> list[int]:
    set_ = [node for node in ast.walk(made) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    deep = (node for node in set_ if not isinstance(node.value, ast.Name) or node.value.id != "self")
    names = {node: ast.unparse(node).removeprefix("self.") for node in deep}
    return [node.lineno for node, name in names.items() if "." in name and name not in NO_WIRING]
