"""Cheats for tests in Python, by what they import and call (module `ast`; nothing is executed).

1. Of a module that is not there, what the tests import of it is made; of one that is, the functions and methods that
   they import get another body, and what is missing is added.
2. Who has no arguments may well give a constant: it is not cheated by CONSTANT.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .plan import CONSTANT, EMPTY, YES, Tree

ENDINGS = (".py",)

_ROOTS = ("", "src/", "lib/", "python/")
_MISSING = re.compile(r"No module named '([A-Za-z0-9_.]+)'")


@dataclass(slots=True)
class _Symbol:
    """One imported name, and how the tests use it."""

    name: str
    raised: bool = False
    literals: list[str] = field(default_factory=list)

    def value(self, cheat: str) -> str:
        """The expression that its body gives."""
        if cheat == YES:
            return "True"
        return self.literals[0] if cheat == CONSTANT and self.literals else "None"


def cheats(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, dict[str, str]]:
    """Per cheat the files to lay over the tree; empty where nothing of the project is imported."""
    used: dict[str, dict[str, _Symbol]] = {}
    for text in tests.values():
        try:
            _Uses(used).visit(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError):
            continue
    absent = {name.split(".")[0] for name in _MISSING.findall(output)}
    places = {module: place for module in used if (place := _place(module, tree, absent)) is not None}
    found: dict[str, dict[str, str]] = {}
    for cheat in (EMPTY, YES, CONSTANT):
        if cheat == CONSTANT and not any(s.literals for m in places for s in used[m].values()):
            continue
        for module, path in places.items():
            before = tree.read(path) if path in tree.paths else ""
            after = None if before is None else _cheated(before, used[module], cheat)
            if after is not None and after != before:
                found.setdefault(cheat, {})[path] = after
    return found


def _place(module: str, tree: Tree, absent: set[str]) -> str | None:
    """The file of a module of the project, there or not yet; None: it is somebody else's."""
    below = module.replace(".", "/")
    for root in _ROOTS:
        for path in (f"{root}{below}.py", f"{root}{below}/__init__.py"):
            if path in tree.paths:
                return path
    top = module.split(".")[0]
    for root in _ROOTS:
        if any(path.startswith(f"{root}{top}/") for path in tree.paths):
            return f"{root}{below}.py"
    if top not in absent:
        return None
    root = "src/" if any(path.startswith("src/") and path.endswith(".py") for path in tree.paths) else ""
    return f"{root}{below}.py"


class _Uses(ast.NodeVisitor):
    """Collects what is imported, module to name to symbol."""

    def __init__(self, used: dict[str, dict[str, _Symbol]]) -> None:
        self.used = used
        self.names: dict[str, _Symbol] = {}  # what a bare name stands for
        self.modules: dict[str, str] = {}  # what `name.` or `a.b.` stands for

    def _symbol(self, module: str, name: str) -> _Symbol:
        return self.used.setdefault(module, {}).setdefault(name, _Symbol(name))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from module import name`."""
        if node.level == 0 and node.module:
            for alias in node.names:
                if alias.name != "*":
                    self.names[alias.asname or alias.name] = self._symbol(node.module, alias.name)

    def visit_Import(self, node: ast.Import) -> None:
        """`import module`."""
        for alias in node.names:
            self.modules[alias.asname or alias.name] = alias.name

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """`module.name`."""
        self._of(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """`pytest.raises(name)` and its like."""
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("raises", "assertRaises", "assertRaisesRegex") and node.args:
            for symbol in self._all(node.args[0]):
                symbol.raised = True
        if called in ("assertEqual", "assertEquals", "assertIs") and len(node.args) >= 2:
            self._compared(node.args[0], node.args[1])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """`name(…) == literal`."""
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Is):
            self._compared(node.left, node.comparators[0])
        self.generic_visit(node)

    def _compared(self, left: ast.expr, right: ast.expr) -> None:
        for call, value in ((left, right), (right, left)):
            if isinstance(call, ast.Call) and (call.args or call.keywords) and _is_literal(value):
                symbol = self._of(call.func)
                if symbol is not None:
                    symbol.literals.append(ast.unparse(value))

    def _of(self, node: ast.expr) -> _Symbol | None:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self.modules.get(ast.unparse(node.value))
            return None if module is None else self._symbol(module, node.attr)
        return None

    def _all(self, node: ast.expr) -> Iterator[_Symbol]:
        for part in ast.walk(node):
            symbol = self._of(part) if isinstance(part, ast.Name | ast.Attribute) else None
            if symbol is not None:
                yield symbol


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _cheated(text: str, symbols: Mapping[str, _Symbol], cheat: str) -> str | None:
    """The module's text with the cheat in it; None: it cannot be read."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    there = {node.name: node for node in module.body if isinstance(node, _DEFINITIONS)}
    others = {part.id for node in module.body for part in ast.walk(node) if isinstance(part, ast.Name)}
    others |= {
        alias.asname or alias.name
        for part in ast.walk(module)
        for alias in getattr(part, "names", ())
        if isinstance(alias, ast.alias)
    }
    for symbol in symbols.values():
        node = there.get(symbol.name)
        if node is not None:
            _empty(node, symbol.value(cheat))
        elif symbol.name not in others:
            module.body += ast.parse(_made(symbol, cheat)).body
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _empty(node: ast.stmt, value: str) -> None:
    """Give a function, or all methods of a class but those that Python calls, the body `return value`."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, _DEFINITIONS) and not part.name.startswith("__"):
                _empty(part, value)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.body = [ast.Return(ast.parse(value, mode="eval").body)]


def _made(symbol: _Symbol, cheat: str) -> str:
    """The text of a symbol that does not exist yet."""
    value = symbol.value(cheat)
    name = symbol.name
    if symbol.raised or name.endswith(("Error", "Exception")):
        return f"class {name}(Exception):\n    pass\n"
    if name.isupper():
        return f"{name} = {value}\n"
    if name[:1].isupper():
        return (
            f"class {name}:\n"
            "    def __init__(self, *args, **kwargs):\n        pass\n"
            f"    def __getattr__(self, name):\n        return lambda *args, **kwargs: {value}\n"
        )
    return f"def {name}(*args, **kwargs):\n    return {value}\n"
