"""Doctor looks without changing anything, and mends one named thing at a time."""

import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.beads.service import bead_commands
from nobrakes.config.sections import AgentSettings, CheckSettings, ReviewSettings, ScriptSettings
from nobrakes.config.settings import Config
from nobrakes.config.setup import init
from nobrakes.daemon.service import status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.decisions.service import all_blockers
from nobrakes.doctor import service as doctor_service
from nobrakes.errors import DaemonRunning, StoreBroken, UsageError
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.service.approving import commit_strategy
from nobrakes.git.repository import Repository
from nobrakes.host.locks import DaemonLock
from nobrakes.store import open_store
from tests.support.records import dumped

GOOD = Config(
    checks=(CheckSettings(name="test", command="CI=1 sh -c true", format="exit"),),
    agents=AgentSettings(doer=("script",), test_writer=("script",), script=ScriptSettings(command=("sh",))),
)


@pytest.fixture
def patient(repository):
    """Open store, git and places of a repository with a few live beads."""
    paths = init.init(str(repository)).paths
    store = open_store(paths.database)
    for name, needs in (("a", []), ("b", ["a"]), ("c", ["b"])):
        bead_commands.add(store, name, id=name, needs=needs, needs_tests=False)
    door = Repository(paths, "main")
    commit_strategy(store, door, paths, "me")
    yield store, door, paths
    store.close()


def found(patient, config=GOOD):
    return {f.name: f for f in doctor_service.examine(*patient, config) if not f.ok or f.level == "warning"}


def test_a_sound_repository_has_nothing_but_the_missing_sandbox(patient, monkeypatch):
    monkeypatch.setattr(doctor_service, "uncompiled", list)
    findings = doctor_service.examine(*patient, GOOD)
    assert {f.name for f in findings if f.level != "ok"} == {"sandbox"}
    assert {"git", "config", "main", "database", "deadlock", "daemon", "agent"} <= {f.name for f in findings}


def test_a_code_host_that_nobody_can_name_is_told_with_the_remotes_address_as_it_is(patient):
    subprocess.run(["git", "remote", "add", "origin", "../remote.git"], cwd=patient[2].root, check=True)
    told = found(patient, replace(GOOD, review=ReviewSettings(land="pull_request", code_host="github")))["code host"]
    assert told.level == "error" and "names no repository at a code host: ../remote.git. Set review." in told.text


def test_looking_changes_nothing(patient):
    store, _, paths = patient
    tmp = Path(paths.workspaces) / "gone"
    tmp.mkdir()
    events = len(store.events())
    doctor_service.examine(*patient, GOOD)
    assert len(store.events()) == events and tmp.is_dir()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "name", "level"),
    [
        (None, "config", "error"),
        (Config(agents=GOOD.agents), "checks", "error"),
        (
            replace(GOOD, checks=(CheckSettings(name="l", command="sh", kind="lint"),)),
            "checks",
            "warning",
        ),
        (
            replace(GOOD, checks=(CheckSettings(name="t", command="no-such-program x", format="exit"),)),
            "checks",
            "error",
        ),
        (replace(GOOD, agents=AgentSettings(doer=("script",))), "agent", "error"),
        (replace(GOOD, agents=AgentSettings(doer=("nobody",))), "agent", "error"),
    ],
)
def test_the_config_and_what_it_needs(patient, config, name, level):
    assert found(patient, config)[name].level == level


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("pytest -q", "pytest"),
        ("A=1 B=2 make test", "make"),
        ("cd x && make", None),
        ("$TOOL run", None),
        ("", None),
        ("'unclosed", None),
    ],
)
def test_the_program_of_a_command(command, program):
    assert all_blockers.program_of(command) == program


def test_a_checkout_that_is_behind_main_is_told_with_how_to_keep_both_sides(patient, repository):
    def git(*words):
        return subprocess.run(
            ["git", *words], cwd=repository, capture_output=True, text=True, check=True
        ).stdout.strip()

    _, door, paths = patient
    assert "checkout" not in found(patient)
    (Path(repository) / "work").write_text("work\n")
    git("add", "work")
    tree, old = git("write-tree"), git("rev-parse", "HEAD")
    git("rm", "-q", "-f", "work")
    door.clear_locks()
    merged = git("commit-tree", "-p", old, "-m", "work", tree)
    git("update-ref", "refs/heads/main", merged)
    told = found(patient)["checkout"]
    assert told.level == "error" and "work" in told.text and "git merge my-work" in told.text
    assert status.status(patient[0], paths, GOOD).behind == (told.text,)
    door.clear_locks()
    assert "checkout" not in found(patient) and (Path(repository) / "work").read_text() == "work\n"


