"""Archived work is kept; what was merged long ago may be let go of by a person, and brought back."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted

KEPT = "refs/nobrakes/archive"


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    """One is merged at its second try; the first one was thrown away. Two left work and was cancelled."""
    found = Scripted(tmp_path, more="[retention]\narchive_days = 0\n")
    found.does("one", "echo true >tests/test_begin.sh; work", turn=1)  # a boundary: the next one begins afresh
    found.does("two", "work; echo open >open; exit 1")
    found.add("one", "two")
    found.nobrakes("run", expect=40)
    found.nobrakes("cancel", "two", "--reason", "no", expect=None)
    found.nobrakes("run", expect=None)
    return found


def refs(project: Scripted) -> dict[str, str]:
    lines = project.git("for-each-ref", "--format=%(refname) %(objectname)", KEPT).splitlines()
    return dict(line.split() for line in lines)


def test_only_what_was_merged_goes_and_it_comes_back(project: Scripted) -> None:
    before = refs(project)
    assert {ref.split("/")[3] for ref in before} == {"one", "two"}
    shown = project.ask("archive")
    assert {one["ref"]: one["commit"] for one in shown} == before and refs(project) == before
    going = {one["ref"]: one["commit"] for one in shown if one["goes"]}
    assert len(going) == 1 and all("/one/" in ref for ref in going), "the try that was thrown away stays"
    text = project.nobrakes("archive").stdout
    assert "to remove 1 of these 2 archived branches" in text and "nobrakes archive --expire" in text
    gone = project.ask("archive", "--expire")
    assert {one["ref"] for one in gone} == going.keys()
    assert refs(project) == {ref: commit for ref, commit in before.items() if ref not in going}
    assert project.ask("archive", "--expire") == []
    [told] = project.events("archive_expired")
    assert told["metadata"]["refs"] == going
    project.nobrakes("undo")
    assert refs(project) == before


def test_what_git_has_collected_cannot_be_brought_back(project: Scripted) -> None:
    project.nobrakes("archive", "--expire")
    project.git("reflog", "expire", "--expire=now", "--all")
    for held in (project.folder / ".git" / "objects" / "pack").glob("*.keep"):
        held.unlink()  # as nobrakes does after some minutes
    project.git("gc", "-q", "--prune=now")
    before = refs(project)
    done = project.nobrakes("undo", expect=17)
    assert "git deleted the commit" in done.stderr and refs(project) == before


def test_without_the_setting_all_is_kept(project: Scripted) -> None:
    project.configure("archive_days = 0", "")
    before = refs(project)
    assert not any(one["goes"] for one in project.ask("archive"))
    project.error("archive", "--expire", code=2)
    assert refs(project) == before


def test_what_was_taken_back_stays(project: Scripted) -> None:
    project.nobrakes("pause")
    [merged] = [e["metadata"] for e in project.events("review_passed")]
    project.nobrakes("undo", str(merged["seq"]))
    assert any("/reverted-" in ref for ref in refs(project))
    assert not any(one["goes"] for one in project.ask("archive"))
    assert project.ask("archive", "--expire") == []
