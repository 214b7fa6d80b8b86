"""Refs of nobrakes that lead nowhere are named, and what is handed in is fetched again over them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from git_worlds import RealWorld, sh

from nobrakes.beads.model import Bead
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
    ((ref, why),) = world.git.broken_refs()
    assert ref == "refs/nobrakes/incoming/login/1" and why
    (found,) = _refs(world.git)
    assert ref in found.text and "nobrakes run" in found.text
    assert world.git.take_in(it, 1) == head
    assert world.git.broken_refs() == [] and sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""


@pytest.mark.parametrize("form", FORMS)
def test_a_broken_ref_can_be_removed(world: RealWorld, form: str) -> None:
    file = Path(world.root, ".git", "refs", "nobrakes", "candidate", "login", "review")
    file.parent.mkdir(parents=True)
    file.write_bytes(FORMS[form])
    world.git.pin("candidate/login/review", None)
    assert world.git.broken_refs() == [] and not file.exists()


def test_an_archived_commit_that_is_gone_is_named(world: RealWorld) -> None:
    file = Path(world.root, ".git", "packed-refs")
    file.write_text(f"{GONE} refs/nobrakes/archive/login/1-branch\n")
    (found,) = _refs(world.git)
    assert "archive/login/1-branch" in found.text and "is gone" in found.text


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
