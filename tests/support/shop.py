"""A shop whose beads a scripted agent builds one after the other, and a person who types at a terminal of 80 columns.

1. It is the example `existing` with a question in it: the agent on `receipt` asks about an empty receipt before it begins.
2. Each bead needs the one before, one agent works, and some agents wait for `let`: so every play prints the same, but
   for what `masked` takes out.
"""

import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from nobrakes.config.user import OVERRIDE
from tests.support.warm import NOBRAKES

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COLUMNS, LINES = 80, 50
PLAN = """beads:
  - id: discount
    type: feature
    title: A discount on the total
    description: Basket.total takes a discount in percent, rounded down to whole cents.
  - id: receipt
    type: feature
    title: A receipt
    description: One line an item and the total, in the order of adding.
    needs: [discount]
  - id: vouchers
    type: feature
    title: Vouchers that lower the total
    needs: [receipt]
"""
SCENARIO = """
[[discount.doer]]
steps = ["copy discount/wrong", "commit A discount", "done The total takes a discount."]
[[discount.doer]]
steps = ["expect test_total", "copy discount/code", "commit A discount that leaves the rest alone", "done Mended."]

[[receipt.test_writer]]
steps = ["ask May a receipt be empty?", "say NOBRAKES: BLOCKED"]
[[receipt.test_writer]]
steps = ["expect only its total", "copy receipt/tests", "commit Tests of a receipt", "done The tests are written."]
[[receipt.doer]]
steps = ["progress 1/2 one line an item", "copy receipt/code", "wait-for receipt let", "commit A receipt", "done It prints."]

[[vouchers.test_writer]]
steps = ["progress reading what a voucher is", "wait-for vouchers let"]
"""
MASKS: tuple[tuple[re.Pattern[str], str], ...] = (
    # git tells seconds: a commit of the attempt before, made in the second in which this one begins, counts as its own
    (re.compile(r"(?<=reports: )[01] commits?"), "0 commits"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "12:00:00"),
    (re.compile(r"\b\d{4}-\d\d-\d\d( \d\d:\d\d\b)?"), "2030-01-31"),
    (re.compile(r"(?<![\d:])\d\d:\d\d\b(?!:)( yesterday| tomorrow)?"), "12:00"),
    (re.compile(r"\b(green|red:|proven:?) [0-9a-f]{7}\b"), r"\1 0123456"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "0123456789" * 4),
    (re.compile(r"\b[0-9a-f]{16}\b"), "0123456789abcdef"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "0123456789ab"),
    (re.compile(r"\b(process|pid) \d+"), r"\1 4711"),
    (re.compile(r"\b\d+ MB\b"), "9 MB"),
    (re.compile(r"\bin \d+\.\d+s$", re.MULTILINE), "in 0.001s"),
    (re.compile(r"receipt is (needs|writing)_tests"), "receipt is needs_tests"),
    (re.compile(r"\bscratch/\d+-check\d+"), "scratch/7-check1"),
)


DURATION = re.compile(r"(?P<gap>(?:^|(?<= {2})))?(?<![\w.])(?:\d+ min )?\d+(?:\.\d+)? (?P<unit>ms|s|min)\b")


class Typed(NamedTuple):
    """What a command showed, and its exit code."""

    code: int
    text: str


def at_terminal(
    argv: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    waits: str = "",
    act: Callable[[], str] = lambda: "",
    seconds: float = 120.0,
) -> Typed:
    """Run it in a terminal; once it shows the text `waits`, `act` is done and the keys that it gives are pressed."""
    mine, its = pty.openpty()
    ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(argv, stdin=its, stdout=its, stderr=its, cwd=folder, env=env, start_new_session=True)
    os.close(its)
    raw, end, waiting = b"", time.monotonic() + seconds, bool(waits)
    try:
        while True:
            is_over = process.poll() is not None
            if select.select([mine], [], [], 0 if is_over else 0.05)[0]:
                try:
                    more = os.read(mine, 65536)
                except OSError:  # how Linux says that nobody has the other end open any more
                    more = b""
                raw += more
                if not more:
                    break
            elif is_over:
                break
            assert time.monotonic() < end, f"{argv} goes on: {raw.decode(errors='replace')}"
            if waiting and waits in raw.decode(errors="replace"):
                waiting = False
                os.write(mine, act().encode())
        code = process.wait(10)
    finally:
        process.kill()
        process.wait()
        os.close(mine)
    assert not waiting, f"{argv} never showed {waits!r}: {raw.decode(errors='replace')}"
    return Typed(code, raw.decode().replace("\r\n", "\n"))


