"""A `git` that does something right before or right after one of a daemon's commands: it ends the daemon by SIGKILL, or
has a person act.

NOBRAKES_KILL holds a folder. In it: `at` ("before 7": the seventh command that the daemon asks for; "after =merge": the
first one with that word), `act` (a script; without it the daemon is killed), and `commands`, to which each command of
the daemon is added. Once it has acted, `at` is gone. Written for `sh` alone, since it is called at each command of a run.
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
acts() {{
    if [ -e "$kill/act" ]; then sh "$kill/act" </dev/null >"$kill/act.log" 2>&1; else kill -9 $PPID; exit 1; fi
}}
if [ "${{at%% *}}" = before ]; then acts; exec $real "$@"; fi
$real "$@"
code=$?
acts
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


def arm(folder: Path, at: str | None, act: str | None = None) -> None:
    """Begin to count; at this moment kill, or run this script."""
    (folder / "commands").write_text("")
    for name in ("at", "act", "acted"):
        (folder / name).unlink(missing_ok=True)
    if act is not None:
        (folder / "act").write_text(act)
    if at is not None:
        (folder / "at").write_text(at + "\n")


def commands(folder: Path) -> list[str]:
    """The commands since `arm`."""
    return (folder / "commands").read_text().splitlines()
