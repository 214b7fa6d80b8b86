"""Whoever prunes slowly removes nothing that got its ref meanwhile: it lies in a pack that is held from the first."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from git_worlds import ME, RealWorld, sh, write

from nobrakes.beads.model import Bead
from nobrakes.git import objects, upkeep
from nobrakes.git.location import Place
from nobrakes.git.objects import Objects
from nobrakes.git.port import Candidate, Message

BEAD = {"id": "login", "title": "Login", "type": "task"}
SAID = Message("subject", "", "A <a@x>", 1.0)


def prunes_slowly(world: RealWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each change of our refs git looks what is held, and removes the rest right after it."""
    update, move = objects.update, objects.move

    def between(change: Callable[..., object]) -> Callable[..., object]:
        def changed(*arguments: object) -> object:
            doomed = world.sh("git", "prune", "-n", "--expire=now").split("\n")
            done = change(*arguments)
            for oid in (line.split()[0] for line in doomed if line.strip()):
                Path(world.root, ".git", "objects", oid[:2], oid[2:]).unlink(missing_ok=True)
            world.sh("git", "repack", "-q", "-a", "-d")
            return done

        return changed

    monkeypatch.setattr(objects, "update", between(update))
    monkeypatch.setattr(objects, "move", between(move))


def is_sound(world: RealWorld) -> bool:
    return sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""


@pytest.mark.parametrize("files", [1, 150])
def test_what_is_handed_in_is_held_before_its_ref(
    world: RealWorld, begin: Callable[..., Bead], monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {f"src/{n}.py": f"{n}\n" for n in range(files)})
    prunes_slowly(world, monkeypatch)
    assert world.git.fetch_work(it, 1) == head and world.git.is_whole(head) and is_sound(world)


def test_what_is_made_here_is_held_before_its_ref(
    world: RealWorld, begin: Callable[..., Bead], monkeypatch: pytest.MonkeyPatch
) -> None:
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    write(world.workspace_path(it), {"src/loose.py": "not committed\n"})
    write(world.root, {"other.py": "other\n"})
    world.sh("git", "checkout", "-q", "main")
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-q", "-m", "a person's", env=ME)
    prunes_slowly(world, monkeypatch)
    world.git.fetch_work(it, 1)
    made = world.git.squash(world.git.main(), head, SAID)
    assert isinstance(made, Candidate)
    world.git.pin("candidate/login/review", made.commit)
    world.git.keep_evidence({"version": 1, "kind": "merge", "at": 1.0, "bead": BEAD, "merged": {"commit": made.commit}})
    world.git.retire(it, 1)
    assert world.git.is_whole(made.commit) and is_sound(world)
    assert {ref.rpartition("-")[2] for ref, _ in world.git.archived("login")} == {"branch", "wip"}


def test_a_pack_is_held_for_a_while_and_a_persons_for_ever(world: RealWorld, begin: Callable[..., Bead]) -> None:
    it = begin()
    world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.git.fetch_work(it, 1)
    place = Place(str(world.root), "main")
    theirs = Path(place.objects, "pack", "pack-mine.keep")
    theirs.write_bytes(b"")
    (ours,) = set(theirs.parent.glob("*.keep")) - {theirs}
    upkeep.release(place)
    assert ours.exists(), "its ref may not be there yet"
    for keep in (ours, theirs):
        os.utime(keep, (1, 1))
    upkeep.release(place)
    assert not ours.exists() and theirs.exists()


def test_many_packs_become_few(world: RealWorld, begin: Callable[..., Bead]) -> None:
    place = Place(str(world.root), "main")
    for number in range(upkeep.PACKS + 2):
        commit = sh(world.root, "git", "commit-tree", "main^{tree}", "-p", "main", "-m", str(number), env=ME).strip()
        upkeep.hold(place, Objects(place), [commit], "main")
        world.sh("git", "update-ref", f"refs/nobrakes/archive/{number}", commit)
    assert not upkeep.pack_objects(place), "while they are held, they stay as they are"
    upkeep.release(place, 0.0)
    assert upkeep.pack_objects(place) and len(list(Path(place.objects, "pack").glob("*.pack"))) < 5
    assert is_sound(world)


