"""A repository that is moved or copied: its workspaces borrow from the new place, and what an agent wrote stays refused."""

import shutil
from pathlib import Path

import pytest

from nobrakes.errors import Tampered
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths

ALTERNATES = ".git/objects/info/alternates"


def elsewhere(world, how: str) -> None:
    """The repository is at another place, where it is opened anew."""
    to = world.root.parent / "else where" / "repository"
    to.parent.mkdir()
    if how == "copied":
        shutil.copytree(world.root, to, symlinks=True)
        shutil.rmtree(world.root / ".git" / "objects")
    else:
        world.root.rename(to)
    world.root, world.paths = to, Paths(str(to / ".nobrakes"))
    world.git = Repository(world.paths, "main")


@pytest.mark.parametrize("how", ["moved", "copied"])
def test_work_is_taken_in_and_gone_on_with_after_a_move(world, begin, how):
    finished, half = begin("finished"), begin("half")
    head = world.commit_in_workspace(finished, {"src/new.py": "new\n"})
    world.write_in_workspace(half, {"src/half.py": "half\n"})
    assert world.git.settle_in() == () == world.git.settle_in()
    elsewhere(world, how)
    with pytest.raises(Tampered):
        world.git.fetch_work(finished, 1)
    assert sorted(world.git.settle_in()) == ["finished", "half"] and world.git.settle_in() == ()
    assert world.git.fetch_work(finished, 1) == head
    kept = world.git.workspace(half, world.git.main(), "Bea")
    assert kept.is_kept
    world.prepare(kept.prologue)
    assert (Path(world.workspace_path(half)) / "src/half.py").read_text() == "half\n"
    world.commit_in_workspace(half, {"src/more.py": "more\n"})
    world.git.retire(half, 2)
    assert [ref for ref, _ in world.git.archived("half")]


def test_what_an_agent_wrote_there_is_not_mended(world, begin, tmp_path):
    other, link = begin("other"), begin("link")
    world.git.settle_in()
    world.commit_in_workspace(other, {"src/new.py": "new\n"})
    (Path(world.workspace_path(other)) / ALTERNATES).write_text(f"{tmp_path}/mine\n")
    info = (Path(world.workspace_path(link)) / ALTERNATES).parent
    outside = tmp_path / "outside"
    info.rename(outside)
    info.symlink_to(outside)
    before = (outside / "alternates").read_text()
    elsewhere(world, "moved")
    assert world.git.settle_in() == ()
    assert (outside / "alternates").read_text() == before
    with pytest.raises(Tampered):
        world.git.fetch_work(other, 1)


def test_one_that_cannot_be_written_is_left_and_the_others_are_mended(world, begin):
    begin("one"), begin("two")
    world.git.settle_in()
    elsewhere(world, "moved")
    (world.root / ".nobrakes" / "workspaces" / "two" / ALTERNATES).unlink()
    (world.root / ".nobrakes" / "workspaces" / "file").write_text("no folder")
    assert world.git.settle_in() == ("one",)
