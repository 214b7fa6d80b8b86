"""Files of a project that the settings of a test runner take up: set-up files, reporters, plug-ins. Pure.

1. What such a file does decides whether tests pass, wherever it lies and whatever it is called; so a person is asked
   when it changes, as for a file that a command names (core.policy.protected_files).
2. Settings are read by patterns, so only what is plainly written is seen: a path from the settings' folder (`./a`,
   `<rootDir>/a`), a module of pytest's by its dotted name. A package's name names no file, and neither does a pattern.
3. A path without an ending may have any that the runner tries. Whether the file is there is not asked.
"""

import posixpath
import re
from collections.abc import Iterator

_ENDINGS = ("js", "ts", "cjs", "mjs", "cts", "mts", "jsx", "tsx")
_CONFIGS = tuple(
    f"{name}.{ending}"
    for name in ("jest.config", "vitest.config", "vite.config", "vitest.workspace", "playwright.config", "ava.config",
                 "cypress.config", ".mocharc", "karma.conf")
    for ending in (*_ENDINGS[:6], "json")
)  # fmt: skip
_PYTEST = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "tox.ini")
_CONFTESTS = ("conftest.py", "tests/conftest.py", "test/conftest.py")
_PHP = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
SETTINGS = (*_CONFIGS, "package.json", ".mocharc.yml", ".mocharc.yaml", *_PYTEST, *_CONFTESTS, ".rspec", *_PHP)
"""The files, in the folder of a check, that are read."""

LONGEST = 200_000

_KEYS = (
    r"(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|testEnvironment|environment|runner|testRunner|reporters?|"
    r"resolver|transform|snapshotSerializers|snapshotResolver|testSequencer|require|file|supportFile|plugins|"
    r"watchPlugins|prettierPath|processor|pool|ui|import|nodeArguments|snapshotEnvironment)"
)
_VALUE = re.compile(rf"""\b{_KEYS}["']?\s*[:=]\s*(\[[^\]]*\]|\{{[^}}]*\}}|["'][^"'\n]*["'])""")
_YAML = re.compile(rf"^{_KEYS}:[ \t]*([^\n]*(?:\n[ \t]*-[^\n]*)*)", re.MULTILINE)
_QUOTED = re.compile(r"""["']([^"'\n]+)["']""")
_LOCAL = re.compile(r"(?:<rootDir>/|\./|\.\./)[\w./@-]+")
_JSON_SECTIONS = re.compile(r'"(?:jest|ava|mocha|vitest|nyc|c8|tap|cypress)"\s*:\s*\{')
_PLUGINS = re.compile(r"^[ \t]*pytest_plugins\b[^=\n]*=\s*(\([^)]*\)|\[[^\]]*\]|[^\n]*)", re.MULTILINE)
_OPTION = re.compile(r"""(?:^|[\s"'])-p["']?[\s,]*["']?([A-Za-z_][\w.]*)""", re.MULTILINE)
_ADDOPTS = re.compile(r"^[ \t]*addopts[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n=]*$)*)", re.MULTILINE)
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_REQUIRED = re.compile(r"(?:--require|-r)[ =]?\s*(\./\S+|\S*/\S+|\w+)")
_BOOTSTRAP = re.compile(r"""\b(?:bootstrap|file)\s*=\s*["']([^"']+\.php)["']""")


def taken_up(path: str, text: str) -> Iterator[str]:
    """The repository paths that the settings at `path` take up, as they may be written."""
    folder, _, name = path.rpartition("/")
    text = text[:LONGEST]
    if name in _CONFIGS or name == "package.json" or name.startswith(".mocharc"):
        for word in _scripted(name, text):
            yield from _below(folder, word.removeprefix("<rootDir>/"), _ENDINGS)
    elif name == "conftest.py":
        for value in _PLUGINS.findall(text):
            yield from _modules(_QUOTED.findall(value))
    elif name in _PYTEST:
        for value in _ADDOPTS.findall(text):
            yield from _modules(_OPTION.findall(value))
    elif name == ".rspec":
        for word in _REQUIRED.findall(text):
            for base in ("", "lib", "spec"):
                yield from _below(posixpath.join(folder, base), word, ("rb",))
    elif name in _PHP:
        for word in _BOOTSTRAP.findall(text):
            yield from _below(folder, word, ())


def _scripted(name: str, text: str) -> Iterator[str]:
    """The paths in what a runner of JavaScript is told to load."""
    if name.endswith((".yml", ".yaml")):
        values = _YAML.findall(text)
        yield from (word for value in values for word in value.split() if _LOCAL.fullmatch(word))
        return
    if name == "package.json":
        text = "\n".join(text[match.end() : _closing(text, match.end())] for match in _JSON_SECTIONS.finditer(text))
    for value in _VALUE.findall(text):
        yield from (word for word in _QUOTED.findall(value) if _LOCAL.fullmatch(word))


def _closing(text: str, begin: int) -> int:
    """Where the object ends in which `begin` is."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, begin):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def _modules(names: list[str]) -> Iterator[str]:
    for name in names:
        if _MODULE.fullmatch(name):  # pytest's own and installed ones are mostly plain words
            below = name.replace(".", "/")
            for root in ("", "src/", "lib/"):
                yield from (f"{root}{below}.py", f"{root}{below}/__init__.py")


def _below(folder: str, word: str, endings: tuple[str, ...]) -> Iterator[str]:
    path = posixpath.normpath(posixpath.join(folder, word))
    if path.startswith(("../", "/")) or path in (".", ".."):
        return
    yield path
    if "." not in path.rpartition("/")[2] or not path.endswith(tuple(f".{one}" for one in endings)):
        yield from (f"{path}.{ending}" for ending in endings)
        yield from (f"{path}/index.{ending}" for ending in endings if ending in _ENDINGS)
