"""A CLI that does not start is broken itself, however it says so; what it printed is quoted."""

from typing import Any

import pytest

from nobrakes.agents.adapter import AgentEnd
from nobrakes.agents.known import adapter
from nobrakes.beads.model import TABLE, Outcome

from . import recorded as r
from .test_conformance import BEGINS, CLIS, GUARDED, SAYS

HELP = b"Bun is a fast JavaScript runtime, package manager, bundler, and test runner. (1.3.14)\n\nUsage: bun <command>"

ENDS: tuple[tuple[str, int, bytes, str], ...] = (
    ("the help of a runtime", 0, HELP, ""),
    ("its own help", 0, b"Usage: agent [options] [command]\n\nOptions:\n  -h", ""),
    ("a stub", 1, b"", "Error: claude native binary not installed. Run the postinstall script."),
    ("a command that moved", 1, b"This command has moved: use `agent-ng`", ""),
    ("an empty file", 0, b"", ""),
    ("a file cut short", 126, b"", "/usr/bin/agent: cannot execute binary file: Exec format error"),
    ("cut short, and it crashes", 139, b"", ""),
    ("killed by the loader", -11, b"", ""),
    ("no interpreter", 127, b"", "/usr/bin/env: 'node': No such file or directory"),
    (
        "a missing library",
        127,
        b"",
        "error while loading shared libraries: libssl.so.3: cannot open shared object file",
    ),
    ("a broken bundle", 1, b"", "/opt/cli.js:1\nSyntaxError: Invalid or unexpected token"),
    ("a missing module", 1, b"", "Error: Cannot find module '/opt/agent/dist/index.js'"),
    ("a missing package", 1, b"", "ModuleNotFoundError: No module named 'agent'"),
    ("an abort", 134, b"", "terminate called after throwing an instance of 'std::bad_alloc'"),
    ("words that are no events", 3, b"hello", ""),
)


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize(("case", "code", "out", "errors"), ENDS, ids=[end[0] for end in ENDS])
def test_it_did_not_start(name: str, case: str, code: int, out: bytes, errors: str) -> None:
    found = adapter(name).verdict(AgentEnd(code, out.split(b"\n"), errors))
    assert TABLE[found.outcome].is_of_start and not TABLE[found.outcome].counts, found
    for printed in (out.decode().split("\n")[0], errors.split("\n")[-1]):
        assert printed in found.detail


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize("code", [1, 134, 139])
def test_what_has_begun_is_not_taken_for_broken(name: str, code: int) -> None:
    done: Any = SAYS[name]("words")[:-1]
    found = adapter(name).verdict(AgentEnd(code, [*BEGINS[name], *done], "SyntaxError", r.READY))
    assert TABLE[found.outcome].counts


@pytest.mark.parametrize("name", CLIS)
@pytest.mark.parametrize("code", [129, 130, 137, 143, -9, -15])
def test_who_was_killed_from_outside_is_not_taken_for_broken(name: str, code: int) -> None:
    assert adapter(name).verdict(AgentEnd(code, [])).outcome in (Outcome.KILLED, Outcome.INTERRUPTED)
