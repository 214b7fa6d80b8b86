"""One check, run for an agent in its own workspace: waited for, bounded in time and in what is kept of its output."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping

KILLING = 2.0
"""Seconds that a killed command has to be gone."""
KEPT = 6_000
"""Bytes of the end of its output that are kept."""


def run(command: str, folder: str, seconds: float, environment: Mapping[str, str]) -> tuple[int | None, str]:
    """(exit code, the end of what it printed) of a shell command in a folder; None: it took too long, and was ended."""
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
