"""Branches of relay sessions: one that a person moved, has checked out or made stays where it is, whatever its name."""

import subprocess
from pathlib import Path
from typing import Any

from nobrakes.git.workspaces.make import RelayClones


def test_only_what_is_missing_or_was_left_by_us_is_written(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()

    def git(*words: str, at: Path = theirs) -> str:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        return subprocess.run(["git", *who, *words], cwd=at, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "Begin")
    clones = RelayClones(str(theirs), str(tmp_path / "relays"))
    start = clones.start()

    def hand_back(session: int, turn: int, last: str = "") -> Any:
        for command in clones.making(session, start, "Session"):
            subprocess.run(command.argv if hasattr(command, "argv") else command, check=True)
        git("commit", "-q", "--allow-empty", "-m", f"Turn {turn}", at=tmp_path / "relays" / str(session))
        return clones.hand_back(session, turn, start, last)

    first = hand_back(1, 1)
    assert first.branch == "relay/1" and git("rev-parse", "relay/1") == first.head
    git("branch", "-f", "relay/1", start)  # a person moved it
    git("checkout", "-q", "-b", "relay/1-2")  # and has the next name checked out
    git("branch", "relay/1-2-2", start)
    second = hand_back(1, 2, first.head)
    assert second.branch == "relay/1-2-3" and git("rev-parse", second.branch) == second.head
    assert {git("rev-parse", name) for name in ("relay/1", "relay/1-2", "relay/1-2-2", "HEAD")} == {start}
    assert clones.hand_back(1, 2, start, first.head) == second, "once more, after a crash: no new name"

    (tmp_path / "relays" / "1" / "loose").write_text("loose\n")
    git("branch", "relay/1-loose", start)
    git("branch", "relay/1-loose-2", start)
    assert clones.remove(1, 2, start, second.head) == "relay/1-loose-2-2"
    assert git("show", "relay/1-loose-2-2:loose") == "loose" and git("rev-parse", "relay/1-loose-2") == start

    for command in clones.making(2, start, "Session"):
        subprocess.run(command.argv if hasattr(command, "argv") else command, check=True)
    git("commit", "-q", "--allow-empty", "-m", "Sneaked", at=tmp_path / "relays" / "2")
    (tmp_path / "relays" / "2" / "loose").write_text("sneaked\n")
    assert clones.clear(2, 1, start) == "relay/2-unapproved", "who only plans hands nothing back"
    assert git("show", "relay/2-unapproved:loose") == "sneaked"
    assert git("log", "-1", "--format=%s", "relay/2-unapproved~1") == "Sneaked"
    assert clones.clear(2, 2, start) == "" and git("branch", "--list", "relay/2") == ""

    git("branch", "relay/3", second.head)
    clones.put_away("tea", "relay/3", start)
    assert git("rev-parse", "relay/3") == second.head, "a person moved it"
    clones.put_away("tea", "relay/3", second.head)
    assert git("for-each-ref", "--format=%(objectname)", "refs/nobrakes/archive/tea/relay-3") == second.head
    assert git("branch", "--list", "relay/3") == ""
    clones.close()
