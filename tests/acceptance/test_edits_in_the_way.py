"""A person's file that is in the way of one bead's merge does not keep the other beads from main."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted


@pytest.mark.parametrize("every", ["true", "false"], ids=["each alone", "together"])
@pytest.mark.parametrize("first", [True, False], ids=["it is reviewed first", "it is reviewed last"])
def test_the_others_are_merged_and_it_follows_once_the_file_is_gone(tmp_path: Path, every: str, first: bool) -> None:
    made = Scripted(tmp_path, doers=4, more=f"[review]\nevery_commit_green = {every}\n")
    made.does("b1", "echo theirs >notes.txt; git add notes.txt; git commit -qm Notes" + ("" if first else "; sleep 1"))
    for name in ("b2", "b3", "b4"):
        made.does(name, ("sleep 1; " if first else "") + "work")
    made.add("b1", "b2", "b3", "b4")
    (made.folder / "notes.txt").write_text("mine\n")
    made.nobrakes("run", expect=None)
    assert [made.status(name) for name in ("b1", "b2", "b3", "b4")] == ["reviewing", "done", "done", "done"]
    assert (made.folder / "notes.txt").read_text() == "mine\n"
    (made.folder / "notes.txt").unlink()
    made.nobrakes("run")
    assert made.status("b1") == "done" and made.git("show", "main:notes.txt") == "theirs\n"
