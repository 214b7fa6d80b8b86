"""The programs that a command and all that it starts execute, by name: traced, so that none is missed. Linux alone.

Nothing is stopped but at a fork and an exec, so that what is traced takes nearly its own time.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

_SEIZE, _CONT, _LISTEN = 0x4206, 7, 0x4208
_FORK, _VFORK, _CLONE, _EXEC, _EXIT_KILL = 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 20
_EVENT_EXEC, _EVENT_STOP = 4, 128
_STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def _ptrace(request: int, pid: int, data: int) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), None, ctypes.c_void_p(data))) == 0


def executed(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> "Counter[str] | None":
    """Run the command to its end; None: this machine lets nobody trace. AssertionError: it failed."""
    # a process of its own, which has no other children to wait for
    ran = subprocess.run([sys.executable, __file__, *argv], cwd=cwd, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    return None if found is None else Counter(found)


def _executed(argv: Sequence[str]) -> "Counter[str] | None":
    begin, go = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(go)
            os.read(begin, 1)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.execvp(argv[0], list(argv))
        finally:
            os._exit(127)
    os.close(begin)
    can = _ptrace(_SEIZE, child, _FORK | _VFORK | _CLONE | _EXEC | _EXIT_KILL)
    os.write(go, b".")
    os.close(go)
    if not can:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None
    return _followed(child)


def _followed(child: int) -> "Counter[str]":
    found: Counter[str] = Counter()
    while True:
        try:
            pid, status = os.waitpid(-1, 0x40000000)  # __WALL: threads, too
        except ChildProcessError:
            raise AssertionError("the command ended unseen") from None
        if not os.WIFSTOPPED(status):
            if pid == child:
                assert os.waitstatus_to_exitcode(status) == 0, status
                return found
            continue
        event, number = status >> 16, os.WSTOPSIG(status)
        if event == _EVENT_EXEC:
            found[_name(pid)] += 1
        if event == _EVENT_STOP and number in _STOPS:
            _ptrace(_LISTEN, pid, 0)  # it stopped itself, until somebody continues or ends it
        else:
            _ptrace(_CONT, pid, 0 if event else number)


def _name(pid: int) -> str:
    """The program, with the subcommand of git; the words of no other."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = os.fsdecode(file.read()).split("\0")
    except OSError:
        return "?"
    name = os.path.basename(words[0])
    if name == "git":
        rest = [word for word in words[1:] if word and not word.startswith("-") and "=" not in word]
        return f"git {rest[0]}" if rest else name
    if name.startswith("python"):
        return next((os.path.basename(word) for word in words[1:] if word.endswith(".py")), "python")
    return name


if __name__ == "__main__":
    print(json.dumps(_executed(sys.argv[1:])))
