"""What every test stands on: nothing outside of its own folder, the same examples in CI, no silent skips there."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.dose import is_dosed
from tests.support.memory import copy_empty_databases

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a job in the background has it, and all that it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.dont_write_bytecode = False  # of pytest alone: to rewrite the asserts of all tests takes longer than to read them

# fixtures of a whole module begin before any test has a home of its own, also where a machine's git knows nobody
os.environ |= {
    f"GIT_{who}_{what}": "test@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}

gc.set_threshold(50_000, 20, 50)
"""Thousands of tests lie in memory: to search all of them often takes longer than most tests."""

copy_empty_databases()

settings.register_profile("everyday", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("long", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])

IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if IN_CI else "everyday"))

SKIPPED: list[str] = []


_NUMBERS = count()
HERE = Path(__file__).parent
DOSES = {"acceptance": 12, "hostile": 4, "integration": 10, "browser": 2, "simulation": 3}
"""Of so many tests that start whole programs, or simulate for long, one is CI's: by folder."""
WHOLE = (
    "test_cli_run.py",
    "test_command_examples.py",
    "test_docs_run.py",
    "test_examples.py",
    "test_first_screens.py",
    "test_fleet.py",
    "test_fleet_example.py",
    "test_hostile_nodes.py",
    "test_journeys.py",
    "test_lost_nodes.py",
    "test_morning.py",
    "test_nodes_by_the_page.py",
    "test_profiles.py",
    "test_recipes.py",
    "test_sabotaged_nodes.py",
    "test_takeover.py",
)
"""The main job, a newcomer's first night, agents of profiles, other machines, and what the docs say; of its how-to pages test_docs_run.py has a dose of its own."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """CI runs a part of the long tests, by their names, and the night all of them."""
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        if folder not in DOSES or item.path.name in WHOLE:
            continue
        is_long = folder != "simulation" or item.get_closest_marker("slow") is not None
        if is_long and not is_dosed(item.nodeid.partition("tests/")[2], DOSES[folder]):
            item.add_marker(pytest.mark.night)


def pytest_collection_finish() -> None:
    """What was collected lives as long as the process: nothing of it is searched for what is not used any more."""
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of all homes; apart, since pytest reads the whole folder for each numbered one in it."""
    folder = tmp_path_factory.getbasetemp() / "homes"
    folder.mkdir()
    return str(folder)


@pytest.fixture(autouse=True)
def nobody_touches_the_real_home(homes: str) -> Iterator[Path]:
    """A home of the test's own. What this process says to git, nobrakes or an agent CLI stays in it."""
    home = f"{homes}/{next(_NUMBERS)}"
    os.mkdir(home)
    with open(f"{home}/.gitconfig", "w") as config:
        config.write("[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n")
    before = dict(os.environ)
    for name in before:
        if name.startswith(("NOBRAKES_", "GIT_", "XDG_")):
            del os.environ[name]
    os.environ |= {"HOME": home, "GIT_CONFIG_GLOBAL": f"{home}/.gitconfig", "GIT_CONFIG_NOSYSTEM": "1"}
    os.environ["NOBRAKES_USER_HOME"] = f"{home}/nobrakes"
    os.environ |= {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    yield Path(home)
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ |= {name: value for name, value in before.items() if os.environ.get(name) != value}


def _note_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        SKIPPED.append(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _note_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    _note_skip(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: what a gate does not run, it does not guard."""
    if IN_CI and SKIPPED and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if IN_CI and SKIPPED:
        terminalreporter.section("skipped, which fails in CI", red=True)
        for name in sorted(set(SKIPPED)):
            terminalreporter.write_line(f"SKIPPED {name}")
