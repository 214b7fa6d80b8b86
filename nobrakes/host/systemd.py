"""The person's own service manager: units of systemd, written, enabled and taken away. Nothing here needs root."""

import os
import pwd
import subprocess

from ..core.errors import NobrakesError
from ..environ import process_environment
from ..paths import own_path, own_program

SECONDS = 30.0


def why_not() -> str:
    """Why units cannot be used here, in words; empty: they can."""
    if own_program("systemctl", os.getcwd()) is None:
        return "there is no systemctl here"
    code, said = control("show-environment")
    return "" if code == 0 else f"systemd does not run for this account: {said or f'exit code {code}'}"


def control(*words: str) -> tuple[int, str]:
    """`systemctl --user WORDS`: its exit code and what it printed. NobrakesError: it does not answer."""
    try:
        done = subprocess.run(
            ["systemctl", "--user", "--no-pager", *words],
            env={**process_environment(), "PATH": own_path(os.getcwd())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NobrakesError(f"systemctl --user {' '.join(words)}: {error}", "`systemctl --user status`") from None
    return done.returncode, (done.stderr or done.stdout).decode("utf-8", "replace").strip()


def lingers() -> bool:
    """Whether this account's units run while nobody is logged in."""
    try:
        return os.path.exists(os.path.join("/var/lib/systemd/linger", pwd.getpwuid(os.geteuid()).pw_name))
    except KeyError:
        return False
