"""A command about another repository prints commands that work where it was typed."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from nobrakes.cli import main
from nobrakes.cli.outcome import HOME, for_place
from nobrakes.host.locks import DaemonLock

CHAINED = re.compile(r"`cd (.*?) && (nobrakes [^`]*)`")


class Person:
    """Types in one repository; there is another one, whose name has a space."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.here, self.other = folder / "here", folder / "my shop"
        self.monkeypatch, self.capsys = monkeypatch, capsys
        for repository in (self.here, self.other):
            subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
            subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=repository, check=True)
            monkeypatch.chdir(repository)
            assert self.typed("init", "--agent", "script", "--command", "true", "--test", "true")[0] == 0
        monkeypatch.chdir(self.here)

    def typed(self, *words: str) -> tuple[int, str]:
        code = main.run(list(words))
        out, error = self.capsys.readouterr()
        return code, out + error

    def pasted(self, folder: str, command: str) -> int:
        """The exit code of `cd FOLDER && COMMAND`, typed here."""
        with self.monkeypatch.context() as there:
            there.chdir(shlex.split(folder)[0])
            return self.typed(*shlex.split(command)[1:])[0]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Person:
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path / "own"))
    return Person(tmp_path, monkeypatch, capsys)


def test_a_session_elsewhere_is_followed_from_here(person: Person) -> None:
    with DaemonLock(str(person.other / ".nobrakes" / "daemon.lock")):
        code, said = person.typed("relay", str(person.other), "Do it")
        found = CHAINED.findall(said)
        assert code == 0 and len(found) == said.count("`nobrakes ") + 3 == 3, said
        assert {shlex.split(folder)[0] for folder, _ in found} == {str(person.other)}
        assert [person.pasted(*one) for one in found if "watch" not in one[1]] == [0, 0]
        assert person.typed("session", "stop", "1")[0] == 55, "here is no such session"


def test_a_refusal_about_another_repository_names_it(person: Person) -> None:
    code, said = person.typed("relay", "--session", "9", str(person.other))
    ((folder, command),) = CHAINED.findall(said)
    assert code == 55 and person.pasted(folder, command) == 0
    hint = json.loads(person.typed("relay", "--session", "9", str(person.other), "--json")[1])["error"]["hint"]
    assert CHAINED.findall(hint) == [(folder, command)]


def test_commands_for_this_repository_stay_short(person: Person) -> None:
    (person.here / "below").mkdir()
    with DaemonLock(str(person.here / ".nobrakes" / "daemon.lock")):
        for folder in (".", "below", str(person.here)):
            code, said = person.typed("relay", folder, "Do it")
            assert code == 0 and "`nobrakes session stop" in said and "cd " not in said
    assert "cd " not in person.typed("session", "show", "9")[1], "nothing is left of the command before"


def test_a_projects_commands_name_its_folder(person: Person) -> None:
    assert person.typed("project", "new", "tea")[0] == 0
    code, said = person.typed("project", "run", "tea")
    ((folder, command),) = CHAINED.findall(said)
    assert code == 17 and person.pasted(folder, command) == 0
    code, said = person.typed("project", "schedule", "tea", "--remove", "7")
    assert code == 2 and "`nobrakes project schedule tea`" in said, "it works in every folder"
    assert person.typed("project", "schedule", "tea")[0] == 0


def test_a_daemon_elsewhere_is_stopped_from_here(person: Person) -> None:
    """`daemon stop` would stop this process, so that it is only read."""
    person.typed("project", "new", "tea")
    tea = Path(json.loads(person.typed("project", "show", "tea", "--json")[1])["data"]["project"]["path"])
    for root, words in (
        (person.other, ("repositories", "forget", str(person.other))),
        (tea, ("project", "archive", "tea")),
    ):
        with DaemonLock(str(root / ".nobrakes" / "daemon.lock")):
            code, said = person.typed(*words)
        assert code == 17
        assert CHAINED.findall(said) == [(shlex.quote(str(root)), "nobrakes daemon stop")]


def test_a_paused_project_is_resumed_from_here(person: Person) -> None:
    person.typed("project", "new", "tea")
    tea = Path(json.loads(person.typed("project", "show", "tea", "--json")[1])["data"]["project"]["path"])
    assert person.pasted(shlex.quote(str(tea)), "nobrakes add 'Brew it'") == 0
    assert person.pasted(shlex.quote(str(tea)), "nobrakes pause") == 0
    code, said = person.typed("project", "continue", "tea", "--json")
    ((folder, command),) = CHAINED.findall(json.loads(said)["data"][0]["text"])
    assert (code, command) == (0, "nobrakes resume") and person.pasted(folder, command) == 0


def test_the_watch_over_all_repositories_names_each(person: Person) -> None:
    with (person.other / ".nobrakes" / "config.toml").open("a") as file:
        file.write("\n[wrong]\n")
    code, said = person.typed("daemon", "watch")
    ((folder, command),) = set(CHAINED.findall(said))
    assert code and shlex.split(folder) == [str(person.other)] and f"{person.other}: " in said
    assert (person.pasted(folder, command), person.typed("config")[0]) == (12, 0), "the file there is wrong"


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("`nobrakes resume` continues", "/a b", "`cd '/a b' && nobrakes resume` continues"),
        ("`nobrakes hand-in x`", "/a", "`cd /a && nobrakes hand-in x`"),
        ("`cd /b && nobrakes resume`", "/a", "`cd /b && nobrakes resume`"),
        ("`nobrakes project status`, `nobrakes web`", "/a", "`nobrakes project status`, `nobrakes web`"),
        ("nobrakes itself failed; nobrakes runs it again", "/a", "nobrakes itself failed; nobrakes runs it again"),
        ("`nobrakes answer 3`", HOME, "`nobrakes answer --user 3`"),
        ("`nobrakes answer 3 --user`, `nobrakes hold a`", HOME, "`nobrakes answer 3 --user`, `nobrakes hold a`"),
        ("`nobrakes answer 3`", "", "`nobrakes answer 3`"),
    ],
)
def test_only_commands_that_need_the_place_get_it(text: str, place: str, shown: str) -> None:
    assert for_place(text, place) == shown
