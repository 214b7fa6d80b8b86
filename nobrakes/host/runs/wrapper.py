"""The little program that runs a run's steps and outlives the daemon: a fixed text for /bin/sh.

1. All data arrives as positional parameters. What is evaluated is `exec "${1}" "${2}" …`: numbers, no data; and
   scripts of ours (7).
2. `pid` is created exclusively, so that of two wrappers of one run only the first does anything.
3. `<step>.start` and `<step>.exit` are empty or whole: one write, and it counts when its line is ended. On Linux the
   first holds the step's own line of /proc, so that its process can be told from all others without its parent.
4. On Linux the wrapper adopts what loses its parent below it. When it is done while something of that still lives, it
   stops itself, and so keeps the tree together until somebody ends it (host.runs.processes).
5. A file `_stop` ends the run: a step that runs then has no exit code, and one that was just being started ends itself
   (a trap would swallow the signal that comes between its fork and its exec). The end touches the wake file.
6. Steps get the environment as it came, except that PWD says where they are; and the daemon's own umask.
7. A prologue's script of ours (`sh -c SCRIPT nobrakes …`) is run by the subshell itself: it needs no shell of its own.
   It is unconfined, so its programs are looked for on our own PATH (paths.own_path).
8. Neighbours that are `beside` run at the same time, each under a shell of its own that writes its exit code; the step
   after them waits for all. A shell's background commands ignore INT and QUIT, so these get a start of their own.
"""

import os
import sys

from ...paths import own_path
from ..port import Command

SHELL = "/bin/sh"

PID = "pid"
PROLOGUE_START = "_prologue.start"
PROLOGUE_EXIT = "_prologue.exit"
PROLOGUE_OUTPUT = "_prologue.err"
END = "_end"
STOP = "_stop"
OWN_ERRORS = "_wrapper.err"

_HEARS = (
    "import os,signal as s,sys;[s.signal(n,s.SIG_DFL) for n in (s.SIGINT,s.SIGQUIT,s.SIGPIPE,s.SIGXFSZ)];"
    "os.execvp(sys.argv[1],sys.argv[1:])"
)
"""A start for a background command: it hears signals as in the foreground. Python itself ignores the last two."""

