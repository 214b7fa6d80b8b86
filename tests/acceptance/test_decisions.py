"""What waits for a person: asked once, decided once, told with what was tried; and agents keep to their own bead."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until
from tests.support.warm import NOBRAKES

ASKS = "nobrakes agent ask 'Which colour?' --wait 0; nobrakes agent done blocked --blockers 'Which colour?'"


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def test_an_answer_brings_the_bead_back_once_and_is_in_the_next_prompt(project: Scripted) -> None:
    (project.folder / "of-a-person").write_text("which no agent made")
    project.git("add", "of-a-person")
    project.git("commit", "-q", "-m", "A person's own")
    project.does("one", ASKS, turn=1)
    project.add("one")
    project.nobrakes("run", expect=40)
    [question] = project.open()
    assert (question["type"], question["title"], question["bead"]) == ("question", "Which colour?", "one")
    assert "nothing is committed on it" in project.nobrakes("escalation", str(question["id"])).stdout
    assert project.status("one") == "escalated" and project.show("one")["failures"] == 0
    racing = [
        project.start("answer", str(question["id"]), answer, stderr=subprocess.PIPE) for answer in ("Green 7", "Red 9")
    ]
    said = [process.communicate(timeout=60) for process in racing]
    assert sorted(process.returncode for process in racing) == [0, 17], said
    winner = ("Green 7", "Red 9")[[process.returncode for process in racing].index(0)]
    assert project.status("one") == "needs_doer" and project.open() == []
    project.nobrakes("run")
    assert winner in project.prompt("one", 2) and len(project.turns("one")) == 2
    assert "Green 7" not in project.prompt("one", 1)


def test_an_agent_reads_the_answer_while_it_waits(project: Scripted) -> None:
    project.does("one", "nobrakes agent ask 'Which colour?' --wait 60 >\"$BOOK/heard\"; work")
    project.add("one")
    with project.running() as run:
        [question] = until(project.open)
        project.nobrakes("answer", str(question["id"]), "Blue 5")
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert "Blue 5" in project.flag("heard").read_text()
    assert project.outcomes("one") == ["completed"]


def test_test_rounds_are_counted_and_shown_to_the_person(project: Scripted) -> None:
    project.does("one", "nobrakes agent test >/dev/null; work; nobrakes agent test; exit 0")
    project.add("one", "two")
    project.nobrakes("run")
    [doer, *_] = project.show("one")["attempts"]
    assert doer["data"]["rounds"] == 2 and "2 test rounds" in project.nobrakes("show", "one").stdout
    assert '"rounds":2' in project.nobrakes("review", "one", "--json").stdout
    assert "test round" not in project.nobrakes("show", "two").stdout


def test_a_suggestion_stops_nothing(project: Scripted) -> None:
    project.does("one", "nobrakes agent escalate 'Tidy the cellar' --detail 'it is full'; work")
    project.add("one")
    project.nobrakes("run")
    [suggestion] = project.open()
    assert (suggestion["type"], suggestion["title"]) == ("doer_suggestion", "Tidy the cellar")
    assert project.status("one") == "done"
    project.nobrakes("resolve", str(suggestion["id"]), "--dismiss")
    assert project.open() == [] and project.status("one") == "done"


def failing(project: Scripted, *beads: str) -> None:
    for bead in beads:
        project.does(
            bead, f"nobrakes agent done failed --summary 'tried the ladder on {bead}' --learnings 'it is short'"
        )


def test_three_failures_go_to_a_person_with_all_that_was_tried(project: Scripted) -> None:
    failing(project, "one")
    project.add("one")
    project.nobrakes("run", expect=40)
    [summary] = project.open()
    found = project.ask("escalation", str(summary["id"]))
    assert found["type"] == "repeated_failure" and found["hypothesis"] == "not known"  # its own words are no evidence
    attempts = found["evidence"]["attempts"]
    assert [a["outcome"] for a in attempts] == ["failed"] * 3 == project.outcomes("one")
    assert all("ladder" in a["summary"] and "short" in a["learnings"] for a in attempts)
    assert len({a["name"] for a in attempts}) == 3
    assert "ladder" in project.prompt("one", 2)


def test_the_four_ways_to_decide(project: Scripted) -> None:
    beads = ("retry", "cancel", "done", "dismiss")
    failing(project, *beads)
    project.nobrakes("set", "max_failures=1")
    project.add(*beads)
    project.nobrakes("run", expect=40)
    numbers = {found["bead"]: str(found["id"]) for found in project.open()}
    assert sorted(numbers) == sorted(beads)
    for bead in beads:
        (project.book / bead).unlink()
        project.nobrakes("resolve", numbers[bead], f"--{bead}", "--note", f"note for {bead}")
        assert project.nobrakes("resolve", numbers[bead], f"--{bead}", expect=17).stderr
    assert [project.status(bead) for bead in beads] == ["needs_doer", "cancelled", "done", "needs_doer"]
    assert project.show("retry")["failures"] == 0 and project.open() == []
    project.nobrakes("run")
    assert project.status("retry") == project.status("dismiss") == "done"
    assert "note for retry" in project.prompt("retry", 2)
    assert sorted(project.landed().values()) == ["dismiss", "retry"]


def test_the_same_thing_is_asked_once(project: Scripted) -> None:
    twice = "nobrakes agent escalate 'Tidy  up'; nobrakes agent escalate 'tidy up'; nobrakes agent escalate 'Paint'"
    project.does("one", f"{twice}; nobrakes agent ask 'Why?' --wait 0; nobrakes agent ask 'why?' --wait 0; work")
    project.add("one")
    project.nobrakes("run", expect=None)
    assert sorted(found["title"].lower() for found in project.open()) == ["paint", "tidy  up", "why?"]


def test_what_most_beads_wait_for_comes_first(project: Scripted) -> None:
    failing(project, "leaf", "root")
    project.nobrakes("set", "max_failures=1")
    bead = {"needs_tests": False, "title": "T"}
    project.plan(
        [
            {"id": "leaf", **bead},
            {"id": "root", **bead},
            {"id": "mid", **bead, "needs": ["root"]},
            {"id": "end", **bead, "needs": ["mid"]},
        ]
    )
    project.nobrakes("run", expect=40)
    assert [(found["bead"], found["behind"]) for found in project.open()] == [("root", 2), ("leaf", 0)]


def test_an_agent_keeps_to_its_own_bead(project: Scripted) -> None:
    project.does(
        "one",
        """env | grep ^NOBRAKES_ >"$BOOK/env"
        nobrakes agent ask 'May I?' --wait 0
        try() { nobrakes "$@" >/dev/null 2>&1; echo "$? $*" >>"$BOOK/codes"; }
        try answer 1 yes; try resolve 1 --dismiss; try cancel two; try cancel one; try done one; try hold two
        try set doers=9; try pause; try add More; try commit-strategy; try run; try daemon start; try undo
        NOBRAKES_TOKEN=guessed try agent log x
        NOBRAKES_TOKEN="$(echo "$NOBRAKES_TOKEN" | rev)" try agent done completed
        unset NOBRAKES_TOKEN; try agent log x; export NOBRAKES_TOKEN=old
        work; touch "$BOOK/on"; until [ -e "$BOOK/go" ]; do sleep 0.05; done""",
        turn=1,
    )
    project.add("one", "two")
    project.nobrakes("hold", "two")
    with project.running() as run:
        until(project.flag("on").exists)
        assert project.status("one") == "doing" and project.status("two") == "needs_doer"
        project.flag("go").touch()
        run.communicate(timeout=60)
    codes = [line.split(maxsplit=1) for line in project.flag("codes").read_text().splitlines()]
    refused = {command: int(code) for code, command in codes}
    assert refused.pop("agent done completed") == 18
    assert refused.pop("agent log x") == 17  # of three calls the last one, without any token
    assert [code for code, command in codes if command == "agent log x"] == ["18", "17"]
    assert set(refused.values()) == {17}, refused
    assert [found["title"] for found in project.open()] == ["May I?"]


def test_the_token_of_an_attempt_that_is_over_opens_nothing(project: Scripted) -> None:
    project.does("one", 'echo "$NOBRAKES_TOKEN" >"$BOOK/token"; exit 1', turn=1)
    project.does("one", 'touch "$BOOK/on"; until [ -e "$BOOK/go" ]; do sleep 0.05; done; work', turn=2)
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        old = {**project.env(), "NOBRAKES_TOKEN": project.flag("token").read_text().strip()}
        for words in (["log", "x"], ["done", "completed"], ["ask", "x", "--wait", "0"], ["escalate", "x"]):
            late = subprocess.run(
                [NOBRAKES, "agent", *words], cwd=project.folder, env=old, capture_output=True, text=True
            )
            assert late.returncode == 18 and "Traceback" not in late.stderr, (words, late)
        project.flag("go").touch()
        run.communicate(timeout=60)
    assert project.outcomes("one") == ["failed", "completed"] and project.open() == []
    assert os.listdir(project.folder / ".nobrakes" / "workspaces") == []


def test_a_conflict_shows_both_sides_and_whose_the_other_is_also_once_its_branch_is_archived(project: Scripted) -> None:
    for bead in ("one", "two"):
        wait = 'touch "$BOOK/on-$NOBRAKES_BEAD"; until [ -e "$BOOK/go" ]; do sleep 0.05; done'
        project.does(
            bead, f'mkdir -p src; echo "by {bead}" >src/shared; commit "{bead}"; {wait}; echo "last of {bead}"'
        )
    project.add("one", "two", acceptance=["it is shared"])
    with project.running() as run:
        until(lambda: all(project.flag(f"on-{bead}").exists() for bead in ("one", "two")))
        project.flag("go").touch()
        run.communicate(timeout=60)
    [asked] = project.open()
    loser, winner = asked["bead"], "two" if asked["bead"] == "one" else "one"
    number = str(asked["id"])

    def is_whole(page: str) -> None:
        assert f"main also has a change: {winner} Bead {winner}" in page, page
        assert f"- by {winner}" in page and f"+ by {loser}" in page and "both added it" in page, page
        assert "it is shared" in page and f"last of {loser}" in page and "src/shared  added, +1 -0" in page

    page = project.nobrakes("escalation", number).stdout
    is_whole(page)
    assert f'nobrakes resolve {number} --retry --note "…"  # Try again' in page and '{"' not in page
    project.nobrakes("resolve", number, "--retry")
    project.does(loser, "work")
    project.nobrakes("run")
    assert project.status(loser) == "done"
    is_whole(project.nobrakes("escalation", number).stdout)
