"""A person looks at tests and code before the merge: by label, by setting, once for each content, and nobody else waits."""

import json
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

TESTS = "printf 'test -e src/one && grep -q made src/one' >tests/test_one.sh && commit 'Tests for one'"


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def asked(project: Scripted) -> dict:
    (one,) = project.open()
    assert one["type"] == "merge_review"
    return one


def approved(project: Scripted, bead: str) -> dict:
    found: dict = project.ask("review", bead)[-1]["record"]["approval"]
    return found


def test_a_labelled_bead_waits_with_tests_and_code_and_no_other_one_does(project: Scripted) -> None:
    project.plan(
        [
            {"id": "one", "title": "One", "labels": ["merge-review"]},
            {"id": "two", "title": "Two", "needs_tests": False},
        ]
    )
    project.does("one", TESTS, turn=1)
    project.nobrakes("run", expect=40)
    one = asked(project)
    assert project.status("one") == "escalated" and project.status("two") == "done"
    assert project.outcomes("one", "reviewer") == ["merge_review"] and project.show("one")["failures"] == 0
    assert list(project.landed().values()) == ["two"]
    page = project.nobrakes("escalation", str(one["id"])).stdout
    for text in (
        "+++ b/tests/test_one.sh",
        "+++ b/src/one",
        "the bead has the label merge-review",
        f"nobrakes resolve {one['id']} --approve",
        "Approve the merge",
        "Send the work back",
    ):
        assert text in page, text
    assert page.index("+++ b/tests/test_one.sh") < page.index("+++ b/src/one")
    for command in (("status",), ("escalations",), ("show", "one")):
        said = " ".join(project.nobrakes(*command).stdout.split())
        assert "merge review" in said, said
    # sent back: a Doer goes on where the branch is, and reads why
    project.nobrakes("resolve", str(one["id"]), "--retry", "--note", "Call it a thing")
    project.does("one", "echo 'made as a thing' >src/one && commit 'A thing'", turn=3)
    project.nobrakes("run", expect=40)
    second = asked(project)
    assert "Call it a thing" in project.prompt("one", 3) and "+made as a thing" in second["evidence"]["difference"]
    # main moves, the difference stays: the yes counts, and nobody is asked or started again
    (project.folder / "elsewhere").write_text("mine\n")
    project.git("add", "elsewhere")
    project.git("commit", "-q", "-m", "Mine")
    project.nobrakes("resolve", str(second["id"]), "--approve", "--note", "good")
    project.nobrakes("run")
    assert project.status("one") == "done" and len(project.turns("one")) == 3
    said = approved(project, "one")
    assert said["escalation"] == second["id"] and said["words"] == "approve: good" and said["by"]
    assert said["head"] == second["evidence"]["head"] and said["content"] == second["evidence"]["content"]
    assert f"approved   by {said['by']}" in project.nobrakes("review", "one").stdout
    project.nobrakes("verify")


def test_another_content_asks_again_and_an_undone_merge_does_too(project: Scripted) -> None:
    project.configure("[limits]", '[review]\napprove = "always"\n[limits]')
    lines = "".join(f"{number}\n" for number in range(20))
    (project.folder / "shared").write_text(lines)
    project.git("commit", "-qam", "Lines")
    project.does("one", "sed -i 's/^10$/ten/' shared && commit 'Ten'")
    project.add("one")
    project.nobrakes("run", expect=40)
    first = asked(project)
    assert 'review.approve is "always"' in project.nobrakes("escalation", str(first["id"])).stdout
    (project.folder / "shared").write_text(lines.replace("8\n", "eight\n", 1))  # beside it, and no conflict
    project.git("commit", "-qam", "Eight")
    project.nobrakes("resolve", str(first["id"]), "--approve")
    project.nobrakes("run", expect=40)
    second = asked(project)
    assert second["id"] != first["id"] and second["evidence"]["content"] != first["evidence"]["content"]
    assert project.landed() == {} and len(project.turns("one")) == 1
    project.nobrakes("resolve", str(second["id"]), "--approve")
    project.nobrakes("run")
    assert project.status("one") == "done" and approved(project, "one")["escalation"] == second["id"]
    project.nobrakes("undo", "one", "--yes")
    project.nobrakes("release", "one")
    project.nobrakes("run", expect=40)
    assert asked(project)["id"] not in (first["id"], second["id"]), "a yes is for one merge"
    project.nobrakes("resolve", str(asked(project)["id"]), "--cancel")
    assert project.status("one") == "cancelled"
    project.nobrakes("verify")


def test_without_the_label_or_the_setting_it_goes_on_and_the_log_says_why(project: Scripted) -> None:
    project.plan(
        [
            {"id": "epic", "title": "E", "type": "epic", "labels": ["merge-review"]},
            {"id": "one", "title": "One", "needs_tests": False, "epic": "epic"},
        ]
    )
    project.nobrakes("run", expect=40)
    first = asked(project)
    assert "its epic epic has the label merge-review" in first["detail"]
    project.nobrakes("edit", "epic", "--label", "")
    project.nobrakes("run")
    assert project.status("one") == "done" and "approval" not in project.ask("review", "one")[-1]["record"]
    log = project.nobrakes("history", "one").stdout
    assert "approval is no longer needed" in " ".join(log.split())
    # by the setting
    project.plan([{"id": "two", "title": "Two", "needs_tests": False, "labels": ["merge-review"]}])
    project.nobrakes("run", expect=40)
    asked(project)
    project.configure("[limits]", '[review]\napprove = "never"\n[limits]')
    project.nobrakes("run")
    assert project.status("two") == "done" and project.open() == []
    project.nobrakes("verify")


def test_what_a_person_hands_in_waits_too_and_goes_back_to_them(project: Scripted) -> None:
    project.add("one", labels=["merge-review"])
    project.git("checkout", "-q", "-b", "mine")
    (project.folder / "mine").write_text("mine\n")
    project.git("add", "mine")
    project.git("commit", "-q", "-m", "Mine")
    project.git("checkout", "-q", "main")
    project.nobrakes("hand-in", "one", "--from", "mine")
    project.nobrakes("run", expect=40)
    first = asked(project)
    assert "No agent works on the bead." in " ".join(project.nobrakes("escalation", str(first["id"])).stdout.split())
    project.nobrakes("resolve", str(first["id"]), "--retry", "--note", "Say whose")
    held = project.show("one")["held"]
    assert held.startswith("handed back to ") and held.endswith(": Say whose")
    project.nobrakes("run", expect=None)
    assert project.turns("one") == []
    project.nobrakes("hand-in", "one", "--from", "mine")
    project.nobrakes("run", expect=40)
    project.nobrakes("resolve", str(asked(project)["id"]), "--approve")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.turns("one") == []
    assert json.loads(json.dumps(approved(project, "one")))["by"]
    project.nobrakes("verify")