def holds(place: Place, world: RealWorld, number: int, size: int = 0) -> str:
    """A commit that no ref leads to, with a file of so many random bytes, in a held pack alone."""
    file = Path(world.root, ".git", "made")
    file.write_bytes(os.urandom(size))
    blob = sh(world.root, "git", "hash-object", "-w", str(file)).strip()
    tree = subprocess.run(
        ["git", "mktree"], cwd=world.root, input=f"100644 blob {blob}\tf\n".encode(), capture_output=True, check=True
    ).stdout.decode()
    commit = sh(world.root, "git", "commit-tree", tree.strip(), "-m", str(number), env=ME).strip()
    upkeep.hold(place, Objects(place), [commit], None)
    return commit


def test_packs_that_are_held_become_few_and_whoever_prunes_removes_nothing_of_them(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "HELD_PACKS", 10)
    place = Place(str(world.root), "main")
    folder = Path(place.objects, "pack")
    commits = []
    for number in range(45):
        commits.append(holds(place, world, number))
        assert len(list(folder.glob("*.pack"))) <= 2 * upkeep.HELD_PACKS
        world.sh("git", "prune", "--expire=now")
        world.sh("git", "repack", "-q", "-a", "-d")
        world.sh("git", "gc", "-q", "--prune=now")
        for commit in commits:
            sh(world.root, "git", "cat-file", "-p", f"{commit}:f")
    assert is_sound(world) and all(place.held.has(commit) for commit in commits)


def test_a_large_pack_is_not_written_again_with_the_small_ones(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "HELD_PACKS", 10)
    place = Place(str(world.root), "main")
    holds(place, world, 0, size=200_000)
    (large,) = Path(place.objects, "pack").glob("*.pack")
    for number in range(1, 40):
        holds(place, world, number)
    assert large.exists() and len(list(large.parent.glob("*.pack"))) < 15


def test_held_packs_stay_as_they_are_where_one_cannot_be_read(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "HELD_PACKS", 10)
    place = Place(str(world.root), "main")
    commits = [holds(place, world, 0)]
    (bad,) = Path(place.objects, "pack").glob("*.pack")
    bad.chmod(0o600)
    bad.write_bytes(b"garbage")
    commits += [holds(place, world, number) for number in range(1, 25)]
    assert bad.read_bytes() == b"garbage"
    for commit in commits[1:]:
        sh(world.root, "git", "cat-file", "-p", f"{commit}:f")


@pytest.mark.parametrize("how", [(), ("--bitmap",)])
def test_packs_that_a_persons_index_of_many_lists_stay(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: tuple[str, ...]
) -> None:
    monkeypatch.setattr(upkeep, "HELD_PACKS", 10)
    place = Place(str(world.root), "main")
    for number in range(8):
        world.sh("git", "update-ref", f"refs/heads/b{number}", holds(place, world, number))
    world.sh("git", "multi-pack-index", "write", *how)
    for number in range(8, 25):
        holds(place, world, number)
    sh(world.root, "git", "multi-pack-index", "verify")
    sh(world.root, "git", "clone", "-q", "--bare", "--no-local", str(world.root), str(tmp_path / "copy"))


def test_packs_stay_where_such_an_index_comes_while_they_are_combined(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "HELD_PACKS", 10)
    place = Place(str(world.root), "main")
    for number in range(9):
        holds(place, world, number)
    run = place.run

    def meanwhile(arguments: list[str], **more: Any) -> object:
        found = run(arguments, **more)
        if "--stdin-packs" in arguments:
            world.sh("git", "multi-pack-index", "write")
        return found

    monkeypatch.setattr(place, "run", meanwhile)
    holds(place, world, 9)
    assert Path(place.objects, "pack", "multi-pack-index").exists()
    sh(world.root, "git", "multi-pack-index", "verify")


def test_a_pack_that_another_person_holds_for_themselves_stops_nothing(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "HELD_PACKS", 10)
    place = Place(str(world.root), "main")
    theirs = Path(place.objects, "pack", "pack-1.keep")
    theirs.touch()

    def opened(path: str, *more: Any) -> Any:
        if path == str(theirs):
            raise PermissionError(13, "Permission denied", path)
        return open(path, *more)

    monkeypatch.setattr(upkeep, "open", opened, raising=False)  # root may read it
    for number in range(15):
        holds(place, world, number)
    upkeep.release(place, 0.0)
    assert [*theirs.parent.glob("*.keep")] == [theirs] and len([*theirs.parent.glob("*.pack")]) < 10
