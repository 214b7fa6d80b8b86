"""Sandbox, wall or nothing: which of them a run gets, by setting and machine, and what people are told."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from nobrakes.agents.adapter import Launch
from nobrakes.config.sections import AgentSettings, ClaudeSettings, SandboxSettings
from nobrakes.config.settings import Config
from nobrakes.doctor import service as doctor_service
from nobrakes.errors import NoSandbox
from nobrakes.host.confine import Confinement, describe
from nobrakes.paths import Paths
from nobrakes.sandbox.closure import WALLED


@pytest.fixture
def confinement(tmp_path: Path):
    def make(sandbox_trouble: str = "", wall_trouble: str = "", **settings) -> Confinement:
        ports = SimpleNamespace(
            config=lambda: Config(sandbox=SandboxSettings(**settings)),
            sandbox_trouble=lambda: sandbox_trouble,
            wall_trouble=lambda: wall_trouble,
            paths=Paths(str(tmp_path / "project" / ".nobrakes")),
            git=SimpleNamespace(
                lent=lambda: (str(tmp_path / "project" / ".git" / "objects"),),
                territory=lambda: (str(tmp_path / "project" / ".git"), str(tmp_path / "linked")),
            ),
            environment={"PATH": "/usr/bin"},
            channel=SimpleNamespace(begin=lambda run, logins: str(tmp_path / "project" / ".nobrakes" / "doors" / run)),
        )
        return Confinement(ports)

    return make


def program(confinement: Confinement) -> str:
    words = confinement.check("/checkout", "/run").wrap(("true",))
    return "sandbox" if "--unshare-user" in words else "wall" if WALLED in words else "nothing"


@pytest.mark.parametrize(
    ("mode", "wall", "bwrap", "landlock", "holds"),
    [
        ("auto", "auto", "", "", "sandbox"),
        ("bubblewrap", "none", "", "x", "sandbox"),
        ("auto", "auto", "x", "", "wall"),
        ("none", "auto", "", "", "wall"),
        ("none", "landlock", "", "", "wall"),
        ("none", "auto", "", "x", "nothing"),
        ("none", "none", "", "", "nothing"),
        ("auto", "none", "x", "", "nothing"),
    ],
)
def test_what_works_and_is_wanted_holds(confinement, mode, wall, bwrap, landlock, holds):
    made = confinement(bwrap, landlock, mode=mode, wall=wall)
    assert program(made) == holds
    assert bool(made.nothing()) == (holds == "nothing")
    told = describe(made.why_not(), made.nothing(), AgentSettings())
    assert ("run in a sandbox" in told, "behind a wall" in told) == (holds == "sandbox", holds == "wall")
    config = made.ports.config()
    (finding,) = (
        f
        for f in doctor_service.examine_machine(config, made.ports.paths, lambda: bwrap, lambda: landlock)
        if f.name == "sandbox"
    )
    assert (finding.level == "warning" and "everything that your account can" in finding.text) == (holds == "nothing")


@pytest.mark.parametrize(("mode", "wall"), [("bubblewrap", "auto"), ("none", "landlock"), ("auto", "landlock")])
def test_what_is_demanded_and_does_not_work_starts_nothing(confinement, mode, wall):
    made = confinement("no bubblewrap", "lacks Landlock", mode=mode, wall=wall)
    with pytest.raises(NoSandbox):
        made.nothing()
    with pytest.raises(NoSandbox):
        made.check("/checkout", "/run")
    found = doctor_service.examine_machine(
        made.ports.config(), made.ports.paths, lambda: "no bubblewrap", lambda: "lacks Landlock"
    )
    assert {f.level for f in found if f.name == "sandbox"} == {"error"}


def test_an_agent_behind_the_wall_has_its_own_places_and_its_door(confinement, tmp_path):
    made = confinement(mode="none")
    folder, clone, state = (str(tmp_path / name) for name in ("run", "clone", "state"))
    words = made.agent("7-agent", clone, folder, Launch(("agent",), {}, writes=(state,))).wrap(("agent",))
    door = str(tmp_path / "project" / ".nobrakes" / "doors" / "7-agent")
    assert [word for word in words if word.startswith("own=")] == [
        f"own={path}" for path in (clone, f"{door}/in", f"{folder}/own", state)
    ]
    assert f"set=NOBRAKES_DOOR={door}" in words and words[-2:] == ("--", "agent")
    kept = {word.removeprefix("keep=") for word in words if word.startswith("keep=")}
    assert {str(tmp_path / name) for name in ("project", "project/.git", "linked")} <= kept and "/usr/bin" in kept


def test_what_is_let_in_may_be_written_but_never_the_repository(confinement, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    for name in ("cache", "link"):
        words = confinement(mode="none", write=(str(tmp_path / name),)).check("/checkout", "/run").wrap(("true",))
        own = [word for word in words if word.startswith("own=")]
        assert own == ["own=/checkout", "own=/run/home", f"own={tmp_path / 'cache'}"]
    for path in ("project", "project/.git", "linked", "."):
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        with pytest.raises(NoSandbox):
            confinement(mode="none", write=(str(tmp_path / path),)).check("/checkout", "/run")


def test_the_persons_own_place_is_shut_to_every_run(confinement, tmp_path, monkeypatch):
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path / "mine"))
    for name in ("config", "state"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    mine = [str(tmp_path / "mine" / name) for name in ("config", "state")]
    words = confinement(mode="none").check("/checkout", "/run").wrap(("true",))
    assert {f"keep={path}" for path in mine} <= set(words)
    words = confinement(read=(str(tmp_path),)).check("/checkout", "/run").wrap(("true",))
    shown = words.index(str(tmp_path))
    for path in mine:
        assert words[words.index(path) - 1] == "--tmpfs" and words.index(path) > shown, (
            "hidden where all around is let in"
        )
    for path in (*mine, str(tmp_path / "mine")):
        with pytest.raises(NoSandbox):
            confinement(mode="none", write=(path,)).check("/checkout", "/run")
    with pytest.raises(NoSandbox):
        confinement(read=(mine[1],)).check("/checkout", "/run")


def test_without_a_closure_it_is_told_who_is_restrained_by_its_own_permissions(confinement):
    made = confinement("no bubblewrap", "lacks Landlock")
    told = describe(made.why_not(), made.nothing(), AgentSettings(doer=("claude",), test_writer=("codex",)))
    assert "Only the agents' own permissions restrict codex, claude" in told and "Nothing restricts" not in told
    loose = AgentSettings(doer=("claude",), test_writer=("script",), claude=ClaudeSettings(permissions="bypass"))
    told = describe(made.why_not(), made.nothing(), loose)
    assert "Nothing restricts script, claude" in told and "Only the agents' own" not in told
