"""Cheats for tests in Python, by what they import and call (module `ast`; nothing is executed).

1. Of a module that is not there, what the tests use of it is made; of one that is, the functions and methods that they
   use get another body, and what is missing is added. A name that a module only hands on is cheated where it is made.
2. Who has no arguments may well give a constant: it is not cheated by CONSTANT, unless it is a method of something that
   was made with arguments.
"""

import ast
import re
from collections.abc import Mapping

from .python_uses import Member, Project, Symbol, Used, collect
from .tree import CONSTANT, EMPTY, YES, Tree

ENDINGS = (".py",)

_ROOTS = ("", "src/", "lib/", "python/")
_MISSING = re.compile(r"No module named '([A-Za-z0-9_.]+)'")
_HOPS = 4
"""So often a name that modules hand on is followed."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def cheats(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, dict[str, str]]:
    """Per cheat the files to lay over the tree; empty where nothing of the project is imported."""
    modules = _Modules(tree, {name.split(".")[0] for name in _MISSING.findall(output)})
    used: Used = {}
    for path, text in tests.items():
        package = path.rpartition("/")[0].replace("/", ".")
        try:
            collect(text, package, Project(modules.has, modules.binds), used)
        except (SyntaxError, ValueError, RecursionError):
            continue
    used = modules.followed(used)
    # what stands beside the tests is theirs: nobody cheats with it
    places = {module: place for module in used if (place := modules.place(module)) is not None and place not in tests}
    found: dict[str, dict[str, str]] = {}
    for cheat in (EMPTY, YES, CONSTANT):
        if cheat == CONSTANT and not any(symbol.compared() for m in places for symbol in used[m].values()):
            continue
        for module, path in places.items():
            before = tree.read(path) if path in tree.paths else ""
            after = None if before is None else _cheated(before, used[module], cheat)
            if after is not None and after != before:
                found.setdefault(cheat, {})[path] = after
    return found


class _Modules:
    """The project's modules. `absent`: the top names that the red proof missed."""

    def __init__(self, tree: Tree, absent: set[str]) -> None:
        self.tree = tree
        self.absent = absent
        self._read: dict[str, ast.Module | None] = {}

    def file(self, module: str) -> str | None:
        """The file of a module that is there."""
        below = module.replace(".", "/")
        for root in _ROOTS:
            for path in (f"{root}{below}.py", f"{root}{below}/__init__.py"):
                if path in self.tree.paths:
                    return path
        return None

    def has(self, module: str) -> bool:
        """Whether it is there."""
        return self.file(module) is not None

    def place(self, module: str) -> str | None:
        """The file of a module of the project, there or not yet; None: it is somebody else's."""
        there = self.file(module)
        if there is not None:
            return there
        below, top = module.replace(".", "/"), module.split(".")[0]
        for root in _ROOTS:
            if any(path.startswith(f"{root}{top}/") for path in self.tree.paths):
                return f"{root}{below}.py"
        if top not in self.absent:
            return None
        root = "src/" if any(path.startswith("src/") and path.endswith(".py") for path in self.tree.paths) else ""
        return f"{root}{below}.py"

    def parsed(self, module: str) -> ast.Module | None:
        """What it says; None: it is not there, or cannot be read."""
        if module not in self._read:
            path = self.file(module)
            text = self.tree.read(path) if path is not None else None
            try:
                self._read[module] = None if text is None else ast.parse(text)
            except (SyntaxError, ValueError, RecursionError):
                self._read[module] = None
        return self._read[module]

    def binds(self, module: str, name: str) -> bool:
        """Whether the module itself gives this name a meaning that is no module below it."""
        parsed = self.parsed(module)
        return parsed is not None and name in _bound(parsed)

    def followed(self, used: Used) -> Used:
        """The same uses, of the modules in which the names are made."""
        found: Used = {}
        for module, symbols in used.items():
            for symbol in symbols.values():
                where, name = self._made_in(module, symbol.name, _HOPS)
                symbol.name = name
                found.setdefault(where, {})[name] = symbol
        return found

    def _made_in(self, module: str, name: str, hops: int) -> tuple[str, str]:
        parsed = self.parsed(module)
        file = self.file(module) or ""
        package = module if file.endswith("/__init__.py") else module.rpartition(".")[0]
        for node in parsed.body if parsed is not None and hops else ():
            if isinstance(node, ast.ImportFrom):
                parts = package.split(".")
                above = parts[: len(parts) - node.level + 1] if node.level else []
                origin = ".".join([*filter(None, above), *filter(None, [node.module])])
                for alias in node.names:
                    if (alias.asname or alias.name) == name and self.has(origin):
                        return self._made_in(origin, alias.name, hops - 1)
        return module, name


def _bound(module: ast.Module) -> set[str]:
    names = {node.name for node in module.body if isinstance(node, _DEFINITIONS)}
    names |= {t.id for node in module.body for t in ast.walk(node) if isinstance(t, ast.Name) and _is_stored(t)}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module:  # `from . import x` is a module below it
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _value(literals: list[str], cheat: str) -> str:
    """The expression that a body gives."""
    if cheat == YES:
        return "True"
    return literals[0] if cheat == CONSTANT and literals else "None"


def _cheated(text: str, symbols: Mapping[str, Symbol], cheat: str) -> str | None:
    """The module's text with the cheat in it; None: it cannot be read."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    there = {node.name: node for node in module.body if isinstance(node, _DEFINITIONS)}
    bound = _bound(module) | {
        alias.asname or alias.name for node in module.body if isinstance(node, ast.Import) for alias in node.names
    }
    for symbol in symbols.values():
        node = there.get(symbol.name)
        if node is not None:
            _empty(node, symbol, cheat)
        elif symbol.name not in bound or (symbol.called and not symbol.name[:1].isupper()):
            # what is called and made in another way (a lambda, a partial) is made again at the end
            module.body += ast.parse(_made(symbol, cheat)).body
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


def _empty(node: ast.stmt, symbol: Symbol, cheat: str) -> None:
    """Give a function, or all methods of a class but those that Python calls, a body that only returns."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.ClassDef):
                _empty(part, symbol, cheat)
            elif isinstance(part, _DEFINITIONS) and not part.name.startswith("__"):
                _returns(part, _value(symbol.members.get(part.name, Member()).literals, cheat))
    else:
        _returns(node, _value(symbol.literals, cheat))


def _returns(node: ast.stmt, value: str) -> None:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef), "a class has methods"
    node.body = [ast.Return(ast.parse(value, mode="eval").body)]


def _made(symbol: Symbol, cheat: str) -> str:
    """The text of a symbol that does not exist yet."""
    value = _value(symbol.literals, cheat)
    name = symbol.name
    if symbol.raised or name.endswith(("Error", "Exception")):
        return f"class {name}(Exception):\n    pass\n"
    if name.isupper() and not symbol.called:
        return f"{name} = {value}\n"
    if name[:1].isupper():
        rows = [f"class {name}:", "    def __init__(self, *args, **kwargs):", "        pass"]
        for member, use in symbol.members.items():
            given = _value(use.literals, cheat)
            if use.called:
                rows.append(f"    {_def(use.awaited)} {member}(*args, **kwargs):\n        return {given}")
            elif use.literals:
                rows.append(f"    @property\n    def {member}(self):\n        return {given}")
        rows.append(f"    def __getattr__(self, name):\n        return lambda *args, **kwargs: {_value([], cheat)}")
        return "\n".join(rows) + "\n"
    return f"{_def(symbol.awaited)} {name}(*args, **kwargs):\n    return {value}\n"


def _def(awaited: bool) -> str:
    return "async def" if awaited else "def"
