"""Kills processes of real agents' runs at random moments, until so many are killed and all work is on main.

    python killer.py SPEC      in the repository, with {"nobrakes", "kills", "seed", "seconds"}; prints what it saw

1. The CLIs are taken in turn; each kill is of one kind, after a random while. What is to be done comes up as needed.
2. After each kill, what must hold at any moment is looked at: no process of a run that the store does not know.
3. It kills only what carries the mark of a run of this repository, and its own daemon.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

TYPES = {"claude": "feature", "codex": "fix", "gemini": "task"}
"""CLI to the type of bead that it works on."""
KINDS = ("cli", "child", "wrapper", "daemon", "group", "everything")


class Killer:
    """One repository, its daemon, and who kills."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.nobrakes: str = spec["nobrakes"]
        self.rng = random.Random(spec["seed"])
        self.until = time.monotonic() + spec["seconds"]
        self.state = Path(".nobrakes").absolute()
        self.daemon: subprocess.Popen[bytes] | None = None
        self.kills: Counter[str] = Counter()
        self.orphans: list[str] = []
        self.beads = 0

    # --- looking -------------------------------------------------------------------------------------

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with sqlite3.connect(f"file:{self.state}/nobrakes.db?mode=ro", uri=True, timeout=30) as db:
            return db.execute(sql, values).fetchall()

    def marked(self) -> dict[int, str]:
        """Living processes to the run whose mark they carry."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environ = Path("/proc", pid, "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            run = next((word[13:] for word in environ if word.startswith(b"NOBRAKES_RUN=")), None)
            if run is not None and f"NOBRAKES_HOME={self.state}".encode() in environ and lives(int(pid)):
                found[int(pid)] = run.decode()
        return found

    def look_for_orphans(self) -> None:
        seen = self.marked()
        known = {row[0] for row in self.ask("SELECT id FROM runs")}
        for pid, run in seen.items():
            if run.rpartition("/")[2] not in known and run not in known and lives(pid):
                self.orphans.append(f"{pid} of {run}: {words(pid)}")

    # --- the daemon ----------------------------------------------------------------------------------

    def keep_running(self) -> None:
        if self.daemon is None or self.daemon.poll() is not None:
            with open("../daemon.out", "ab") as out:
                self.daemon = subprocess.Popen([self.nobrakes, "run"], stdout=out, stderr=out)

    def give_work(self, cli: str) -> None:
        """See to it that a bead of this CLI waits or is worked on."""
        self.hurry()
        if self.ask("SELECT 1 FROM beads WHERE type = ? AND status IN ('needs_doer', 'doing')", TYPES[cli]):
            return
        self.beads += 1
        bead = {"id": f"b{self.beads}", "title": f"Bead {self.beads}", "type": TYPES[cli], "needs_tests": False}
        Path("../more.json").write_text(json.dumps({"beads": [bead]}))
        subprocess.run([self.nobrakes, "plan", "apply", "../more.json", "--live"], check=True, capture_output=True)

    def hurry(self) -> None:
        """What waits after a fault of the machine comes at once: waiting is tested elsewhere."""
        asked = self.ask("SELECT id FROM escalations WHERE resolved_at IS NULL")
        waits = self.ask("SELECT 1 FROM beads WHERE retry_at IS NOT NULL AND retry_at > ?", time.time())
        if not asked and not waits:
            return
        for (number,) in asked:
            subprocess.run([self.nobrakes, "resolve", str(number), "--retry"], capture_output=True)
        with sqlite3.connect(self.state / "nobrakes.db", timeout=30) as db:
            db.execute("UPDATE beads SET retry_at = 1 WHERE retry_at IS NOT NULL")
        subprocess.run([self.nobrakes, "set", "doers=3"], capture_output=True)  # it wakes the daemon

    # --- killing -------------------------------------------------------------------------------------

    def at_work(self, cli: str) -> tuple[str, int]:
        """(run, pid of its wrapper) of an agent of this CLI that has begun to live."""
        sql = """SELECT runs.id, runs.pid FROM runs JOIN attempts ON attempts.id = runs.attempt
                 WHERE attempts.agent = ? AND runs.kind = 'agent' AND runs.pid IS NOT NULL AND runs.term_at IS NULL"""
        while True:
            self.in_time()
            self.keep_running()
            for run, pid in self.ask(sql, cli):
                if lives(pid):
                    return run, pid
            self.give_work(cli)
            time.sleep(0.05)

    def kill(self, cli: str) -> None:
        run, wrapper = self.at_work(cli)
        time.sleep(self.rng.uniform(0, 5))
        kind = self.rng.choice(KINDS)
        whole = [pid for pid, marked in self.marked().items() if marked == run or marked.endswith("/" + run)]
        if not whole:
            return  # it has ended meanwhile
        try:
            if kind == "daemon":
                assert self.daemon is not None
                self.daemon.kill()
                self.daemon.wait()
            elif kind == "group":
                os.killpg(os.getpgid(wrapper), signal.SIGTERM)
            else:
                below = [pid for pid in whole if pid != wrapper]
                of_cli = [pid for pid in below if f"/{cli}" in words(pid) and "recorder" not in words(pid)]
                children = [pid for pid in below if pid not in of_cli]
                picked = {"cli": of_cli[:1], "child": children, "wrapper": [wrapper], "everything": whole}[kind]
                for pid in picked if kind == "everything" else [self.rng.choice(picked or whole)]:
                    os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.kills[f"{cli} {kind}"] += 1

    def in_time(self) -> None:
        if time.monotonic() > self.until:
            raise SystemExit(f"it takes too long: {self.told()}")

    # --- the end -------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let all be done that is begun, and nothing be killed any more."""
        while self.ask("SELECT 1 FROM beads WHERE status <> 'done'"):
            self.in_time()
            self.keep_running()
            self.hurry()
            time.sleep(0.3)
        self.end_daemon()

    def end_daemon(self) -> None:
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait(60)
        self.daemon = None

    def told(self) -> dict[str, Any]:
        rows = self.ask("SELECT bead, agent, outcome, data FROM attempts WHERE role <> 'reviewer' ORDER BY id")
        attempts = [(bead, agent, outcome, json.loads(data)) for bead, agent, outcome, data in rows]
        held = "SELECT provider_session, bead FROM attempts JOIN sessions ON sessions.id = attempts.session"
        return {
            "kills": dict(sorted(self.kills.items())),
            "beads": dict(self.ask("SELECT id, status FROM beads")),
            "outcomes": dict(Counter(f"{agent} {outcome}" for _, agent, outcome, _ in attempts)),
            "resumed": dict(Counter(agent for _, agent, _, data in attempts if data.get("resumes"))),
            "sessions": [*map(tuple, self.ask(f"{held} ORDER BY attempts.id"))],
            "orphans": self.orphans,
        }


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:300]
    except OSError:
        return ""


def main(spec: dict[str, Any]) -> int:
    """Kill, settle, tell."""
    config = Path(".nobrakes/config.toml")
    config.write_text(config.read_text().replace("PORT", os.environ["NB_PORT"]))
    killer = Killer(spec)
    clis = [cli for cli in TYPES if cli in spec["clis"]]
    try:
        while (so_far := killer.kills.total()) < spec["kills"]:
            killer.kill(clis[so_far % len(clis)])
            killer.look_for_orphans()
        killer.settle()
        killer.look_for_orphans()
    finally:
        killer.end_daemon()
        for pid in killer.marked():  # what is left is told, and does not outlive the test
            killer.orphans.append(f"{pid} at the end: {words(pid)}")
            os.kill(pid, signal.SIGKILL)
        print(json.dumps(killer.told()))
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text())))
