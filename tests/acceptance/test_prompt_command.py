"""`nobrakes prompt` prints what the next attempt is given: compared with what it then was given."""

import re

from tests.support.project import Project

NONCE = re.compile(r"untrusted [0-9a-f]{12}")


def test_what_is_printed_is_what_is_given(tmp_path):
    script = """
cp "$NOBRAKES_PROMPT" "$0/$NOBRAKES_ATTEMPT"
if [ "$NOBRAKES_ATTEMPT" = 1 ]; then
    echo half > work; git add -A; git commit -qm half
    nobrakes agent ask "Which zone?"; nobrakes agent done blocked --summary "half of it"; exit
fi
echo whole > work; git add -A; git commit -qm whole; nobrakes agent done
"""
    (tmp_path / "given").mkdir()
    project = Project(tmp_path / "repository", ["sh", "-c", script, str(tmp_path / "given")])
    (project.config.parent / "roles").mkdir()
    (project.config.parent / "roles" / "doer.md").write_text("You are our own Doer.\n")
    project.plan([{"id": "a", "title": "A", "needs_tests": False, "acceptance": ["it is whole"]}])

    first = project.ask("prompt", "a")
    assert first["system"] == "You are our own Doer."
    project.nobrakes("run", expect=None)
    assert (tmp_path / "given" / "1").read_text() == first["prompt"]

    [question] = project.ask("escalations")
    project.nobrakes("answer", str(question["id"]), "UTC")
    second = project.ask("prompt", "a")["prompt"]
    assert project.ask("show", "a")["status"] == "needs_doer", "printing started nothing"
    project.nobrakes("run")
    given = (tmp_path / "given" / "2").read_text()
    assert len(NONCE.findall(given)) == 2 * 2, "the question and the attempt are fenced"
    assert NONCE.sub("untrusted N", given) == second.replace("untrusted preview0", "untrusted N")
    assert "half of it" in given and "> UTC" in given and "git log" in given
    assert not (tmp_path / "given" / "3").exists()


def test_the_tests_of_a_bead_are_asked_for_by_role(tmp_path):
    project = Project(tmp_path / "repository", ["true"])
    project.plan([{"id": "a", "title": "A"}])
    assert "You are a Test Writer" in project.nobrakes("prompt", "a").stdout
    assert "You are the Doer of bead a" in project.nobrakes("prompt", "a", "--role", "doer").stdout
    project.nobrakes("prompt", "a", "--role", "shaper", expect=2)
