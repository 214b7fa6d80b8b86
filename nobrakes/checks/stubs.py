"""Cheats that new tests have to catch.

1. A cheat is the tree with the new tests, in which what they import is there and does nothing right: bodies that are
   empty, that say yes to everything, or that give the one value the tests compare with. (The base itself, where the
   symbol is missing or old, is the red proof.)
2. Tests that pass with a cheat are weak. Tests that fail with all of them may still be weak; nobody can tell by this.
3. Where a language is not known, or nothing of the project is imported, there are no cheats, and nothing is claimed.
4. Python is read by the module `ast`, and nothing is executed. Of a module that is not there, what the tests use of it
   is made; of one that is, the functions and methods that they use get another body, and what is missing is added. A
   name that a module only hands on is cheated where it is made.
5. Who has no arguments may well give a constant: it is not cheated by CONSTANT, unless it is a method of something that
   was made with arguments.
6. JavaScript and TypeScript are read by patterns, so only what is plainly written is seen: imports of relative paths of
   modules that are not there yet, calls compared with a literal.
"""

import ast
import builtins
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ..records import frozen

EMPTY = "empty bodies"
YES = "bodies that always say yes"
CONSTANT = "bodies that give the value the test compares with"


@frozen
class Tree:
    """The files of the commit with the new tests. `read` gives a file's text, None for what is no text."""

    paths: Set[str]
    read: Callable[[str], str | None]


# A value is followed through names: assignments, loops, `parametrize`, tables, items of a dict, fixtures of the file,
# `setUp`. `await`, `asyncio.run`, `getattr` and `pytest.approx` are looked through. Of what is reached in other ways (a
# fixture of another file) nothing is claimed.
_RUNS = ("run", "run_until_complete", "async_to_sync")
_LOADS = ("import_module", "__import__")
_FAR = 10
"""So many names and calls are followed from where a value stands."""

Expressions = list[ast.expr]


@dataclass(slots=True)
class Member:
    """A method or an attribute of a class, and how the tests use it."""

    called: bool = False
    awaited: bool = False
    literals: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Symbol:
    """One name of a module, and how the tests use it."""

    name: str
    raised: bool = False
    called: bool = False
    awaited: bool = False
    literals: list[str] = field(default_factory=list)
    members: dict[str, Member] = field(default_factory=dict)

    def compared(self) -> bool:
        """Whether something of it is compared with a literal."""
        return bool(self.literals) or any(member.literals for member in self.members.values())


Used = dict[str, dict[str, Symbol]]
"""Module to name to symbol."""


@frozen
class Module:
    """A module that an expression stands for."""

    name: str


@frozen
class Of:
    """What an expression stands for: a symbol, an instance of it, or a member of it."""

    symbol: Symbol
    is_instance: bool = False
    member: str = ""
    has_state: bool = False  # the instance was made with arguments


@frozen
class Project:
    """What is asked of the project: is there a module of this name, and does a module bind this name."""

    has_module: Callable[[str], bool]
    binds: Callable[[str, str], bool]


def collect(text: str, package: str, project: Project, used: Used) -> None:
    """Add what a test file uses; `package` is the dotted name of its folder.

    SyntaxError, ValueError, RecursionError: it cannot be read.
    """
    tree = ast.parse(text)
    _Uses(tree, package, project, used).visit(tree)


