"""Relay sessions over many repositories, while their daemon is killed at random: none mixed, none lost, none run twice.

NOBRAKES_RELAYS is how many sessions there are (6, over half as many repositories; 60 over ten is the whole proof).
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from nobrakes.config.user import OVERRIDE
from tests.support.warm import NOBRAKES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")]
SESSIONS = int(os.environ.get("NOBRAKES_RELAYS", "6"))
REPOSITORIES = max(3, SESSIONS // 6)
SEED = int(os.environ.get("NOBRAKES_RELAYS_SEED", "7"))
AGENT = """#!/bin/sh
key=$(sed -n 's/.*key-\\([0-9]*\\)-of-\\([0-9]*\\).*/\\1 \\2/p' "$NOBRAKES_PROMPT" | head -1)
set -- $key
echo "begun $1 in $(cat which)"
sleep "0.$(( $1 % 7 ))"
echo "$1" >>"done-$1" && git add "done-$1" && git commit -qm "Session $1 of repository $2"
echo "I did $1."; echo "NOBRAKES: COMPLETED"
"""


class Person:
    """Somebody with several repositories, and one daemon of their own for all relay sessions in them."""

    def __init__(self, tmp_path: Path) -> None:
        self.own, self.away = tmp_path / "own", tmp_path / "away"
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith("NOBRAKES_")}, OVERRIDE: str(self.own)}
        self.away.mkdir()
        self.repositories = [tmp_path / f"repository-{number}" for number in range(REPOSITORIES)]
        self.home = self.own / "state" / "home" / ".nobrakes"

    def git(self, root: Path, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, *words: str) -> Any:
        done = subprocess.run([NOBRAKES, *words, "--json"], cwd=self.away, env=self.env, capture_output=True, text=True)
        found = json.loads(done.stdout)
        return found.get("data") if found["ok"] else found["error"]

    def begin(self, agent: Path) -> None:
        for number, root in enumerate(self.repositories):
            root.mkdir()
            self.git(root, "init", "-q", "-b", "main")
            if number == 0:
                assert self.ask("relay", str(root), "Go")["name"] == "NoMain", "and the person's own place is made"
            (root / "which").write_text(f"{number}\n")
            self.git(root, "add", "-A")
            self.git(root, "commit", "-qm", "Begin")
            (root / "mine").write_text("not committed\n")
        config = self.home / "config.toml"
        more = f"sessions = 6\n[agents.script]\ncommand = {json.dumps(['sh', str(agent)])}\n"
        config.write_text(f"{config.read_text()}\n{more}[sandbox]\nread = {json.dumps([str(agent.parent)])}\n")

    def looks(self, root: Path) -> tuple[str, str, bytes]:
        """What a person sees of the checkout."""
        return (
            self.git(root, "symbolic-ref", "HEAD") + self.git(root, "rev-parse", "HEAD"),
            self.git(root, "status", "--porcelain"),
            (root / "mine").read_bytes(),
        )


def test_none_is_mixed_none_is_lost_and_none_is_run_twice(tmp_path: Path) -> None:
    chance, person = random.Random(SEED), Person(tmp_path)
    agent = tmp_path / "agent" / "agent.sh"
    agent.parent.mkdir()
    agent.write_text(AGENT)
    person.begin(agent)
    before = {root: person.looks(root) for root in person.repositories}
    wanted: dict[int, tuple[int, int, bool]] = {}  # by session: its key, its repository, whether it is in place
    kills = 0
    try:
        for key in range(1, SESSIONS + 1):
            number = key % REPOSITORIES
            in_place = key <= REPOSITORIES and number % 3 == 0  # one a checkout, asked for
            more = ["--in-place"] if in_place else []
            prompt = f"key-{key}-of-{number}: do it"
            made = person.ask("relay", str(person.repositories[number]), prompt, "--agent", "script", *more)
            assert "session" in made, made
            wanted[made["session"]["id"]] = (key, number, in_place)
            if chance.random() < 0.7:
                time.sleep(chance.random())
                kills += _kill(person)
        deadline = time.monotonic() + 60 + 10 * SESSIONS
        while person.ask("sessions", "--user") and not _all_ask(person, len(wanted)):
            assert time.monotonic() < deadline, person.ask("sessions", "--user")
            if kills < SESSIONS and chance.random() < 0.3:
                kills += _kill(person)
            person.ask("daemon", "start", "--user")
            time.sleep(0.3)
        assert kills, "nobody was killed: this proves nothing"
        for session, (key, number, in_place) in wanted.items():
            found = person.ask("relay", "--session", str(session), "--user")
            root = person.repositories[number]
            assert found["repository"] == str(root) and found["branch"] == f"relay/{session}"
            assert [subject for _, subject in found["commits"]] == [f"Session {key} of repository {number}"]
            assert found["files"] == [["A", f"done-{key}"]]
            assert person.git(root, "show", f"relay/{session}:done-{key}") == f"{key}\n", "and it was done once"
            assert found["last_words"] == f"begun {key} in {number}\nI did {key}.", "it looked at its own repository"
            head, status, mine = person.looks(root)
            assert mine == before[root][2]
            if in_place:
                assert head.startswith(f"refs/heads/relay/{session}\n") and status == "?? mine\n"
        asked_for = {number for _, number, in_place in wanted.values() if in_place}
        for number, root in enumerate(person.repositories):
            branches = {f"relay/{session}" for session, (_, where, _) in wanted.items() if where == number}
            names = set(person.git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads").split())
            assert names == {"main", *branches}, "each branch is in its own repository, and no other one"
            if number not in asked_for:
                assert person.looks(root) == before[root], "no checkout changes unasked"
    finally:
        person.ask("daemon", "stop", "--user")
    print(f"{SESSIONS} sessions over {REPOSITORIES} repositories, {kills} kills (seed {SEED})")


def _all_ask(person: Person, count: int) -> bool:
    found = person.ask("sessions", "--user")
    assert not [one for one in found if one["state"] == "stuck"], found
    return len(found) == count and all(one["state"] == "asking" for one in found)


def _kill(person: Person) -> int:
    """Kill the daemon with -9; how many were killed."""
    pid = person.ask("daemon", "status", "--user").get("pid")
    if pid is None:
        return 0
    os.kill(pid, signal.SIGKILL)
    return 1
