"""Files that bend the runner of tests: hooks, patches of the runner, tests that are skipped or reported at large. Pure.

1. Tests are a Test Writer's, the runner is nobody's: a person is asked where what bends it is new or differs,
   whoever changed it and wherever the file lies. What stays as it was asks nothing, and so do plain fixtures.
2. Python is read as a tree (core.policy.python_hooks). Elsewhere a hook is what a pattern finds, with its block.
3. Some files are hooks as a whole, since a runner loads them by their name (NAMES).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .python_hooks import hooks as python_hooks
from .shadows import is_framework

LARGEST = 400_000
"""Characters of a file that are looked at; a larger one among tests is a hook as a whole."""
TOO_LARGE = "a file that is too large to be read"

NAMES = frozenset(
    ("mocha.opts", "setup_suite.bash", "flutter_test_config.dart", "pest.php", "junit-platform.properties")
)
_COLLECTED = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests|conftest)\.py$")
_SHADOWS = frozenset(
    f"{name}.py" for name in ("pytest", "_pytest", "pluggy", "unittest", "doctest", "nose", "coverage")
)

_JS = (
    (r"\bmochaHooks\b|\bmochaGlobal(?:Setup|Teardown)\b", "root hooks of mocha"),
    (
        r"(?:globalThis|global|window)(?:\.|\[\s*['\"])(?:it|test|describe|expect|assert|suite|context|specify|before|"
        r"after|beforeEach|afterEach|beforeAll|afterAll)(?:['\"]\s*\])?(?:\.\w+)*\s*=(?![=>])",
        "a global of the runner that is replaced",
    ),
    (
        r"^[ \t]*(?:(?:assert|expect|vi|jest|chai)(?:\.(?:prototype|strict|assert|expect|Assertion))*|"
        r"(?:it|test|describe)(?=\.(?:only|skip|each|todo)\b))\.\w+\s*=(?![=>])",
        "a part of the runner that is replaced",
    ),
    (r"\b(?:Runner|Runnable|Suite|Mocha|Assertion)\.prototype\b", "the runner's own classes"),
    (
        r"(?:Object\.(?:defineProperty|defineProperties|assign|setPrototypeOf)|Reflect\.\w+)\(\s*"
        r"(?:globalThis|global|assert|expect|chai|vi|jest|it|test|describe)\b(?!\.\w)",
        "a part of the runner that is replaced",
    ),
    (
        r"\b(?:jest|vi|mock)\.(?:mock|doMock|unstable_mockModule|module)\(\s*['\"](?:node:)?(?:@jest/[\w-]+|expect|jest[\w-]*|"
        r"test|vitest|chai|assert(?:/strict)?|mocha|ava|tap|tape)['\"]",
        "a mock of the runner",
    ),
    (r"\b(?:Module\._load|Module\.prototype\.require|require\.extensions\[[^\]]*\])\s*=(?!=)", "a hook of the loader"),
    (r"\bprocess\.(?:exit|reallyExit)\s*=(?!=)|\bprocess\.exitCode\s*=\s*0\b", "the exit code of the runner"),
    (r"\.(?:_?retries|state|err)\s*=\s*(?:['\"]passed|null|undefined)|\bcurrentTest(?:\.\w+)+\s*=(?!=)", "results"),
)
_JVM = (
    (
        r"\b(?:implements|extends|:)[^{;]*\b(?:TestExecutionListener|LauncherSessionListener|InvocationInterceptor|ExecutionCondition|"
        r"TestExecutionExceptionHandler|TestInstanceFactory|TestEngine|TestWatcher|TestRule|MethodRule|I\w*TestListener|ITestListener|"
        r"IInvokedMethodListener|IHookable|IAnnotationTransformer\d?|IRetryAnalyzer|BlockJUnit4ClassRunner|ParentRunner|"
        r"AbstractProjectConfig)\b",
        "an extension of the runner",
    ),
    (
        r"\bRuntime\.getRuntime\(\)\.halt\(|\bpackage\s+(?:org\.junit|junit\.framework|org\.testng|org\.mockito)\b",
        "the runner",
    ),
)
_DOTNET = (
    (
        r"\[\s*assembly\s*:\s*[^\]]*\b(?:\w*TestFramework|CollectionBehavior|Test\w*Orderer|\w*Fixture|\w*Parallel\w*|"
        r"ActionAttribute|Ignore|Explicit)\b",
        "settings of the runner for the whole assembly",
    ),
    (
        r"\[\s*(?:ModuleInitializer|SetUpFixture|AssemblyInitialize|AssemblyCleanup)\b",
        "code that runs before all tests",
    ),
    (
        r":[^{;]*\b(?:XunitTestFramework|ITest(?:Framework|Executor|CaseOrderer)\w*|BeforeAfterTestAttribute|IWrap\w+|ICommandWrapper|"
        r"ITestAction|XunitTest\w+|TestMethodAttribute)\b",
        "an extension of the runner",
    ),
    (r"\bHarmony\b", "patches of compiled code"),
)
_RUBY = (
    (
        r"^\s*(?:class|module)\s+(?:Minitest|RSpec|Test::Unit)(?:::\w+)*\s*(?:$|;|#)|"
        r"\b(?:Minitest|RSpec|Test::Unit)(?:::\w+)*\.(?:class_eval|module_eval|instance_eval|prepend|include|extend|send|define_method|"
        r"singleton_class|define_singleton_method|extensions|reporter)\b",
        "the runner's own classes",
    ),
    (r"\bRSpec::Core::(?!RakeTask)\w+", "the insides of RSpec"),
    (
        r"^\s*\w+\.(?:around|filter_run\w*|exclusion_filter|inclusion_filter|dry_run|reporter|formatter|add_formatter|error_exit_code|"
        r"failure_exit_code|pattern|exclude_pattern|files_to_run)\b",
        "which examples run, and what is said of them",
    ),
    (r"\bat_exit\b|\bexit!", "the end of the runner"),
)
_PHP = (
    (
        r"\b(?:implements|extends)[^{;]*\b(?:TestListener|TestHook|\w+Test\w*Hook|Extension|\w*Subscriber|TestRunner|TestSuite)\b",
        "an extension of the runner",
    ),
    (
        r"\bfunction\s+(?:runTest|runBare|run|invokeTestMethod)\s*\(|\bnamespace\s+(?:PHPUnit|Pest)\b",
        "how a test is run",
    ),
    (r"\bregister_shutdown_function\(|\b(?:uopz|runkit7?)_\w+\(", "the end of the runner"),
)
_PATTERNS: Mapping[tuple[str, ...], Sequence[tuple[str, str]]] = {
    ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"): _JS,
    ("go",): (
        (r"\bfunc\s+(?:\([^)]*\)\s*)?\w+\([^)]*\*testing\.M\b", "TestMain, and what it calls"),
        (r"^//go:linkname\b.*", "a link into another package"),
        (r"\bflag\.Set\(\s*\"test\.|\btesting\.(?:RegisterCover|MainStart|Main)\(", "the runner's own flags"),
        (r"^func init\(\) \{(?=(?:\n[^}].*|\n)*?\n.*\bos\.(?:Exit|Args)\b)", "an init that ends the tests"),
    ),
    ("rs",): (
        (r"#!?\[\s*(?:ctor|dtor|test_runner|reexport_test_harness_main)|custom_test_frameworks", "another harness"),
        (r"\bpanic::set_hook\b", "how a panic is told"),
    ),
    ("java", "kt", "kts", "groovy", "scala"): _JVM,
    ("cs", "fs", "vb"): _DOTNET,
    ("rb",): _RUBY,
    ("php",): _PHP,
    ("t", "pm", "pl"): (
        (r"\*\{?\s*['\"]?(?:Test::|TAP::|CORE::GLOBAL)\S*\s*=", "the runner's own functions"),
        (r"\b(?:Test2::API|TAP::(?:Harness|Parser)\w*)\b|\bTest::Builder->(?:new|create)|->builder\b", "its insides"),
        (r"^\s*END\s*\{|\$\?\s*=|\bPOSIX::_exit\b", "the exit code"),
    ),
    ("ex", "exs"): (
        (r"\bExUnit\.(?:start|configure)\((?!\s*\))[^\n]*|\bExUnit\.after_suite\b", "settings of the runner"),
        (r"\bdefmodule\s+ExUnit\b|\bExUnit\.(?:Runner|EventManager|Formatter)\b", "the runner"),
        (r"\bSystem\.(?:halt|at_exit|stop)\b", "the end of the runner"),
    ),
    ("dart",): ((r"\btestExecutable\b", "code around all tests"),),
    ("swift", "m", "mm"): (
        (r"\bXCTestObserv\w+|\bmethod_exchangeImplementations\b", "the runner"),
        (r"\boverride func (?:run|invokeTest|perform|record\w*)\b", "how a test is run"),
    ),
    ("bats", "bash"): ((r"^\s*(?:function\s+)?(?:run|skip|fail|assert\w*|bats_\w+)\s*\(\)", "its functions"),),
    ("c", "cc", "cpp", "cxx", "h", "hpp"): (
        (r"\bTestEventListener\b|\bAddGlobalTestEnvironment\b", "a listener of the tests"),
        (r"\bCATCH_CONFIG_RUNNER\b|\bCatch::Session\b|\bRUN_ALL_TESTS\b", "the main of the tests"),
    ),
}  # fmt: skip
_OF_ENDING = {
    ending: tuple((re.compile(pattern, re.MULTILINE), what) for pattern, what in patterns)
    for endings, patterns in _PATTERNS.items()
    for ending in endings
}


_STARTED = re.compile(
    r"\"[^\"\n]*(?:command|executable|program|interpreter|path|args|runtime|shell|server|task|profile|env|"
    r"hook|script|binary|sdk)[^\"\n]*\"\s*:[^\n]*",
    re.IGNORECASE,
)
"""Settings of an editor that name a program, or what it is given."""


def may_hold(path: str) -> bool:
    """Whether a file of this name may bend a runner, so that its text is wanted."""
    name = path.rpartition("/")[2].casefold()
    return name in NAMES or _is_of_editor(path) or name.endswith(".py") or name.rpartition(".")[2] in _OF_ENDING


def is_loaded(path: str, paths: Iterable[str]) -> bool:
    """Whether a file among tests runs with them by itself: an `__init__.py` does in a package that has tests."""
    folder, _, name = path.rpartition("/")
    if name != "__init__.py":
        return True
    return any(one.startswith(f"{folder}/") and _COLLECTED.search(one) for one in paths)


def changed(path: str, before: str | None, after: str | None, is_test: bool) -> tuple[str, ...]:
    """What bends the runner and is not as it was before, in words; None: the file is not there."""
    old = hooks(path, before, is_test) if before is not None else {}
    new = hooks(path, after, is_test) if after is not None else {}
    return tuple(dict.fromkeys(what for what in (*new, *old) if old.get(what) != new.get(what)))


def hooks(path: str, text: str, is_test: bool) -> Mapping[str, str]:
    """What bends the runner in a file: what it is, and the text that makes it up."""
    name = path.rpartition("/")[2]
    if is_test and (name.casefold() in NAMES or name in _SHADOWS or _is_mock(path)):
        return {"a file that the runner takes up by its name": text}
    if _is_of_editor(path):
        return {"programs that an editor starts": told} if (told := "\n".join(_STARTED.findall(text))) else {}
    if len(text) > LARGEST:
        return {TOO_LARGE: text} if is_test and may_hold(path) else {}
    if name.endswith(".py"):
        return python_hooks(name, text, is_test)
    found: dict[str, list[str]] = {}
    for pattern, what in _OF_ENDING.get(name.rpartition(".")[2].casefold(), ()):
        for match in pattern.finditer(text):
            found.setdefault(what, []).append(_block(text, match.start()))
    return {what: "\n".join(parts) for what, parts in found.items()}


def _is_of_editor(path: str) -> bool:
    return path.casefold().endswith(".vscode/settings.json")


def _is_mock(path: str) -> bool:
    """Whether jest takes the file in the place of a runner's package."""
    before, folder, name = path.rpartition("__mocks__/")
    return bool(folder) and is_framework(name.rpartition(".")[0]) and "/" not in before.rstrip("/")


def _block(text: str, begin: int) -> str:
    """The line at `begin` and the lines that are indented below it, with the one that closes them."""
    start = text.rfind("\n", 0, begin) + 1
    rows = iter(text[start:].splitlines())
    first = next(rows, "")
    return "\n".join((first.strip(), *(row.strip() for row in _inner(rows, _margin(first)))))


def _inner(rows: Iterator[str], margin: int) -> Iterator[str]:
    for row in rows:
        if row.strip() and _margin(row) <= margin:
            if re.match(r"\s*(?:[)}\]]|end\b)", row):
                yield row
            return
        yield row


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())
