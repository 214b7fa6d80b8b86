"""Refs of nobrakes that lead nowhere are named, and what a workspace still has is fetched again over them."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from git_worlds import RealWorld, sh

from nobrakes.beads.model import Bead
from nobrakes.daemon.worker import recovery
from nobrakes.doctor import service as doctor
from nobrakes.doctor.service import _refs
from nobrakes.errors import RefsBroken

GONE = "99ceaa486673dc2bb265dfbc1fc7a61bf6ffaef8"
FORMS = {
    "empty": b"",
    "garbage": b"\xff\x00 what a power cut left",
    "zeros": b"\0" * 41,
    "gone": f"{GONE}\n".encode(),
    "short": f"{GONE[:12]}\n".encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_hand_in_is_fetched_again_over_a_broken_ref(world: RealWorld, begin: Callable[..., Bead], form: str) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    assert world.git.broken_refs() == [] and list(_refs(world.git)) == []
    file = Path(world.root, ".git", "refs", "nobrakes", "incoming", "login", "1")
    file.parent.mkdir(parents=True)
    file.write_bytes(FORMS[form])
    (broken,) = world.git.broken_refs()
    assert broken.ref == "refs/nobrakes/incoming/login/1" and broken.why
    (found,) = _refs(world.git)
    assert broken.ref in found.text and "nobrakes run" in found.text
    assert world.git.fetch_work(it, 1) == head
    assert world.git.broken_refs() == [] and sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""


@pytest.mark.parametrize("form", FORMS)
def test_a_broken_ref_can_be_removed(world: RealWorld, form: str) -> None:
    file = Path(world.root, ".git", "refs", "nobrakes", "candidate", "login", "review")
    file.parent.mkdir(parents=True)
    file.write_bytes(FORMS[form])
    world.git.pin("candidate/login/review", None)
    assert world.git.broken_refs() == [] and not file.exists()


def lose(world: RealWorld, *commits: str, beside: int = 0) -> None:
    """What these commits have beyond main is gone from the repository and from no other place, but for the first few."""
    packs = list(Path(world.root, ".git", "objects", "pack").iterdir())
    held = Path(world.root.parent, "held")
    held.mkdir(exist_ok=True)
    for file in packs:
        file.rename(held / file.name)
    for pack in held.glob("*.pack"):
        subprocess.run(["git", "unpack-objects", "-q"], cwd=world.root, check=True, stdin=pack.open())
    listed = world.sh("git", "rev-list", "--objects", *commits, "^main").splitlines()[beside:]
    for oid in (line.split()[0] for line in listed):
        Path(world.root, ".git", "objects", oid[:2], oid[2:]).unlink()


def restored(world: RealWorld) -> list[bool]:
    return [world.git.restore(one) for one in world.git.broken_refs(in_depth=True)]


@pytest.mark.parametrize("beside", [0, 1], ids=["all of it", "its files alone"])
def test_archived_work_is_fetched_again_from_its_workspace(
    world: RealWorld, begin: Callable[..., Bead], beside: int
) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    (ref,) = world.git.archive(it, 1)
    lose(world, head, beside=beside)
    (found,) = _refs(world.git)
    assert ref in found.text and "workspaces/login still has the commit" in found.text and found.repair == "refs"
    assert restored(world) == [True] and world.git.is_whole(head)
    assert world.git.broken_refs(in_depth=True) == [] and list(_refs(world.git)) == []
    assert sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""


def test_a_start_and_a_repair_fetch_it_again_and_say_so(world: RealWorld, begin: Callable[..., Bead]) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    (ref,) = world.git.archive(it, 1)
    told: list[str] = []
    ports: Any = SimpleNamespace(git=world.git, notifier=SimpleNamespace(tell=lambda notice: told.append(notice.text)))
    for _ in range(2):
        recovery.restore(ports)
    assert told == []
    lose(world, head)
    recovery.restore(ports)
    assert [ref in text and "workspaces/login" in text for text in told] == [True] and world.git.is_whole(head)
    lose(world, head, beside=1)
    (line,) = doctor.repair("refs", None, world.git, world.paths)  # type: ignore[arg-type]
    assert f"{ref} is repaired" in line and world.git.is_whole(head)
    assert doctor.repair("refs", None, world.git, world.paths) == ["no workspace has the commit of a broken git ref"]  # type: ignore[arg-type]


def test_archived_work_is_fetched_again_from_whatever_workspace_has_it(
    world: RealWorld, begin: Callable[..., Bead]
) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.git.archive(it, 1)
    lose(world, head)
    path = Path(world.workspace_path(it))
    path.rename(path.with_name("login.broken1"))
    begin("other")
    assert restored(world) == [True] and world.git.is_whole(head)


def test_what_was_not_committed_is_archived_again_from_the_files(world: RealWorld, begin: Callable[..., Bead]) -> None:
    it = begin()
    world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.write_in_workspace(it, {"src/b.py": "b\n"})
    refs = world.git.archive(it, 1)
    assert [ref.rpartition("/")[2] for ref in refs] == ["1-branch", "1-wip"]
    lose(world, *refs)
    assert [found.repair for found in _refs(world.git)] == ["refs", "refs"]
    assert restored(world) == [True, True] and world.git.broken_refs(in_depth=True) == []


def test_what_is_in_no_workspace_is_said_to_be_lost(world: RealWorld, begin: Callable[..., Bead]) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.git.retire(it, 3)
    begin("other")
    lose(world, head)
    assert restored(world) == [False]
    (found,) = _refs(world.git)
    assert found.level == "error" and not found.repair
    assert "lost: what was committed for login" in found.text and head[:12] in found.text


def test_workspaces_that_lie_bring_nothing_back(world: RealWorld, begin: Callable[..., Bead]) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.git.archive(it, 1)
    lose(world, head)
    other = Path(world.workspace_path(begin("other")))
    (other / ".git" / "objects" / "info" / "alternates").write_text(f"{world.workspace_path(it)}/.git/objects\n")
    Path(world.workspace_path(it), ".git", "objects", head[:2], head[2:]).unlink()
    assert restored(world) == [False] and not world.git.is_whole(head)


def test_evidence_that_is_gone_is_said_to_be_lost(world: RealWorld) -> None:
    bead = {"id": "login", "title": "Login", "type": "task"}
    record = {"version": 1, "kind": "merge", "at": 1000.0, "bead": bead, "merged": {"commit": GONE}}
    tip = world.git.keep_evidence(record)
    lose(world, tip)
    (found,) = _refs(world.git)
    assert "lost: the records of merges" in found.text and tip[:12] in found.text and "nobrakes verify" in found.text
    assert restored(world) == [False]


def test_what_was_archived_is_listed_beside_a_ref_whose_commit_is_gone(
    world: RealWorld, begin: Callable[..., Bead]
) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.git.retire(it, 1)
    whole = world.git.archived()
    assert head in {commit for _, commit in whole}
    for name, text in (("archive/login/0-gone", f"{GONE}\n"), ("archive/login/0-torn", "")):
        Path(world.root, ".git", "refs", "nobrakes", name).write_text(text)
    assert world.git.archived() == whole and world.git.archived(it.id) == whole


@pytest.mark.parametrize("line", ["what a power cut left", f"{GONE}"])
def test_a_broken_line_of_packed_refs_is_named_with_the_way_out(world: RealWorld, line: str) -> None:
    sh(world.root, "git", "pack-refs", "--all")
    file = Path(world.root, ".git", "packed-refs")
    file.write_text(file.read_text() + f"{line}\n")
    with pytest.raises(RefsBroken) as met:
        world.git.archived()
    assert line in str(met.value) and "packed-refs" in str(met.value)
    assert "cp " in met.value.hint and "rm " not in met.value.hint
    assert any("packed-refs" in found.text and "cp " in found.text for found in _refs(world.git))
