"""What `nobrakes doctor` tells people to type is accepted where it says so, and destroys nothing."""

import json
import os
import re
import shlex
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Role, Status
from nobrakes.beads.service import bead_commands
from nobrakes.cli import main
from nobrakes.config.settings import load
from nobrakes.config.setup import init
from nobrakes.daemon.service import control
from nobrakes.decisions.blockers import BACKGROUND, RUN_SINCE
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.doctor import service as doctor_service
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.service.approving import commit_strategy
from nobrakes.git.filters import allowing
from nobrakes.git.repository import Repository
from nobrakes.store import Store, open_store

LONG = ("nobrakes run", "nobrakes daemon start", "nobrakes shape", "npm ")
"""They begin a night's work, a talk or a download."""
ENDS_WITH = {
    ("an agent without its program", "nobrakes doctor"): 1,
    ("an agent that is not installed", "nobrakes doctor"): 1,
    ("refs that cannot be read", "nobrakes doctor"): 1,
    ("frozen", "nobrakes doctor"): 1,
    ("a dead daemon", "nobrakes daemon stop"): 24,
}
"""What is typed in a state and ends with anything but 0: it looks again, or says what it found."""
SAY_NOTHING = {"a setting that is none", "settings that are no TOML", "main that is not there", "a lost archive"}
"""States of which no command mends anything: a person edits a file, commits, or has a copy."""
DESTROYS = re.compile(
    r"\brm -|--hard|--force| -f\b| -D\b| -d\b|\bgit (?:clean|checkout|restore|stash|prune|gc|reflog|push)\b|--repair rebuild"
)
REBUILDS = {"no database", "a damaged database", "a dependency on nothing"}
"""States in which the database is made anew; doctor says beside it what still holds the graph."""
HOLDS = "all beads are still stored"
TYPED = re.compile("`((?:nobrakes|git|chmod|cp) [^`]+)`(?! failed| works again)")
UNMARKED = re.compile(
    "nobrakes (?:run|config|doctor|init|edit|retry) |git (?:config|lfs|sparse-checkout|merge) |chmod "
)
SETTINGS = """\
main = "main"
[[checks]]
name = "test"
command = "sh -c true"
format = "exit"
[agents]
doer = ["script"]
test_writer = ["script"]
[agents.script]
command = ["sh"]
"""


State = Callable[["Place"], None]


