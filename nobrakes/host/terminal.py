"""A program that a person talks to, in this terminal: the Shaper."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from ..core.errors import NoAgent


def run_interactive(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> int:
    """Give the terminal to the program until it ends; its exit code, 128+n for a signal. NoAgent: it is not there.

    Ctrl-C is the program's while it runs.
    """
    if not os.path.isdir(cwd):
        raise NotADirectoryError(cwd)
    # a handler that does nothing, since to ignore the signal is what the program would inherit
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.Popen(argv, env=dict(env), cwd=cwd).wait()
    except (FileNotFoundError, PermissionError) as error:
        raise NoAgent(
            f"{argv[0]} cannot be started: {error.strerror}", "Install it, or name another in .nobrakes/config.toml."
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