SCRIPT = r"""
umask 077
_nb_dir=$1 _nb_wake=$2 _nb_cwd=$3 _nb_keep=$4 _nb_umask=$5 _nb_path=$6 _nb_left=$7 _nb_n=0
shift 7
set -C
{ echo $$ >"$_nb_dir/pid"; } 2>/dev/null || exit 75
set +C

# what a program put in its place is not written to: a link leads elsewhere, a pipe waits for ever
_nb_clear() {
    if [ -e "$1" ] || [ -L "$1" ]; then rm -rf -- "$1"; fi
}
_nb_finish() {
    _nb_clear "$_nb_dir/_end"
    echo >"$_nb_dir/_end"
    { echo >"$_nb_wake"; } 2>/dev/null
    # asked twice: the kernel's list may miss one while others are just ending
    for _nb_look in 1 2; do
        _nb_left=
        { read -r _nb_left <"/proc/$$/task/$$/children"; } 2>/dev/null
        [ -z "$_nb_left" ] || kill -STOP $$
    done
    exit 0
}
_nb_words() {
    _nb_i=0 _nb_call=exec
    while [ "$_nb_i" -lt "$1" ]; do
        _nb_i=$((_nb_i + 1)) _nb_call="$_nb_call \"\${$((_nb_i))}\""
    done
}

[ "$_nb_left" -eq 0 ] || echo >"$_nb_dir/_prologue.start"
while [ "$_nb_left" -gt 0 ]; do
    _nb_left=$((_nb_left - 1)) _nb_n=$((_nb_n + 1)) _nb_argc=$1
    shift
    _nb_words "$_nb_argc"
    (
        [ ! -e "$_nb_dir/_stop" ] || exit 143
        umask "$_nb_umask"
        if [ "$_nb_argc" -gt 4 ] && [ "$1 $2 $4" = "sh -c nobrakes" ]; then
            _nb_script=$3 PATH=$_nb_path
            shift 4
            _nb_words "$((_nb_argc - 4))"
            eval "set --${_nb_call#exec}"
            _nb_call=$_nb_script
        fi
        eval "$_nb_call"
    ) </dev/null >>"$_nb_dir/_prologue.err" 2>&1
    _nb_code=$?
    [ ! -e "$_nb_dir/_stop" ] || _nb_finish
    if [ "$_nb_code" -ne 0 ]; then
        echo "$_nb_code $_nb_n" >"$_nb_dir/_prologue.exit"
        _nb_finish
    fi
    shift "$_nb_argc"
done
if ! cd -- "$_nb_cwd" 2>>"$_nb_dir/_prologue.err"; then
    echo "126 0" >"$_nb_dir/_prologue.exit"
    _nb_finish
fi
cd /
echo "0 0" >"$_nb_dir/_prologue.exit"

_nb_step() {
    _nb_out=$_nb_dir/$1.out _nb_err=$_nb_dir/$1.err _nb_start=$_nb_dir/$1.start _nb_exit=$_nb_dir/$1.exit
    _nb_join=$2 _nb_in=$3 _nb_argc=$4
    shift 4
    _nb_words "$_nb_argc"
    [ "$_nb_join" = 0 ] || _nb_err=$_nb_out
    _nb_clear "$_nb_start"
    # tried first, since a redirection that fails would look like a step that failed
    if { :; } <"$_nb_in" >>"$_nb_out" 2>>"$_nb_err"; then
        (
            [ ! -e "$_nb_dir/_stop" ] || exit 143
            _nb_me=
            { read -r _nb_me </proc/self/stat; } 2>/dev/null
            echo "$_nb_me" >"$_nb_start"
            cd -- "$_nb_cwd" || exit 126
            unset OLDPWD
            umask "$_nb_umask"
            eval "$_nb_call"
        ) <"$_nb_in" >>"$_nb_out" 2>>"$_nb_err"
        _nb_code=$?
    else
        echo >"$_nb_start"
        _nb_code=126
    fi
    if [ ! -e "$_nb_dir/_stop" ]; then
        _nb_clear "$_nb_exit"
        echo "$_nb_code" >"$_nb_exit"
    fi
}
_nb_failed() {
    _nb_code=
    { read -r _nb_code <"$_nb_dir/$1.exit"; } 2>/dev/null
    [ "${_nb_code:-0}" -gt 0 ] && [ "$_nb_code" -lt 126 ]
}
_nb_passed() {
    for _nb_name in $1; do
        _nb_code=
        { read -r _nb_code <"$_nb_dir/$_nb_name.exit"; } 2>/dev/null
        [ "$_nb_code" != 0 ] || return 0
    done
    return 1
}
_nb_due() {
    case $1 in
        "") return 0 ;;
        +*) _nb_passed "${1#+}" ;;
        *) _nb_failed "$1" ;;
    esac
}

while [ "$#" -gt 0 ]; do
    [ ! -e "$_nb_dir/_stop" ] || _nb_finish
    _nb_beside=$1 _nb_after=$2
    shift 2
    if [ "$_nb_beside" = 1 ]; then
        _nb_step "$@" &
    else
        wait
        if _nb_due "$_nb_after"; then
            _nb_step "$@"
            [ ! -e "$_nb_dir/_stop" ] || _nb_finish
            [ "$_nb_code" -eq 0 ] || [ "$_nb_keep" = 1 ] || _nb_finish
        fi
    fi
    _nb_argc=$4
    shift 4
    shift "$_nb_argc"
done
wait
_nb_finish
"""


_NAME = "nobrakes"
"""What the shell calls itself; the folder is the word after it."""


def arguments(command: Command, wake: str, umask: int) -> list[str]:
    """The whole argv of the wrapper's shell. `wake` is the file that its end touches."""
    argv = [SHELL, "-c", SCRIPT, _NAME, command.folder, wake, command.cwd]
    argv += ["1" if command.keep_going else "0", f"{umask:04o}"]
    argv += [own_path(command.folder, command.env.get("PATH", os.defpath)), str(len(command.prologue))]
    for words in command.prologue:
        argv += [str(len(words)), *words]
    for step in command.steps:
        words = (sys.executable, "-I", "-S", "-c", _HEARS, *step.argv) if step.beside else step.argv
        argv += [
            "1" if step.beside else "0",
            step.after or (f"+{' '.join(step.when_passed)}" if step.when_passed else ""),
            step.name,
            "1" if step.join_output else "0",
            step.stdin or "/dev/null",
            str(len(words)),
            *words,
        ]
    return argv


def folder_in(argv: list[str]) -> str | None:
    """The run's folder in the argv of a living wrapper; None: it is none, or not yet."""
    place = argv.index(_NAME) + 1 if _NAME in argv[:10] else len(argv)
    return argv[place] if place < len(argv) else None
