"""Two clones of a repository, each with a database: what one commits, the other does not lose without a word."""

import subprocess
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

pytestmark = [pytest.mark.slow]


def test_commit_strategy_names_the_beads_of_another_clone(tmp_path: Path) -> None:
    first = Scripted(tmp_path / "first")
    first.git("add", "-A")
    first.git("commit", "-q", "-m", "Set up nobrakes")
    first.add("a1", "m1", "m2", "m3")
    first.nobrakes("commit-strategy")
    second = Scripted.__new__(Scripted)
    second.folder, second.book = tmp_path / "second", first.book
    subprocess.run(["git", "clone", "-q", str(first.folder), str(second.folder)], check=True)
    second.git("config", "user.name", "Other")
    second.git("config", "user.email", "other@example.invalid")
    second.nobrakes("add", "A bead of the second clone", "--id", "z9")
    assert "another clone" not in second.nobrakes("commit-strategy").stdout
    first.nobrakes("edit", "a1", "--title", "Another title")
    assert "another clone" not in first.nobrakes("commit-strategy").stdout
    first.git("pull", "-q", "--no-rebase", "--no-edit", str(second.folder), "main")
    assert '"z9"' in first.git("show", "main:.nobrakes/beads.jsonl")
    first.nobrakes("edit", "a1", "--title", "A third title")
    said = first.nobrakes("commit-strategy").stdout
    assert "main's snapshot had changes of another clone, and the new one does not: z9" in said
    [command] = [line.partition(": git ")[2] for line in said.splitlines() if line.startswith("to see theirs: ")]
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text(first.git(*command.split()))
    first.nobrakes("plan", "apply", str(theirs))
    assert first.show("z9")["title"] == "A bead of the second clone"
