"""`--as` and `--request`, as typed."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN", "NOBRAKES_ACTOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("USER", "keyboard")
    for words in (
        "init -q -b main",
        "-c user.name=You -c user.email=y@example.invalid commit -q --allow-empty -m Begin",
    ):
        subprocess.run(["git", *words.split()], check=True)

    def one(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main.run(list(words))
        said = capfd.readouterr()
        return code, said.out, said.err

    assert one("init", "--test", "true")[0] == one("add", "One", "--id", "b1")[0] == 0
    return one


def actors(run: Run) -> list[str]:
    return [json.loads(line)["agent"] for line in run("events", "--json")[1].splitlines()]


def test_who_acts(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("hold", "b1", "--reason", "x")
    run("release", "b1", "--as", "Zoe")
    run("--as", "Zoe", "hold", "b1", "--reason", "x")
    monkeypatch.setenv("NOBRAKES_ACTOR", "bot")
    run("release", "b1")
    assert actors(run) == ["keyboard", "keyboard", "Zoe", "Zoe", "bot"]
    assert run("--as", "Zoe", "hold", "b1", "--as", "Ben", "--reason", "x")[0] == 2
    for name in ("", "nobrakes", "a\nb"):
        assert run("hold", "b1", "--reason", "x", "--as", name)[0] == 2
    assert (
        run("--as", "Zoe", "status")[0] == run("--request", "k", "status")[0] == run("--request", "k", "init")[0] == 2
    )
    assert len(actors(run)) == 5


def test_inside_a_run_nobody_takes_another_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOBRAKES_RUN", "7-agent")
    monkeypatch.setenv("NOBRAKES_ACTOR", "boss")
    code, _, err = run("hold", "b1", "--reason", "x", "--as", "boss")
    assert code == 17 and "cannot use `--as`" in err
    run("hold", "b1", "--reason", "x")
    assert actors(run)[-1] == "keyboard"


def test_the_same_again_is_done_once(run: Run) -> None:
    first = run("add", "Two", "--request", "k1", "--json")
    again = run("--request", "k1", "add", "Two", "--json")
    assert (
        first[:2] == again[:2]
        and json.loads(first[1])["ok"]
        and not first[2]
        and "the first result is shown" in again[2]
    )
    assert run("add", "Two", "--request", "k1")[1] == run("add", "Two", "--request", "k1")[1]
    assert len(json.loads(run("list", "--json")[1])["data"]) == 2
    code, _, err = run("add", "Three", "--request", "k1")
    assert code == 2 and "another command" in err


def test_what_failed_may_be_tried_again(run: Run) -> None:
    assert run("hold", "b2", "--reason", "x", "--request", "k2")[0] == 16
    run("add", "Two", "--id", "b2")
    assert run("hold", "b2", "--reason", "x", "--request", "k2")[0] == 0
    assert run("release", "b2", "--request", "k2")[0] == 2


def test_an_undo_under_a_key_takes_one_step_back(run: Run) -> None:
    run("add", "Two", "--id", "b2")
    first = run("undo", "--request", "k3")
    assert first[0] == 0 and run("undo", "--request", "k3")[:2] == first[:2]
    kept = {bead["id"]: bead["status"] for bead in json.loads(run("list", "--json")[1])["data"]}
    assert kept == {"b1": "needs_tests", "b2": "cancelled"}


def test_a_plan_that_is_read_from_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("beads:\n  - {id: p1, title: A}\n")
    words = ("plan", "apply", "plan.yaml", "--request", "k4", "--json")
    first = run(*words)
    run("cancel", "p1")
    assert first[0] == 0 and run(*words)[:2] == first[:2]
