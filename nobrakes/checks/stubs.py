"""The stub program: it defines the code that new tests import, with wrong results. Tests that pass with it are weak.

1. Each function, method and property used by the tests gives one constant answer: the literal that it is compared with,
   None if said to be untrue, else True. So one program stands for empty bodies, constants and bodies that say yes.
2. Tests that fail with it may still be weak. (The base itself, without the symbol, is the red proof.)
3. For an unknown language, or if nothing of the project is imported, there is no program and no claim.
4. Python is parsed by `ast`, nothing is executed. Missing modules are made from what the tests use; existing ones get
   new bodies for the functions used, and missing ones added. Re-exported names are replaced at their origin.
5. A function without arguments may well be constant: it gets no literal, unless it is a method of something made with
   arguments.
6. JavaScript and TypeScript are matched by patterns: only relative imports of missing modules, and calls compared with
   a literal.
"""

import ast
import builtins
import posixpath
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from ..records import frozen
from .contract import UNREADABLE


@frozen
class Tree:
    """The commit's files with the new tests. `read`: a file's text, None for binary."""

    paths: Set[str]
    read: Callable[[str], str | None]


# A value is followed through names: assignments, loops, `parametrize`, tables, items of a dict, fixtures of the file,
# `setUp`. `await`, `asyncio.run`, `getattr` and `pytest.approx` are looked through. Of what is reached in other ways (a
# fixture of another file) nothing is claimed.
_RUNS = ("run", "run_until_complete", "async_to_sync")
_LOADS = ("import_module", "__import__")
_FAR = 10

Expressions = list[ast.expr]


@dataclass(slots=True)
class Use:
    """How the tests use a function, method or attribute."""

    called: bool = False
    awaited: bool = False
    denied: bool = False  # it is said to be untrue
    literals: list[str] = field(default_factory=list)

    def answer(self) -> str:
        """The expression with which most of the tests pass."""
        return max(self.literals, key=self.literals.count) if self.literals else str(None if self.denied else True)


@dataclass(slots=True)
class Symbol(Use):
    """One name of a module, and how the tests use it."""

    name: str = ""
    raised: bool = False
    members: dict[str, Use] = field(default_factory=dict)


Used = dict[str, dict[str, Symbol]]
"""Module to name to symbol; under "" methods of unknown objects."""


@frozen
class Module:
    """A module that an expression stands for."""

    name: str


@frozen
class Of:
    """An expression's meaning: a symbol, its instance, or its member."""

    symbol: Symbol
    is_instance: bool = False
    member: str = ""
    has_state: bool = False  # the instance was made with arguments


