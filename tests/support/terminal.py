"""A person at a terminal: runs a program in a pseudo-terminal, reads what it shows and presses keys.

1. Run as a program with a play (JSON: argv, acts, log, seconds): each act is [what to wait for, the keys to press].
   What is waited for is sought in what was shown since the last keys, without blanks: a program that draws its screen
   moves the cursor instead of writing them.
2. A program may lose keys that come as soon as it shows something. So Enter, which does no harm twice, is pressed
   again while what the next act waits for is not shown.
3. Exits with the program's code; with 124 and what it waited for, when that did not come in time. `log` gets all that
   was shown.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
ENTER = "\r"
AGAIN_SECONDS = 2.0


def shown(raw: bytes) -> str:
    """What a person would read of it, line breaks and blanks included."""
    return ESCAPES.sub("", raw.decode(errors="replace"))


class Terminal:
    """A program in a pseudo-terminal of 120 columns."""

    def __init__(self, argv: list[str], seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.raw = b""
        self.seen = 0  # where what was shown since the last keys begins
        self.pressed, self.at = "", 0.0
        self.over = False
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))

    def read(self) -> None:
        """Read what is shown next; TimeoutError when the time is up."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if self.pressed == ENTER and time.monotonic() - self.at > AGAIN_SECONDS:
            self.at = time.monotonic()
            os.write(self.fd, ENTER.encode())
        if not select.select([self.fd], [], [], min(left, AGAIN_SECONDS))[0]:
            return
        try:
            more = os.read(self.fd, 65536)
        except OSError:  # how Linux says that nobody has the other end open any more
            more = b""
        self.over = not more
        self.raw += more

    def wait(self, text: str) -> None:
        """Until the text is shown; EOFError when the program has ended without it."""
        wanted = "".join(text.split())
        while wanted not in "".join(shown(self.raw[self.seen :]).split()):
            if self.over:
                raise EOFError
            self.read()

    def press(self, keys: str) -> None:
        """Press the keys."""
        self.seen = len(self.raw)
        self.pressed, self.at = keys, time.monotonic()
        os.write(self.fd, keys.encode())

    def close(self) -> int:
        """Until the program ends; its exit code."""
        while not self.over:
            self.read()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main(path: str) -> int:
    """Play what the file says."""
    with open(path, encoding="utf-8") as file:
        play = json.load(file)
    terminal = Terminal(play["argv"], play["seconds"])
    waiting = ""
    try:
        for waiting, keys in play["acts"]:
            terminal.wait(waiting)
            terminal.press(keys)
        waiting = "the end"
        return terminal.close()
    except (TimeoutError, EOFError) as error:
        print(f"{type(error).__name__}: waited for {waiting!r}; shown was:\n{shown(terminal.raw)[-6000:]}")
        if not terminal.over:
            os.kill(terminal.pid, signal.SIGHUP)
        return 124
    finally:
        with open(play["log"], "w", encoding="utf-8") as log:
            log.write(shown(terminal.raw))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