class Place:
    """A repository with three beads, which a test breaks."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self.capsys = root, capsys
        self.paths = init.init(str(root)).paths
        Path(self.paths.config).write_text(SETTINGS)
        self.store: Store = open_store(self.paths.database)
        for name, needs in (("a", []), ("b", ["a"]), ("c", ["b"])):
            bead_commands.add(self.store, name, id=name, needs=needs, needs_tests=False)
        self.door = Repository(self.paths, "main")
        commit_strategy(self.store, self.door, self.paths, "me")
        capsys.readouterr()

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def sql(self, text: str) -> None:
        raw = sqlite3.connect(self.paths.database)
        raw.execute(text)
        raw.commit()
        raw.close()

    def settings(self, old: str = "", new: str = "", more: str = "") -> None:
        Path(self.paths.config).write_text(SETTINGS.replace(old, new) + more)

    def findings(self) -> list[dict[str, str]]:
        main.run(["doctor", "--json"])
        return [one for one in json.loads(self.capsys.readouterr().out)["data"] if one["level"] != "ok"]

    def typed(self, command: str) -> tuple[int, str]:
        """The code that it ends with, and what it says."""
        words = shlex.split(command)
        if words[0] == "nobrakes":
            code = main.run(words[1:])
            return code, "".join(self.capsys.readouterr())
        done = subprocess.run(words, cwd=self.root, capture_output=True, text=True)
        return done.returncode, done.stderr


def checkout_behind(place: Place) -> None:
    (place.root / "work").write_text("work\n")
    place.git("add", "work")
    tree, old = place.git("write-tree"), place.git("rev-parse", "HEAD")
    place.git("rm", "-q", "-f", "work")
    place.door.clear_locks()
    place.git("update-ref", "refs/heads/main", place.git("commit-tree", "-p", old, "-m", "work", tree))


def stale_workspace(place: Place) -> None:
    workspace = place.door.workspace(place.store.bead("a"), place.door.main(), "Ada")
    for argv in workspace.prologue:
        subprocess.run(argv, check=True, capture_output=True)
    Path(place.paths.workspaces, "a", "precious.txt").write_text("precious")
    bead_commands.done(place.store, "a", "by hand", "me")


def broken_ref(name: str) -> State:
    def breaks(place: Place) -> None:
        path = place.root / ".git" / "refs" / "nobrakes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1" * 40 + "\n")

    return breaks


def parked(place: Place) -> None:
    asked = NewEscalation(EscalationType.NOBRAKES_FAILED, "a: nobrakes failed", "a traceback")
    place.store.escalate(asked, "a", None, "nobrakes")
    place.store.record(Event(Kind.HELD, "a", data={"reason": "twice"}))


def lost_lease(place: Place) -> None:
    place.store.open_attempt("a", Role.DOER, "script", ["Ada"], 60.0, None)
    place.sql("UPDATE beads SET lease_until = 1 WHERE id = 'a'")


def kept(name: str, value: str) -> State:
    return lambda place: place.store.set_setting(name, value)


def asked(type_: EscalationType) -> State:
    new = NewEscalation(type_, "It does not work", "why")
    return lambda place: place.store.escalate(new, None, None, "nobrakes") and None


def damaged(place: Place) -> None:
    place.store.close()
    with open(place.paths.database, "r+b") as file:
        file.write(b"garbage" * 100)


def missing(place: Place) -> None:
    place.store.close()
    for path in Path(place.paths.folder).glob("nobrakes.db*"):
        path.unlink()


def taken_off_main(place: Place) -> None:
    (place.root / "x").write_text("x\n")
    place.git("add", "x")
    place.git("commit", "-q", "-m", "A\n\nBead: a")
    commit = place.git("rev-parse", "HEAD")
    place.sql(f"UPDATE beads SET status = 'done', merged_commit = '{commit}' WHERE id = 'a'")
    place.git("reset", "-q", "--hard", f"{commit}~1")


def sparse(place: Place) -> None:
    (place.root / "src").mkdir()
    (place.root / "src" / "x").write_text("x\n")
    place.git("add", "src")
    place.git("commit", "-q", "-m", "Add src")
    place.git("sparse-checkout", "set", "src")


def signed(place: Place) -> None:
    for name, value in {"commit.gpgsign": "true", "user.signingkey": "/nowhere/key.pub", "gpg.format": "ssh"}.items():
        place.git("config", name, value)


def filtered(*allowed: str, names: tuple[str, ...] = ("crypt",)) -> State:
    def keeps(place: Place) -> None:
        for name in names:
            place.git("config", f"filter.{name}.clean", "cat")
            (place.root / f"x.{name}").write_text("x\n")
        (place.root / ".gitattributes").write_text("".join(f"*.{name} filter={name}\n" for name in names))
        place.git("add", ".gitattributes", *(f"x.{name}" for name in names))
        place.git("commit", "-q", "-m", "Add a file under a filter")
        place.settings(more=f"[git]\nfilters = {json.dumps(allowed)}\n")

    return keeps


def by_request(place: Place, more: str = "") -> None:
    place.git("remote", "add", "origin", str(place.root / "nowhere.git"))
    place.settings(more=f'[review]\nland = "pull_request"\ncode_host = "git"\n{more}')


def epics_in_a_circle(place: Place) -> None:
    by_request(place, 'unit = "epic"\n')
    epics = [Bead(name, name, type=BeadType.EPIC) for name in ("e", "f")]
    parts = [Bead(f"{epic.id}{number}", "x", epic=epic.id) for epic in epics for number in (1, 2)]
    place.store.put([*epics, *parts], [Dependency("e1", "f1"), Dependency("f2", "e2")], "me")
    place.store.approve([one.id for one in (*epics, *parts)], "me")


def unreadable_refs(place: Place) -> None:
    place.git("pack-refs", "--all")
    with open(place.root / ".git" / "packed-refs", "a") as file:
        file.write("garbage\n")


def cancelled_epic(place: Place) -> None:
    gone = Bead("e", "E", type=BeadType.EPIC, status=Status.CANCELLED)
    place.store.put([gone, Bead("x", "X", epic="e", status=Status.NEEDS_DOER)], [], "me")


CIRCLE = "INSERT INTO edges (bead, type, needs) VALUES ('a', 'blocks', 'c')"
DANGLING = "INSERT INTO edges (bead, type, needs) VALUES ('a', 'blocks', 'nowhere')"
EMPTY = Bead("e", "E", type=BeadType.EPIC, status=Status.OPEN)
STATES: dict[str, State] = {
    "a setting that is none": lambda place: place.settings(more="what = 1\n"),
    "settings that are no TOML": lambda place: place.settings(more="[[\n"),
    "no check": lambda place: place.settings(SETTINGS[SETTINGS.index("[[checks") : SETTINGS.index("[agents]")]),
    "a check without its program": lambda place: place.settings("sh -c true", "no-such-program"),
    "an agent without its program": lambda place: place.settings('["sh"]', '["no-such-program"]'),
    "an agent without a command": lambda place: place.settings('command = ["sh"]'),
    "an ACP agent without a command": lambda place: place.settings('["script"]', '["acp"]'),
    "an agent that is not installed": lambda place: place.settings('["script"]', '["codex"]'),
    "main that is not there": lambda place: place.settings('"main"', '"trunk"'),
    "wrong counters": lambda place: place.sql("UPDATE beads SET open_blockers = 0 WHERE id = 'c'"),
    "a dependency on nothing": lambda place: place.sql(DANGLING),
    "beads in a circle": lambda place: place.sql(CIRCLE),
    "a cancelled blocker": lambda place: bead_commands.cancel(place.store, "a", "no", "me") and None,
    "a cancelled epic": cancelled_epic,
    "an empty epic": lambda place: place.store.put([EMPTY], [], "me") and None,
    "a checkout that is behind": checkout_behind,
    "a stale workspace": stale_workspace,
    "a lost archive": broken_ref("archive/a/1-branch"),
    "a lost hand-in": broken_ref("incoming/a"),
    "lost records": broken_ref("evidence"),
    "refs that cannot be read": unreadable_refs,
    "a parked bead": parked,
    "a lost lease": lost_lease,
    "frozen": kept("frozen", "0" * 40),
    "paused": kept(control.PAUSED, "1"),
    "stopping": kept(control.STOPPING, "1"),
    "a dead daemon": kept(BACKGROUND, "99999"),
    "a run that was cut off": kept(RUN_SINCE, "1.0"),
    "checks that cannot run": asked(EscalationType.BROKEN_CHECKS),
    "a damaged database": damaged,
    "no database": missing,
    "work that was taken off main": taken_off_main,
    "a sparse checkout": sparse,
    "commits that cannot be signed": signed,
    "a filter": filtered(),
    "a filter that may run": filtered("crypt"),
    "two filters": filtered(names=("crypt", "seal")),
    "requests that nobody merges": lambda place: by_request(place, "pull_auto_merge = true\n"),
    "epics in a circle": epics_in_a_circle,
    "a repository that all may write": lambda place: os.chmod(place.root, 0o777),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(doctor_service, "uncompiled", list)
    root = tmp_path / "repository"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=root, check=True)
    monkeypatch.chdir(root)
    return Place(root, capsys)


def commands_of(finding: dict[str, str]) -> list[str]:
    text = finding["text"].replace("BEAD", "a")
    if commit := re.search(r"\b[0-9a-f]{12}\b", text):
        text = text.replace("COMMIT", commit[0])
    found = TYPED.findall(text) + ([f"nobrakes doctor --repair {finding['repair']}"] if finding["repair"] else [])
    unmarked = UNMARKED.findall(TYPED.sub("", text))
    assert not unmarked, f"{unmarked} in {text}"
    return found


@pytest.mark.parametrize("state", STATES)
def test_what_doctor_says_to_type_is_accepted(place: Place, state: str) -> None:
    """One after the other: what mends it may come in steps."""
    before = {one["text"] for one in place.findings()}
    STATES[state](place)
    found = [one for one in place.findings() if one["text"] not in before]
    assert found, "it is found"
    assert [one["text"] for one in found if bool(commands_of(one)) is (state in SAY_NOTHING)] == []
    for one in found:
        if printed := DESTROYS.findall(" ".join((one["text"], *commands_of(one)))):
            assert set(printed) == {"--repair rebuild"} and state in REBUILDS and HOLDS in one["text"], one
    otherwise = {}
    for command in (command for one in found for command in commands_of(one) if not command.startswith(LONG)):
        code, said = place.typed(command)
        if code != 0:
            otherwise[state, command] = code
            assert ENDS_WITH.get((state, command)) == code, f"{command} ended with {code}: {said}"
    assert otherwise == {typed: code for typed, code in ENDS_WITH.items() if typed[0] == state}


@pytest.mark.parametrize(("setting", "allowed"), [("filters", ()), ("clear_text", ("crypt", "seal"))])
def test_two_filters_are_allowed_by_what_is_printed_typed_in_a_row(
    place: Place, setting: str, allowed: tuple[str, ...]
) -> None:
    filtered(*allowed, names=("crypt", "seal"))(place)
    typed = [hint for one in place.findings() for hint in commands_of(one) if f"git.{setting}" in hint]
    assert [place.typed(command)[0] for command in typed] == [0, 0]
    assert getattr(load(place.paths.config).git, setting) == ("crypt", "seal")


def test_what_allows_a_filter_is_one_word_whatever_its_name() -> None:
    assert shlex.split(allowing("filters", "$(touch${IFS}x)"))[-1] == "+$(touch${IFS}x)"


def test_each_list_is_of_states() -> None:
    assert {state for state, _ in ENDS_WITH} | SAY_NOTHING | REBUILDS <= STATES.keys()


@pytest.mark.parametrize("state", sorted(REBUILDS))
def test_where_the_database_is_made_again_doctor_says_so(place: Place, state: str) -> None:
    STATES[state](place)
    assert "rebuild" in [one["repair"] for one in place.findings()]


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf .nobrakes",
        "git reset --hard",
        "git clean -fdx",
        "git push --force",
        "git checkout -- .",
        "git restore .",
        "git branch -D work",
        "git stash",
        "nobrakes doctor --repair rebuild",
    ],
)
def test_what_destroys_is_seen(text: str) -> None:
    assert DESTROYS.search(text)


def test_a_filter_is_allowed_beside_those_that_are_allowed(place: Place) -> None:
    filtered("other")(place)
    (command,) = [one for finding in place.findings() for one in commands_of(finding) if "git.filters" in one]
    assert place.typed(command)[0] == 0 and load(place.paths.config).git.filters == ("other", "crypt")
