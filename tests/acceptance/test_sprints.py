"""Sprints of a project, unattended: planned, built, reviewed, written down; killed, limited and asked in between."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store, open_store
from tests.support.scripted import Scripted, until

BRIEF = """# Tea

## Objective

Sell tea.

## Success Criteria

- [ ] The menu is there (check: test)
- [ ] An order can be paid (check: test)
- [ ] The shop is open (check: `test`)
"""
ROADMAP = "# Roadmap\n\n- [ ] R1: Write the menu\n- [ ] R2: Take the money\n- [ ] R3: Open the door\n"
TASK = "# Task: Tea\n\n**Status:** planning\n**Current Sprint:** none yet\n\n## History\n\n- then — Created\n"
NAMES = ("menu", "pay", "open")
CRITERIA = ("The menu is there", "An order can be paid", "The shop is open")
PLAN = """nobrakes agent propose - <<'PLAN'
beads:
  - {{id: {name}, title: "Make {name}", acceptance: ["src/{name} is there"], labels: ["item:R{number}"]}}
  - {{id: {name}-price, title: "Price {name}", labels: ["item:R{number}"]}}
PLAN
nobrakes agent plan-ready; echo planned; echo "NOBRAKES: COMPLETED"
"""
SESSION = """if grep -q "Review version" "$NOBRAKES_PROMPT"; then echo Fine.; echo "NOBRAKES: COMPLETED"; exit; fi
case $(ls docs/sprints 2>/dev/null | wc -l) in
{plans}esac
"""
WORK = """mkdir -p src; echo {name} >src/{name}; git add -A; git commit -q -m "Make {name}"
nobrakes agent document "Sell {name} first
Since it is asked for." --kind decision
nobrakes agent document - --kind review <<'REVIEW'
## Success criteria
- [x] {criterion}
REVIEW
nobrakes agent done --summary "{name} is made"
"""


class Tea(Scripted):
    """A project of three sprints, each with a play of its own."""

    def __init__(self, folder: Path, more: str = "") -> None:
        self.mine = folder / "mine"
        super().__init__(folder, more=f"{more}[forge]\nclean_rounds = 1\nmost_domains = 1\n")
        self.configure('test_writer = "script"', 'shaper = "script"\ntest_writer = "script"')
        for name, text in (("CLAUDE.md", BRIEF), ("AGENTS.md", BRIEF), ("task.md", TASK)):
            (self.folder / name).write_text(text)
        (self.folder / "docs").mkdir()
        (self.folder / "docs" / "ROADMAP.md").write_text(ROADMAP)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin tea")
        plans = "".join(f"{number - 1}) {self.plan_of(number)};;\n" for number in (1, 2, 3))
        for session in range(1, 16):  # a planner sees by the documents what is to be planned; the others review
            self.does(f"session~{session}", SESSION.format(plans=plans))
        for number in (1, 2, 3):
            self.does(NAMES[number - 1], self.work_of(number))
        workspace = folder / "mine" / "workspace" / "PROJECTS"
        workspace.mkdir(parents=True)
        self.folder = self.folder.rename(workspace / "tea")
        self.config = self.folder / ".nobrakes" / "config.toml"

    def env(self) -> dict[str, str]:
        return {**super().env(), "NOBRAKES_USER_HOME": str(self.mine)}

    @staticmethod
    def plan_of(number: int) -> str:
        return PLAN.format(name=NAMES[number - 1], number=number)

    @staticmethod
    def work_of(number: int) -> str:
        return WORK.format(name=NAMES[number - 1], criterion=CRITERIA[number - 1])

    def yes(self, sprints: int, *more: str) -> None:
        self.nobrakes("project", "run", "tea", "--sprints", str(sprints), "--no-tests", "--later", "--yes", *more)

    def sprints(self) -> dict[str, Any]:
        (found,) = self.ask("project", "status")["projects"]
        return dict(found["run"])

    @contextmanager
    def database(self) -> Iterator[Store]:
        store = open_store(str(self.folder / ".nobrakes" / "nobrakes.db"))
        try:
            yield store
        finally:
            store.close()

    def on_main(self, path: str) -> str:
        return self.git("show", f"main:{path}")


def test_a_sprint_goes_from_a_yes_to_documents_on_main(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    refused = tea.nobrakes("project", "run", "tea", "--no-tests", expect=17)
    assert "An order can be paid" in refused.stderr and "cap       none" in refused.stderr
    assert "item      R2: Take the money" in refused.stderr
    tea.yes(1)
    tea.nobrakes("run")
    plan, review = (tea.on_main(f"docs/sprints/s1-make-menu/{one}.md") for one in ("plan", "review"))
    assert "- [x] Make menu (bead menu)" in plan and "- [x] Price menu (bead menu-price)" in plan
    assert "- src/menu is there" in plan and "Sell menu first" in plan, "a decision is in the plan"
    assert "- Make menu (bead menu): menu is made" in review and "- [x] The menu is there" in review
    assert "## Sell menu first" in tea.on_main("DECISIONS.md")
    task = tea.on_main("task.md")
    assert "**Status:** planning" in task and "- [x] s1-make-menu" in task
    assert "2 of 3 success criteria are open" in task
    assert "- [x] R1: Write the menu" in tea.on_main("docs/ROADMAP.md")
    shown = tea.ask("show", "menu")
    assert (shown["epic"], shown["needs_tests"], shown["status"]) == ("sprint-1", False, "done")
    assert "work that changes\none is rejected" in tea.prompt("menu", 1)
    for brief in ("CLAUDE.md", "AGENTS.md"):
        assert "- [x] The menu is there" in tea.on_main(brief)
    assert tea.sprints()["state"] == "over"
    assert tea.ask("project", "whats-next", "tea")["findings"] == []
    tea.assert_main_is_green_at_every_commit(tmp_path / "scratch")


FAKE = Path(__file__).parents[1] / "support" / "scripted_gemini.py"
NEEDS_PERSON = 40


class Remembering(Tea):
    """The same with a CLI that has sessions and limits."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        own = folder / "gemini"
        own.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "{folder}/agent.sh" "$@"\n')
        own.chmod(0o755)
        text = self.config.read_text().replace('"script"', '"gemini"')
        self.config.write_text(f"{text}\n[agents.gemini]\nexecutable = {json.dumps(str(own))}\n")

    def env(self) -> dict[str, str]:
        return {**super().env(), "GEMINI_API_KEY": "dummy"}

    def sessions(self, bead: str) -> list[str]:
        """Whether each of its turns began a session or went on with it."""
        rows = [line.split() for line in self.flag("sessions").read_text().splitlines()]
        return [how for name, how in rows if name == bead]


