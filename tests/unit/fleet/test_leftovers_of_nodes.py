"""What a worker leaves when it is killed at any step of a run's begin or end is removed, and nothing of a living run is."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from nobrakes.fleet import node


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NOBRAKES_NODE", str(tmp_path))
    return tmp_path


def ask(run: str) -> dict[str, str]:
    answer, _ = asyncio.run(node.ask(run, "known", '{"repository": "one"}', b""))
    said: dict[str, str] = json.loads(answer)
    return said


def killed(step: str) -> node.Session:
    """A run whose worker was killed at this step: its locks are gone with its process."""
    session = node.Session("1-agent")
    top = Path(session.top)
    session.lock.close()
    if step == "before the lock":
        (top / "lock").unlink()
    if step in ("before the lock", "before the secret"):
        os.rmdir(session.secret)
        (top / "secret").unlink()
    if step == "before the link":
        (top / "secret").unlink()
    if step == "while it was removed":
        for name in ("lock", "secret"):
            (top / name).unlink()
        (top / "repository").mkdir()
    return session


@pytest.mark.parametrize(
    "step",
    ["before the lock", "before the secret", "before the link", "while it was removed", "while it ran"],
)
def test_the_next_worker_removes_a_run_whose_worker_was_killed(step: str) -> None:
    session, living = killed(step), node.Session("2-agent")
    try:
        node.remove_leftovers()
        assert not os.path.exists(session.top) and not os.path.exists(session.secret)
        assert os.path.exists(living.top) and os.path.exists(living.secret)
    finally:
        living.remove()
    assert not os.path.exists(living.top) and not os.path.exists(living.secret)


def test_a_run_that_nobody_asked_about_in_time_is_lost_to_whoever_asks_late() -> None:
    session = node.SESSIONS["3-agent"] = node.Session("3-agent")
    try:
        assert ask("3-agent") == {}
        session.asked_at -= node.LEASE + 1  # a question that waited in a stopped worker
        assert "lost" in ask("3-agent")
    finally:
        del node.SESSIONS["3-agent"]
        session.remove()


def test_a_run_whose_worker_stood_still_is_lost() -> None:
    session = node.SESSIONS["4-agent"] = node.Session("4-agent")
    try:
        node.end_silent(os.getpid() + 1)
        assert "lost" not in ask("4-agent")
        node.end_silent(os.getpid())
        assert not os.path.exists(session.secret)
        assert "lost" in ask("4-agent")
    finally:
        del node.SESSIONS["4-agent"]
        session.remove()
