"""What was seen of an agent CLI: how it is kept, what it means, and an adapter without its sessions."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes import abilities, conformance
from nobrakes.abilities import Seen, Standing
from nobrakes.agents.adapter import AgentEnd, WithoutSessions
from nobrakes.agents.known import adapter
from nobrakes.beads.model import Bead, Outcome, Status
from nobrakes.cli import doctor
from nobrakes.cli.screen import Screen
from nobrakes.conformance import Check
from nobrakes.daemon.worker.loop import Daemon
from nobrakes.events.kinds import Kind
from nobrakes.host.versions import Versions
from nobrakes.paths import Paths
from tests.world.rates import Rates
from tests.world.world import World

from . import recorded as r


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "package" / "bin"
    folder.mkdir(parents=True)
    path = folder / "codex"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    (tmp_path / "package" / "package.json").write_text('{"version": "1.0.0"}')
    return path


def seen(program: Path, **can: bool) -> dict[str, Seen]:
    return {"codex": Seen(os.fspath(program), abilities.stamp(os.fspath(program)), "1.0.0", True, can)}


def test_what_was_seen_is_found_again_beside_that_of_others(tmp_path: Path, program: Path) -> None:
    paths = Paths(str(tmp_path))
    assert abilities.recall(paths) == {}
    codex = seen(program, resume=True)
    abilities.keep(paths, codex)
    abilities.keep(paths, {"gemini": replace(codex["codex"], version="2")})
    assert abilities.recall(paths)["codex"] == codex["codex"]
    assert abilities.recall(paths)["gemini"].version == "2"
    Path(abilities.file_of(paths)).write_text('{"codex": 3}')
    assert abilities.recall(paths) == {}


def standing(program: Path, known: dict[str, Seen], version: str | None = "1.0.0") -> Standing:
    """Codex's, whose program tells this version."""
    return abilities.standing("codex", (os.fspath(program),), known, lambda *_: version)


def test_a_version_that_was_neither_proven_nor_tried_goes_without_sessions_and_it_is_said(program: Path) -> None:
    (proven,) = abilities.PROVEN["codex"]
    assert standing(program, {}, proven) == Standing(basis=f"{proven}, a version that nobrakes is tested with")
    unknown = standing(program, {}, "9.9.9")
    assert not unknown.resumes and unknown.why.startswith("codex 9.9.9 was never tested here; nobrakes is tested")
    assert unknown.said.endswith(
        "`nobrakes doctor --agents` tests the agent; nobrakes does not continue the agent's sessions"
    )
    assert standing(program, {}, "").why.startswith("codex does not print its version")
    assert standing(program, {}, None) == abilities.WHOLE, "nobody asked it yet"
    assert standing(Path("/nowhere/codex"), seen(program)) == abilities.WHOLE, "it is not there"


def test_any_command_is_never_known_and_a_persons_own_script_needs_not_be(program: Path) -> None:
    def of(name: str, *more: str, known: dict[str, Seen] | None = None) -> Standing:
        return abilities.standing(name, (os.fspath(program), *more), known or {}, lambda *_: "")

    assert of("script") == abilities.WHOLE
    assert of("acp").why.startswith("the acp agent was never tested here")
    mark = abilities.stamp(os.fspath(program), ("--acp", os.fspath(program)))
    tried = {"acp": Seen(os.fspath(program), mark, "1", False, {"spawn": True, "resume": True})}
    assert of("acp", "--acp", os.fspath(program), known=tried) == Standing(basis="1, tried")
    assert not of("acp", "--other", os.fspath(program), known=tried).resumes
    mute = {"acp": replace(tried["acp"], can={})}
    assert "could not be tested" in of("acp", "--acp", os.fspath(program), known=mute).why


def test_a_check_that_failed_is_named_and_only_sessions_are_given_up_for_it(program: Path) -> None:
    whole, mute = seen(program, spawn=True, resume=True), seen(program, spawn=True, resume=True, deny=False)
    assert standing(program, whole) == Standing(basis="1.0.0, tried")
    assert "failed its test: deny" in standing(program, mute).why
    assert standing(program, mute).resumes
    assert not standing(program, seen(program, spawn=True, resume=False)).resumes
    assert not standing(program, seen(program, spawn=False)).resumes, "it never came so far"


def test_another_version_behind_the_same_script_is_seen(tmp_path: Path, program: Path) -> None:
    known = seen(program, spawn=True, resume=True)
    (tmp_path / "package" / "package.json").write_text(json.dumps({"version": "1.0.1"}))
    changed = standing(program, known, "1.0.1")
    assert "was tested here at version 1.0.0, not at its new one" in changed.why and not changed.resumes
    assert standing(program, known, *abilities.PROVEN["codex"]).why == ""


def test_a_file_is_asked_for_its_version_once(tmp_path: Path) -> None:
    paths, asked = Paths(str(tmp_path)), tmp_path / "asked"
    program = tmp_path / "codex"
    program.write_text(f"#!/bin/sh\necho $HOME >>{asked}\necho codex-cli 7.1\n")
    program.chmod(0o755)

    def version(writes: bool = True, name: str = "codex") -> str:
        return Versions(paths, os.environ["PATH"], writes)(name, str(program), abilities.stamp(str(program)))

    assert version(name="acp") == "" and not asked.exists()
    assert version(writes=False) == "7.1"
    assert [version(), version(), version()] == ["7.1", "7.1", "7.1"]
    homes = asked.read_text().split()
    assert len(homes) == 2, "who only looks notes nothing"
    assert os.environ.get("HOME") not in homes and not any(map(os.path.exists, homes))
    program.write_text(program.read_text().replace("7.1", "7.10"))
    assert version() == "7.10"