class Shop:
    """The shop in a folder, as somebody finds it who just installed nobrakes and an agent."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.folder = folder / "shop"
        self.told = folder / "told"
        self.told.mkdir()
        scenario = folder / "scenario"
        shutil.copytree(EXAMPLES / "existing" / "beads", scenario / "beads")
        (scenario / "scenario.toml").write_text(SCENARIO)
        shutil.copytree(EXAMPLES / "existing" / "repository", self.folder)
        shutil.rmtree(scenario / "beads" / "negative")
        (self.folder / "plan.yaml").write_text(PLAN)
        self.agent = folder / "bin" / "my-agent"
        self.agent.parent.mkdir()
        self.agent.write_text(
            f"#!/bin/sh\nexec {sys.executable} -u {quote(str(EXAMPLES / 'agent.py'))} {scenario} {self.told}\n"
        )
        self.agent.chmod(0o755)
        self.visible = [str(EXAMPLES), str(scenario), str(self.told), str(self.agent.parent)]
        for words in (
            "init -q -b main",
            "config user.name You",
            "config user.email you@example.invalid",
            "add -A",
            "commit -q -m Begin",
        ):
            subprocess.run(["git", *words.split()], cwd=self.folder, check=True)

    def configure(self) -> None:
        """The scripted agent as the agent of each role, and one at a time, so that each play prints the same."""
        config = self.folder / ".nobrakes" / "config.toml"
        text = config.read_text()
        for default, wanted in (
            ("doers = 4", "doers = 1"),
            ('merge = "squash"', 'merge = "squash"\nvalidators = 1'),
            ('test_writer = "claude"', 'test_writer = "script"'),
            ('doer = "claude"', 'doer = "script"'),
            ("command = []", f"command = {json.dumps([str(self.agent)])}"),
            ("read = []", f"read = {json.dumps(self.visible)}"),
        ):
            assert f"# {default}\n" in text, f"config.toml does not show its default: {default}"
            text = text.replace(f"# {default}\n", f"{wanted}\n", 1)
        config.write_text(text)

    def env(self) -> dict[str, str]:
        """A plain terminal's, and nothing that this test run sets for itself."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("NOBRAKES_")}
        return {**kept, OVERRIDE: str(self.home / ".nobrakes"), "TERM": "xterm", "NO_COLOR": "1"}

    def type(self, words: Sequence[str], waits: str = "", act: Callable[[], str] = lambda: "") -> Typed:
        """What a person sees who types `nobrakes WORDS` in the shop."""
        return at_terminal([NOBRAKES, *words], self.folder, self.env(), waits, act)

    def ask(self, *words: str) -> Any:
        """The data that a command gives as JSON."""
        done = subprocess.run([NOBRAKES, *words, "--json"], cwd=self.folder, capture_output=True, env=self.env())
        return json.loads(done.stdout)["data"]

    def let(self, bead: str) -> str:
        """Let the agent that waits on the bead go on."""
        new = self.told / f".{bead}"
        new.write_text("let")
        new.replace(self.told / bead)
        return ""

    def masked(self, text: str) -> str:
        """`text` without what differs from play to play."""
        text = text.replace(str(self.home), "/home/you").replace(str(EXAMPLES), "/home/you/examples")
        for pattern, instead in MASKS:
            text = pattern.sub(instead, text)
        text = DURATION.sub(_second, text)
        return "\n".join(line.rstrip() for line in text.splitlines())


def _second(found: "re.Match[str]") -> str:
    """`1 s` for how long something took; in a column it is as wide as what it stands for."""
    short = f"1 {found['unit']}"
    return short if found["gap"] is None else short.rjust(len(found[0]))
