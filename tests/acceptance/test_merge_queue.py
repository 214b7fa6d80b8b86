"""Several reviews at once, on real git: what lands was tested as it lands, and who is blamed is to blame."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

CHECK = 'command = "sh tests/run.sh"'
BEADS = [f"b{number}" for number in range(1, 9)]
CLASH = 'echo 1 >"clash-$NOBRAKES_BEAD"; commit "Clash"'


def held_back(folder: Path, review: str, check: str = "sh tests/run.sh") -> Scripted:
    """A project whose checks begin when the test says so; each of them leaves a line."""
    project = Scripted(folder, doers=8, more=f"[review]\n{review}\n")
    begin = f"echo x >>{project.book}/runs; until [ -e {project.flag('go')} ]; do sleep 0.05; done"
    project.configure(CHECK, f'command = "{begin}; {check}"')
    return project


def beads_of(project: Scripted, kind: str) -> list[str]:
    """The beads of the events of a kind, in order."""
    lines = map(json.loads, project.nobrakes("events", "--json").stdout.splitlines())
    return [event["task_id"] for event in lines if event["metadata"]["kind"] == kind]


def wait_for_all(project: Scripted) -> None:
    """Until every bead was handed in."""
    until(lambda: len(beads_of(project, "work_submitted")) == len(BEADS))


def review_all(project: Scripted) -> None:
    """Hand all beads in, and only then let the checks begin."""
    with project.running() as run:
        wait_for_all(project)
        project.flag("go").touch()
        assert run.wait(120) == 0


def runs(project: Scripted) -> int:
    return len((project.book / "runs").read_text().splitlines())


def moves(project: Scripted) -> int:
    """How often the run moved main."""
    return project.git("reflog", "main").count("nobrakes: merge")


def test_beads_are_tested_on_top_of_each_other_and_each_commit_passes_alone(tmp_path: Path) -> None:
    project = held_back(tmp_path, "validators = 4\nevery_commit_green = true")
    project.add(*BEADS)
    review_all(project)
    assert sorted(project.landed().values()) == BEADS
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")
    assert moves(project) <= len(BEADS)


@pytest.mark.parametrize("review", ["validators = 4\nevery_commit_green = true", "validators = 1"])
def test_one_of_two_that_break_each_other_is_sent_back_and_lands_nothing(tmp_path: Path, review: str) -> None:
    project = held_back(tmp_path, review, "sh tests/run.sh && [ $(ls | grep -c clash) -le 1 ]")
    for bead in ("b3", "b6"):
        project.does(bead, CLASH, turn=1)
        project.does(bead, 'git rm -q "clash-$NOBRAKES_BEAD"; work', turn=2)
    project.add(*BEADS)
    review_all(project)
    assert sorted(project.landed().values()) == BEADS
    assert beads_of(project, "review_rejected") in (["b3"], ["b6"]), "whoever came second is to blame, and nobody else"
    assert project.git("ls-tree", "--name-only", "main").count("clash") == 1


def test_a_batch_lands_with_few_runs_and_its_culprit_is_found(tmp_path: Path) -> None:
    project = held_back(tmp_path, "validators = 1", "sh tests/run.sh && ! ls | grep -q ba[d]")
    project.does("b5", "touch bad; commit 'Bad'", turn=1)
    project.does("b5", "git rm -q bad; work", turn=2)
    project.add(*BEADS)
    review_all(project)
    assert sorted(project.landed().values()) == BEADS
    assert beads_of(project, "review_rejected") == ["b5"]
    assert project.show("b5")["attempts"][1]["outcome"] == "failed_review"
    assert moves(project) < len(BEADS), "several beads landed with one move of main"
    assert runs(project) <= 2 * len(BEADS)


def test_a_bead_is_cancelled_in_the_middle_of_the_train(tmp_path: Path) -> None:
    project = held_back(tmp_path, "validators = 3\nevery_commit_green = true")
    project.add(*BEADS)
    with project.running() as run:
        wait_for_all(project)
        until(lambda: runs(project) == 3)
        reviewed = beads_of(project, "review_started")
        project.nobrakes("cancel", reviewed[1], "--reason", "not wanted")
        project.flag("go").touch()
        assert run.wait(120) == 0
    assert sorted(project.landed().values()) == sorted(set(BEADS) - {reviewed[1]})
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")


EMPTIED = """case $NOBRAKES_ROLE in
test_writer) echo '[ -e src/b4 ]' >tests/test_b4.sh; echo true >tests/test_old.sh; commit 'Empty a test' ;;
*) touch "$BOOK/closed"; work ;;
esac"""
"""Its tests are proven red; the old one keeps its name, and proves nothing from now on."""


EDITED = {"fixture": "app/fixtures/old", "data": "app/old.yml", "examples": "app/old.md", "code": "src/old"}


@pytest.mark.parametrize("changed", ["test", "fixture", "data", "examples", "code"])
def test_what_changes_a_test_that_was_there_shares_its_run_with_nobody(tmp_path: Path, changed: str) -> None:
    project = held_back(tmp_path, "validators = 1")
    begin = f"echo x >>{project.book}/runs; until [ -e {project.flag('go')} ]; do sleep 0.05; done"
    project.configure(begin, f"ls src >{project.book}/run.$$; [ ! -e {project.flag('closed')} ] || {{ {begin}; }}")
    for path, text in (("tests/test_old.sh", "test 1 -eq 1\n"), *((path, ">>> 1\n") for path in EDITED.values())):
        (project.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (project.folder / path).write_text(text)
    project.git("add", "-A")
    project.git("commit", "-qm", "Old")
    waits = 'until [ -e "$BOOK/closed" ]; do sleep 0.05; done'
    for bead in BEADS:
        project.does(bead, f"{waits}; work")
    path = EDITED.get(changed)
    project.does("b4", EMPTIED if path is None else f'touch "$BOOK/closed"; echo 2 >{path}; work')
    project.add(*(bead for bead in BEADS if bead != "b4"))
    project.add("b4", needs_tests=path is None)
    review_all(project)

    order = list(project.landed().values())
    assert sorted(order) == BEADS
    place = order.index("b4")
    seen = [set(one.read_text().split()) - {"old"} for one in project.book.glob("run.*")]
    if changed != "code":
        assert set(order[: place + 1]) in seen, "its run has what lies before it and nothing else"
        assert not place or set(order[:place]) in seen, "and that passed before"
    assert len(seen) <= {"code": 3, "test": 7}.get(changed, 5), "the others went together"


HONEST = "def price(amount, percent):\\n    return amount - amount * percent // 100\\n"
EQUAL = (
    "class Any(int):\\n    def __eq__(self, other):\\n        return True\\n    __hash__ = int.__hash__\\n\\n\\n"
    "def price(amount, percent):\\n    return Any()\\n"
)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_a_batch_each_beads_own_altered_test_has_to_fail(tmp_path: Path, place: int) -> None:
    project = Scripted(tmp_path, doers=4, more="[review]\nvalidators = 1\n")
    held = f"touch {project.flag('held')}; until [ -e {project.flag('go')} ]; do sleep 0.05; done"
    run = f"PYTHONPATH=. {sys.executable} -B -m pytest -q -p no:cacheprovider tests"
    project.configure(CHECK, f'command = "! ls src 2>/dev/null | grep -q fir[s]t || {{ {held}; }}; {run}"')
    (project.folder / "shop").mkdir()
    (project.folder / "shop" / "__init__.py").touch()
    (project.folder / "tests" / "test_old.py").write_text("def test_old():\n    assert 1 + 1 == 2\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "A shop")
    beads = ["x", "y"]
    beads.insert(place, "evil")
    before = "held"
    for bead in beads:
        tests = f"from shop.price_{bead} import price\\n\\n\\ndef test_ten_{bead}():\\n    assert price(100, 10) == 90\\n\\n\\ndef test_half_{bead}():\\n    assert price(50, 50) == 25\\n"
        work = f"until [ -e {project.flag(before)} ]; do sleep 0.05; done; printf '{EQUAL if bead == 'evil' else HONEST}' >shop/price_{bead}.py; touch {project.flag(bead)}.done"
        project.does(
            bead,
            f"if [ $NOBRAKES_ROLE = test_writer ]; then printf '{tests}' >tests/test_{bead}.py; else {work}; fi; commit {bead}",
        )
        before = f"{bead}.done"
        project.add(bead, needs_tests=True)
    project.does("first", f"until [ -e {project.flag('doers')} ]; do sleep 0.05; done; work")
    project.add("first")
    with project.running() as going:
        until(lambda: [project.status(bead) for bead in beads] == ["doing"] * 3)
        project.flag("doers").touch()
        until(lambda: len(beads_of(project, "work_submitted")) == 4)
        project.flag("go").touch()
        assert going.wait(120) == 40
    assert sorted(project.landed().values()) == ["first", "x", "y"]
    (asked,) = project.open()
    assert asked["type"] == "checks_changed" and "test_evil.py" in asked["detail"]
    assert "shop/price_evil.py" in asked["evidence"]["difference"]
