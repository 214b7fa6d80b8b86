"""Whether a command works on this machine, and what it says: found out once, by running it."""

import subprocess
from collections.abc import Sequence

SECONDS = 10.0
LISTING_SECONDS = 120.0
MOST_BYTES = 20_000_000


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