def test_a_cli_that_tells_nothing_is_asked_again_by_the_next_one_only(tmp_path: Path) -> None:
    program, asked = tmp_path / "codex", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\necho x >>{asked}\n")
    program.chmod(0o755)
    for _ in range(2):
        versions = Versions(Paths(str(tmp_path)), os.environ["PATH"], writes=True)
        assert [versions("codex", str(program), "mark") for _ in range(2)] == ["", ""]
    assert asked.read_text() == "x\nx\n"


def test_notes_of_versions_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    paths = Paths(str(tmp_path))
    abilities.note(paths, "/bin/a", "1 2", "3.4")
    assert abilities.noted(paths, "/bin/a", "1 2") == "3.4" and abilities.noted(paths, "/bin/a", "1 3") is None
    for text in ("{", "[]", '{"/bin/a": 3}'):
        (tmp_path / "agents" / "versions.json").write_text(text)
        assert abilities.noted(paths, "/bin/a", "1 2") is None


def test_without_sessions_everything_else_is_the_same() -> None:
    whole = adapter("codex")
    less = WithoutSessions(whole)
    end = AgentEnd(0, [*r.CODEX, r.codex_said("x"), r.TURN_DONE], self_test=r.READY)
    assert less.verdict(end) == replace(whole.verdict(end), session=None)
    assert less.verdict(end).outcome is Outcome.COMPLETED
    assert whole.session(r.CODEX) and less.session(r.CODEX) is None
    assert (less.name, less.provider, less.credentials) == (whole.name, whole.provider, whole.credentials)


def test_a_cli_that_changes_while_a_daemon_works_is_told_of_at_the_next_start_of_an_agent() -> None:
    calm = Rates(fail=0, conflict=0, crash=0, trouble=0, people=0, machine=0, refuse=0)
    world = World(3, beads=0, rates=calm)
    news = ["it is another one"]
    ports = replace(world.ports, degraded=lambda: [news.pop()] if news else [])
    world.store.put([Bead("b1", "B 1", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    Daemon(ports).tick()
    events = [event for event in world.store.events(0, 100) if event.kind is Kind.DEGRADED]
    assert [event.data for event in events] == [{"why": "it is another one"}]
    assert [notice.text for notice in world.scene.notes.told] == ["it is another one"]


@pytest.mark.parametrize(
    ("printed", "version"),
    [("2.1.329 (Claude Code)\n", "2.1.329"), ("codex-cli 0.169.0", "0.169.0"), ("0.61.0-nightly.3", "0.61.0-nightly.3"),
     ("GitHub Copilot CLI 1.0.102.", "1.0.102"), ("who knows", "")],
)  # fmt: skip
def test_versions(printed: str, version: str) -> None:
    assert abilities.version_in(printed) == version


def test_the_proven_versions_are_those_that_the_tests_install() -> None:
    pinned = Path(__file__).parents[3] / ".ci"
    of_npm = json.loads((pinned / "agents" / "package.json").read_text())["dependencies"]
    assert abilities.PROVEN["codex"] == (of_npm["@openai/codex"],)
    assert abilities.PROVEN["gemini"] == (of_npm["@google/gemini-cli"],)
    # the wheel's own version is another one; what is inside says so itself in test_doctor_agents.py
    first = (pinned / "requirements-claude.txt").read_text().splitlines()[0]
    assert f"# Claude Code {abilities.PROVEN['claude'][0]}," in first


def test_the_table_names_what_is_missing_and_what_failed() -> None:
    checks = (Check("spawn", True), Check("stream", False, "no session"), Check("commit", None))
    found = conformance.Report(
        "nowhere",
        (conformance.Tried("claude", None, "", False, ()), conformance.Tried("codex", "/x", "9.9", False, checks)),
    )
    shown = doctor.text(found, Screen()).splitlines()
    assert shown[1] == "claude   missing: not installed, so not tested"
    assert shown[2].split() == ["codex", "9.9", "ok", "FAILED", "-"]
    assert shown[3].startswith("codex: nobrakes is not tested with 9.9")
    assert shown[4] == "codex: stream: no session"
    assert not found.ok and found.agents[0].ok


def test_what_cannot_be_told_is_said_and_an_agent_that_nobody_named_fails_nothing() -> None:
    checks = (
        Check("spawn", True),
        Check("deny", None, "it asked for no permission"),
        Check("kill", False, "it lived on"),
    )
    acp = conformance.Tried("acp", "/x", "0.61.0", False, checks, ("gemini", "--acp"), named=False)
    shown = doctor.text(conformance.Report("nowhere", (acp,)), Screen())
    assert "no command is set, so nobrakes tested gemini --acp" in shown
    assert "acp: deny: it asked for no permission" in shown and "acp: kill: it lived on" in shown
    assert acp.ok and not replace(acp, named=True).ok
