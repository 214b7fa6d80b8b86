"""Objects are packed while work goes on: each stays, nobody is disturbed, and what was packed is not packed again."""

import subprocess
import threading
from pathlib import Path

import pytest
from git_worlds import ME, sh, write

from nobrakes.git.upkeep import pack_objects


def objects(root: str) -> set[str]:
    listed = sh(root, "git", "cat-file", "--batch-check=%(objectname)", "--batch-all-objects").split()
    return set(listed)


def loose(root: str) -> int:
    folder = Path(root, ".git", "objects")
    return sum(1 for path in folder.glob("??/*") if path.is_file())


def packs(root: str) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in Path(root, ".git", "objects", "pack").glob("*.pack")}


def fill(world, first: int, count: int) -> None:
    """Files that a person commits there, each in a folder of its own: two objects each, in files of their own."""
    world.sh("git", "checkout", "-q", "main")
    write(world.root, {f"d{n}/f.py": f"{n}\n" for n in range(first, first + count)})
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-q", "-m", f"{first}", env=ME)
    world.sh("git", "checkout", "-q", "--detach")


def test_every_object_stays_also_one_that_no_ref_leads_to(world, begin) -> None:
    fill(world, 0, 60)
    lost = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], input=b"no ref leads here\n", cwd=world.root, capture_output=True
    ).stdout.decode()
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    before = objects(world.root)
    assert not pack_objects(world.git.place, 10_000) and loose(world.root) > 100, "they are few"
    assert pack_objects(world.git.place, 100)
    assert objects(world.root) == before and lost.strip() in before
    assert loose(world.root) == 0 and len(packs(world.root)) == 1
    assert sh(world.workspace_path(it), "git", "status", "--short") == "", "a clone borrows from what was packed"
    assert world.git.fetch_work(it, 1) == head
    assert sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""


def test_what_was_packed_is_not_written_again_for_a_few_new_ones(world) -> None:
    fill(world, 0, 300)
    assert pack_objects(world.git.place, 100)
    large = packs(world.root)
    for part in range(6):
        fill(world, 1000 + part * 20, 20)
        assert pack_objects(world.git.place, 10)
        assert large.items() <= packs(world.root).items(), "the large one stays as it is"
    assert len(packs(world.root)) <= 3 and loose(world.root) == 0


@pytest.mark.parametrize("why", ["gc.auto=0", "promised", "borrowed"])
def test_it_is_left_to_people_where_they_said_so_and_where_objects_lie_elsewhere(world, tmp_path: Path, why) -> None:
    fill(world, 0, 60)
    if why == "gc.auto=0":
        world.sh("git", "config", "gc.auto", "0")
    elif why == "promised":
        world.sh("git", "config", "core.repositoryFormatVersion", "1")
        world.sh("git", "config", "extensions.partialClone", "origin")
    else:
        other = tmp_path / "other"
        sh(tmp_path, "git", "init", "-q", str(other))
        Path(world.root, ".git", "objects", "info", "alternates").write_text(f"{other}/.git/objects\n")
    count = loose(world.root)
    assert not pack_objects(world.git.place, 100) and loose(world.root) == count


def test_an_object_that_cannot_be_read_stays_where_it_is_and_troubles_nobody(world) -> None:
    fill(world, 0, 60)
    oid = world.sh("git", "rev-parse", "main:d7/f.py").strip()
    bad = Path(world.root, ".git", "objects", oid[:2], oid[2:])
    bad.chmod(0o600)
    bad.write_bytes(b"garbage")
    before = objects(world.root)
    pack_objects(world.git.place, 100)
    assert bad.read_bytes() == b"garbage" and objects(world.root) == before


def test_work_comes_in_while_others_pack(world, begin) -> None:
    fill(world, 0, 200)
    stop, troubles, done = threading.Event(), list[BaseException](), []

    def pack() -> None:
        while not stop.is_set():
            try:
                done.append(pack_objects(world.git.place, 5))
            except BaseException as error:
                troubles.append(error)

    packer = threading.Thread(target=pack)
    packer.start()
    try:
        for number in range(12):
            it = begin(f"b{number}")
            head = world.commit_in_workspace(it, {f"src/new{number}.py": f"{number}\n"})
            assert world.git.fetch_work(it, 1) == head
            world.git.retire(it, 1)
            write(world.root, {f"own{number}": "a person's\n"})
            world.sh("git", "add", "-A")
            world.sh("git", "commit", "-q", "-m", f"{number}", env=ME)
    finally:
        stop.set()
        packer.join()
    assert not troubles and any(done)
    kept = sh(world.root, "git", "for-each-ref", "refs/nobrakes/archive", "--format=%(objectname)").split()
    assert len(kept) == 12
    assert sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""