def test_three_sprints_unattended_are_killed_limited_and_asked_and_end_complete(tmp_path: Path) -> None:
    tea = Remembering(tmp_path)
    tea.does("menu", 'touch "$BOOK/working"; sleep 100', 1)
    tea.does("pay", "echo LIMIT 1", 1)
    tea.does("open", 'nobrakes agent ask "Open at night?"; echo "NOBRAKES: BLOCKED"', 1)
    tea.yes(3)
    with tea.running():
        until(tea.flag("working").exists)
    assert tea.sprints()["stage"] == "executing", "the daemon and its agent were killed in the middle"
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert (tea.sprints()["stage"], tea.sprints()["done"]) == ("executing", 2)
    (found,) = tea.ask("project", "status")["projects"]
    assert found["status"] == "blocked" and "Open at night?" in found["run"]["waits_for"]
    (question,) = tea.open()
    tea.nobrakes("answer", str(question["id"]), "Only in summer")
    tea.nobrakes("run")
    assert tea.sprints()["state"] == "complete", tea.sprints()
    assert tea.ask("project", "whats-next", "tea")["findings"] == []
    task = tea.on_main("task.md")
    assert "**Status:** complete" in task and all(f"- [x] s{n}-make-{NAMES[n - 1]}" in task for n in (1, 2, 3))
    assert "- [ ]" not in tea.on_main("CLAUDE.md") + tea.on_main("docs/ROADMAP.md")
    for number, name in enumerate(NAMES, 1):
        folder = f"docs/sprints/s{number}-make-{name}"
        assert f"(bead {name}-price)" in tea.on_main(f"{folder}/plan.md")
        assert "## Done" in tea.on_main(f"{folder}/review.md")
        assert tea.sessions(name) == ["new", "resumed"], "inside a bead its session goes on"
    assert "Only in summer" in tea.prompt("open", 2)
    assert tea.outcomes("pay")[0] == "rate_limited"
    for number in (1, 2, 3):
        assert tea.ask("forge", "show", f"sprint-{number}")["feature"]["stage"] == "done", "a sprint is a feature"
    assert not list(tea.events("sign_off_asked")), "a plan within the yes asks nobody"
    tea.assert_main_is_green_at_every_commit(tmp_path / "scratch")
    tea.nobrakes("run")
    assert tea.sprints()["state"] == "complete", "nothing begins after that"


