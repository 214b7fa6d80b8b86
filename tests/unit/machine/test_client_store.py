"""Tokens of HTTP clients: who only knocks never takes the person's write lock."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.machine import db as machine_db
from nobrakes.machine.db import ClientStore


def test_a_token_is_looked_up_while_another_process_writes_and_its_use_is_noted_once_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_db, "USER_TIMEOUT_SECONDS", 0.05)
    clock = [100.0]
    path = str(tmp_path / "user.db")
    with closing(ClientStore(path, lambda: clock[0])) as store, closing(sqlite3.connect(path)) as other:

        def used_at() -> float | None:
            return store.clients()[0].used_at

        store.add("pocket", "good")
        other.execute("BEGIN IMMEDIATE")
        assert store.use("wrong") == ""
        assert store.use("good") == "pocket" and used_at() is None, "a note that has to wait is left out"
        other.rollback()
        assert store.use("good") == "pocket" and used_at() == 100.0
        clock[0] = 159.0
        other.execute("BEGIN IMMEDIATE")
        assert store.use("good") == "pocket" and used_at() == 100.0
        other.rollback()
        clock[0] = 160.0
        assert store.use("good") == "pocket" and used_at() == 160.0
        clock[0] = 1.0  # the clock was set back
        assert store.use("good") == "pocket" and used_at() == 1.0
        store.revoke("pocket")
        assert store.use("good") == ""