class _Names:
    """Meanings of names in the visited scopes."""

    def __init__(self, tree: ast.Module, package: str, project: "_Modules", used: Used) -> None:
        self.package = package
        self.project = project
        self.used = used
        self.names: dict[str, Module | Symbol] = {}
        self.modules: set[str] = set()  # those that are imported by their names
        self.stars: list[str] = []
        self.known: list[dict[str, Expressions]] = [{}]  # names and `self.x`, to what was assigned
        self.functions = {
            node.name: [one.value for one in ast.walk(node) if isinstance(one, ast.Return | ast.Yield) and one.value][
                :1
            ]
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        # the names that stand for themselves somewhere, and not only before a dot
        every = list(ast.walk(tree))
        before_dots = {id(node.value) for node in every if isinstance(node, ast.Attribute)}
        before_dots |= {
            id(one.args[0]) for one in every if isinstance(one, ast.Call) and _called(one) == "getattr" and one.args
        }
        self.plain = {node.id for node in every if isinstance(node, ast.Name) and id(node) not in before_dots}
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)}

    def add(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                self._imported(alias.name)
                self.names[alias.asname or first] = Module(alias.name if alias.asname else first)
            return
        above = self.package.split(".")[: len(self.package.split(".")) - node.level + 1] if node.level else []
        module = ".".join([*filter(None, above), *filter(None, [node.module])])
        is_file = self.project.has(module) and not self.project.has(f"{module}.__init__")
        for alias in node.names if module else ():
            if alias.name == "*":
                self.stars.append(module)
                continue
            local, whole = alias.asname or alias.name, f"{module}.{alias.name}"
            # nothing is there yet: what only ever stands before a dot is a module
            is_new = local not in self.plain and not local[:1].isupper() and not is_file
            is_module = not self.project.binds(module, alias.name) and (self.project.has(whole) or is_new)
            if is_module:
                self._imported(whole)
            self.names[local] = Module(whole) if is_module else self.symbol(module, alias.name)

    def _imported(self, name: str) -> None:
        parts = name.split(".")
        self.modules.update(".".join(parts[: end + 1]) for end in range(len(parts)))

    def symbol(self, module: str, name: str) -> Symbol:
        return self.used.setdefault(module, {}).setdefault(name, Symbol(name=name))

    def table(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
            held = self.table(node.func.value)
            pairs = zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ()
            return ast.List([ast.Tuple([key, value]) for key, value in pairs if key is not None])
        return next(iter(self.meant(node)), node)

    def meant(self, node: ast.expr, left: int = _FAR) -> Expressions:
        """The expressions that one stands for."""
        if left == 0:
            return []
        if isinstance(node, ast.Await | ast.NamedExpr):
            return self.meant(node.value, left - 1)
        if isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) in (*_RUNS, "approx"):
            inner = node.args[0]
            if _called(node) == "approx" or isinstance(inner, ast.Call):
                return self.meant(inner, left - 1)
        made = self.functions.get(_called(node), []) if isinstance(node, ast.Call) else []
        if made and isinstance(made[0], ast.Call):
            return self.meant(made[0], left - 1)
        key = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        for scope in reversed(self.known):
            if key in scope:
                return [one for value in scope[key] for one in self.meant(value, left - 1)]
        return [node]

    def target(self, node: ast.expr, left: int = _FAR) -> Module | Of | None:
        """The meaning of an expression; None: nothing of the project."""
        if left == 0:
            return None
        if isinstance(node, ast.Name) and node.id in self.names:
            found = self.names[node.id]
            return found if isinstance(found, Module) else Of(found)
        if isinstance(node, ast.Name) and self._is_from_star(node.id):
            return Of(self.symbol(self.stars[0], node.id))
        if isinstance(node, ast.Call) and _called(node) == "getattr" and len(node.args) > 1:
            held, name = node.args[:2]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                return self._attribute(ast.Attribute(held, name.value), left)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, left)
        if isinstance(node, ast.Call) and (made := self._made(node, left)) is not None:
            return made
        meant = self.meant(node)
        return self.target(meant[0], left - 1) if meant and meant[0] is not node else None

    def _attribute(self, node: ast.Attribute, left: int) -> Module | Of | None:
        meant = self.meant(node)
        if meant and meant[0] is not node:
            return self.target(meant[0], left - 1)
        base = self.target(node.value, left - 1)
        if isinstance(base, Module):
            whole = f"{base.name}.{node.attr}"
            is_module = whole in self.modules or self.project.has(whole)
            return Module(whole) if is_module else Of(self.symbol(base.name, node.attr))
        return None if base is None or base.member else Of(base.symbol, base.is_instance, node.attr, base.has_state)

    def _made(self, node: ast.Call, left: int) -> Module | Of | None:
        if _called(node) in _LOADS and node.args and isinstance(node.args[0], ast.Constant):
            return Module(str(node.args[0].value))
        of = self.target(node.func, left - 1)
        if isinstance(of, Of) and not of.member and not of.is_instance:
            return Of(of.symbol, True, has_state=bool(node.args or node.keywords))
        return None

    def _is_from_star(self, name: str) -> bool:
        known = any(name in scope for scope in self.known) or name in self.own or hasattr(builtins, name)
        return len(self.stars) == 1 and not known


