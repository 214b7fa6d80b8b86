"""Repositories are known by who they are: moved, copied, cloned, gone; and looking at them never hangs."""

import os
import shutil
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.decisions.service.all_blockers import for_you
from nobrakes.errors import UsageError
from nobrakes.machine import registry
from nobrakes.store import create_store


def repository(folder: Path) -> str:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".nobrakes").mkdir()
    (folder / ".nobrakes" / "config.toml").write_text("")
    return str(folder)


def register(root: str) -> str:
    assert registry.register_here(root) == ""
    return registry.identity(root)


def listed() -> dict[str, str]:
    return {one.path: one.state for one in registry.repositories(for_you)}


def test_who_moves_is_the_same_and_who_is_deleted_is_gone(tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    word = register(one)
    assert listed() == {one: "stopped"}
    os.rename(one, tmp_path / "two")
    assert listed() == {one: "gone"}
    assert register(str(tmp_path / "two")) == word
    assert listed() == {str(tmp_path / "two"): "stopped"}
    shutil.rmtree(tmp_path / "two")
    assert listed() == {str(tmp_path / "two"): "gone"}


def test_a_copy_and_a_clone_are_others(tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    word = register(one)
    shutil.copytree(one, tmp_path / "copy")
    assert register(str(tmp_path / "copy")) != word == registry.identity(one)
    subprocess.run(["git", "clone", "-q", one, str(tmp_path / "clone")], check=True, capture_output=True)
    assert register(str(tmp_path / "clone")) not in ("", word)
    assert len(registry.repositories(for_you)) == 3


def test_one_that_is_seen_through_a_link_is_one(tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    word = register(one)
    (tmp_path / "link").symlink_to(one)
    assert register(str(tmp_path / "link")) == word
    assert len(registry.repositories(for_you)) == 1


def test_forgetting_touches_nothing_there(tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    register(one)
    assert registry.forget(one) == one
    assert registry.repositories(for_you) == [] and os.path.exists(one)
    with pytest.raises(UsageError):
        registry.forget(one)


def test_what_waits_is_unknown_in_a_database_that_cannot_be_read(tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    register(one)
    database = tmp_path / "one" / ".nobrakes" / "nobrakes.db"
    assert [found.for_you for found in registry.repositories(for_you)] == [None] and not database.exists()
    create_store(str(database)).close()
    assert [found.for_you for found in registry.repositories(for_you)] == [2], "no settings, and no check"
    database.with_name("config.toml").write_text('[[checks]]\nname = "test"\ncommand = "true"\n')
    assert [found.for_you for found in registry.repositories(for_you)] == [0]
    with closing(sqlite3.connect(database)) as own:
        own.execute("PRAGMA user_version = 9")
    assert [found.for_you for found in registry.repositories(for_you)] == [None], "nothing is migrated by a look"
    database.write_text("no database" * 100)
    assert [found.for_you for found in registry.repositories(for_you)] == [None]


def test_what_does_not_answer_is_shown_without_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    register(one), register(two)
    never, real = threading.Event(), registry._view

    def hangs(found: registry.Repository, asks: registry.ForYou) -> registry.RepositoryView:
        if found.path == one:
            never.wait()
        return real(found, asks)

    monkeypatch.setattr(registry, "_view", hangs)
    monkeypatch.setattr(registry, "TIMEOUT_SECONDS", 0.5)
    assert listed() == {one: "does not answer", two: "stopped"}
    never.set()
