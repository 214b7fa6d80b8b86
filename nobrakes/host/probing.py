"""Whether a command works on this machine: found out by running it.

A run that was killed or did not end tells nothing. It is repeated, and who still does not know says so: a night that
was to be closed off is not begun on a guess.
"""

import contextlib
import os
import subprocess
from collections.abc import Sequence

from ..core.errors import MachineShort
from ..environ import process_environment
from ..paths import own_path
from .files import storage_errors

SECONDS = 10.0
ATTEMPTS = 3
LISTING_SECONDS = 120.0
MOST_BYTES = 20_000_000
_GONE_SECONDS = 2.0
_KILLED = 128
"""An exit code beyond it is a signal's, passed on by whoever ran the command."""


def trouble(argv: Sequence[str]) -> str:
    """Why the command does not work here, in a line; empty: it does. MachineShort: nobody can tell just now."""
    for _ in range(ATTEMPTS):
        try:
            with storage_errors(argv[0]):
                code, said = _tried(argv)
        except FileNotFoundError:
            return f"{argv[0]} is not installed"
        except OSError as error:
            return str(error)
        if code == 0:
            return ""
        if 0 < code <= _KILLED:
            lines = said.decode("utf-8", "replace").strip().splitlines()
            return lines[-1][:300] if lines else f"it ends with exit code {code}"
    raise MachineShort(f"nobody can tell whether {argv[0]} works here: it was killed, or did not end, {ATTEMPTS} times")


def _tried(argv: Sequence[str]) -> tuple[int, bytes]:
    """Exit code and errors of one run; a negative code: it was killed, by its time or by others."""
    child = subprocess.Popen(
        argv,
        env={**process_environment(), "PATH": own_path(os.getcwd())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        _, said = child.communicate(timeout=SECONDS)
        return child.returncode, said
    except subprocess.TimeoutExpired:
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it waits for a disk, and nobody waits for it
            child.communicate(timeout=_GONE_SECONDS)
        return -1, b""


def output_of(argv: Sequence[str], folder: str) -> tuple[str, str]:
    """(what the command prints, in `folder`; why it does not work, or empty). It is stopped after LISTING_SECONDS."""
    try:
        done = subprocess.run(
            argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=LISTING_SECONDS, check=False
        )
    except FileNotFoundError:
        return "", f"{argv[0]} is not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)[:300]
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    text = done.stdout[:MOST_BYTES].decode("utf-8", "replace")
    if done.returncode == 0 or text.strip():
        return text, ""
    return "", said[-1][:300] if said else f"it ends with exit code {done.returncode}"