class _Uses(ast.NodeVisitor):
    def __init__(self, tree: ast.Module, package: str, project: "_Modules", used: Used) -> None:
        self.names = _Names(tree, package, project, used)
        self.calls: dict[str, list[ast.Call]] = {}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            self.calls.setdefault(_called(call), []).append(call)
        self.yes: bool | None = True  # whether what is visited is said to be true; None: nothing is said of it

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names.add(node)

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A scope of its own, with its arguments' meanings."""
        given = {a.arg: self.names.functions[a.arg] for a in node.args.args if a.arg in self.names.functions}
        names = [a.arg for a in node.args.args if a.arg != "self"]
        for name, value in (
            pair for call in self.calls.get(node.name, ()) for pair in zip(names, call.args, strict=False)
        ):
            if isinstance(value, ast.Call) or is_literal(value):
                given[name] = [*given.get(name, ()), value]
        for mark in node.decorator_list:
            given.update(_columns(mark, self.names.table))
        self.names.known.append(given)
        self.generic_visit(node)
        self.names.known.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Attributes set on `self` or `cls`, and of the class, are known in all methods."""
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
        self.names.known.append(set_on_self)
        self.generic_visit(node)
        self.names.known.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names.known[-1][target.id] = [node.value]
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.names.known[-1][node.target.id] = [node.value]
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.names.known[-1].update(_rows(node.target, self.names.table(node.iter)))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._use(node)
        self._note(node)
        self._visit_as(True, node.value)

    def visit_Name(self, node: ast.Name) -> None:
        self._note(node)

    def _note(self, node: ast.expr) -> None:
        for one in self.names.meant(node) if self.yes is False else ():
            if (use := self._use(one.func if isinstance(one, ast.Call) else one)) is not None:
                use.denied = True

    def visit_Await(self, node: ast.Await) -> None:
        self._is_awaited(node.value)
        self.generic_visit(node)

    def _is_awaited(self, node: ast.expr) -> None:
        use = self._use(node.func) if isinstance(node, ast.Call) else None
        if use is not None:
            use.awaited = True

    def _use(self, node: ast.expr) -> Use | None:
        """What is called or read here; None: nothing of the project."""
        of = self.names.target(node)
        if isinstance(of, Of):
            return of.symbol.members.setdefault(of.member, Use()) if of.member else of.symbol
        loose = node.attr if of is None and isinstance(node, ast.Attribute) else "__"
        return self.names.symbol("", loose) if not loose.startswith("__") else None

    def visit_Call(self, node: ast.Call) -> None:
        """`name(…)`, `pytest.raises(name)`, `assertEqual(name(…), literal)`."""
        use = self._use(node.func)
        if use is not None:
            use.called = True
        self._note(node)
        called = _called(node)
        if called in ("raises", "assertRaises", "assertRaisesRegex") and node.args:
            for part in ast.walk(node.args[0]):
                of = self.names.target(part) if isinstance(part, ast.Name | ast.Attribute) else None
                if isinstance(of, Of) and not of.member:
                    of.symbol.raised = True
        if called in _RUNS and node.args:
            self._is_awaited(node.args[0])
        if re.fullmatch(r"assert(?!Not)\w*Equals?|assertIs", called):
            self._compared(*node.args[:2])
        # of `any(…)` and `bool(…)` it is said of what they are given
        self._visit_as(False if called in ("assertFalse", "assertIsNone") else self.yes or use is not None, *node.args)
        self._visit_as(True, node.func, *(word.value for word in node.keywords))

    def _visit_as(self, yes: bool | None, *nodes: ast.AST) -> None:
        before, self.yes = self.yes, yes
        for node in nodes:
            self.visit(node)
        self.yes = before

    def visit_If(self, node: ast.If | ast.While) -> None:
        """`if name(…) != literal: pytest.fail()`, `while name(…)`, which has to end."""
        fails = any(isinstance(one, ast.Raise) or re.search(r"\bfail\(", ast.unparse(one)) for one in node.body)
        self._visit_as(False if fails or isinstance(node, ast.While) else None, node.test)
        self._visit_as(True, *node.body, *node.orelse)

    visit_While = visit_If

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        is_not = isinstance(node.op, ast.Not) and self.yes is not None
        self._visit_as(not self.yes if is_not else self.yes, node.operand)

    def visit_Compare(self, node: ast.Compare) -> None:
        """`name(…) == literal`, `name(…) != 1`."""
        op = type(node.ops[0]) if self.yes is not False else _OPPOSITE.get(type(node.ops[0]))
        sides = [node.left, *node.comparators]
        if op in (ast.Eq, ast.Is):
            self._compared(*sides)
        for one, other in zip(sides, reversed(sides), strict=True):
            leaves = self._leaves_of(other)
            is_yes = "True" in leaves or "1" in leaves
            is_no = is_yes if op in _UNLIKE else op is ast.In and "None" in leaves and not is_yes
            self._visit_as(not is_no, one)

    def _compared(self, *sides: ast.expr) -> None:
        if len(sides) != 2:
            return
        rows = [_parts(side) for side in sides]
        if rows[0] and rows[1] and len(rows[0]) == len(rows[1]):
            for pair in zip(*rows, strict=True):
                self._compared(*pair)
            return
        for one, other in (sides, sides[::-1]):
            values = [ast.unparse(value) for value in self.names.meant(other) if is_literal(value)]
            for asked in self.names.meant(one) if values else ():
                self._gives(asked, values, self._leaves_of(other))

    def _gives(self, node: ast.AST, values: list[str], leaves: list[str]) -> None:
        call = node if isinstance(node, ast.Call) else None
        asked = call.func if call else node
        if not isinstance(asked, ast.expr) or (use := self._use(asked)) is None:
            for child in ast.iter_child_nodes(node):
                self._gives(child, leaves, leaves)
        elif (call and (call.args or call.keywords)) or getattr(self.names.target(asked), "has_state", False):
            use.literals += values
        else:  # it may well be constant
            use.denied |= "None" in values

    def _leaves_of(self, node: ast.expr) -> list[str]:
        found = [part for value in self.names.meant(node) if is_literal(value) for part in ast.walk(value)]
        return [ast.unparse(part) for part in found if isinstance(part, ast.Constant)]


_LIKE, _UNLIKE = (ast.Eq, ast.Is, ast.In), (ast.NotEq, ast.IsNot, ast.NotIn)
_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = dict(zip(_LIKE + _UNLIKE, _UNLIKE + _LIKE, strict=True))


def _parts(node: ast.expr) -> Expressions:
    return node.values if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Tuple | ast.List) else []


def is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _columns(mark: ast.expr, table: Callable[[ast.expr], ast.expr]) -> Mapping[str, Expressions]:
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
    return ast.Tuple(list(row.args)) if isinstance(row, ast.Call) and _called(row) == "param" else row


PYTHON_ENDINGS = (".py",)

_ROOTS = ("", "src/", "lib/", "python/")
_MISSING = re.compile(r"No module named '([A-Za-z0-9_.]+)'")
_HOPS = 4
"""How many re-exports of a name are followed."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def python_stubs(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, str]:
    """The stub program in Python; empty if nothing of the project is imported."""
    modules = _Modules(tree, {name.split(".")[0] for name in _MISSING.findall(output)})
    used: Used = {}
    for path, text in tests.items():
        try:
            parsed = ast.parse(text)
            _Uses(parsed, path.rpartition("/")[0].replace("/", "."), modules, used).visit(parsed)
        except UNREADABLE:
            continue
    used = modules.followed(used)
    files: dict[str, str] = {}
    for module, symbols in used.items():
        place = modules.place(module)
        if place is not None and place not in tests:  # what stands beside the tests is theirs
            before = tree.read(place) if place in tree.paths else ""
            try:
                after = before if before is None else _stubbed(before, symbols, used.get("", {}))
            except UNREADABLE:
                continue
            if after is not None and after != before:
                files[place] = after
    return files