def test_wrong_counters_are_found_and_counted_again(patient):
    store, door, paths = patient
    raw = sqlite3.connect(paths.database)
    raw.execute("UPDATE beads SET open_blockers = 0 WHERE id = 'c'")
    raw.commit()
    raw.close()
    assert [b.id for b in store.ready(9)] == ["a", "c"]
    assert found(patient)["counters"].repair == "counters"
    assert doctor_service.repair("counters", store, door, paths) == ["1 bead was recounted"]
    assert [b.id for b in store.ready(9)] == ["a"] and "counters" not in found(patient)


def test_a_deadlock_is_told_with_what_frees_it(patient):
    paths = patient[2]
    raw = sqlite3.connect(paths.database)
    raw.execute("INSERT INTO edges (bead, type, needs) VALUES ('a', 'blocks', 'c')")
    raw.commit()
    raw.close()
    text = found(patient)["deadlock"].text
    assert "3 beads can never start" in text and "`nobrakes undepend " in text


def test_what_waits_for_ever_and_empty_epics(patient):
    store = patient[0]
    bead_commands.cancel(store, "a", "no", "me")
    bead_commands.add(store, "E", id="e", type="epic", draft=False)
    problems = found(patient)
    assert "depends on 'a', which is cancelled" in problems["blocked"].text
    assert "epic 'e' has no beads, or all are cancelled" in problems["epic"].text


def test_leases_that_ran_out(patient):
    store, _, paths = patient
    store.open_attempt("a", Role.DOER, "script", ["Ada"], 60.0, None)
    raw = sqlite3.connect(paths.database)
    raw.execute("UPDATE beads SET lease_until = 1 WHERE id = 'a'")
    raw.commit()
    raw.close()
    assert "agents on a" in found(patient)["leases"].text


@pytest.mark.slow
def test_stale_workspaces_are_archived_before_they_go(patient, repository, git):
    store, door, paths = patient
    workspace = door.workspace(store.bead("a"), door.main(), "Ada")
    for argv in workspace.prologue:
        subprocess.run(argv, check=True, capture_output=True)
    (repository / ".nobrakes" / "workspaces" / "a" / "precious.txt").write_text("precious")
    assert "workspaces" not in found(patient)
    bead_commands.done(store, "a", "by hand", "me")
    assert found(patient)["workspaces"].repair == "stale-workspaces"
    lines = doctor_service.repair("stale-workspaces", store, door, paths)
    assert len(lines) == 1 and "refs/nobrakes/archive/a/" in lines[0]
    assert not (repository / ".nobrakes" / "workspaces" / "a").exists()
    refs = [ref for ref, _ in door.archived("a")]
    assert any(git(repository, "ls-tree", "--name-only", ref).count("precious.txt") for ref in refs)
    assert doctor_service.repair("stale-workspaces", store, door, paths) == ["there is no stale workspace"]


def test_a_clone_that_was_moved_away_is_told_and_left_alone(patient):
    store, door, paths = patient
    background = Path(paths.workspaces, "one~broken-1")
    background.mkdir(parents=True)
    told = found(patient)["workspaces"]
    assert "was moved away" in told.text and told.repair is None
    assert doctor_service.repair("stale-workspaces", store, door, paths) == ["there is no stale workspace"]
    assert background.is_dir()


def test_sessions_of_closed_beads_that_an_earlier_version_left_are_stale_too(patient, repository):
    store, door, paths = patient
    sessions = repository / ".nobrakes" / "agents" / "codex" / "a" / "sessions"
    sessions.mkdir(parents=True)
    assert "workspaces" not in found(patient)
    bead_commands.done(store, "a", "by hand", "me")
    assert "sessions of a belong to no live bead" in found(patient)["workspaces"].text
    assert len(doctor_service.repair("stale-workspaces", store, door, paths)) == 1
    assert not sessions.parent.exists() and sessions.parents[1].exists()
    assert "workspaces" not in found(patient)


