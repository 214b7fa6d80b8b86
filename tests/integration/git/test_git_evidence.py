"""The chain of evidence in a real repository: what a record costs, who writes beside whom, and what a kill leaves."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from nobrakes.errors import GitFailed
from nobrakes.git import command_line, objects
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths


def sh(folder: Path, line: str) -> str:
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sh(tmp_path, "git init -q -b main && git -c user.name=You -c user.email=y@x commit -q --allow-empty -m first")
    (tmp_path / ".nobrakes").mkdir()
    return tmp_path


def opened(folder: Path) -> Repository:
    return Repository(Paths(str(folder / ".nobrakes")), "main")


def record(number: int, **fields: Any) -> dict[str, Any]:
    bead = {"id": f"nb-{number}", "title": "A bead", "type": "task"}
    return {"version": 1, "kind": "merge", "at": 1000.0, "bead": bead, "merged": {"commit": f"{number:040x}"}, **fields}


def test_a_record_costs_no_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = opened(folder)
    for number in (0, 1):  # the lasting processes begin with what is asked of them first
        git.keep_evidence(record(number))
    started: list[str] = []
    run = command_line.run
    monkeypatch.setattr(command_line, "run", lambda asked, **rest: started.append(asked[0]) or run(asked, **rest))
    for number in range(2, 6):
        git.keep_evidence(record(number, anchor=git.evidence_tip() if number % 2 else ""))
    assert started == []
    assert len(list(git.evidence())) == 6
    git.close()


def test_two_writers_lose_nothing_of_each_other(folder: Path) -> None:
    one, other = opened(folder), opened(folder)
    kept = [(one if number % 3 else other).keep_evidence(record(number)) for number in range(9)]
    assert [entry.commit for entry in one.evidence()] == kept[::-1]
    assert [(other if number % 2 else one).keep_evidence(record(number)) for number in range(9)] == kept
    one.close(), other.close()


def test_who_loses_the_race_goes_on_from_the_winner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git, other = opened(folder), opened(folder)
    first = git.keep_evidence(record(1))
    move, raced = objects.move, []

    def after_somebody_else(*arguments: Any) -> bool:
        if not raced:
            raced.append(True)
            other.keep_evidence(record(2))
        return move(*arguments)

    monkeypatch.setattr(objects, "move", after_somebody_else)
    mine = git.keep_evidence(record(3))
    assert [entry.bead for entry in git.evidence()] == ["nb-3", "nb-2", "nb-1"] and git.evidence_tip() == mine != first
    git.close(), other.close()


@pytest.mark.parametrize("anchored", [True, False])
def test_what_a_kill_cut_off_becomes_the_same_commit(folder: Path, monkeypatch: Any, anchored: bool) -> None:
    git = opened(folder)
    tip = git.keep_evidence(record(1))
    wanted = record(2, anchor=tip if anchored else "")
    real, written = objects.move, []

    def killed(place: Any, ref: str, new: str, old: str | None) -> bool:
        written.append(new)
        raise KeyboardInterrupt

    monkeypatch.setattr(objects, "move", killed)
    with pytest.raises(KeyboardInterrupt):
        git.keep_evidence(wanted)
    monkeypatch.setattr(objects, "move", real)
    again = opened(folder)
    assert again.evidence_tip() == tip
    assert [again.keep_evidence(wanted)] * 2 == [git.keep_evidence(wanted)] * 2 == written * 2
    git.close(), again.close()


def test_refs_that_were_packed_and_objects_too_are_found(folder: Path) -> None:
    git = opened(folder)
    for number in range(3):
        git.keep_evidence(record(number))
    sh(folder, "git gc -q && git pack-refs --all --prune")
    assert not (folder / ".git" / "refs" / "nobrakes" / "evidence").exists()
    git.keep_evidence(record(3))
    assert [entry.problem() for entry in git.evidence()] == [""] * 4
    assert sh(folder, "git fsck --no-dangling --no-progress") == ""
    git.close()


def test_a_chain_that_somebody_exchanged_is_looked_through_again(folder: Path) -> None:
    git, other = opened(folder), opened(folder)
    git.keep_evidence(record(1))
    git.keep_evidence(record(2))
    sh(folder, "git update-ref -d refs/nobrakes/evidence")
    again = other.keep_evidence(record(2))
    assert git.keep_evidence(record(2)) == again and git.keep_evidence(record(1)) == git.evidence_tip()
    git.close(), other.close()


def test_a_lock_that_lies_there_is_told_and_clear_locks_helps(folder: Path) -> None:
    git = opened(folder)
    git.keep_evidence(record(1))
    (folder / ".git" / "refs" / "nobrakes" / "evidence.lock").write_text("")
    with pytest.raises(GitFailed):
        git.keep_evidence(record(2))
    git.clear_locks()
    assert git.keep_evidence(record(2)) == git.evidence_tip()
    git.close()


def test_git_itself_shows_and_pushes_the_chain(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    git = opened(folder)
    for number in range(3):
        git.keep_evidence(record(number))
    assert sh(folder, "git log --format=%s refs/nobrakes/evidence").splitlines()[0].startswith("nb-2 was merged as")
    assert sh(folder, "git log -1 --format='%(trailers:key=Bead,valueonly)' refs/nobrakes/evidence") == "nb-2"
    shared = tmp_path_factory.mktemp("shared")
    sh(shared, "git init -q --bare")
    sh(folder, f"git push -q {shared} refs/nobrakes/evidence")
    assert sh(shared, "git rev-parse refs/nobrakes/evidence") == git.evidence_tip()
    git.close()


def test_objects_of_the_longer_kind_are_hashed_as_such(tmp_path: Path) -> None:
    sh(tmp_path, "git init -q -b main --object-format=sha256")
    sh(tmp_path, "git -c user.name=You -c user.email=y@x commit -q --allow-empty -m first")
    (tmp_path / ".nobrakes").mkdir()
    git = opened(tmp_path)
    git.keep_evidence(record(1))
    assert [entry.problem() for entry in git.evidence()] == [""] and len(git.evidence_tip() or "") == 64
    git.close()
