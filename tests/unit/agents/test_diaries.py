"""What the session files of Codex and Gemini CLI tell of calls, in lines as their CLIs write them."""

import json
import os
from pathlib import Path

import pytest

from nobrakes.agents import acp as acp_events
from nobrakes.agents import codex as codex_events
from nobrakes.agents import gemini as gemini_events
from nobrakes.agents.adapter import Use
from nobrakes.host.watching import appended

AT = "2026-11-22T00:55:09.500Z"
SECONDS = 1795308909.5
RECORD = {"response_id": "resp_1", "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}}
COUNT = {"type": "token_count", "info": {"total_token_usage": {"total_tokens": 120}, "model_context_window": 258400}}


def line(type_: str, payload: object) -> bytes:
    return json.dumps({"timestamp": AT, "type": type_, "payload": payload}).encode()


def test_codex_tells_of_a_call_once_and_of_its_window_apart() -> None:
    assert codex_events.events_used(line("token_usage_record", RECORD)) == Use("resp_1", 120, 120, at=SECONDS)
    assert codex_events.events_used(line("event_msg", COUNT)) == Use("", 0, 0, 258400, SECONDS)


def test_an_acp_agent_tells_how_full_its_context_is_and_nothing_of_its_tokens() -> None:
    told = {"type": "usage", "context": 90, "window": 100, "cost": None}
    assert acp_events.events_used(json.dumps(told).encode()) == Use("context", 0, 90, 100)
    for wrong in (
        {"window": 0},
        {"context": None},
        {"context": "90"},
        {"context": True},
        {"context": 101},
        {"type": "text"},
    ):
        assert acp_events.events_used(json.dumps({**told, **wrong}).encode()) is None
    assert acp_events.events_used(b'{"type": "usage", "input_tokens": 5}') is None


def test_gemini_tells_with_each_message() -> None:
    message = {"id": "m1", "timestamp": AT, "type": "gemini", "tokens": {"input": 100, "output": 20, "total": 120}}
    assert gemini_events.events_used(json.dumps(message).encode()) == Use("m1", 120, 120, at=SECONDS)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b'{"tokens"',
        b'{"type": "gemini", "tokens": {"total": "many"}}',
        b'{"type": "user", "tokens": {"total": 3}}',
        b'["tokens", "token_count"]',
        line("token_usage_record", {"usage": {"total_tokens": -5}}),
        line("token_usage_record", None),
        line("token_usage_record", "token_count"),
    ],
)
def test_what_tells_nothing_is_no_error(raw: bytes) -> None:
    assert codex_events.events_used(raw) is None and gemini_events.events_used(raw) is None


def test_files_are_read_on_from_where_they_were_read_and_nothing_else_is(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    (folder / "2026" / "11").mkdir(parents=True)
    (tmp_path / "secret.jsonl").write_text("secret")
    file = folder / "2026" / "11" / "rollout-1.jsonl"
    file.write_text("one\ntwo\n")
    (folder / "notes.txt").write_text("no")
    (folder / "rollout-link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "away").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(folder / "rollout-pipe.jsonl")

    def read(since: float = 0.0, limit: int = 100, **paths: int) -> dict[str, bytes]:
        found = appended(str(folder), "**/rollout-*.jsonl", since, {str(file): paths.get("place", 0)}, limit)
        return {Path(path).name: content for path, content in found.items() if content}

    assert read() == {"rollout-1.jsonl": b"one\ntwo\n"}
    assert read(place=4) == {"rollout-1.jsonl": b"two\n"}
    assert read(limit=3) == {"rollout-1.jsonl": b"one"}
    assert read(place=8) == {} and read(since=file.stat().st_ctime + 1) == {}
    assert appended(str(folder / "away"), "**/*.jsonl", 0.0, {}, 100) == {}
    assert appended(str(tmp_path / "nowhere"), "**/*.jsonl", 0.0, {}, 100) == {}
