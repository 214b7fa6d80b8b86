"""Python code that bends the runner of its own tests: hooks, patches of pytest or unittest, skips of everything. Pure.

1. `conftest.py`, plug-ins, `__init__.py` of tests, and tests are parsed. A hook includes every function of its file
   that it reaches.
2. Plain fixtures, helpers, imports for annotations, an `__init__.py` of literals, and hooks of a product's own plug-ins
   (pluggy under another name) do not count.
3. Undetectable ways remain, such as an import by a computed name: see docs/cheats.md.
"""

import ast
import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..contract import TOO_DEEP, UNREADABLE, parse_python
from .shadows import is_framework

_RUNNER = ("pytest", "_pytest", "pluggy", "unittest", "doctest", "nose", "nose2", "xdist")
_PRIVATE = ("_pytest",)
_MARKER = re.compile(r"HookimplMarker\(\s*(?!['\"](?!pytest['\"]))")
"""Makes marks of pytest's hooks, or of hooks with an unreadable name."""
_OWNED = ("request.node", "request.session", "request.config", "request._", "pytestconfig", "builtins", "__builtins__")
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
_ROUGH = re.compile(
    rf"\b(?:{'|'.join((*_PRIVATE, *_RUN_TEXT, *_IMPORTS))}|pluggy|builtins|pluginmanager|hookimpl"
    rf"|pytest_\w+|load_tests|(?:set|del)attr|def (?:{'|'.join(_RUNS)}))\b"
    r"|\b[A-Z]\w*\.\w+\s*(?:[:|+-][^=\n]{0,99})?=(?!=)|\b(?:for|as) [A-Z]\w*\."
)
"""What may bend a runner in code that a newer Python reads and ours does not."""
_CLASSES = re.compile(r"TestCase$|TestSuite$|TestResult$|TestLoader$|Runner$")
_NODES = re.compile(r"\.(?:Item|Function|Collector|Module|Class|File|Session)$")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def hooks(name: str, text: str, is_test: bool) -> Mapping[str, str]:
    """The code that bends the runner in the file `name`, by description.

    What our Python refuses may run in a newer one, so its text counts if it looks like more than plain tests; what is
    nested deeper than is read here may run.
    """
    loaded = name == "conftest.py" or (name == "__init__.py" and is_test)
    found: dict[str, list[str]] = {}
    try:
        module = parse_python(text.encode(errors="surrogateescape"))
        bound = {key: node for node in module.body for key in _names(node)}
        for what, node in _found(name, module, is_test):
            found.setdefault(what, []).append(_whole(node, bound))
    except UNREADABLE as error:
        is_hook = loaded or (is_test and (isinstance(error, TOO_DEEP) or bool(_ROUGH.search(text))))
        return {UNREAD: text} if is_hook else {}
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
        if not isinstance(node, Function | ast.ClassDef) and (match := _ALL.search(ast.unparse(node))):
            yield f"{match[0]}, run when the test file is loaded", node
        if name == "__init__.py" and not _is_plain(node):
            yield "code in __init__.py of the tests", node
    if loaded:
        yield from (("test hook names computed at run time", node) for node in ast.walk(module) if _is_computed(node))


def _is_hook(mark: str, marks: frozenset[str]) -> bool:
    called = mark.partition("(")[0]
    is_mark = called.endswith(("hookimpl", "hookspec")) or "specname=" in mark
    return is_mark and ("specname=" in mark or called.partition(".")[0] in marks)


def _bends(node: ast.AST, runner: frozenset[str], hooks_by: frozenset[str]) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, Function):
        marks = [ast.unparse(mark) for mark in node.decorator_list]
        if node.name.startswith("pytest_") or any(_is_hook(mark, hooks_by) for mark in marks):
            yield node.name, node
        elif any("fixture" in mark and re.search(r"autouse\s*=\s*(?!False)", mark) for mark in marks):
            matches = _ALL.findall(ast.unparse(node))
            yield from ((f"{said}, applied to every test ({node.name})", node) for said in matches[:1])
    elif isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base) for base in node.bases]
        if any(map(_CLASSES.search, bases)):
            own = (one for one in node.body if isinstance(one, Function) and one.name in _RUNS)
            yield from ((f"{node.name}.{one.name}", one) for one in own)
        if any(base.partition(".")[0] in runner and _NODES.search(base) for base in bases):
            yield f"the class {node.name}, which replaces a class of the test runner", node
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("pluginmanager"):
        yield "the plug-in manager", node
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
        for target in node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]:
            if isinstance(target, ast.Attribute | ast.Subscript) and (of := _runners(target, runner)):
                yield f"a patch of {of}", node
    elif isinstance(node, ast.Call) and _SETTERS.search(ast.unparse(node.func)) and node.args:
        first = node.args[0]
        said = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        of = said if said.partition(".")[0] in _RUNNER and "." in said else _runners(first, runner)
        if of and not of.startswith(("builtins", "unittest.mock")):  # a test of what is printed or read does so
            yield f"a patch of {of}", node


