"""The floors of the house hold, and its circles only become fewer.

1. Every module lies on one floor, by the first pattern of FLOORS that its name matches; a module that none matches is
   an error. It imports its own floor and those below, wherever in it the import stands.
2. Rules (`model` and what stands beside it) are pure: no files, no clock, no processes, no dice.
3. SQL is in `db` alone, processes are in `git` and `host` alone, and surfaces go through services.
4. Pairs of subjects that import each other are counted in the budget: they only become fewer.
"""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from inspect import getmembers, isfunction, signature
from pathlib import Path

from nobrakes.db.database import Database

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nobrakes"

GROUND, RULES, SETTINGS, DOORS, SERVICE, WORKER, APP, SURFACE, ENTRY = range(9)
FLOORS = (
    (ENTRY, ("cli", "cli.*", "hooks", "hooks.*", "acp_client", "__main__")),
    (
        SURFACE,
        (
            "web",
            "web.*",
            "tui",
            "mcp_server",
            "beads.commands",
            "features.commands",
            "daemon.commands",
            "decisions.commands",
            "sessions.commands",
            "projects.commands",
            "config.commands",
            "review.commands",
            "fleet.commands",
        ),
    ),
    (APP, ("app",)),
    (
        WORKER,
        ("ports", "parking", "*.worker", "*.worker.*", "conformance", "host.confine"),
    ),
    (WORKER, ("fleet.gateway", "fleet.node", "fleet.reaper")),
    (SERVICE, ("*.service", "*.service.*", "config.setup", "config.setup.*", "doctor", "doctor.*", "snapshot.log")),
    (SERVICE, ("plans.beads_file", "request_keys")),
    (SERVICE, ("machine.registry", "machine.web_state")),
    (
        RULES,
        (
            "*.port",
            "agents.danger",
            "agents.shell",
            "agents.limits",
        ),
    ),
    (
        DOORS,
        ("store", "db", "db.*", "*.db", "*.db.*", "notices.senders", "*.prompts"),
    ),
    (DOORS, ("requests.hosts", "requests.hosts.*", "fleet", "fleet.model", "fleet.parcel", "fleet.on_node")),
    (SETTINGS, ("config", "config.*", "abilities")),
    (DOORS, ("git", "git.*", "host", "host.*", "agents", "agents.*", "sandbox", "sandbox.*", "loopback")),
    (
        GROUND,
        (
            "",
            "errors",
            "globs",
            "records",
            "text",
            "text.*",
            "lightjson",
            "paths",
            "walking",
            "trash",
            "command_table",
            "programs",
        ),
    ),
    (GROUND, ("extras", "files", "serving")),
    (RULES, ("beads", "beads.*", "events", "events.*", "decisions", "decisions.*", "review", "review.*")),
    (RULES, ("requests", "requests.*", "checks", "checks.*", "sessions", "sessions.*", "features", "features.*")),
    (RULES, ("projects", "projects.*", "notices", "notices.*", "daemon", "daemon.*", "machine")),
    (RULES, ("plans", "plans.*", "snapshot", "snapshot.*", "pictures", "pictures.*")),
)


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def floor(name: str) -> int:
    found = next((number for number, patterns in FLOORS if any(fnmatchcase(name, one) for one in patterns)), None)
    assert found is not None, f"nobrakes.{name} lies on no floor: add it to FLOORS"
    return found


@cache
def imports(name: str) -> tuple[tuple[str, int, bool], ...]:
    """(module, line, whether it is the package's own) of all that a module imports, for types alone left out."""
    path = MODULES[name]
    return tuple(_imports(name, path.name == "__init__.py", ast.parse(path.read_text(encoding="utf-8"))))


HOLDS_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


def _imports(name: str, is_package: bool, tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        return
    if isinstance(tree, ast.Import):
        for one in tree.names:
            own = one.name.split(".")[0] == "nobrakes"
            yield one.name.partition(".")[2] if own else one.name, tree.lineno, own
    elif isinstance(tree, ast.ImportFrom):
        own = bool(tree.level) or (tree.module or "").split(".")[0] == "nobrakes"
        base = (tree.module or "").removeprefix("nobrakes").strip(".") if own else tree.module or ""
        if tree.level:
            parts = name.split(".") if is_package else name.split(".")[:-1]
            parts = parts[: len(parts) - (tree.level - 1)]
            base = ".".join([*filter(None, parts), *filter(None, [tree.module])])
        for one in tree.names:
            inner = f"{base}.{one.name}".strip(".")
            yield (inner if own and inner in MODULES else base), tree.lineno, own
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, HOLDS_STATEMENTS):
            yield from _imports(name, is_package, child)