class _Modules:
    """The project's modules. `absent`: top names that the red proof missed."""

    def __init__(self, tree: Tree, absent: set[str]) -> None:
        self.tree = tree
        self.absent = absent
        self._read: dict[str, ast.Module | None] = {}

    def file(self, module: str) -> str | None:
        below = module.replace(".", "/")
        places = (f"{root}{below}{ending}" for root in _ROOTS for ending in (".py", "/__init__.py"))
        return next((path for path in places if path in self.tree.paths), None)

    def has(self, module: str) -> bool:
        return self.file(module) is not None

    def place(self, module: str) -> str | None:
        """The file of a project module, existing or not; None: a foreign module."""
        if (there := self.file(module)) is not None:
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
        if module not in self._read:
            path = self.file(module)
            text = self.tree.read(path) if path is not None else None
            try:
                self._read[module] = None if text is None else ast.parse(text)
            except UNREADABLE:
                self._read[module] = None
        return self._read[module]

    def binds(self, module: str, name: str) -> bool:
        parsed = self.parsed(module)
        return parsed is not None and name in _bound(parsed)

    def followed(self, used: Used) -> Used:
        found: Used = {}
        for module, symbols in used.items():
            for symbol in symbols.values():
                where, name = self._made_in(module, symbol.name, _HOPS)
                symbol.name = name
                found.setdefault(where, {})[name] = symbol
        return found

    def _made_in(self, module: str, name: str, hops: int) -> tuple[str, str]:
        parsed = self.parsed(module)
        package = module if (self.file(module) or "").endswith("/__init__.py") else module.rpartition(".")[0]
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
    every = (part for node in module.body for part in ast.walk(node))
    names |= {part.id for part in every if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module:  # `from . import x` is a module below it
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _stubbed(text: str, symbols: Mapping[str, Symbol], loose: Mapping[str, Use]) -> str:
    module = ast.parse(text)
    there = {node.name: node for node in module.body if isinstance(node, _DEFINITIONS)}
    bound = _bound(module) | {
        alias.asname or alias.name for node in module.body if isinstance(node, ast.Import) for alias in node.names
    }
    for symbol in symbols.values():
        node = there.get(symbol.name)
        if node is not None:
            _fill(node, symbol, loose)
        elif symbol.name not in bound or (symbol.called and not symbol.name[:1].isupper()):
            # what is called and made in another way (a lambda, a partial) is made again at the end
            module.body += ast.parse(_made(symbol, loose)).body
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


def _fill(node: ast.stmt, symbol: Symbol, loose: Mapping[str, Use]) -> None:
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.ClassDef):
                _fill(part, symbol, loose)
            elif isinstance(part, _DEFINITIONS) and not part.name.startswith("__"):
                _returns(part, symbol.members.get(part.name) or loose.get(part.name) or Use())
    else:
        _returns(node, symbol)


