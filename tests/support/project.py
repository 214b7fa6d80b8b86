"""A real repository with nobrakes in it and a scripted agent, for tests that let real processes work."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from nobrakes.config.user import OVERRIDE
from tests.support import warm
from tests.support.warm import NOBRAKES as NOBRAKES

RUN_TESTS = """
n=0 bad=0
for test in tests/test_*.sh; do
    n=$((n + 1))
    if sh "$test"; then echo "ok $n - $test"; else echo "not ok $n - $test"; bad=1; fi
done
echo "1..$n"
exit $bad
"""


class Project:
    """A repository in `folder` whose checks are shell tests in TAP.

    Without a sandbox, unless one is asked for: the agents of most tests leave signs outside, and their pids. `more` goes
    on in the section `sandbox`. Its agents start on any main, so that checks run when a test says so; what is said of a
    main before is tested with `tries_main`.
    """

    tries_main = False

    def __init__(
        self, folder: Path, agent: list[str], *, doers: int = 3, more: str = "", sandbox: str = "none"
    ) -> None:
        self.folder = folder
        (folder / "tests").mkdir(parents=True)
        (folder / "tests" / "run.sh").write_text(RUN_TESTS)
        (folder / "tests" / "test_begin.sh").write_text("true\n")
        (folder / "shared").write_text("nobody was here\n")
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "You")
        self.git("config", "user.email", "you@example.invalid")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        self.nobrakes("init", "--test", "sh tests/run.sh")
        self.config = folder / ".nobrakes" / "config.toml"
        self.config.write_text(
            f"""
main = "main"
[[checks]]
name = "test"
command = "sh tests/run.sh"
[limits]
doers = {doers}
grace_seconds = 1
[agents]
test_writer = "script"
doer = "script"
[agents.script]
command = {json.dumps(agent)}
[sandbox]
mode = {json.dumps(sandbox)}
{more}
"""
        )

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def nobrakes(self, *arguments: str, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = warm.nobrakes(self.asked(*arguments), self.folder, self.env())
        if expect is not None:
            assert done.returncode == expect, f"{arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done

    def asked(self, *arguments: str) -> list[str]:
        """What is typed: a run starts its agents on any main, unless the project wants it tried."""
        if arguments[:1] == ("run",) and not self.tries_main:
            return ["run", "--red-main", *arguments[1:]]
        return list(arguments)

    def env(self) -> dict[str, str]:
        return {k: v for k, v in os.environ.items() if k == OVERRIDE or not k.startswith("NOBRAKES_")}

    def ask(self, *arguments: str) -> Any:
        return json.loads(self.nobrakes(*arguments, "--json", expect=None).stdout)["data"]

    def plan(self, beads: list[dict[str, Any]]) -> None:
        path = self.folder.parent / "plan.json"
        path.write_text(json.dumps({"beads": beads}))
        self.nobrakes("plan", "apply", str(path), "--live")

    def landed(self) -> dict[str, str]:
        """Commit to bead, for every commit that the run put on main, oldest first."""
        log = self.git("log", "--reverse", "--format=%H %(trailers:key=Bead,valueonly,separator=%x2C)", "main")
        return {line.split()[0]: line.split()[1] for line in log.splitlines() if len(line.split()) == 2}

    def assert_main_is_green_at_every_commit(self, scratch: Path) -> None:
        self.git("clone", "-q", "--shared", str(self.folder), str(scratch))
        for commit in self.landed():
            subprocess.run(["git", "checkout", "-q", commit], cwd=scratch, check=True)
            done = subprocess.run(["sh", "tests/run.sh"], cwd=scratch, capture_output=True, text=True)
            assert done.returncode == 0, f"{commit} fails alone:\n{done.stdout}{done.stderr}"
        self.git("fsck", "--no-dangling", "--no-progress")
        self.nobrakes("verify")

    def orphans(self) -> list[str]:
        """Command lines of living processes that a run of this project started."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environ = Path("/proc", pid, "environ").read_bytes()
                line = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if b"NOBRAKES_RUN=" in environ and str(self.folder).encode() in environ + line.encode():
                found.append(f"{pid}: {line}")
        return found

    def kill_orphans(self, named: str = "") -> list[str]:
        """Kill those of the orphans that have `named` in their command line, and give all; some end by themselves meanwhile."""
        found = self.orphans()
        for line in found:
            if named in line:
                with suppress(ProcessLookupError):
                    os.kill(int(line.split(":")[0]), signal.SIGKILL)
        return found
