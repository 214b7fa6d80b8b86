"""The command line in a process that has imported it already: a fifth of the time, and a process of its own all the same.

Where a test is about the process itself (`run`, the daemon, signals) the installed script is started instead.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.without_root import are_laid_down

NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
_COLD = ("run", "daemon")
_PRELOADED = [
    "nobrakes.app",
    "nobrakes.cli.main",
    "nobrakes.beads.service.bead_commands",
    "nobrakes.plans.service",
    "pydantic",
]


def _main(argv: Sequence[str], folder: str, env: Mapping[str, str], paths: Sequence[str]) -> None:
    """In the new process: what a shell would have set up, and then the console script."""
    for number, path in enumerate(paths):
        opened = os.open(path, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 - until it ends
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv = [NOBRAKES, *argv]
    from nobrakes.cli.entry import main

    sys.exit(main())  # its threads are waited for, as in a process of its own


def nobrakes(
    argv: Sequence[str], folder: Path, env: Mapping[str, str], stdin: bytes = b""
) -> "subprocess.CompletedProcess[str]":
    """What `nobrakes ARGV` in this folder, given `stdin`, ended with and printed."""
    if (argv[:1] and argv[0] in _COLD) or are_laid_down():  # the process that has imported it may have root's rights
        done = subprocess.run([NOBRAKES, *argv], cwd=folder, capture_output=True, env=env, timeout=900, input=stdin)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with (
        tempfile.NamedTemporaryFile("w+b") as given,
        tempfile.NamedTemporaryFile("r") as out,
        tempfile.NamedTemporaryFile("r") as err,
    ):
        given.write(stdin)
        given.flush()
        paths = (given.name, out.name, err.name)
        process = context.Process(target=_main, args=(list(argv), str(folder), dict(env), paths))
        process.start()
        process.join(900)
        assert process.exitcode is not None, f"{argv} goes on"
        return subprocess.CompletedProcess([NOBRAKES, *argv], process.exitcode, out.read(), err.read())