def _aliases(module: ast.Module) -> frozenset[str]:
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
    """The runner's object in an expression; empty: none."""
    said = ast.unparse(target)
    if re.split(r"[.\[(]", said, maxsplit=1)[0] in runner or said.startswith(_OWNED):
        return said[:60]
    match = re.match(r"sys\.modules\[['\"](\w+)", said)
    return said[:60] if match is not None and match[1] in _RUNNER else ""


def _private_imports(module: ast.Module, private: Sequence[str]) -> Iterator[tuple[str, ast.AST]]:
    used = _loaded(module)
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = [(one.name, (one.asname or one.name).partition(".")[0]) for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [(node.module or "", one.asname or one.name) for one in node.names]
        else:
            continue
        if any(whole.partition(".")[0] in private and bound in used for whole, bound in names):
            yield "pytest's internal modules", node


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
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            if not isinstance(node, Function | ast.ClassDef):
                yield from _top(getattr(node, part, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _top(handler.body)


def _names(node: ast.stmt) -> Iterator[str]:
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
    """Whether a statement of an `__init__.py` only binds names or sets warnings; blocks are checked separately."""
    if isinstance(node, ast.Import | ast.ImportFrom | Function | ast.ClassDef | ast.If | ast.Try):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or ast.unparse(node.value).startswith("warnings.")
    if isinstance(node, ast.Assign | ast.AnnAssign):
        values = ast.walk(node.value) if node.value is not None else ()
        return not any(isinstance(one, ast.Call | ast.Attribute | ast.Name | ast.NamedExpr) for one in values)
    return isinstance(node, ast.Pass)


def _is_computed(node: ast.AST) -> bool:
    """Whether a node runs text, or binds or imports a computed name."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value) == "sys.modules" and not isinstance(node.slice, ast.Constant)
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Attribute) and node.attr == "__dict__"
    called = ast.unparse(node.func)
    if called in _IMPORTS:
        return not (node.args and isinstance(node.args[0], ast.Constant))
    return called in _RUN_TEXT or (called == "setattr" and "sys.modules" in ast.unparse(node))


# Tests are a Test Writer's, the runner is nobody's: a person is asked where what bends it is new or differs, whoever
# changed it. Python is read as a tree; elsewhere a hook is what a pattern finds, with its block. Some files are hooks
# as a whole (NAMES).
LARGEST = 400_000
"""Characters that are read; a larger file among tests counts as a hook."""
MAX_ROW = 200
TOO_LARGE = "a file that is too large to inspect"
UNREAD = "code that nobrakes cannot parse"
_SPACE = re.compile(r"[^\S\n]|\ufeff")

NAMES = frozenset(
    (
        "mocha.opts",
        "setup_suite.bash",
        "flutter_test_config.dart",
        "pest.php",
        "junit-platform.properties",
        "spockconfig.groovy",
    )
)
_COLLECTED = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests|conftest)\.py$")
_SHADOWING = frozenset(
    f"{name}.py" for name in ("pytest", "_pytest", "pluggy", "unittest", "doctest", "nose", "coverage")
)

_JS = (
    (r"\bmochaHooks\b|\bmochaGlobal(?:Setup|Teardown)\b", "mocha's root hooks, which run around all tests"),
    (
        r"(?:globalThis|global|window)(?:\.|\[\s*['\"])(?:it|test|describe|expect|assert|suite|context|specify|before|"
        r"after|beforeEach|afterEach|beforeAll|afterAll)(?:['\"]\s*\])?(?:\.\w+)*\s*=(?![=>])",
        "a replaced global of the test runner",
    ),
    (
        r"^[ \t]*(?:(?:assert|expect|vi|jest|chai)(?:\.(?:prototype|strict|assert|expect|Assertion))*|"
        r"(?:it|test|describe)(?=\.(?:only|skip|each|todo)\b))\.\w+\s*=(?![=>])",
        "a replaced part of the test runner",
    ),
    (r"\b(?:assert|expect|chai)\s*\[\s*['\"]\w+['\"]\s*\]\s*=(?![=>])", "a replaced part of the test runner"),
    (
        r"\bexpect\.extend\(\s*\{(?:[^{}]|\{[^{}]*\})*?\bto(?:Be|Equal|StrictEqual|Throw|Match|Contain|Have\w+|BeTruthy)\b",
        "a replaced matcher of the test runner",
    ),
    (r"\.(?:stub|spyOn|replace|method)\(\s*(?:assert|expect|chai)\b", "a replaced part of the test runner"),
    (r"\boverwrite(?:Method|Property|ChainableMethod)\(", "a replaced part of chai"),
    (r"\bhandleTestEvent\b", "results"),
    (r"\b(?:Runner|Runnable|Suite|Mocha|Assertion)\.prototype\b", "the test runner's own classes"),
    (
        r"(?:Object\.(?:defineProperty|defineProperties|assign|setPrototypeOf)|Reflect\.\w+)\(\s*"
        r"(?:globalThis|global|assert|expect|chai|vi|jest|it|test|describe)\b(?!\.\w)",
        "a replaced part of the test runner",
    ),
    (
        r"\b(?:jest|vi|mock)\.(?:mock|doMock|unstable_mockModule|module)\(\s*['\"](?:node:)?(?:@jest/[\w-]+|expect|jest[\w-]*|"
        r"test|vitest|chai|assert(?:/strict)?|mocha|ava|tap|tape)['\"]",
        "a mock of the test runner",
    ),
    (r"\b(?:Module\._load|Module\.prototype\.require|require\.extensions\[[^\]]*\])\s*=(?!=)", "a hook of the loader"),
    (r"\bprocess\.(?:exit|reallyExit)\s*=(?!=)|\bprocess\.exitCode\s*=\s*0\b", "the exit code of the test runner"),
    (r"\.(?:_?retries|state|err)\s*=\s*(?:['\"]passed|null|undefined)|\bcurrentTest(?:\.\w+)+\s*=(?!=)", "results"),
)
_JVM = (
    (
        r"(?:\b(?:implements|extends)\b|:)(?:(?!\b(?:implements|extends)\b)[^{;:])*\b(?:TestExecutionListener|LauncherSessionListener|InvocationInterceptor|ExecutionCondition|"
        r"TestExecutionExceptionHandler|TestInstanceFactory|TestEngine|TestWatcher|TestRule|MethodRule|I\w*TestListener|ITestListener|"
        r"IInvokedMethodListener|IHookable|IAnnotationTransformer\d?|IRetryAnalyzer|BlockJUnit4ClassRunner|ParentRunner|"
        r"AbstractProjectConfig)\b",
        "an extension of the test runner",
    ),
    (
        r"\bRuntime\.getRuntime\(\)\.halt\(|\bpackage\s+(?:org\.junit|junit\.framework|org\.testng|org\.mockito)\b",
        "the runner",
    ),
)
_DOTNET = (
    (
        r"\[\s*+assembly\s*+:(?:(?!\[\s*+assembly\b)[^\]])*\b(?:\w*TestFramework|CollectionBehavior|Test\w*Orderer|\w*Fixture|\w*Parallel\w*|"
        r"ActionAttribute|Ignore|Explicit)\b",
        "settings of the test runner for the whole assembly",
    ),
    (
        r"\[\s*(?:ModuleInitializer|SetUpFixture|AssemblyInitialize|AssemblyCleanup)\b",
        "code that runs before all tests",
    ),
    (
        r":[^{;:]*\b(?:XunitTestFramework|ITest(?:Framework|Executor|CaseOrderer)\w*|BeforeAfterTestAttribute|IWrap\w+|ICommandWrapper|"
        r"ITestAction|XunitTest\w+|TestMethodAttribute)\b",
        "an extension of the test runner",
    ),
    (r"\bHarmony\b", "patches of compiled code"),
)
_RUBY = (
    (
        r"^[ \t]*(?:class|module)\s+(?:Minitest|RSpec|Test::Unit)(?:::\w+)*[ \t]*(?:$|;|#)|"
        r"\b(?:Minitest|RSpec|Test::Unit)(?:::\w+)*\.(?:class_eval|module_eval|instance_eval|prepend|include|extend|send|define_method|"
        r"singleton_class|define_singleton_method|extensions|reporter)\b",
        "the test runner's own classes",
    ),
    (r"\bRSpec::Core::(?!RakeTask)\w+", "RSpec's internal modules"),
    (
        r"\bRSpec::Matchers\.define\(?\s*:(?:eql?|equal|be|include|match|raise_error|contain_exactly|have_attributes)\b",
        "a replaced matcher of RSpec",
    ),
    (
        r"^[ \t]*\w+\.(?:around|filter_run\w*|exclusion_filter|inclusion_filter|dry_run|reporter|formatter|"
        r"add_formatter|error_exit_code|failure_exit_code|pattern|exclude_pattern|files_to_run)\b",
        "a setting for which RSpec examples run, or how they are reported",
    ),
    (r"\bat_exit\b|\bexit!", "the end of the test runner"),
)
_PHP = (
    (
        r"\b(?:implements|extends)\b(?:(?!\b(?:implements|extends)\b)[^{;])*\b(?:TestListener|TestHook|\w+Test\w*Hook|Extension|\w*Subscriber|TestRunner|TestSuite)\b",
        "an extension of the test runner",
    ),
    (
        r"\bfunction\s+(?:runTest|runBare|run|invokeTestMethod)\s*\(|\bnamespace\s+(?:PHPUnit|Pest)\b",
        "code that changes how a test is run",
    ),
    (r"\bregister_shutdown_function\(|\b(?:uopz|runkit7?)_\w+\(", "the end of the test runner"),
)
_PATTERNS: Mapping[tuple[str, ...], Sequence[tuple[str, str]]] = {
    ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"): _JS,
    ("go",): (
        (r"\bfunc\s+(?:\([^)]*\)\s*)?\w+\([^)]*\*testing\.M\b", "Go's TestMain, and what TestMain calls"),
        (r"^//go:linkname\b.*", "a link to private code of another package"),
        (r"\bflag\.Set\(\s*\"test\.|\btesting\.(?:RegisterCover|MainStart|Main)\(", "the test runner's own flags"),
        (r"^func init\(\) \{(?=(?:\n(?!func )[^}\n].*|\n)*?\n.*\bos\.(?:Exit|Args)\b)", "an init() that exits"),
    ),
    ("rs",): (
        (r"#!?\[\s*(?:ctor|dtor|test_runner|reexport_test_harness_main)|custom_test_frameworks", "another harness"),
        (r"\bpanic::set_hook\b", "code that changes how a panic is reported"),
    ),
    ("java", "kt", "kts", "groovy", "scala"): _JVM,
    ("cs", "fs", "vb"): _DOTNET,
    ("rb",): _RUBY,
    ("php",): _PHP,
    ("t", "pm", "pl"): (
        (r"\*\{?\s*['\"]?(?:Test::|TAP::|CORE::GLOBAL)\S*\s*=", "the test runner's own functions"),
        (r"\b(?:Test2::API|TAP::(?:Harness|Parser)\w*)\b|\bTest::Builder->(?:new|create)|->builder\b", "its insides"),
        (r"^[ \t]*END\s*\{|\$\?\s*=|\bPOSIX::_exit\b", "the exit code"),
    ),
    ("ex", "exs"): (
        (r"\bExUnit\.(?:start|configure)\((?!\s*\))[^\n]*|\bExUnit\.after_suite\b", "settings of the test runner"),
        (r"\bdefmodule\s+ExUnit\b|\bExUnit\.(?:Runner|EventManager|Formatter)\b", "the runner"),
        (r"\bSystem\.(?:halt|at_exit|stop)\b", "the end of the test runner"),
    ),
    ("dart",): ((r"\btestExecutable\b", "code that runs around all tests"),),
    ("swift", "m", "mm"): (
        (r"\bXCTestObserv\w+|\bmethod_exchangeImplementations\b", "the runner"),
        (r"\boverride func (?:run|invokeTest|perform|record\w*)\b", "code that changes how a test is run"),
    ),
    ("bats", "bash"): ((r"^[ \t]*(?:function[ \t]+)?(?:run|skip|fail|assert\w*|bats_\w+)\s*\(\)", "its functions"),),
    ("c", "cc", "cpp", "cxx", "h", "hpp"): (
        (r"\bTestEventListener\b|\bAddGlobalTestEnvironment\b", "a listener for test events"),
        (r"\bCATCH_CONFIG_RUNNER\b|\bCatch::Session\b|\bRUN_ALL_TESTS\b", "the main function of the tests"),
    ),
}  # fmt: skip
_BY_SUFFIX = {
    ending: tuple((re.compile(pattern, re.MULTILINE), what) for pattern, what in patterns)
    for endings, patterns in _PATTERNS.items()
    for ending in endings
}

_STARTED = re.compile(
    r"\"[^\"\n]*(?:command|executable|program|interpreter|path|args|runtime|shell|server|task|profile|env|"
    r"hook|script|binary|sdk)[^\"\n]*\"\s*:[^\n]*",
    re.IGNORECASE,
)
"""Editor settings that name a program or its arguments."""


def may_hold(path: str) -> bool:
    """Whether a file of this name may bend a runner, so that its text is needed."""
    name = path.rpartition("/")[2].casefold()
    return name in NAMES or _is_of_editor(path) or name.endswith(".py") or name.rpartition(".")[2] in _BY_SUFFIX


def is_loaded(path: str, paths: Iterable[str]) -> bool:
    """An `__init__.py` runs only in a package with tests."""
    folder, _, name = path.rpartition("/")
    if name != "__init__.py":
        return True
    return any(one.startswith(f"{folder}/") and _COLLECTED.search(one) for one in paths)


def changed(path: str, before: str | None, after: str | None, is_test: bool) -> tuple[str, ...]:
    old = runner_hooks_hooks(path, before, is_test) if before is not None else {}
    new = runner_hooks_hooks(path, after, is_test) if after is not None else {}
    return tuple(dict.fromkeys(what for what in (*new, *old) if old.get(what) != new.get(what)))


def runner_hooks_hooks(path: str, text: str, is_test: bool) -> Mapping[str, str]:
    """The text that bends the runner in a file, by description."""
    name = path.rpartition("/")[2]
    if is_test and (name.casefold() in NAMES or name in _SHADOWING or _is_mock(path)):
        return {"a file that the test runner loads because of its name": text}
    if _is_of_editor(path):
        return {"programs that an editor starts": told} if (told := "\n".join(_STARTED.findall(text))) else {}
    if len(text) > LARGEST:
        return {TOO_LARGE: text} if is_test and may_hold(path) else {}
    if name.endswith(".py"):
        return hooks(name, text, is_test)
    if "\0" in text:  # some compilers read UTF-16
        return {UNREAD: text} if is_test and may_hold(path) else {}
    # to a language more characters end a line, or are blank
    text = _SPACE.sub(" ", "\n".join([*text.splitlines(), ""]))
    rows, begins = _rows(text)
    found: dict[str, dict[int, str]] = {}
    for pattern, what in _BY_SUFFIX.get(name.rpartition(".")[2].casefold(), ()):
        for match in pattern.finditer(text):
            at = max(0, bisect_right(begins, match.start()) - 1)
            if at not in found.setdefault(what, {}):
                found[what][at] = block(rows, at)
    return {what: "\n".join(parts.values()) for what, parts in found.items()}


def _is_of_editor(path: str) -> bool:
    return path.casefold().endswith(".vscode/settings.json")


def _is_mock(path: str) -> bool:
    """Whether jest takes the file in the place of a runner's package."""
    before, folder, name = path.rpartition("__mocks__/")
    return bool(folder) and is_framework(name.rpartition(".")[0]) and "/" not in before.rstrip("/")


def _rows(text: str) -> tuple[list[str], list[int]]:
    """The rows that are not blank, and where each begins."""
    rows, begins, at = list[str](), list[int](), 0
    for row in text.splitlines(keepends=True):
        if row.strip():
            rows.append(row.rstrip())
            begins.append(at)
        at += len(row)
    return rows, begins


def block(rows: Sequence[str], at: int) -> str:
    """The row `at` with its indented block and closing row. Long rows are digests.

    `rows`: none is blank, so a row is in no more blocks than it has characters, and the blocks of a file stay small.
    """
    end = inner_end(rows, at)
    if end < len(rows) and re.match(r"\s*(?:[)}\]]|end\b)", rows[end]):
        end += 1
    return "\n".join(row if len(row) <= MAX_ROW else _digest(row) for row in map(str.strip, rows[at:end]))


def _digest(row: str) -> str:
    return hashlib.sha256(row.encode(errors="surrogatepass")).hexdigest()


def inner_end(rows: Sequence[str], at: int) -> int:
    """The first row after `at` that is not indented more than it is."""
    margin, end = _margin(rows[at]), at + 1
    while end < len(rows) and _margin(rows[end]) > margin:
        end += 1
    return end


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())
