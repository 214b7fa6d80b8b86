"""Whether a command works on this machine: found out once, by running it."""

import subprocess
from collections.abc import Sequence

SECONDS = 10.0


def trouble(argv: Sequence[str]) -> str:
    """Why the command does not work here, in a line; empty: it does."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        return f"{argv[0]} is not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1][:300] if said else f"it ends with exit code {done.returncode}"
