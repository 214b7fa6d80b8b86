"""An empty repository boots with one yes: a scaffolding bead brings package, tests and the contract they are judged by."""

import sys
from pathlib import Path

from tests.support.scripted import Scripted

CHECK = f'[[checks]]\nname = "test"\ncommand = "{sys.executable} -m unittest"\n'
TEST = "import unittest\nfrom pack import one\nclass A(unittest.TestCase):\n    def test_a(self): self.assertEqual(one(), 1)"
PACKAGE = f"echo 'def one(): return 1' >pack.py; echo '{TEST}' >test_pack.py"
CONFIG = ".nobrakes/config.toml"


class Empty(Scripted):
    """A repository with a README and nothing else, where nobody named a check."""

    tries_main = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.git("rm", "-rq", "tests", "shared")
        (self.folder / "README").write_text("Nothing yet\n")
        self.git("add", "README")
        self.git("commit", "-q", "--amend", "-m", "Begin")
        self.configure('[[checks]]\nname = "test"\ncommand = "sh tests/run.sh"\n', "")


def test_an_empty_repository_boots_with_one_yes(tmp_path: Path) -> None:
    project = Empty(tmp_path)
    project.nobrakes("add", "Begin", "--scaffolding", "--id", "begin")
    # the first version changes what is no part of the contract, the second one does not pass its own checks
    project.does("begin", f"printf '{CHECK}\\n[sandbox]\\nmode = \"auto\"\\n' >{CONFIG}; {PACKAGE}; commit 1", turn=1)
    project.does(
        "begin", f"echo '{CHECK}' >>{CONFIG}; {PACKAGE}; echo 'def one(): return 2' >pack.py; commit 2", turn=2
    )
    project.does("begin", "echo 'def one(): return 1' >pack.py; commit 3", turn=3)
    said = project.nobrakes("run", expect=40).stdout
    assert f"nobrakes committed {CONFIG} on main" in said
    assert project.outcomes("begin", "reviewer") == ["boundary", "checks_changed"]
    assert "agents.doer" in project.prompt("begin", 2) and "agents.script.command" in project.prompt("begin", 2)
    (asked,) = project.open()
    shown = project.nobrakes("escalation", str(asked["id"])).stdout
    assert f"check test (test, new): {sys.executable} -m unittest" in shown and "test_pack.py" in shown
    assert "+[[checks]]" in shown and "exactly this version" in shown
    assert "unittest" not in project.config.read_text(), "nothing holds before the yes"
    project.nobrakes("resolve", str(asked["id"]), "--approve")
    project.add("next", needs=["begin"])
    said = project.nobrakes("run").stdout
    assert project.outcomes("begin", "reviewer")[2:] == ["failed_review", "completed"], "and nobody was asked again"
    assert project.git("show", f"main:{CONFIG}") == project.config.read_text()
    assert project.git("status", "--porcelain") == "" and project.open() == []
    assert project.status("next") == "done", "from then on everything is judged by it"


def test_a_later_version_asks_again_and_what_a_person_edited_meanwhile_stays(tmp_path: Path) -> None:
    project = Empty(tmp_path)
    project.add("begin", scaffolding=True)
    project.does(
        "begin", f"echo '{CHECK}' >>{CONFIG}; {PACKAGE}; echo 'def one(): return 2' >pack.py; commit 1", turn=1
    )
    project.does("begin", f"sed -i 's/name = \"test\"/&\\nmin_tests = 0/' {CONFIG}; {PACKAGE}; commit 2", turn=2)
    project.nobrakes("run", expect=40)
    first = project.open()[0]
    project.nobrakes("resolve", str(first["id"]), "--approve")
    project.nobrakes("run", expect=40)  # it does not pass, and its Doer makes it another contract
    (asked,) = project.open()
    assert "the check passes even without a test" in project.nobrakes("escalation", str(asked["id"])).stdout
    project.git("switch", "-q", "-c", "aside")
    project.configure("doers = 3", "doers = 2")
    project.nobrakes("resolve", str(asked["id"]), "--approve")
    said = project.nobrakes("run").stdout
    assert project.status("begin") == "done" and "has your edits" in said
    assert "doers = 2" in project.config.read_text() and "checks" not in project.config.read_text()
    assert "min_tests = 0" in project.git("show", f"main:{CONFIG}")


def test_a_checkout_of_another_branch_keeps_its_own_settings(tmp_path: Path) -> None:
    project = Empty(tmp_path)
    project.add("begin", scaffolding=True)
    project.does("begin", f"echo '{CHECK}' >>{CONFIG}; {PACKAGE}; commit 1")
    project.nobrakes("run", expect=40)
    project.git("switch", "-q", "-c", "aside")
    before, status = project.config.read_bytes(), project.git("status", "--porcelain")
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--approve")
    said = project.nobrakes("run").stdout
    assert project.status("begin") == "done" and "belongs to another branch" in said
    assert (project.config.read_bytes(), project.git("status", "--porcelain")) == (before, status)
