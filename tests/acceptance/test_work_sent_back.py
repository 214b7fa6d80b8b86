"""`nobrakes send-back`: comments on lines reach the next Doer, before a merge, while it is reviewed and after it."""

from pathlib import Path

from tests.support.scripted import Scripted, until

WORK = "mkdir -p src; printf 'one\\ntwo\\n' >src/one; git mv shared common; commit Work"


def text(project: Scripted, turn: int) -> str:
    return project.prompt("one", turn).replace("\n> ", "\n")


def test_comments_on_lines_reach_the_next_doer_and_the_attempt_has_not_failed(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.does("one", WORK, turn=1)
    project.does("one", "printf 'one\\n2\\n' >src/one; commit Again", turn=2)
    project.does("one", "printf 'one\\n3\\n' >src/one; commit Once --allow-empty", turn=3)
    project.add("one", labels=["merge-review"])
    project.nobrakes("run", expect=40)
    first = project.ask("diff", "one")["head"]
    assert "is not a changed file" in project.error("send-back", "one", "--comment", "x:1=y", code=2)["message"]
    assert project.status("one") == "escalated", "a refusal changes nothing"
    sent = project.ask(
        "send-back", "one", "--comment", "src/one:2=A digit, please", "--comment", "common:1=Leave it", "-m", "Thanks"
    )
    assert sent["commit"] == first and sent["bead"]["status"] == "needs_doer"
    project.nobrakes("run", expect=40)
    assert (
        f"The human answered:\nA person read commit {first[:12]} and sends the work back.\n"
        "1. common, line 1: `nobody was here`\n   Leave it\n2. src/one, line 2: `two`\n   A digit, please\nThanks"
    ) in text(project, 2)
    assert project.show("one")["failures"] == 0 and project.outcomes("one") == ["completed", "completed"]
    # the work has changed since: a person is warned, and the text still names what was read
    at = ("send-back", "one", "--at", first[:12], "--comment", "src/one:2=Three")
    refused = project.error(*at, code=17)
    assert "the work has changed: your comments refer to" in refused["message"] and "--outdated" in refused["hint"]
    project.nobrakes(*at, "--outdated")
    project.nobrakes("run", expect=40)
    assert f"commit {first[:12]} and sends" in text(project, 3) and "line 2: `two`\n   Three" in text(project, 3)
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--approve")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.show("one")["failures"] == 0
    # what is merged is opened again, and its commit is what the comments are about
    project.nobrakes("send-back", "one", "--comment", "src/one:2=Four", "--comment", "common:-1=Who?")
    assert project.status("one") == "needs_doer"
    notes = project.show("one")["notes"]
    assert "2. src/one, line 2: `3`\n   Four" in notes and "1. common, line 1, before the change: `nobody was" in notes
    project.nobrakes("verify")


def test_a_review_under_way_ends_and_its_work_goes_on(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    (project.folder / "tests" / "test_wait.sh").write_text(f"test ! -e '{project.flag('wait')}' || sleep 600\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A test that waits")
    project.does("one", f"touch '{project.flag('wait')}'; {WORK}", turn=1)
    project.does("one", f"rm -f '{project.flag('wait')}'; printf 'three\\n' >>src/one; commit More", turn=2)
    project.add("one")
    with project.running("--forever"):
        until(lambda: project.status("one") == "reviewing")
        project.nobrakes("send-back", "one", "--comment", "src/one:1=Add a third")
        until(lambda: project.status("one") == "done")
    assert "## Notes\n\nA person read commit" in project.prompt("one", 2)
    assert "1. src/one, line 1: `one`\n   Add a third" in project.prompt("one", 2)
    shown = project.show("one")
    assert shown["failures"] == 0 and project.outcomes("one") == ["completed", "completed"]
    assert project.outcomes("one", "reviewer") == ["cancelled", "completed"]
    assert project.git("show", "main:src/one") == "one\ntwo\nthree\n"
    assert project.open() == []
    project.nobrakes("verify")
