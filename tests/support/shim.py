"""A `git` that ends the daemon which called it, by SIGKILL, right before or right after one of its commands.

NOBRAKES_KILL holds a folder. In it: `at` ("before 7": the seventh command that the daemon asks for; "after =merge": the
first one with that word), and `commands`, to
which each command of the daemon is added. Once it has killed, `at` is gone. Written for `sh` alone, since it is called
at each command of a run.
"""

import os
import shutil
from pathlib import Path

SHIM = """#!/bin/sh
real={real}
kill=$NOBRAKES_KILL
ours() {{ tr '\\0' ' ' < /proc/$PPID/cmdline 2>/dev/null | grep -q 'nobrakes run'; }}
[ -n "$kill" ] && [ -e "$kill/commands" ] && ours || exec $real "$@"
echo "$*" | head -c 200 | tr '\\n' ' ' >> "$kill/commands"; echo >> "$kill/commands"
number=$(wc -l < "$kill/commands")
[ -e "$kill/at" ] || exec $real "$@"
at=$(cat "$kill/at")
word=${{at#* =}}
case "$at" in
    "before $number" | "after $number") ;;
    *" ="*) case "$*" in *"$word"*) ;; *) exec $real "$@" ;; esac ;;
    *) exec $real "$@" ;;
esac
rm "$kill/at"
if [ "${{at%% *}}" = before ]; then kill -9 $PPID; exit 1; fi
$real "$@"
code=$?
kill -9 $PPID
exit $code
"""


def install(folder: Path) -> dict[str, str]:
    """Put the shim below `folder`; the environment that a daemon needs to be killed by it."""
    real = shutil.which("git")
    assert real is not None
    (folder / "bin").mkdir(parents=True)
    shim = folder / "bin" / "git"
    shim.write_text(SHIM.format(real=real))
    shim.chmod(0o755)
    return {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "NOBRAKES_KILL": str(folder)}


def arm(folder: Path, at: str | None) -> None:
    """Begin to count; kill at this moment."""
    (folder / "commands").write_text("")
    if at is not None:
        (folder / "at").write_text(at + "\n")


def commands(folder: Path) -> list[str]:
    """The commands since `arm`."""
    return (folder / "commands").read_text().splitlines()