def test_each_pattern_is_the_first_of_some_module() -> None:
    rows = [patterns for _, patterns in FLOORS]
    lies = {name: next(row for row in rows if any(fnmatchcase(name, one) for one in row)) for name in MODULES}
    used = {(row, one) for name, row in lies.items() for one in row if fnmatchcase(name, one)}
    assert [one for row in rows for one in row if (row, one) not in used] == []


def test_a_module_imports_its_own_floor_and_those_below() -> None:
    wrong = [
        f"nobrakes/{name.replace('.', '/')}:{line} imports {other}"
        for name in MODULES
        for other, line, own in imports(name)
        if own and floor(name) < floor(other)
    ]
    assert wrong == []


PURE = (
    "os",
    "time",
    "random",
    "socket",
    "subprocess",
    "pathlib",
    "shutil",
    "io",
    "pydantic",
    "typer",
    "networkx",
    "git",
)
SQL = ("sqlite3", "_sqlite3", "sqlmodel", "sqlalchemy")
PROCESSES = ("subprocess", "git")


def taking(libraries: tuple[str, ...]) -> dict[str, set[str]]:
    """Which of these libraries each module imports."""
    found = {}
    for name in MODULES:
        roots = {other.split(".")[0] for other, _, own in imports(name) if not own}
        if roots & set(libraries):
            found[name] = roots & set(libraries)
    return found


FREE = {
    "pictures.layout": {"networkx"},
    "plans.nodes": {"os", "pydantic"},
}
"""Rules that look at files, or load what is heavy."""


def test_rules_are_pure() -> None:
    """Nothing that decides touches files, clocks, processes or dice."""
    assert {name: what for name, what in taking((*PURE, *SQL)).items() if floor(name) == RULES} == FREE


def test_sql_is_in_db_alone() -> None:
    kept = {name for name in taking(SQL) if "db" not in name.split(".")}
    assert kept == set()


ASKS_IN_SQL = {"all", "alone", "each", "insert", "maybe", "moment", "one", "plain", "run", "run_many"}
"""Methods of the store that take SQL, or read for who writes it: it is a database."""


def test_what_asks_in_sql_is_what_a_database_offers() -> None:
    """Whatever takes a statement or a table, and what reads with a function of the caller's."""
    offered = {name: set(signature(method).parameters) for name, method in getmembers(Database, isfunction)}
    takes = {name for name, takes in offered.items() if takes & {"sql", "table", "look"} and not name.startswith("_")}
    assert takes == ASKS_IN_SQL


def test_nobody_but_db_asks_the_store_in_sql() -> None:
    asks = re.compile(rf"\b(?:_?store|_?db|database)\s*\.\s*(?:connection|{'|'.join(ASKS_IN_SQL)})\b")
    texts = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items() if "db" not in name.split(".")}
    wrong = [
        f"{name}:{call.lineno} {ast.unparse(call.func)}"
        for name, text in texts.items()
        if asks.search(text)
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in {*ASKS_IN_SQL, "execute", "executemany"}
        if ast.unparse(call.func.value).split(".")[-1] in ("store", "_store", "db", "_db", "database", "connection")
    ]
    assert wrong == []


def test_processes_are_in_git_and_host_alone() -> None:
    doors = ("git.", "host.", "fleet.")
    assert {name for name in taking(PROCESSES) if not f"{name}.".startswith(doors)} == set()


DOORS_OF_SURFACES = {
    ("cli.hot", "db.fast"),  # what is called all night reads past everything
    ("cli.main", "git.location"),  # in what words git refuses, for an error
    ("cli.doctor", "git.location"),  # which commit of nobrakes this is
    ("cli.daemon", "host.locks"),  # the process itself: its ready word, its terminal
    ("cli.features", "host.command"),
    ("cli.features", "host.locks"),
    ("cli.review", "host.command"),
    ("web.server", "host.command"),
}


def test_surfaces_go_through_services() -> None:
    found = {
        (name, other)
        for name in MODULES
        if floor(name) >= SURFACE
        for other, _, own in imports(name)
        if own and floor(other) == DOORS
    }
    assert found == DOORS_OF_SURFACES