def _returns(node: ast.stmt, use: Use) -> None:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef), "a class has methods"
    node.body = [ast.Return(ast.parse(use.answer(), mode="eval").body)]


def _made(symbol: Symbol, loose: Mapping[str, Use]) -> str:
    name = symbol.name
    if symbol.raised or name.endswith(("Error", "Exception")):
        return f"class {name}(Exception):\n    pass\n"
    if name.isupper() and not symbol.called:
        return f"{name} = {symbol.answer()}\n"
    if name[:1].isupper():
        rows = [f"class {name}:", "    def __init__(self, *args, **kwargs):", "        pass"]
        for member, use in {**loose, **symbol.members}.items():
            if use.called:
                rows.append(f"    {_def(use.awaited)} {member}(*args, **kwargs):\n        return {use.answer()}")
            elif use.literals or use.denied:
                rows.append(f"    @property\n    def {member}(self):\n        return {use.answer()}")
        rows.append("    def __getattr__(self, name):\n        return lambda *args, **kwargs: True")
        return "\n".join(rows) + "\n"
    return f"{_def(symbol.awaited)} {name}(*args, **kwargs):\n    return {symbol.answer()}\n"


def _def(awaited: bool) -> str:
    return "async def" if awaited else "def"


SCRIPT_ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx")

_PATH = r"""["'](\.{1,2}/[^"'\n]+)["']"""
_IMPORT = re.compile(rf"\bimport\s++(?:type\s++)?((?:(?!\bimport\b)[\w$*{{}},\s])+?)\sfrom\s*{_PATH}")
_REQUIRE = re.compile(rf"\b(?:const|let|var)\s+([\w$]+|{{[^}}]*}})\s*=\s*require\(\s*{_PATH}\s*\)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")
_LITERAL = r"""(?P<literal>-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*'|true|false|null|undefined|\[\]|\{\})"""


