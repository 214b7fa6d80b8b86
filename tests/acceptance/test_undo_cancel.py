"""A cancel taken back: the bead goes on from where it was, with what was committed and what was not."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

FIRST = 'mkdir -p src; echo 1 >src/one; commit First; echo 2 >src/two; touch "$BOOK/on"; exec sleep 600'
SECOND = 'git log --format=%s >"$BOOK/log"; git status --porcelain >"$BOOK/status"; echo 3 >src/three; commit Second'


@pytest.mark.parametrize("committed", [True, False])
def test_work_that_was_archived_by_a_cancel_is_gone_on_with(tmp_path: Path, committed: bool) -> None:
    project = Scripted(tmp_path)
    project.does("one", FIRST if committed else FIRST.replace("commit First;", ""), turn=1)
    project.does("one", SECOND, turn=2)
    project.add("one")
    with project.running("--forever") as run:
        until(project.flag("on").exists)
        project.nobrakes("cancel", "one")
        until(lambda: project.git("for-each-ref", "refs/nobrakes/archive/one"))
        until(lambda: not (project.folder / ".nobrakes" / "workspaces" / "one").exists())
        run.terminate()
        run.communicate(timeout=60)
    told = project.nobrakes("undo").stdout
    assert "refs/nobrakes/archive/one/" in told and project.status("one") == "needs_doer"
    project.nobrakes("run")
    assert ("First" in project.flag("log").read_text()) is committed
    assert project.flag("status").read_text().split() == (
        ["A", "src/two"] if committed else ["A", "src/one", "A", "src/two"]
    )
    assert project.status("one") == "done"
    assert sorted(path.name for path in (project.folder / "src").iterdir()) == ["one", "three", "two"]


def test_what_an_agent_cli_kept_of_a_bead_goes_with_its_clone(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    agents = project.folder / ".nobrakes" / "agents"
    outside = tmp_path / "outside"
    outside.write_text("precious")

    def keeps(bead: str) -> None:
        """A CLI keeps sessions of it, with a link that leads out and a folder that nobody may write to."""
        for cli in ("codex", "claude"):
            (agents / cli / bead / "sessions").mkdir(parents=True)
            (agents / cli / bead / "sessions" / "s.jsonl").symlink_to(outside)
            (agents / cli / bead / "sessions").chmod(0o500)

    (agents / "codex").mkdir(parents=True)
    (agents / "abilities.json").write_text("{}")
    for bead in ("merged", "cancelled", "working", "waiting"):
        keeps(bead)
    project.does("merged", "mkdir -p src; echo 1 >src/merged; commit First")
    project.does("working", 'touch "$BOOK/on"; exec sleep 600')
    for bead in ("merged", "cancelled", "working", "waiting"):
        project.add(bead)
    project.nobrakes("cancel", "cancelled")
    project.nobrakes("hold", "waiting")
    with project.running("--forever") as run:
        until(project.flag("on").exists)
        project.nobrakes("cancel", "working")  # its agent is ended first
        until(lambda: sorted(path.name for path in agents.glob("*/*")) == ["waiting", "waiting"])
        until(lambda: project.status("merged") == "done")
        run.terminate()
        run.communicate(timeout=60)
    assert sorted(path.name for path in agents.iterdir()) == ["abilities.json", "claude", "codex"]
    assert outside.read_text() == "precious"