class _Uses(ast.NodeVisitor):
    def __init__(self, tree: ast.Module, package: str, project: Project, used: Used) -> None:
        self.package = package
        self.project = project
        self.used = used
        self.names: dict[str, Module | Symbol] = {}
        self.modules: set[str] = set()  # those that are imported by their names
        self.stars: list[str] = []
        self.known: list[dict[str, Expressions]] = [{}]  # names and `self.x`, to what was assigned
        self.fixtures = dict(_fixtures(tree))
        self.plain = _plain_names(tree)
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}

    # --- imports ---------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        """`import module`."""
        for alias in node.names:
            self._imported(alias.name)
            first = alias.name.partition(".")[0]
            self.names[alias.asname or first] = Module(alias.name if alias.asname else first)

    def _imported(self, name: str) -> None:
        parts = name.split(".")
        self.modules.update(".".join(parts[: end + 1]) for end in range(len(parts)))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from module import name`, relative ones as well."""
        above = self.package.split(".")[: len(self.package.split(".")) - node.level + 1] if node.level else []
        module = ".".join([*filter(None, above), *filter(None, [node.module])])
        for alias in node.names if module else ():
            if alias.name == "*":
                self.stars.append(module)
                continue
            local, whole = alias.asname or alias.name, f"{module}.{alias.name}"
            is_module = (
                not self.project.binds(module, alias.name)
                and (
                    self.project.has_module(whole)
                    # nothing is there yet: what only ever stands before a dot is a module
                    or (local not in self.plain and not local[:1].isupper() and not self._is_file(module))
                )
            )
            if is_module:
                self._imported(whole)
            self.names[local] = Module(whole) if is_module else self._symbol(module, alias.name)

    def _is_file(self, module: str) -> bool:
        return self.project.has_module(module) and not self.project.has_module(f"{module}.__init__")

    def _symbol(self, module: str, name: str) -> Symbol:
        return self.used.setdefault(module, {}).setdefault(name, Symbol(name))

    # --- names and what they stand for -----------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A scope of its own, with what its arguments stand for."""
        given = {a.arg: self.fixtures[a.arg] for a in node.args.args if a.arg in self.fixtures}
        for mark in node.decorator_list:
            given.update(_columns(mark, self._table))
        self.known.append(given)
        self.generic_visit(node)
        self.known.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """As any other."""
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """What its methods set on `self` or `cls`, and what it holds itself, is known in all of them."""
        set_on_self = {
            f"self.{target.attr}": [part.value]
            for part in ast.walk(node)
            if isinstance(part, ast.Assign)
            for target in part.targets
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) in ("self", "cls")
        }
        for part in node.body:
            if isinstance(part, ast.Assign):
                set_on_self |= {f"self.{ast.unparse(target)}": [part.value] for target in part.targets}
        self.known.append(set_on_self)
        self.generic_visit(node)
        self.known.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        """`name = value`."""
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.known[-1][target.id] = [node.value]
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """`(name := value)`."""
        self.known[-1][node.target.id] = [node.value]
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        """`for a, b in [(1, 2), …]`."""
        self.known[-1].update(_rows(node.target, self._table(node.iter)))
        self.generic_visit(node)

    def _table(self, node: ast.expr) -> ast.expr:
        """The table that is written down somewhere: under a name, or as the items of a dict."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
            held = self._table(node.func.value)
            pairs = zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ()
            return ast.List([ast.Tuple([key, value]) for key, value in pairs if key is not None])
        return next(iter(self._meant(node)), node)

    def _meant(self, node: ast.expr, left: int = _FAR) -> Expressions:
        """The expressions that one stands for."""
        if left == 0:
            return []
        if isinstance(node, ast.Await | ast.NamedExpr):
            return self._meant(node.value, left - 1)
        if isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) in (*_RUNS, "approx"):
            inner = node.args[0]
            if _called(node) == "approx" or isinstance(inner, ast.Call):
                return self._meant(inner, left - 1)
        key = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        for scope in reversed(self.known):
            if key in scope:
                return [one for value in scope[key] for one in self._meant(value, left - 1)]
        return [node]

    def _target(self, node: ast.expr, left: int = _FAR) -> Module | Of | None:
        """What an expression stands for; None: nothing of the project."""
        if left == 0:
            return None
        if isinstance(node, ast.Name) and node.id in self.names:
            found = self.names[node.id]
            return found if isinstance(found, Module) else Of(found)
        if isinstance(node, ast.Name) and self._is_from_star(node.id):
            return Of(self._symbol(self.stars[0], node.id))
        if isinstance(node, ast.Call) and _called(node) == "getattr" and len(node.args) > 1:
            held, name = node.args[:2]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                return self._attribute(ast.Attribute(held, name.value), left)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, left)
        if isinstance(node, ast.Call):
            return self._made(node, left)
        meant = self._meant(node)
        return self._target(meant[0], left - 1) if meant and meant[0] is not node else None

    def _attribute(self, node: ast.Attribute, left: int) -> Module | Of | None:
        meant = self._meant(node)
        if meant and meant[0] is not node:
            return self._target(meant[0], left - 1)
        base = self._target(node.value, left - 1)
        if isinstance(base, Module):
            whole = f"{base.name}.{node.attr}"
            is_module = whole in self.modules or self.project.has_module(whole)
            return Module(whole) if is_module else Of(self._symbol(base.name, node.attr))
        if base is None or base.member:
            return None
        return Of(base.symbol, base.is_instance, node.attr, base.has_state)

    def _made(self, node: ast.Call, left: int) -> Module | Of | None:
        if _called(node) in _LOADS and node.args and isinstance(node.args[0], ast.Constant):
            return Module(str(node.args[0].value))
        of = self._target(node.func, left - 1)
        if isinstance(of, Of) and not of.member and not of.is_instance:
            return Of(of.symbol, True, has_state=bool(node.args or node.keywords))
        return None

    def _is_from_star(self, name: str) -> bool:
        known = any(name in scope for scope in self.known) or name in self.own or hasattr(builtins, name)
        return len(self.stars) == 1 and not known

    # --- how they are used -----------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """`module.name`."""
        self._target(node)
        self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> None:
        """What is awaited has to be a coroutine."""
        self._is_awaited(node.value)
        self.generic_visit(node)

    def _is_awaited(self, node: ast.expr) -> None:
        use = self._use(node.func) if isinstance(node, ast.Call) else None
        if use is not None:
            use.awaited = True

    def _use(self, node: ast.expr) -> Symbol | Member | None:
        """What is called or read here."""
        of = self._target(node)
        if not isinstance(of, Of):
            return None
        return of.symbol.members.setdefault(of.member, Member()) if of.member else of.symbol

    def visit_Call(self, node: ast.Call) -> None:
        """`name(…)`, `pytest.raises(name)`, `assertEqual(name(…), literal)`."""
        use = self._use(node.func)
        if use is not None:
            use.called = True
        called = _called(node)
        if called in ("raises", "assertRaises", "assertRaisesRegex") and node.args:
            for part in ast.walk(node.args[0]):
                of = self._target(part) if isinstance(part, ast.Name | ast.Attribute) else None
                if isinstance(of, Of) and not of.member:
                    of.symbol.raised = True
        if called in _RUNS and node.args:
            self._is_awaited(node.args[0])
        if called.startswith(("assertEqual", "assertIs", "assertAlmostEqual", "assertListEqual", "assertDictEqual")):
            self._compared(*node.args[:2])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """`name(…) == literal`."""
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Is):
            self._compared(node.left, node.comparators[0])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """`not name(…) != literal`."""
        asked = node.operand if isinstance(node.op, ast.Not) else None
        if isinstance(asked, ast.Compare) and len(asked.ops) == 1 and isinstance(asked.ops[0], ast.NotEq):
            self._compared(asked.left, asked.comparators[0])
        self.generic_visit(node)

    def _compared(self, *sides: ast.expr) -> None:
        if len(sides) != 2:
            return
        rows = [side.elts for side in sides if isinstance(side, ast.Tuple | ast.List)]
        if len(rows) == 2 and len(rows[0]) == len(rows[1]):
            for pair in zip(*rows, strict=True):
                self._compared(*pair)
            return
        for one, other in (sides, sides[::-1]):
            values = [ast.unparse(value) for value in self._meant(other) if is_literal(value)]
            for asked in self._meant(one) if values else ():
                literals = self._literals_of(asked)
                if literals is not None:
                    literals += values

    def _literals_of(self, node: ast.expr) -> list[str] | None:
        """Where it is noted with what this is compared; None: nothing of the project, or what may well be constant."""
        call = node if isinstance(node, ast.Call) else None
        of = self._target(call.func if call else node)
        if not isinstance(of, Of) or (call is None and not (of.member and of.is_instance)):
            return None
        if not of.has_state and not (call and (call.args or call.keywords)):
            return None
        return of.symbol.members.setdefault(of.member, Member()).literals if of.member else of.symbol.literals


def is_literal(node: ast.expr) -> bool:
    """Whether it is a value without a name in it."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _plain_names(tree: ast.Module) -> set[str]:
    """The names that stand for themselves somewhere, and not only before a dot."""
    every = list(ast.walk(tree))
    before_dots = {id(node.value) for node in every if isinstance(node, ast.Attribute)}
    before_dots |= {
        id(one.args[0]) for one in every if isinstance(one, ast.Call) and _called(one) == "getattr" and one.args
    }
    return {node.id for node in every if isinstance(node, ast.Name) and id(node) not in before_dots}


def _fixtures(tree: ast.Module) -> Iterator[tuple[str, Expressions]]:
    """The fixtures of a file, and what they give."""
    for node in ast.walk(tree):
        marks = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
        if isinstance(node, _DEFINITIONS) and any("fixture" in ast.unparse(mark) for mark in marks):
            given = [one.value for one in ast.walk(node) if isinstance(one, ast.Return | ast.Yield) and one.value]
            yield node.name, given[:1]


def _columns(mark: ast.expr, table: Callable[[ast.expr], ast.expr]) -> Mapping[str, Expressions]:
    """The arguments that a `parametrize` gives values to."""
    if not isinstance(mark, ast.Call) or _called(mark) != "parametrize" or len(mark.args) < 2:
        return {}
    names = mark.args[0]
    if isinstance(names, ast.Constant) and isinstance(names.value, str):
        words = [name.strip() for name in names.value.split(",") if name.strip()]
    else:
        words = [str(one.value) for one in getattr(names, "elts", ()) if isinstance(one, ast.Constant)]
    target: ast.expr = ast.Tuple([ast.Name(word) for word in words]) if len(words) > 1 else ast.Name("".join(words))
    return _rows(target, table(mark.args[1]))


def _rows(target: ast.expr, table: ast.expr) -> Mapping[str, Expressions]:
    """The values that a loop's names take from a table that is written down."""
    rows = [_row(row) for row in getattr(table, "elts", ())]
    if isinstance(target, ast.Name):
        return {target.id: rows}
    found: dict[str, Expressions] = {}
    for place, name in enumerate(getattr(target, "elts", ())):
        if isinstance(name, ast.Name):
            cells = [row.elts for row in rows if isinstance(row, ast.Tuple | ast.List)]
            found[name.id] = [row[place] for row in cells if place < len(row)]
    return found


def _row(row: ast.expr) -> ast.expr:
    """A row of a table, out of its `pytest.param`."""
    return ast.Tuple(list(row.args)) if isinstance(row, ast.Call) and _called(row) == "param" else row


PYTHON_ENDINGS = (".py",)

_ROOTS = ("", "src/", "lib/", "python/")
_MISSING = re.compile(r"No module named '([A-Za-z0-9_.]+)'")
_HOPS = 4
"""So often a name that modules hand on is followed."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def python_cheats(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, dict[str, str]]:
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


SCRIPT_ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx")

_PATH = r"""["'](\.{1,2}/[^"'\n]+)["']"""
_IMPORT = re.compile(rf"\bimport\s+(?:type\s+)?([\w$*{{}},\s]+?)\s+from\s*{_PATH}")
_REQUIRE = re.compile(rf"\b(?:const|let|var)\s+([\w$]+|{{[^}}]*}})\s*=\s*require\(\s*{_PATH}\s*\)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")
_LITERAL = r"""(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*'|true|false|null|\[\]|\{\})"""
_YES, _EMPTY = "true", "undefined"


def javascript_cheats(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, dict[str, str]]:
    """Per cheat the files to lay over the tree; empty where nothing of the project is missing."""
    made: dict[tuple[str, bool], dict[str, str]] = {}  # (path, with require) to export to literal
    for path, text in tests.items():
        for pattern in (_IMPORT, _REQUIRE):
            for names, module in pattern.findall(text):
                target = _target(path, module, tree)
                if target is not None:
                    exports = made.setdefault((target, pattern is _REQUIRE), {})
                    for name, local in _exports(names, text, pattern is _REQUIRE):
                        exports[name] = exports.get(name) or _literal(local, text)
    found: dict[str, dict[str, str]] = {}
    for (path, required), exports in made.items():
        for cheat, value in ((EMPTY, _EMPTY), (YES, _YES), (CONSTANT, None)):
            if value is None and not any(exports.values()):
                continue
            rows = [_export(name, value or literal or _EMPTY, required) for name, literal in sorted(exports.items())]
            found.setdefault(cheat, {})[path] = "\n".join(rows) + "\n"
    return found


def _target(test: str, module: str, tree: Tree) -> str | None:
    """The file that the test misses; None: it is there, or outside of the repository."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(test), module))
    if path.startswith(".."):
        return None
    stem, ending = posixpath.splitext(path)
    candidates = [
        path,
        *(path + end for end in SCRIPT_ENDINGS),
        *(f"{path}/index{end}" for end in SCRIPT_ENDINGS),
    ]
    candidates += [stem + ".ts"] if ending == ".js" else []
    if any(candidate in tree.paths for candidate in candidates):
        return None
    if ending in SCRIPT_ENDINGS:
        return path
    return path + (".ts" if test.endswith((".ts", ".tsx", ".mts")) else ".js")


def _exports(names: str, text: str, required: bool) -> list[tuple[str, str]]:
    """(exported name, local name) of an import clause; `default` for a module's own value."""
    found = []
    outside, _, inside = names.partition("{")
    for part in inside.rstrip("} \n").split(","):
        words = re.split(r"\s+as\s+|\s*:\s*", part.strip())
        if _NAME.match(words[0]):
            found.append((words[0], words[-1]))
    local = outside.strip(" ,\n")
    space = local.split()[-1] if local and (local.startswith("*") or required) else ""
    members = sorted(set(re.findall(rf"\b{re.escape(space)}\.([A-Za-z_$][\w$]*)", text))) if space else []
    if members or local.startswith("*"):
        found += [(name, f"{space}.{name}") for name in members]
    elif _NAME.match(local):
        found.append(("default", local))
    return found


def _literal(local: str, text: str) -> str:
    """The literal that a call with arguments of this name is first compared with; "" for none."""
    call = rf"(?:await\s+)?{re.escape(local)}\((?!\s*\))[^()\n]*\)"
    named = re.search(rf"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*{call}", text)
    asked = rf"(?:{call}|{re.escape(named[1])})" if named else call
    for pattern in (
        rf"(?:[eE]quals?|\bis|\bsame)\(\s*{asked}\s*,\s*{_LITERAL}",
        rf"(?:[eE]quals?|\bis|\bsame)\(\s*{_LITERAL}\s*,\s*{asked}",
        rf"expect\(\s*{asked}\s*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:be\.|deep\.)?(?:equal|eql|eq))\(\s*{_LITERAL}",
    ):
        match = re.search(pattern, text)
        if match:
            return match[1]
    return ""


def _export(name: str, value: str, required: bool) -> str:
    body = f"function () {{ return {value}; }}" if value != "{}" else "function () { return ({}); }"
    if required:
        return f"module.exports = {body};" if name == "default" else f"module.exports.{name} = {body};"
    return f"export default {body};" if name == "default" else f"export const {name} = {body};"


@frozen
class Cheat:
    """A program to try the tests on: files (path to text) that are laid over the tree with the tests."""

    name: str
    files: Mapping[str, str]


def plan(tests: Mapping[str, str], tree: Tree, output: str) -> tuple[Cheat, ...]:
    """The cheats for new or changed tests (path to text); `output` is what the red proof printed."""
    found: dict[str, dict[str, str]] = {}
    for endings, cheats in ((PYTHON_ENDINGS, python_cheats), (SCRIPT_ENDINGS, javascript_cheats)):
        own = {path: text for path, text in tests.items() if path.endswith(endings)}
        for name, files in (cheats(own, tree, output) if own else {}).items():
            found.setdefault(name, {}).update(files)
    return tuple(Cheat(name, found[name]) for name in (EMPTY, YES, CONSTANT) if found.get(name))


def judge_cheats(passed: Sequence[str]) -> str | None:
    """Why tests that passed with these cheats are weak, in words for the next attempt; None: with none of them."""
    if not passed:
        return None
    return (
        f"the new tests also pass with {' and with '.join(passed)}, so they prove little. "
        "Add cases that such a program fails: another input with another result, an edge, an error."
    )
