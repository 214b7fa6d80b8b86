"""Gates, breakers and caps from the command line, in a real repository."""

import io
import json
import re
import subprocess
import sys

import pytest

from nobrakes.agents.limits import Breaker, Cooldown, State
from nobrakes.beads.model import Outcome
from nobrakes.cli import main
from nobrakes.events.kinds import Kind
from nobrakes.store import open_store


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with nobrakes in it, as the current folder."""
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_HOME"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main.run(["init", "--build", "true"]) == 0
    return tmp_path


@pytest.fixture
def store(repository):
    found = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    yield found
    found.close()


@pytest.fixture
def say(repository, capsys):
    """Run a command; what it printed."""
    capsys.readouterr()

    def run(*argv, code=0):
        assert main.run(list(argv)) == code
        shown = capsys.readouterr()
        return shown.out + shown.err

    return run


def close(store, seconds, told=True):
    now = store.now()
    store.start_cooldown(Cooldown("anthropic", Outcome.RATE_LIMITED, "no", now, now + seconds, 1, told))


def test_a_closed_gate_counts_down_wherever_people_look(store, say):
    assert "no provider refuses requests" in say("providers")
    close(store, 7500)
    for command in ("providers", "status", "board"):
        assert re.search(r"anthropic: rate limited, so no agent starts for 2\W?h", say(command)), command
    found = json.loads(say("providers", "--json"))["data"]["gates"]
    assert [(one["provider"], one["reason"]) for one in found] == [("anthropic", "rate_limited")]


def test_a_person_opens_it_before_its_time_and_that_is_recorded(store, say):
    close(store, 7500)
    assert "agents use the provider anthropic again" in say("providers", "open", "anthropic")
    assert "had no cooldown" in say("providers", "open", "anthropic")
    assert store.gates() == {}
    opened = [event for event in store.events() if event.kind is Kind.GATE_OPENED]
    assert len(opened) == 1 and opened[0].actor != "nobrakes"


def test_a_provider_that_nobody_knows_is_refused_with_those_that_are(say):
    assert "anthropic" in say("providers", "open", "antrhopic", code=2)
    assert "providers open" in say("providers", "shut", code=2)


def test_a_breaker_is_reset(store, say):
    say("add", "A bead", "--id", "a")
    assert "the bead was not stopped" in say("providers", "reset", "a")
    store.save_breaker("bead:a", "anthropic", Breaker(State.OPEN, 3, 3, "failed"))
    assert "try the bead again" in say("providers", "reset", "a")
    assert store.breakers("bead:a")["anthropic"].state is State.HALF_OPEN


def test_status_says_what_was_spent_of_what(repository, say):
    config = repository / ".nobrakes" / "config.toml"
    config.write_text(config.read_text().replace("[caps.day]", "[caps.day]\nusd = 12.5"))
    assert "caps.day.usd: 0 of 12.5" in say("status")


def test_an_agent_that_nobody_knows_is_found_by_the_check(repository, say):
    config = repository / ".nobrakes" / "config.toml"
    assert "is valid" in say("config", "--check")
    config.write_text('main = "main"\n[agents.by_type.fix]\ndoer = ["claude", "cluade"]\n')
    assert "cluade" in say("config", "--check", code=12)


def test_a_cap_is_lifted_with_a_warning_and_holds_again(repository, store, say):
    assert "sets no cap for all beads" in say("providers", "lift", "day.usd", code=2).lower()
    config = repository / ".nobrakes" / "config.toml"
    config.write_text(config.read_text().replace("[caps.day]", "[caps.day]\nusd = 12.5"))
    assert "day.usd" in say("providers", "lift", "week.usd", code=2)
    said = say("providers", "lift", "caps.day.usd")
    assert "caps.day.usd is lifted until" in said and "more than the 12.5 that you allowed" in said
    assert "nobrakes providers keep day.usd" in said
    say("providers", "lift", "day.usd")
    assert "(you lifted this cap until its period ends)" in say("providers")
    assert "applies again: 12.5" in say("providers", "keep", "day.usd")
    assert "lifted" not in say("providers")
    changed = [event.data["after"] for event in store.events() if event.kind is Kind.LIMITS_CHANGED]
    assert changed == [{"caps.day.usd": "lifted"}, {"caps.day.usd": "holds"}], "asked twice, it is one change"
