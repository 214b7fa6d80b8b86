"""A check in an agent's own workspace, and the step of a run that alters tests.

One check, run for an agent in its own workspace: waited for, bounded in time and in what is kept of its output.
"""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...checks.probes import MutationProbe, mutation_probes
from ...files import write_atomic
from ...paths import own_path, process_environment
from . import wrapper

KILLING = 2.0
KEPT = 6_000


def run(command: str, folder: str, seconds: float, environment: Mapping[str, str]) -> tuple[int | None, str]:
    """(exit code, end of the output) of a shell command; None: timeout."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: int | None = child.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):  # all that it started, also when we are interrupted
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # what a kill does not end is left behind
                child.wait(KILLING)
        said.seek(max(0, said.seek(0, os.SEEK_END) - KEPT))
        return code, said.read().decode("utf-8", "replace")


# What is altered is drawn here and is in this process alone until the step is over: in no file, argv or variable. Tests
# are taken from the repository, since the check could write its checkout, and all that may be drawn are rewritten,
# so that no file's time tells which was altered. `<step>.plan` says it afterwards: a run without it was ended by force.
PLAN = ".plan"

MAX_PROBES = 2
"""Maximal altered tests of a group, each in its own file."""

_WRITE = """import json, os, sys
for path, text, mode, modified in json.load(sys.stdin):
    if os.path.lexists(path):
        os.unlink(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "x", encoding="utf-8", newline="") as file:
        file.write(text)
    os.chmod(path, mode)
    os.utime(path, (modified, modified))
"""
PUT = (sys.executable, "-I", "-S", "-c", _WRITE)
"""Writes files given as JSON, at the top of the checkout, without programs of the machine."""


def draw(texts: Mapping[str, str], dice: random.Random, taken: Collection[str] = ()) -> list[MutationProbe]:
    """The tests to alter, preferably by their expected value. `taken`: names from which theirs can be told apart."""
    found: list[MutationProbe] = []
    for path in dice.sample(sorted(texts), len(texts)):
        some = [one for one in mutation_probes(path, texts[path], dice) if not _is_like(one.test, taken)]
        best = [one for one in some if one.by_value] or some
        found += [dice.choice(best)] if best else []
    return sorted(found, key=lambda one: not one.by_value)[:MAX_PROBES]


def _is_like(name: str, names: Collection[str]) -> bool:
    pairs = ((one, other) for known in names for one, other in ((name, known), (known, name)))
    return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", other) for one, other in pairs)


def main(words: str) -> int:
    """Perform the JSON: `folder`, `name` of the step, `repository`, `commit`, `put`, `run`, `report`, and `groups`:
    tests of each of these lists of paths are altered (an earlier version wrote one, `paths`)."""
    given: dict[str, Any] = json.loads(words)
    if given["report"]:
        wrapper.main(given["folder"], *given["report"])
    groups: list[list[str]] = given["groups"] if "groups" in given else [given["paths"]]
    texts = {path: text for group in groups for path in group if (text := _text(given, path)) is not None}
    dice = random.SystemRandom()
    altered: list[MutationProbe] = []
    rows: list[tuple[str, str, int]] = []
    for number, group in enumerate(groups):
        drawn = draw({path: texts[path] for path in group if path in texts}, dice, {one.test for one in altered})
        altered += drawn
        rows += [(one.path, one.test, number) for one in drawn]
    code = 0
    if altered:
        now = int(time.time()) + 1
        changed = texts | {one.path: one.text for one in altered}
        code = _put(given["put"], changed, now, dice) or subprocess.run(given["run"], check=False).returncode
        _put(given["put"], texts, now + 1, dice)
    write_atomic(os.path.join(given["folder"], given["name"] + PLAN), json.dumps(rows).encode())
    return code if code >= 0 else 128 - code


def _text(given: Mapping[str, Any], path: str) -> str | None:
    argv = ("git", f"--git-dir={given['repository']}", "cat-file", "blob", f"{given['commit']}:{path}")
    # it is unconfined, and the checkout that it would stand in is the branch's
    env = {**process_environment(), "PATH": own_path(given["folder"])}
    done = subprocess.run(argv, check=False, cwd="/", env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return done.stdout.decode() if done.returncode == 0 else None
    except UnicodeDecodeError:
        return None


def _put(argv: Sequence[str], texts: Mapping[str, str], modified: int, dice: random.Random) -> int:
    """Write these files in random order; returns the writer's exit code."""
    files = [(path, texts[path], _mode(path), modified) for path in dice.sample(sorted(texts), len(texts))]
    return subprocess.run(argv, check=False, input=json.dumps(files).encode(), stdout=sys.stderr).returncode


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode & 0o777
    except OSError:  # the check took it away
        return 0o644


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
