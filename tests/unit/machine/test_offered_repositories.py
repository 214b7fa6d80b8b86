"""Repositories below the person's session_roots: found without git and without following a link, named by no client."""

import subprocess
from pathlib import Path

import pytest

from nobrakes.errors import NotAllowed
from nobrakes.machine import registry
from nobrakes.machine.registry import offered, require_offered


def git(path: Path) -> str:
    (path / ".git").mkdir(parents=True)
    return str(path)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """The one folder that the person named."""
    folder = tmp_path / "code"
    folder.mkdir()
    registry.set_limits({"session_roots": str(folder)})
    return folder


def test_by_default_nothing_is_offered_and_the_refusal_names_the_command(tmp_path: Path) -> None:
    path = git(tmp_path / "shop")
    assert offered() == registry.Offered((), (), False)
    with pytest.raises(NotAllowed, match="below your session_roots") as refused:
        require_offered(path)
    assert "nobrakes machine set session_roots=" in refused.value.hint


def test_repositories_are_found_three_folders_down_and_no_link_is_followed(code: Path, tmp_path: Path) -> None:
    near, far = git(code / "near"), git(code / "a" / "b" / "far")
    git(code / "a" / "b" / "c" / "too-far")
    git(code / "near" / "inside")  # what a repository contains is its own affair
    git(code / ".hidden" / "one")
    git(code / "line\nbreak")
    outside = git(tmp_path / "outside")
    (code / "link").symlink_to(outside)
    (code / "links").symlink_to(tmp_path)
    (code / "borrowed").mkdir()
    (code / "borrowed" / ".git").symlink_to(f"{outside}/.git")
    (code / "worktree").mkdir()
    (code / "worktree" / ".git").write_text(f"gitdir: {outside}/.git\n")
    (code / "file").write_text("")
    (code / "closed").mkdir()
    (code / "closed").chmod(0)
    known = Path(git(code / "known"))
    (known / ".nobrakes").mkdir()
    (known / ".nobrakes" / "config.toml").write_text("")
    assert offered() == registry.Offered((str(code),), (far, near), False)


def test_no_git_runs_while_they_are_looked_for(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(code / "shop")
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **more: pytest.fail(f"started {words}"))
    assert len(offered().repositories) == 1


def test_a_root_may_be_a_repository_and_a_link_that_the_person_named(code: Path, tmp_path: Path) -> None:
    root = git(tmp_path / "elsewhere")
    (tmp_path / "named").symlink_to(root)
    registry.set_limits({"session_roots": str(tmp_path / "named")})
    assert offered().repositories == (root,) and require_offered(root) == root
    with pytest.raises(NotAllowed):
        require_offered(str(tmp_path / "named"))


def test_the_number_of_repositories_and_folders_is_bounded(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        git(code / f"r{number}")
    monkeypatch.setattr(registry, "MAX_OFFERED", 3)
    assert (len(offered().repositories), offered().left_out) == (3, True)
    monkeypatch.setattr(registry, "MAX_FOLDERS", 5)
    monkeypatch.setattr(registry, "MAX_OFFERED", 100)
    assert (len(offered().repositories), offered().left_out) == (4, True), "the root is a folder too"
    monkeypatch.setattr(registry, "MAX_FOLDERS", 100)
    assert (len(offered().repositories), offered().left_out) == (8, False)
    monkeypatch.setattr(registry, "MAX_ENTRIES", 2)
    assert len(offered().repositories) == 2


@pytest.mark.parametrize(
    "path",
    [
        "code/shop/../shop",
        "code/../outside",
        "outside",
        "code-too",
        "code/link",
        "code/links/outside",
        "code/shop/",
        "code/known",
        "code/file",
        "code/missing",
        "code/plain",
        "code/bare.git",
        "code/worktree",
        "code/shop/.git",
        "code/shop/inner",
    ],
)
def test_a_path_that_is_not_of_the_list_is_refused(code: Path, tmp_path: Path, path: str) -> None:
    shop = git(code / "shop")
    git(code / "shop" / "inner")
    git(tmp_path / "outside")
    git(tmp_path / "code-too")
    (code / "link").symlink_to(tmp_path / "outside")
    (code / "links").symlink_to(tmp_path)
    (code / "plain").mkdir()
    (code / "file").write_text("")
    (code / "worktree").mkdir()
    (code / "worktree" / ".git").write_text(f"gitdir: {tmp_path}/outside/.git\n")
    subprocess.run(["git", "init", "-q", "--bare", str(code / "bare.git")], check=True)
    known = Path(git(code / "known"))
    (known / ".nobrakes").mkdir()
    (known / ".nobrakes" / "config.toml").write_text("")
    assert require_offered(shop) == shop
    with pytest.raises(
        NotAllowed, match="is not the path of a git repository without nobrakes at most 3 folders below"
    ):
        require_offered(f"{tmp_path}/{path}")


@pytest.mark.parametrize(
    "path", ["", ".", "shop", "~/code", "/", "/etc", "\0", "code\nshop", "\udcff", "/proc/self/cwd"]
)
def test_what_is_no_plain_path_is_refused(code: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    git(code / "shop")
    monkeypatch.chdir(code)
    with pytest.raises(NotAllowed):
        require_offered(path)
