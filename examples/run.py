"""Plays an example from an empty folder to a merged main, and compares the end with what the example expects.

    python3 examples/run.py existing [FOLDER]

It types the commands that a person would type, shows them, and plays the person at the Decision Desk as the
example's scenario.toml says. Where there is a sandbox the agents work in it, and read the example's files there.
`nobrakes` is taken from beside this Python, else from PATH. `nobrakes demo` plays the example `library`.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from pathlib import Path
from typing import TextIO

EXAMPLES = Path(__file__).resolve().parent
NOBRAKES = shutil.which("nobrakes", path=os.path.dirname(sys.executable)) or "nobrakes"
NEEDS_A_PERSON = 40


class Example:
    """One example, played in one folder."""

    def __init__(self, name: str, folder: Path, out: TextIO = sys.stdout) -> None:
        self.out = out
        self.source = EXAMPLES / name
        self.folder = folder
        text = (self.source / "scenario.toml").read_text()
        self.scenario = tomllib.loads(text)
        self.waited_for = set(re.findall(r"wait-for (\S+)", text))
        self.told = Path(tempfile.mkdtemp(prefix="nobrakes-told-"))

    def say(self, text: str) -> None:
        print(text, file=self.out, flush=True)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout

    def nobrakes(self, *arguments: str, expect: tuple[int, ...] = (0,)) -> int:
        """Run a command in sight; its exit code."""
        self.say(f"\n$ nobrakes {shlex.join(arguments)}")
        code = subprocess.run([NOBRAKES, *arguments], cwd=self.folder, stdout=self.out).returncode
        if code not in expect:
            sys.exit(f"nobrakes {arguments[0]} ended with {code}, not with {expect}")
        return code

    def ask(self, *arguments: str):
        """The data that a command gives as JSON."""
        done = subprocess.run([NOBRAKES, *arguments, "--json"], cwd=self.folder, capture_output=True, text=True)
        return json.loads(done.stdout)["data"]

    def begin(self) -> None:
        """A repository with what the example starts from, and nobrakes in it."""
        self.say(f"# {self.source.name}: a new repository in {self.folder}")
        if (self.source / "repository").is_dir():
            shutil.copytree(self.source / "repository", self.folder, dirs_exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "You")
        self.git("config", "user.email", "you@example.invalid")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")
        self.nobrakes("init", *self.scenario.get("init", {}).get("arguments", []))
        config = self.folder / ".nobrakes" / "config.toml"
        config.write_text(self.with_agents(config.read_text()))
        self.nobrakes("plan", "apply", str(self.source / "plan.yaml"))
        self.nobrakes("commit-strategy", "--yes")
        for bead in self.scenario.get("human", {}).get("cancel", []):
            self.nobrakes("cancel", bead, "--reason", "not now")

    def with_agents(self, text: str) -> str:
        """The config with the scripted agent in every role: its commented-out defaults, set."""
        command = json.dumps([sys.executable, str(EXAMPLES / "agent.py"), str(self.source), str(self.told)])
        seen = json.dumps([str(EXAMPLES), str(self.told)])
        for default, wanted in (
            ("doers = 4", "doers = 3"),
            ('test_writer = "claude"', 'test_writer = "script"'),
            ('doer = "claude"', 'doer = "script"'),
            ("command = []", f"command = {command}"),
            ("read = []", f"read = {seen}"),
        ):
            if f"# {default}\n" not in text:
                sys.exit(f"config.toml does not show its default: {default}")
            text = text.replace(f"# {default}\n", f"{wanted}\n")
        return text

    def decide(self) -> None:
        """What the person does at the Decision Desk."""
        human = self.scenario.get("human", {})
        for item in self.ask("escalations"):
            number, kind = str(item["id"]), item["type"]
            self.nobrakes("escalation", number)
            if kind == "question":
                self.nobrakes("answer", number, human["answer"])
            else:
                self.nobrakes("resolve", number, f"--{human.get(kind, 'retry')}")

    def tell(self, ended: threading.Event) -> None:
        """Tell the agents how far the beads are that one of them waits for: in a sandbox they cannot ask."""
        while self.waited_for and not ended.wait(0.2):
            for bead in self.waited_for:
                new = self.told / f".{bead}"
                new.write_text(self.ask("show", bead)["status"])
                new.replace(self.told / bead)

    def run(self) -> int:
        """`nobrakes run`; its exit code."""
        ended = threading.Event()
        telling = threading.Thread(target=self.tell, args=(ended,))
        telling.start()
        try:
            return self.nobrakes("run", expect=(0, NEEDS_A_PERSON))
        finally:
            ended.set()
            telling.join()

    def play(self) -> None:
        """Run, decide, run again, until nothing waits for anybody."""
        for _ in range(10):
            code = self.run()
            if not self.ask("escalations"):
                break
            self.decide()
        if code != 0:
            sys.exit("the beads are not all done")
        self.nobrakes("board")

    def compare(self) -> None:
        """Whether it came out as the example says."""
        expected = self.scenario["expect"]
        beads = self.ask("list")
        done = [b["id"] for b in beads if b["status"] == "done"]
        merged = [line for line in self.git("log", "--format=%(trailers:key=Bead,valueonly)").split() if line]
        kinds = sorted(item["type"] for item in self.ask("escalations", "--all"))
        faults = []
        for what, want, got in (
            ("beads done", expected["done"], len(done)),
            ("beads merged", expected["merged"], len(merged)),
            ("merged once each", len(set(merged)), len(merged)),
            ("escalations", sorted(expected.get("escalations", [])), kinds),
            ("main is clean", "", self.git("status", "--porcelain", "--untracked-files=no")),
        ):
            self.say(f"{'ok  ' if want == got else 'WRONG'} {what}: {got}")
            if want != got:
                faults.append(what)
        self.git("fsck", "--no-dangling")
        if faults:
            sys.exit("these results are not as expected: " + ", ".join(faults))
        self.say(f"\n{self.source.name} is built: {len(merged)} beads on main, in {self.folder}")
        self.merged = merged

    def look(self) -> str:
        """What a person looks at next, as they type it."""
        bead = self.scenario.get("look", {}).get("bead") or self.ask("list")[0]["id"]
        command = shlex.quote(NOBRAKES)
        lines = ["The new repository stays in this folder. To inspect it, type:"]
        lines += ["", f"  cd {shlex.quote(str(self.folder))}"]
        for words, why in (
            ("status", "the state of all work"),
            (f"history {bead}", "the whole life of one bead"),
            ("board", "all beads, in columns"),
            ("web", "the same in a browser; Ctrl-C stops the server"),
        ):
            lines.append(f"  {command} {words:<{len(bead) + 8}}  # {why}")
        return "\n".join(lines)


def play(name: str, folder: Path, out: TextIO) -> Example:
    """Play the example in an empty folder. OSError: the folder will not do; SystemExit says what else went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    example = Example(name, folder.resolve(), out)
    try:
        example.begin()
        example.play()
        example.compare()
        return example
    except KeyboardInterrupt:
        example.say(f"\nThe example was interrupted. Its repository stays in {folder}.")
        sys.exit(130)
    finally:
        shutil.rmtree(example.told)


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "library"
    if not (EXAMPLES / name / "plan.yaml").is_file():
        sys.exit(f"no example is called {name}")
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix=f"nobrakes-{name}-"))
    try:
        print(play(name, folder, sys.stdout).look())
    except FileExistsError as error:
        sys.exit(f"{error}. Name a new folder.")


if __name__ == "__main__":
    main()
