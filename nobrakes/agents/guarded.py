"""The guard, as any CLI's hooks call it, and the proof that it refuses before a run begins.

1. Hooks of agent CLIs fail open: the command turns every failure of the guard into exit 2, which is a no for all.
2. One command serves both the start of a session and each tool call, so that neither can be switched off alone.
3. Before the spawn the very same command is asked in the CLI's own dialect: a push and a write to git's folder must be
   refused and a harmless call must not; else the run does not begin. At the start of the session it leaves its
   canary; a run whose session went on without it is stopped.
"""

import json
import os
import shlex
from collections.abc import Sequence

from .adapter import Assignment

SELF_TEST = "nobrakes-guard: ready"
CANARY_FILE = "guard.ready"
NOT_GUARDED = "the guard did not answer before the session began"
SELF_TEST_FAILED = "nobrakes-guard: the self-test failed:"


def answered(self_test: str) -> bool:
    """Whether the guard was asked and answered, by what is in the file that its canary writes."""
    return self_test.strip() == SELF_TEST


Call = tuple[str, dict[str, str]]
"""A tool's name and what it is given."""

_SELF_TEST = r"""
command=$1 said=$2
shift 2
while [ "$#" -gt 1 ]; do
    printf '%s' "$2" | /bin/sh -c "$command" >/dev/null 2>&1
    code=$?
    [ "$code" -eq "$1" ] || { echo "$said exit code $code instead of $1 for $2"; exit 1; }
    shift 2
done
"""


def command(a: Assignment) -> str:
    """The shell command of every hook."""
    return f"{shlex.join(a.guard)} || exit 2"


def self_test_path(a: Assignment) -> str:
    """Where the guard says that it is there."""
    return os.path.join(a.folder, CANARY_FILE)


def self_test(a: Assignment, event: str, refused: Sequence[Call], allowed: Sequence[Call]) -> tuple[str, ...]:
    """A command that fails unless the hook refuses the one and lets through the other."""
    words = []
    for code, calls in ((2, refused), (0, allowed)):
        for tool, given in calls:
            call = {"hook_event_name": event, "cwd": a.workspace, "tool_name": tool, "tool_input": given}
            words += [str(code), json.dumps(call)]
    # the run's own environment; the prologue of a run has it already
    return ("/bin/sh", "-c", _SELF_TEST, "self-test", command(a), SELF_TEST_FAILED, *words)


def self_test_failed(prologue: str) -> str | None:
    """What the self-test said, where it was what failed in the output of a prologue."""
    found = [line for line in prologue.splitlines() if line.startswith(SELF_TEST_FAILED)]
    return found[-1] if found else None
