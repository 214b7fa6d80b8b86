"""Behind the wall an agent changes nothing that is run or read outside of it later."""

import os
from pathlib import Path

import pytest

from nobrakes.sandbox.closure import platform_trouble
from nobrakes.sandbox.system_paths import kept
from tests.support.scripted import Scripted

SETTINGS = (
    ".claude/settings.json", ".codex/config.toml", ".gemini/settings.json", ".config/fish/config.fish", ".npmrc",
    ".config/tool/settings", ".pypirc", ".aws/config", ".gnupg/gpg.conf", ".vimrc", ".zshrc", ".bash_aliases",
    ".local/bin/tool", ".local/lib/python3.11/site-packages/dependency.py", ".cargo/bin/tool", "go/bin/tool",
    "other/.git/hooks/post-commit", "other/.git/config", "other/src/code", ".cache/pip/http/a", ".npm/_cacache/a",
    ".cargo/registry/a", "go/pkg/mod/a", ".m2/repository/a", ".unheard-of",
)  # fmt: skip


@pytest.mark.skipif(bool(platform_trouble()), reason=platform_trouble())
def test_settings_programs_and_dependencies_in_the_home_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    for name in SETTINGS:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("mine\n")
    monkeypatch.setenv("HOME", str(home))
    project = Scripted(tmp_path / "project")
    project.add("one")
    tried = "; ".join(f'echo planted >"{home / name}"; echo planted >"{home / name}.d"' for name in SETTINGS)
    caches = "$XDG_CACHE_HOME $PIP_CACHE_DIR $npm_config_cache $CARGO_HOME $GOPATH $GRADLE_USER_HOME"
    project.does(
        "one", f'{tried}; for c in {caches}; do mkdir -p "$c"; echo one >"$c/own"; done; touch "$BOOK/at-work"; work'
    )
    project.does("two", f'for c in {caches}; do [ ! -e "$c/own" ] || touch "$BOOK/shared"; done; work')
    project.add("two", needs=["one"])
    project.nobrakes("run")
    assert project.status("one") == "done" and project.status("two") == "done"
    assert project.flag("at-work").exists(), "it was behind a wall and at work"
    assert not project.flag("shared").exists(), "each bead has caches of its own"
    for name in SETTINGS:
        assert (home / name).read_text() == "mine\n", name
        assert not (home / f"{name}.d").exists(), name


def test_what_nobrakes_imports_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "user-site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    assert str(folder) in kept(os.environ)