def javascript_stubs(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, str]:
    """The stub program in JavaScript; empty if no project file is missing."""
    made: dict[tuple[str, bool], dict[str, tuple[int, str]]] = {}  # (path, with require) to export to its answer
    for path, text in tests.items():
        for pattern in (_IMPORT, _REQUIRE):
            for names, module in pattern.findall(text):
                if (target := _target(path, module, tree)) is not None:
                    exports = made.setdefault((target, pattern is _REQUIRE), {})
                    for name, local in _exports(names, text, pattern is _REQUIRE):
                        exports[name] = max(exports.get(name, (0, "")), _answer(local, text), key=lambda one: one[0])
    return {
        path: "".join(f"{_export(name, value, required)}\n" for name, (_, value) in sorted(exports.items())) or "\n"
        for (path, required), exports in made.items()
    }


def _target(test: str, module: str, tree: Tree) -> str | None:
    """The missing file; None: it exists, or is outside."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(test), module))
    if path.startswith(".."):
        return None
    stem, ending = posixpath.splitext(path)
    candidates = [path, *(path + end for end in SCRIPT_ENDINGS), *(f"{path}/index{end}" for end in SCRIPT_ENDINGS)]
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
        words = [one.strip() for one in re.split(r"\sas\s|:", part.strip())]
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


_SAME = r"(?<!\w)(?:(?!not)\w*[eE]quals?|is|same)\(\s*"
_TO_BE = r"expect\(\s*ASKED\s*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:be\.|deep\.)?(?:equal|eql|eq))\(\s*"
_COMPARED = (rf"{_SAME}ASKED\s*,\s*{_LITERAL}", rf"{_SAME}{_LITERAL}\s*,\s*ASKED", _TO_BE + _LITERAL)
_DENIED = (
    r"(?<!if \()(?<!if\()!\s*ASKED|\bif ?\(\s*ASKED\s*\)\s*\{?\s*throw\b|(?:[fF]alsy|notOk|isUndefined)\(\s*ASKED"
    r"|expect\(\s*ASKED\s*\)\.(?:toBe(?:Falsy|Undefined)|not\.toBe(?:Truthy|Defined)|to\.(?:be\.undefined|not\.be\.ok))"
    rf"|(?:{_SAME}ASKED\s*,\s*|{_TO_BE})undefined"
)


def _answer(local: str, text: str) -> tuple[int, str]:
    """The name's answer and its certainty: the literal first compared with, `undefined` if untrue, else `true`."""

    def asked(arguments: str) -> str:
        call = rf"(?:await\s+)?{re.escape(local)}\({arguments}[^()\n]*\)"
        named = re.search(rf"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*{call}", text)
        return rf"(?:{call}|{re.escape(named[1])}\b)" if named else call

    for pattern in _COMPARED:
        if match := re.search(pattern.replace("ASKED", asked(r"(?!\s*\))")), text):
            return 3, match["literal"]
    return (2, "undefined") if re.search(_DENIED.replace("ASKED", asked("")), text) else (1, "true")


def _export(name: str, value: str, required: bool) -> str:
    body = f"function () {{ return {value}; }}" if value != "{}" else "function () { return ({}); }"
    if required:
        return f"module.exports = {body};" if name == "default" else f"module.exports.{name} = {body};"
    return f"export default {body};" if name == "default" else f"export const {name} = {body};"


def plan(tests: Mapping[str, str], tree: Tree, output: str) -> Mapping[str, str]:
    """The files that make this tree a stub program for the new or changed tests (path to text); empty: impossible.
    `output`: of the red proof."""
    found: dict[str, str] = {}
    for endings, make in ((PYTHON_ENDINGS, python_stubs), (SCRIPT_ENDINGS, javascript_stubs)):
        own = {path: text for path, text in tests.items() if path.endswith(endings)}
        found |= make(own, tree, output) if own else {}
    return found
