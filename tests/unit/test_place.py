"""Where the person's own place is, and when it is not used."""

import os
from pathlib import Path

import platformdirs
import pytest

from nobrakes.config import user
from nobrakes.errors import NotAllowed, PlaceUnusable


def test_one_folder_for_both_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(user.OVERRIDE, str(tmp_path))
    found = user.user_place()
    assert found.config == str(tmp_path / "config" / "config.toml")
    assert found.database == str(tmp_path / "state" / "user.db")


def test_else_it_lies_where_the_system_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(user.OVERRIDE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    found = user.user_place()
    assert (found.settings, found.state) == (str(tmp_path / "c" / "nobrakes"), str(tmp_path / "s" / "nobrakes"))


@pytest.mark.parametrize("home", ["/some/where", "/some/where/", "/", "here"])
@pytest.mark.parametrize("named", [None, "", "here", "/else/where", "/else/where/"])
def test_the_folders_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch, named: str | None, home: str) -> None:
    monkeypatch.setenv("HOME", home)
    for kind, below in (("config", ".config"), ("state", ".local/state"), ("data", ".local/share")):
        monkeypatch.delenv(f"XDG_{kind.upper()}_HOME", raising=False)
        if named is not None:
            monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", named)
        assert user._folder(kind, below) == getattr(platformdirs, f"user_{kind}_dir")("nobrakes", False)


def test_an_account_without_a_home_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(user.OVERRIDE)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it answers where nobody knows the account
    with pytest.raises(PlaceUnusable, match="HOME is not set"):
        user.user_place()


@pytest.mark.parametrize("mark", ["NOBRAKES_TOKEN", "NOBRAKES_RUN"])
def test_a_run_is_refused(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    monkeypatch.setenv(mark, "x")
    with pytest.raises(NotAllowed):
        user.user_place()
    assert user.folders() == ()


def test_a_folder_that_others_may_write_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert not user.require_safe(str(folder))
    user.make(str(folder))
    assert user.require_safe(str(folder)) and folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    user.make(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o770)
    with pytest.raises(PlaceUnusable, match="can write"):
        user.make(str(folder))


def test_a_folder_of_another_account_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path.stat().st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(PlaceUnusable, match="another account"):
        user.require_safe(str(tmp_path))


def test_what_is_no_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in ("file", "file/below"):
        with pytest.raises(PlaceUnusable):
            user.make(str(tmp_path / path))


def test_what_no_run_may_reach_is_what_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "real" / "state").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv(user.OVERRIDE, str(tmp_path / "link"))
    assert user.folders() == (str(tmp_path / "real" / "state"),)


def test_nobodys_home_is_guessed_made_or_written_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NOBRAKES_USER_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(PlaceUnusable, match="HOME is not set"):
        user.user_place()
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))
    with pytest.raises(PlaceUnusable, match="gone"):
        user.user_place()
    assert not (tmp_path / "gone").exists()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user.user_place().state.startswith(str(tmp_path))
    monkeypatch.setattr(user.os, "geteuid", lambda: 4711)
    with pytest.raises(PlaceUnusable, match="another account"):
        user.user_place()


def test_a_file_that_is_a_link_or_open_to_others_is_not_opened(tmp_path: Path) -> None:
    own = tmp_path / "user.db"
    user.require_own(str(own))
    own.write_text("")
    user.require_own(str(own))
    own.chmod(0o666)
    with pytest.raises(PlaceUnusable, match="other accounts can write"):
        user.require_own(str(own))
    (tmp_path / "link").symlink_to(own)
    with pytest.raises(PlaceUnusable, match="not a plain file"):
        user.require_own(str(tmp_path / "link"))