def test_a_schedule_begins_its_sprints_once_and_a_daemon_continues_them(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    with tea.database() as store:
        clock = datetime.fromtimestamp(store.now() - 120, UTC)
    words = ("project", "schedule", "tea", "--at", f"{clock:%H:%M}", "--zone", "UTC", "--no-tests")
    assert "An order can be paid" in tea.nobrakes(*words, expect=17).stderr
    tea.nobrakes(*words, "--yes")
    (made,) = tea.ask("project", "schedule", "tea")["schedules"]
    assert made["next_at"] > made["schedule"]["created_at"]
    tea.nobrakes("run")
    assert tea.sprints()["state"] == "", "it was asked for after it would have been due"
    with tea.database() as store:
        store.run("UPDATE schedules SET created_at = created_at - 600")
    tea.nobrakes("pause")
    tea.nobrakes("run", expect=62)
    assert tea.sprints()["state"] == "", "paused, nothing begins"
    tea.nobrakes("resume")
    (rests,) = tea.ask("project", "continue")
    assert rests["daemon"] is None and "the project's daemon is stopped" in rests["text"]
    (works,) = tea.ask("project", "continue", "tea")
    assert works["daemon"], works
    try:
        until(lambda: tea.sprints()["state"] == "over", what=tea.sprints)
    finally:
        tea.nobrakes("daemon", "stop")
    assert "## Done" in tea.on_main("docs/sprints/s1-make-menu/review.md")
    tea.nobrakes("run")
    assert tea.sprints()["done"] == 1, "the same due time begins nothing again"
    brief = tea.folder / "CLAUDE.md"
    brief.write_text(brief.read_text().replace("Sell tea", "Sell coffee"))
    tea.git("commit", "-q", "-am", "Another objective")
    with tea.database() as store:
        store.run("DELETE FROM schedule_starts")
    tea.nobrakes("run")
    refused = [one for one in tea.events("sprint_moved") if one["metadata"].get("state") == "refused"]
    assert "the brief changed" in refused[0]["metadata"]["reason"] and tea.sprints()["done"] == 1
    tea.nobrakes("project", "schedule", "tea", "--remove", "1")
    assert tea.ask("project", "schedule", "tea")["schedules"] == []


def test_a_yes_that_does_not_hold_any_more_asks_again_and_a_new_one_takes_over(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    refused = (
        'nobrakes agent document "Mine" --kind wish 2>>"$BOOK/refused"; mkdir -p src; echo x >src/other; git add -A'
    )
    tea.add("other")
    tea.does("other", f"{refused}; git commit -q -m 'No sprint'")
    tea.yes(1)
    brief = tea.folder / "CLAUDE.md"
    brief.write_text(brief.read_text().replace("Sell tea", "Sell coffee"))
    tea.git("commit", "-q", "-am", "Another objective")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert "not part of a sprint" in (tea.book / "refused").read_text()
    assert tea.sprints()["state"] == "waits" and "the brief changed since the approval" in tea.sprints()["why"]
    assert "Sell coffee" in tea.nobrakes("project", "run", "tea", "--no-tests", expect=17).stderr
    tea.yes(1)
    roadmap = tea.folder / "docs" / "ROADMAP.md"
    roadmap.write_text(ROADMAP + "- [ ] R4: Sell cake\n")
    tea.git("commit", "-q", "-am", "More")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert "the roadmap changed since the approval" in tea.sprints()["why"]
    assert tea.error("project", "run", "tea", "--until", "2020-02-02", code=2)["message"] == "2020-02-02 is in the past"
    tea.yes(1, "--until", "2099-02-02")
    with tea.database() as store:
        store.run("UPDATE sprint_runs SET terms = replace(terms, '2099', '2020')")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert "the approval ended on 2020-02-02" in tea.sprints()["why"]
    assert "2020" not in tea.error("project", "run", "tea", "--until", "tomorrow", code=2)["message"]
    tea.yes(3, "--usd", "0.5")
    tea.nobrakes("run")
    assert tea.sprints()["state"] == "complete" and "Sell coffee" in tea.on_main("CLAUDE.md")
    assert "- [ ] R4: Sell cake" in tea.on_main("docs/ROADMAP.md")


def test_two_items_of_the_roadmap_with_one_name_are_refused(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    (tea.folder / "docs" / "ROADMAP.md").write_text(ROADMAP + "- [x] R2: Old money\n- [ ] Bake\n")
    tea.git("commit", "-q", "-am", "Items")
    shown = tea.nobrakes("project", "run", "tea", expect=17).stderr
    assert shown.startswith("error: nothing was started") and "item      bake: Bake" in shown
    (tea.folder / "docs" / "ROADMAP.md").write_text(ROADMAP + "- [ ] R2: Other money\n")
    tea.git("commit", "-q", "-am", "Twice")
    refused = tea.error("project", "run", "tea", "--yes", code=17)["message"]
    assert refused == "two open items of docs/ROADMAP.md are called 'R2'"


def test_the_budget_of_a_yes_stops_the_next_sprint(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    tea.yes(3, "--usd", "0.5")
    tea.does("menu", f'{tea.work_of(1)}\ntouch "$BOOK/made"; while [ ! -e "$BOOK/paid" ]; do sleep 0.05; done')
    with tea.running() as process:
        until(tea.flag("made").exists)
        with tea.database() as store:
            store.run("UPDATE turns SET cost_usd = 0.75 WHERE session = 1 AND number = 1")
        tea.flag("paid").touch()
        process.wait(60)
    assert tea.sprints()["state"] == "waits" and tea.sprints()["done"] == 1, "what runs is not cut off"
    assert "you approved $0.50, but the sprints have cost $0.75, " in tea.sprints()["why"]


def test_work_outside_the_roadmap_items_of_the_yes_waits_for_a_person(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    wrong = tea.error("project", "run", "tea", "--item", "R9", code=2)
    assert "'R9' is not an open item of docs/ROADMAP.md" in wrong["message"] and "R1, R2, R3" in wrong["hint"]
    tea.does("session~1", tea.plan_of(1).replace("item:R1", "nothing"), 1)
    tea.does("session~1", tea.plan_of(1).replace("item:R1", "outside"), 2)
    tea.yes(1, "--item", "R2")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    told = (tea.book / "session~1.prompt.1").read_text()
    assert "`item:R2`: R2: Take the money" in told and "item:R1" not in told
    feature = tea.ask("forge", "show", "sprint-1")
    assert feature["feature"]["stage"] == "review", "a bead without a label of an item keeps the plan from being whole"
    assert tea.status("menu") == "draft" and not tea.turns("menu")
    assert "sprint-1" in tea.nobrakes("escalations").stdout
    tea.nobrakes("forge", "sign-off", "sprint-1", "--take-risk")
    tea.nobrakes("run")
    assert tea.status("menu") == "done" and tea.sprints()["state"] == "over"


def test_documents_that_conflict_with_what_a_person_wrote_are_made_again(tmp_path: Path) -> None:
    tea = Tea(tmp_path, more='[review]\napprove = "always"\n')
    tea.yes(1)
    tea.nobrakes("run", expect=NEEDS_PERSON)
    (asked,) = tea.open()
    assert asked["bead"] == "sprint-1-plan"
    task = tea.folder / "task.md"
    task.write_text(task.read_text().replace("**Status:** planning", "**Status:** planning (mine)"))
    tea.git("commit", "-q", "-am", "A word of mine")
    tea.nobrakes("resolve", str(asked["id"]), "--approve")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    (asked,) = tea.open()
    assert asked["bead"] == "sprint-1-plan" and asked["type"] == "merge_review", "made anew, and asked about anew"
    tea.nobrakes("resolve", str(asked["id"]), "--approve")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert "**Status:** executing" in tea.on_main("task.md") and "menu" in [one["bead"] for one in tea.open()]


def test_a_sprint_whose_feature_was_rolled_back_is_planned_again_by_a_new_yes(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    tea.does("menu", 'nobrakes agent ask "Which menu?"; echo "NOBRAKES: BLOCKED"', 1)
    tea.yes(1)
    tea.nobrakes("run", expect=NEEDS_PERSON)
    tea.nobrakes("forge", "rollback", "sprint-1", "--yes")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert tea.sprints()["state"] == "waits" and "sprint-1 of sprint 1 was rolled back" in tea.sprints()["why"]
    tea.does("again", tea.work_of(1))
    for session in range(1, 16):
        tea.does(
            f"session~{session}", SESSION.format(plans=f"*) {tea.plan_of(1).replace('{id: menu', '{id: again')};;\n")
        )
    tea.yes(1)
    tea.nobrakes("run")
    assert tea.ask("show", "again")["epic"] == "sprint-1-2" and tea.sprints()["state"] == "over"
    assert "## Done" in tea.on_main("docs/sprints/s1-make-menu/review.md")


LIE = """rm DECISIONS.md; echo never >task.md; git rm -rq docs/sprints; mkdir -p src; : >src/menu; git add -A
git commit -q -m "Nothing"; nobrakes agent done --summary "all criteria met"
"""


def test_the_agents_of_a_sprint_may_not_touch_its_documents(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    (tea.folder / "DECISIONS.md").write_text("# Decisions\n")
    tea.git("add", "-A")
    tea.git("commit", "-q", "-m", "Decide")
    tea.does("menu", LIE, 1)
    tea.does("menu", tea.work_of(1), 2)
    tea.yes(1)
    tea.nobrakes("run")
    first, second = (one for one in tea.ask("show", "menu")["attempts"] if one["role"] == "doer")
    assert first["outcome"] == "boundary" and "task.md: nobrakes writes a sprint's documents" in first["detail"]
    assert second["outcome"] == "completed" and "# Decisions" in tea.on_main("DECISIONS.md")


def test_a_criterion_that_only_agents_claim_waits_for_a_person(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    brief = tea.folder / "CLAUDE.md"
    brief.write_text(brief.read_text().replace(" (check: test)", "").replace(" (check: `test`)", ""))
    tea.git("commit", "-q", "-am", "No check proves it")
    tea.yes(3)
    tea.nobrakes("run", expect=NEEDS_PERSON)
    assert tea.sprints()["state"] == "claimed" and tea.sprints()["done"] == 3
    assert "- [x]" not in tea.on_main("CLAUDE.md") and "**Status:** planning" in tea.on_main("task.md")
    assert "agents claim that 3 are met" in tea.nobrakes("escalations").stdout
    brief.write_text(tea.on_main("CLAUDE.md").replace("- [ ]", "- [x]"))
    (tea.folder / "task.md").write_text(tea.on_main("task.md").replace("planning", "complete"))
    tea.git("commit", "-q", "-am", "All of it holds")
    tea.nobrakes("run")
    assert tea.sprints()["state"] == "complete", tea.sprints()


def older(tea: Tea, stage: str, bead: str | None) -> None:
    """A sprint as it was before a sprint was a feature: its plan was handed in by a session."""
    with tea.database() as store:
        going = store.sprints_going()
        assert going is not None
        spec = ("script", "", "")
        session = store.begin_session(SessionKind.PLANNING, "person:you", "Plan", spec, "Plan it.", "nobrakes").id
        row = "INSERT INTO sprints (number, run, name, stage, session, bead, nudged, began_at) VALUES (1, ?, 'menu', ?, ?, ?, 0, 1)"
        store.run(row, (going.run.id, stage, session, bead))
        words = "## Tasks\n- [ ] Write the oldest menu\n"
        store.run(
            "INSERT INTO sprint_documents (sprint, kind, text, actor, at) VALUES (1, 'plan', ?, 'Ada', 1)", (words,)
        )
        store.run("UPDATE sprint_runs SET terms = json_remove(terms, '$.roadmap', '$.items')")


@pytest.mark.parametrize("stage", ["planning", "opening"])
def test_a_sprint_that_was_planned_before_sprints_were_features_is_planned_from_its_plan(
    tmp_path: Path, stage: str
) -> None:
    tea = Tea(tmp_path)
    tea.yes(1)
    older(tea, stage, None)
    tea.nobrakes("run")
    prompts = [one.read_text() for one in tea.book.glob("session~*.prompt.1")]
    assert any("Write the oldest menu" in one and "Make beads of it" in one for one in prompts)
    assert tea.status("menu") == "done" and tea.sprints()["state"] == "over"


def test_a_sprint_whose_one_bead_was_worked_on_before_sprints_were_features_ends(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    tea.does("sprint-1", tea.work_of(1))
    tea.add("sprint-1")
    tea.yes(1)
    older(tea, "executing", "sprint-1")
    tea.nobrakes("run")
    review = tea.on_main("docs/sprints/s1-menu/review.md")
    assert "(bead sprint-1): menu is made" in review and "- [x] The menu is there" in review
    assert tea.sprints()["state"] == "over" and "## Sell menu first" in tea.on_main("DECISIONS.md")


def test_whats_next_compares_with_the_tree_at_the_sprints_beginning(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    for name, text in (("src/menu", "old\n"), ("DECISIONS.md", "# Decisions\n\n## Sell no coffee\n")):
        (tea.folder / name).parent.mkdir(exist_ok=True)
        (tea.folder / name).write_text(text)
    tea.git("add", "-A")
    tea.git("commit", "-q", "-m", "Open a stall. Done: R3")
    tea.does("session~1", tea.plan_of(1).replace("Make menu", "Make `src/menu`"))
    tea.does("menu", 'nobrakes agent ask "Which menu?"; echo "NOBRAKES: BLOCKED"', 1)
    tea.yes(1)
    tea.nobrakes("run", expect=NEEDS_PERSON)
    told = (tea.book / "session~1.prompt.1").read_text()
    assert "docs/ROADMAP.md: commits say that these items are done" in told and "  - R3: Open the door" in told
    found = tea.ask("project", "whats-next", "tea")["findings"]
    assert [one["kind"] for one in found] == ["tasks_left", "roadmap_behind"], "the old menu is no work of the sprint"
    assert "Make `src/menu` (bead menu)" in found[0]["items"]
    (question,) = tea.open()
    tea.nobrakes("answer", str(question["id"]), "The green one")
    tea.nobrakes("run")
    assert tea.on_main("src/menu") == "menu\n" and tea.sprints()["state"] == "over"
    found = tea.ask("project", "whats-next", "tea")["findings"]
    assert [one["kind"] for one in found] == ["roadmap_behind"], "its planner knew the decision from before it"


TOLD_PLAN = """cat <<'PLAN'
[PLAN_STEP id="menu" parent="null"]
Make menu
The shop has none. It serves item:R1.
[/PLAN_STEP]
[PLAN_READY]
PLAN
echo "NOBRAKES: COMPLETED"
"""


def test_a_planner_without_tools_names_the_roadmap_item_in_its_words(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    tea.does("session~1", TOLD_PLAN)
    tea.does("sprint-1-menu", tea.work_of(1))
    tea.yes(1)
    tea.nobrakes("run")
    assert tea.ask("show", "sprint-1-menu")["labels"] == ["item:R1"] and tea.sprints()["state"] == "over"
    assert "- [x] R1: Write the menu" in tea.on_main("docs/ROADMAP.md")
