"""Python code that bends the runner of its own tests: hooks, patches of pytest or unittest, skips of everything. Pure.

1. A module that runs beside tests is looked at as it is parsed: `conftest.py`, plug-ins, `__init__.py` of tests, tests.
   A hook counts with every function of its file that it reaches, so what it calls is not changed unseen.
2. Plain fixtures, helpers, imports for annotations, an `__init__.py` of literals and hooks of a product's own plug-ins
   (pluggy, by another name than pytest's) are none.
3. Code may do the same in ways that no reader finds (an import by a computed name in a test): docs/cheats.md says so.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

_RUNNER = ("pytest", "_pytest", "pluggy", "unittest", "doctest", "nose", "nose2", "xdist")
_PRIVATE = ("_pytest",)
_MARKER = re.compile(r"HookimplMarker\(\s*(?!['\"](?!pytest['\"]))")
"""What makes marks of pytest's own hooks, or of hooks that nobody can read off it."""
_OWN_OBJECTS = (
    "request.node",
    "request.session",
    "request.config",
    "request._",
    "pytestconfig",
    "builtins",
    "__builtins__",
)
_SETTERS = re.compile(
    r"(?:^|\.)(?:setattr|delattr|setitem|delitem|patch|patch\.object|patch\.multiple|object|multiple)$"
)
_RUNS = ("run", "__call__", "debug", "countTestCases", "defaultTestResult", "__init_subclass__", "__getattribute__")
_ALL = re.compile(
    r"\b(?:pytest\.(?:skip|xfail|exit)|skipTest|os\._exit|sys\.(?:exit|settrace|setprofile|excepthook|unraisablehook)"
    r"|threading\.set(?:trace|profile)|atexit\.register|applymarker|add_marker"
    r"|request\.node|pluginmanager)\b"
)
_HOOK = re.compile(
    r"load_tests|pytest_(?:plugins|addoption|addhooks|assert\w+|cmdline_\w+|collect\w*|configure|deselected|enter_pdb|"
    r"exception_interact|fixture_\w+|generate_tests|ignore_collect|internalerror|itemcollected|keyboard_interrupt|leave_pdb|"
    r"load_initial_conftests|make_\w+|markeval_namespace|plugin_\w+|pycollect_\w+|pyfunc_call|report_\w+|runtest\w*|"
    r"session\w+|terminal_summary|unconfigure|warning_\w+|xdist_\w+)"
)
_RUN_TEXT = ("exec", "eval", "compile", "globals", "vars")
_IMPORTS = ("__import__", "import_module", "importlib.import_module")
_CLASSES = re.compile(r"TestCase$|TestSuite$|TestResult$|TestLoader$|Runner$")
_NODES = re.compile(r"\.(?:Item|Function|Collector|Module|Class|File|Session)$")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def hooks(name: str, text: str, is_test: bool) -> Mapping[str, str]:
    """What bends the runner in the file called `name`: what it is, and the code that makes it up."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        loaded = name == "conftest.py" or (name == "__init__.py" and is_test)
        return {"code that cannot be read": text} if loaded else {}
    found: dict[str, list[str]] = {}
    bound = {key: node for node in module.body for key in _names(node)}
    for what, node in _found(name, module, is_test):
        found.setdefault(what, []).append(_whole(node, bound))
    return {what: "\n".join(parts) for what, parts in found.items()}


def _found(name: str, module: ast.Module, is_test: bool) -> Iterator[tuple[str, ast.AST]]:
    loaded = name == "conftest.py" or (name == "__init__.py" and is_test)
    runner = _aliases(module)
    for node in _top(module.body):
        for bound in _names(node):
            if _HOOK.fullmatch(bound) or (loaded and bound in ("collect_ignore", "collect_ignore_glob")):
                yield bound, node
    marks = {*runner, "hookimpl", "hookspec"} if loaded or _MARKER.search(ast.unparse(module)) else runner
    for part in ast.walk(module):
        yield from _bends(part, runner, frozenset(marks))
    yield from _private_imports(module, (*_PRIVATE, "pluggy") if loaded else _PRIVATE)
    for node in _top(module.body) if loaded else ():
        is_function = isinstance(node, Function | ast.ClassDef)
        if not is_function and (match := _ALL.search(ast.unparse(node))):
            yield f"{match[0]} when it is loaded", node
        if name == "__init__.py" and not _is_plain(node):
            yield "code in __init__.py of the tests", node
    if loaded:
        yield from (("names that are computed", node) for node in ast.walk(module) if _is_computed(node))


def _is_hook(mark: str, marks: frozenset[str]) -> bool:
    """Whether a decorator makes a hook of pytest's, and not one of the product's own plug-ins."""
    called = mark.partition("(")[0]
    is_mark = called.endswith(("hookimpl", "hookspec")) or "specname=" in mark
    return is_mark and ("specname=" in mark or called.partition(".")[0] in marks)


def _bends(node: ast.AST, runner: frozenset[str], hooks_by: frozenset[str]) -> Iterator[tuple[str, ast.AST]]:
    """What one node does to the runner, wherever it stands. `hooks_by`: what a decorator of a hook begins with."""
    if isinstance(node, Function):
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        if node.name.startswith("pytest_") or any(_is_hook(mark, hooks_by) for mark in marks):
            yield node.name, node
        elif any("fixture" in mark and re.search(r"autouse\s*=\s*(?!False)", mark) for mark in marks):
            matches = _ALL.findall(ast.unparse(node))
            yield from ((f"{said} for every test ({node.name})", node) for said in matches[:1])
    elif isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base) for base in node.bases]
        if any(map(_CLASSES.search, bases)):
            own = (one for one in node.body if isinstance(one, Function) and one.name in _RUNS)
            yield from ((f"{node.name}.{one.name}", one) for one in own)
        if any(base.partition(".")[0] in runner and _NODES.search(base) for base in bases):
            yield f"the class {node.name} in place of the runner's", node
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("pluginmanager"):
        yield "the plug-in manager", node
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript) and (of := _runners(target, runner)):
                yield f"a patch of {of}", node
    elif isinstance(node, ast.Call) and _SETTERS.search(ast.unparse(node.func)) and node.args:
        first = node.args[0]
        said = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        of = said if said.partition(".")[0] in _RUNNER and "." in said else _runners(first, runner)
        if of and not of.startswith(("builtins", "unittest.mock")):  # a test of what is printed or read does so
            yield f"a patch of {of}", node


def _aliases(module: ast.Module) -> frozenset[str]:
    """The names in a module that are the runner's own."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] in _RUNNER and one.name != "unittest.mock":
                    found.add(one.asname or one.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _RUNNER:
            others = [] if node.module == "unittest.mock" else node.names
            found.update(one.asname or one.name for one in others if one.name != "mock")
    return frozenset(found)


def _runners(target: ast.expr, runner: frozenset[str]) -> str:
    """The runner's own object that an expression is, or lies in; empty: it is none of them."""
    said = ast.unparse(target)
    root = re.split(r"[.\[(]", said, maxsplit=1)[0]
    if root in runner or said.startswith(_OWN_OBJECTS):
        return said[:60]
    match = re.match(r"sys\.modules\[['\"](\w+)", said)
    return said[:60] if match is not None and match[1] in _RUNNER else ""


def _private_imports(module: ast.Module, private: Sequence[str]) -> Iterator[tuple[str, ast.AST]]:
    """Imports of the runner's own insides, but for names that stand in annotations alone."""
    used = _loaded(module)
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = [(one.name, (one.asname or one.name).partition(".")[0]) for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [(node.module or "", one.asname or one.name) for one in node.names]
        else:
            continue
        if any(whole.partition(".")[0] in private and bound in used for whole, bound in names):
            yield "the insides of pytest", node


def _loaded(module: ast.Module) -> set[str]:
    """The names that are used elsewhere than in annotations."""
    left: list[ast.AST] = [module]
    found: set[str] = set()
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        skipped: list[ast.AST | None] = []
        if isinstance(node, ast.AnnAssign | ast.arg):
            skipped = [node.annotation]
        elif isinstance(node, Function):
            skipped = [node.returns]
        left += [child for child in ast.iter_child_nodes(node) if child not in skipped]
    return found


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run as the module is loaded, those within `if`, `try` and `with` too."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(node, Function | ast.ClassDef):
                yield from _top(getattr(node, part, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _top(handler.body)


def _names(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds."""
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (one.asname or one.name for one in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _whole(node: ast.AST, bound: Mapping[str, ast.stmt]) -> str:
    """The code of a node and of all that it reaches within its file."""
    seen: dict[int, ast.AST] = {id(node): node}
    left = [node]
    while left:
        for part in ast.walk(left.pop()):
            more = bound.get(part.id) if isinstance(part, ast.Name) else None
            if more is not None and id(more) not in seen:
                seen[id(more)] = more
                left.append(more)
    return "\n".join(sorted(ast.unparse(one) for one in seen.values()))


def _is_plain(node: ast.stmt) -> bool:
    """Whether a statement of an `__init__.py` only binds names or sets warnings; what is in a block is asked itself."""
    if isinstance(node, ast.Import | ast.ImportFrom | Function | ast.ClassDef | ast.If | ast.Try):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or ast.unparse(node.value).startswith("warnings.")
    if isinstance(node, ast.Assign | ast.AnnAssign):
        values = ast.walk(node.value) if node.value is not None else ()
        return not any(isinstance(one, ast.Call | ast.Attribute | ast.Name | ast.NamedExpr) for one in values)
    return isinstance(node, ast.Pass)


def _is_computed(node: ast.AST) -> bool:
    """Whether a node runs a text, or binds or imports a name that nobody can read off it."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value) == "sys.modules" and not isinstance(node.slice, ast.Constant)
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Attribute) and node.attr == "__dict__"
    called = ast.unparse(node.func)
    if called in _IMPORTS:
        return not (node.args and isinstance(node.args[0], ast.Constant))
    return called in _RUN_TEXT or (called == "setattr" and "sys.modules" in ast.unparse(node))
