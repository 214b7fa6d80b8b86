"""Questions with options: an agent asks, a person sees what each means and costs, and one value is acted by."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

ASKS = """nobrakes agent ask 'Which database?' --option 'Postgres: what we have; costs nothing' \
--option 'SQLite: one file; costs a migration' --recommend postgres --priority 1 --context 'It is read all day' \
>"$BOOK/asked"; nobrakes agent done blocked --blockers 'Which database?'"""


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def test_a_person_sees_the_options_and_the_agent_gets_the_one_that_was_chosen(project: Scripted) -> None:
    project.does("one", ASKS, turn=1)
    project.does("free", "nobrakes agent ask 'Which colour?'; nobrakes agent done blocked", turn=1)
    project.add("free", "one")
    project.nobrakes("run", expect=40)
    first, second = project.open()
    assert (first["title"], second["title"]) == ("Which database?", "Which colour?"), "P1 is first"
    assert [option["label"] for option in first["form"]["options"]] == ["Postgres", "SQLite"]
    assert first["form"]["recommended"] == ["Postgres"] and second["form"] is None
    listed = project.nobrakes("escalations").stdout
    assert "P1" in listed and "question (radio)" in listed
    number = str(first["id"])
    shown = project.nobrakes("escalation", number).stdout
    for words in (
        *("P1, one of these", "It is read all day", "1  # Postgres (recommended)", "means: one file"),
        *("costs: a migration", f"nobrakes answer {number} 2  # SQLite", f"nobrakes answer {number} --recommended"),
    ):
        assert words in shown, (words, shown)
    wrong = project.nobrakes("answer", number, "Oracle", expect=2).stderr
    assert "'Oracle' is not an option" in wrong and "1 Postgres, 2 SQLite" in wrong
    project.nobrakes("answer", number, expect=2)
    project.nobrakes("answer", number, "1", "--recommended", expect=2)
    assert project.status("one") == "escalated"
    assert "is answered: SQLite; 'one' goes to a Doer" in project.nobrakes("answer", number, "sq").stdout
    assert project.ask("escalation", number)["value"] == "SQLite"
    assert "--take-back" in project.nobrakes("escalation", number).stdout
    project.nobrakes("answer", str(second["id"]), "Green")
    project.nobrakes("run")
    prompt = project.prompt("one", 2)
    assert "> Which database?\n> - Postgres: what we have; costs nothing\n" in prompt and "\n> SQLite\n" in prompt
    assert "an agent has read" in project.nobrakes("escalation", number).stdout


def test_several_questions_are_answered_together_or_none_of_them(project: Scripted) -> None:
    project.does("one", ASKS, turn=1)
    project.does("free", "nobrakes agent ask 'Which colour?'; nobrakes agent done blocked", turn=1)
    project.add("free", "one")
    project.nobrakes("run", expect=40)
    first, second = (str(one["id"]) for one in project.open())
    for wrong, said in (
        ((f"{second}=Green", f"{first}=Oracle"), f"question {first} (Which database?): 'Oracle' is not an option"),
        ((f"{second}=Green", f"{first}="), f"question {first} (Which database?): the answer is empty"),
        ((f"{second}=Green", f"{second}=Red"), f"question {second} is answered twice"),
        ((f"{second}=Green", "Red"), "'Red' is not NUMBER=ANSWER"),
        ((f"{second}=Green", "--why", f"{first}=so"), f"question {first} has a reason, but no answer"),
    ):
        assert said in project.error("answers", *wrong, code=2)["message"]
    assert len(project.open()) == 2, "nothing was answered"
    said = project.nobrakes("answers", f"{second}=Green = grass", f"{first}=sq").stdout
    assert said.startswith("2 questions answered: Which colour? Green = grass; Which database? SQLite")
    assert project.ask("escalation", first)["value"] == "SQLite" and not project.open()
    assert (project.status("one"), project.status("free")) == ("needs_doer", "needs_doer")


def test_an_answer_is_taken_back_until_an_agent_begins_with_it(project: Scripted) -> None:
    project.does("one", ASKS, turn=1)
    project.add("one")
    project.nobrakes("run", expect=40)
    number = str(project.open()[0]["id"])
    project.nobrakes("answer", number, "--take-back", expect=17)
    project.nobrakes("answer", number, "--recommended")
    assert project.status("one") == "needs_doer"
    said = project.nobrakes("answer", number, "--take-back").stdout
    assert "is open again" in said and project.status("one") == "escalated"
    project.nobrakes("answer", number, "2")
    project.nobrakes("run")
    assert "\n> SQLite\n" in project.prompt("one", 2) and "\n> Postgres\n" not in project.prompt("one", 2)
    [_, doer] = [one for one in project.show("one")["attempts"] if one["role"] == "doer"]
    late = project.nobrakes("answer", number, "--take-back", expect=17).stderr
    assert f"{doer['name']} read the answer to escalation {number} at" in late


def test_what_an_agent_read_while_it_waited_is_not_taken_back(project: Scripted) -> None:
    waits = "nobrakes agent ask 'Tidy up?' --yes-no --recommend yes --wait 60"
    project.does("one", waits + ' >"$BOOK/heard"; work; until [ -e "$BOOK/go" ]; do sleep 0.05; done')
    project.add("one")
    with project.running() as run:
        [question] = until(project.open)
        number = str(question["id"])
        assert "Answer yes or no." in project.nobrakes("answer", number, "perhaps", expect=2).stderr
        project.nobrakes("answer", number, "n")
        until(lambda: project.flag("heard").exists() and project.flag("heard").read_text())
        assert "read the answer to escalation" in project.nobrakes("answer", number, "--take-back", expect=17).stderr
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.flag("heard").read_text() == "no\n"
    assert project.ask("escalation", number)["value"] is False
