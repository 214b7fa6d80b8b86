"""What piles up is kept small: logs of merged beads go, refs are packed, and nothing that was made is lost by it."""

from pathlib import Path

from nobrakes.git import objects
from nobrakes.paths import Paths
from tests.support.scripted import Scripted


def folders(project: Scripted) -> set[str]:
    return {path.name.partition("-")[0] for path in Path(Paths(str(project.folder / ".nobrakes")).runs).iterdir()}


def test_logs_of_merged_beads_go_and_archives_stay(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more="[retention]\nrun_beads = 1\n")
    project.does("bad", "exit 1")
    for name in ("one", "two", "bad", "three"):
        project.does(name, "exit 1" if name == "bad" else "work")
        project.add(name)
        project.nobrakes("run", expect=None)
    attempts = {name: {str(a["id"]) for a in project.show(name)["attempts"]} for name in ("one", "two", "bad", "three")}
    before = project.git("for-each-ref", "refs/nobrakes")
    project.nobrakes("run", expect=None)
    left = folders(project)
    assert not left & attempts["one"] and not left & attempts["two"], "they are merged, and others are newer"
    assert left & attempts["bad"] and left & attempts["three"], "work that is not merged, and the newest"
    assert project.git("for-each-ref", "refs/nobrakes") == before
    assert project.nobrakes("history", "one").returncode == 0 and project.nobrakes("verify").returncode == 0


def test_many_archives_are_packed_and_each_stays(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    head = project.git("rev-parse", "HEAD").strip()
    for number in range(objects.LOOSE + 20):
        ref = project.folder / ".git" / "refs" / "nobrakes" / "archive" / f"b{number}" / "1-branch"
        ref.parent.mkdir(parents=True)
        ref.write_text(f"{head}\n")
    before = project.git("for-each-ref")
    archive = project.folder / ".git" / "refs" / "nobrakes" / "archive"
    assert sum(1 for path in archive.rglob("*") if path.is_file()) > objects.LOOSE
    project.nobrakes("run")
    assert sum(1 for path in archive.rglob("*") if path.is_file()) == 0
    assert project.git("for-each-ref") == before
    project.does("one", "work")
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.ask("archive")