def test_the_database_is_rebuilt_from_what_git_keeps(patient, repository, git):
    store, door, paths = patient
    git(repository, "commit", "-q", "--allow-empty", "-m", "A\n\nBead: a")
    bead_commands.add(store, "only in the database", id="lost")
    before = {b.id: b.title for b in store.beads()}
    Path(paths.since).unlink(missing_ok=True)  # as in a clone: else only merges with evidence are believed
    lines = doctor_service.repair("rebuild", store, door, paths)
    assert "3 beads were read from the snapshot; 1 bead was merged after the snapshot" in lines
    kept = next(line for line in lines if "saved as" in line).split()[-1]
    again = open_store(paths.database)
    assert again.bead("a").status is Status.DONE
    assert again.bead("a").merged_commit == git(repository, "rev-parse", "main")
    assert [b.id for b in again.ready(9)] == ["b"]
    assert [b.id for b in again.beads()] == ["a", "b", "c"]
    again.close()
    old = open_store(kept)
    assert {b.id: b.title for b in old.beads()} == before
    old.close()


def test_a_broken_database_is_a_finding_and_is_rebuilt(patient):
    store, door, paths = patient
    store.close()
    with open(paths.database, "r+b") as file:
        file.write(b"garbage" * 100)
    with pytest.raises(StoreBroken):
        open_store(paths.database).beads()
    problem = next(
        f for f in doctor_service.examine(StoreBroken("it is damaged"), door, paths, GOOD) if f.name == "database"
    )
    assert (problem.level, problem.repair) == ("error", "rebuild")
    doctor_service.repair("rebuild", StoreBroken("it is damaged"), door, paths)
    again = open_store(paths.database)
    assert [b.id for b in again.beads()] == ["a", "b", "c"]
    again.close()


def test_a_snapshot_with_a_circle_is_rebuilt_without_it(patient):
    from nobrakes.beads.model import Dependency

    store, door, paths = patient
    text = dumped([Bead("x", "X"), Bead("y", "Y")], [Dependency("x", "y"), Dependency("y", "x")])
    with open(paths.snapshot, "w") as file:
        file.write(text)
    assert any(
        "in a circle: this dependency was removed" in line
        for line in doctor_service.repair("rebuild", store, door, paths)
    )
    again = open_store(paths.database)
    assert len([d for d in again.dependencies() if {d.bead, d.needs} == {"x", "y"}]) == 1
    again.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rebuild", "stale-workspaces"])
def test_nothing_is_mended_under_a_daemons_hands(patient, name):
    store, door, paths = patient
    with DaemonLock(paths.lock), pytest.raises(DaemonRunning):
        doctor_service.repair(name, store, door, paths)
    assert [b.id for b in store.beads()] == ["a", "b", "c"]


def test_an_unknown_repair_names_the_known_ones(patient):
    with pytest.raises(UsageError) as raised:
        doctor_service.repair("everything", *patient)
    assert all(name in raised.value.hint for name in doctor_service.REPAIRS)


def test_compiling_what_is_not_compiled(patient, monkeypatch):
    left = [["x.py"], []]
    monkeypatch.setattr(doctor_service, "uncompiled", lambda: left.pop(0))
    monkeypatch.setattr("compileall.compile_dir", lambda *_, **__: True)
    assert doctor_service.repair("compile", *patient) == ["1 module was compiled"]


def test_what_is_parked_is_named_with_what_to_type(patient):
    store = patient[0]
    assert "parked" not in found(patient)
    for bead, title in (("a", "a: nobrakes failed"), (None, "the monitor of main: nobrakes failed")):
        store.escalate(NewEscalation(EscalationType.NOBRAKES_FAILED, title, "a traceback"), bead, None, "nobrakes")
    store.record(Event(Kind.HELD, "a", data={"reason": "twice"}))
    told = [f.text for f in doctor_service.examine(*patient, GOOD) if f.name == "parked"]
    assert told == [
        "nobrakes itself failed on a: `nobrakes escalation 1` shows the error, and the bead is held: `nobrakes release a`",
        "nobrakes itself failed on the monitor of main: `nobrakes escalation 2` shows the error",
    ]
