"""One graph a repository: where .nobrakes is, from wherever somebody stands. Built with real git."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nobrakes.paths import Paths, find, repository_root, resource, which


def git(where: Path, *args: str) -> None:
    command = ["git", "-C", str(where), "-c", "protocol.file.allow=always", *args]
    subprocess.run(command, check=True, capture_output=True)


def repository(where: Path) -> Path:
    where.mkdir(parents=True)
    git(where, "init", "-q")
    git(where, "commit", "-q", "--allow-empty", "-m", "first")
    return where


def initialised(root: Path) -> str:
    folder = root / ".nobrakes"
    folder.mkdir()
    (folder / "config.toml").write_text("")
    return str(folder)


def folder_for(start: Path) -> str | None:
    paths = find(str(start))
    return paths.folder if paths else None


def test_it_is_found_from_every_folder_of_the_repository(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    deep = shop / "src" / "cart"
    deep.mkdir(parents=True)
    assert repository_root(str(deep)) == str(shop)
    assert folder_for(deep) is None, "not initialised yet"
    own = initialised(shop)
    assert folder_for(deep) == folder_for(shop) == own


def test_a_link_to_the_repository_leads_there(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    own = initialised(shop)
    (tmp_path / "short").symlink_to(shop)
    assert folder_for(tmp_path / "short") == own


def test_a_linked_worktree_shares_the_graph_of_its_main_worktree(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-q", str(tmp_path / "other"))
    own = initialised(shop)
    (tmp_path / "other" / "src").mkdir()
    assert repository_root(str(tmp_path / "other" / "src")) == str(shop)
    assert folder_for(tmp_path / "other" / "src") == own


def test_a_worktree_that_has_the_tracked_config_checked_out_finds_the_shared_graph(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    own = initialised(shop)
    git(shop, "add", ".")
    git(shop, "commit", "-q", "-m", "settings")
    git(shop, "worktree", "add", "-q", str(tmp_path / "other"))
    assert (tmp_path / "other" / ".nobrakes" / "config.toml").exists()
    assert folder_for(tmp_path / "other") == own


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    shop, lib = repository(tmp_path / "shop"), repository(tmp_path / "lib")
    git(shop, "submodule", "add", "-q", str(lib), "lib")
    initialised(shop)
    assert repository_root(str(shop / "lib")) == str(shop / "lib")
    assert folder_for(shop / "lib") is None
    own = initialised(shop / "lib")
    assert folder_for(shop / "lib") == own


def test_a_bare_repository_has_it_inside_itself(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "shop.git")
    bare = tmp_path / "shop.git"
    assert repository_root(str(bare)) == repository_root(str(bare / "refs")) == str(bare)
    own = initialised(bare)
    assert folder_for(bare / "refs") == own


def test_a_worktree_of_a_bare_repository_finds_it_there(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(tmp_path, "clone", "-q", "--bare", str(shop), "shop.git")
    git(tmp_path / "shop.git", "worktree", "add", "-q", str(tmp_path / "tree"))
    own = initialised(tmp_path / "shop.git")
    assert folder_for(tmp_path / "tree") == own


def test_a_git_folder_kept_elsewhere_belongs_to_the_folder_that_points_to_it(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    git(tmp_path / "shop", "init", "-q", f"--separate-git-dir={tmp_path / 'kept'}")
    assert repository_root(str(tmp_path / "shop")) == str(tmp_path / "shop")


def test_a_repository_inside_another_does_not_use_the_outer_graph(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    initialised(outer)
    inner = repository(outer / "vendored")
    assert folder_for(inner) is None


def test_settings_in_a_folder_further_down_are_nobodys(tmp_path: Path) -> None:
    """Else whoever works in that folder would run what an agent put there."""
    shop = repository(tmp_path / "shop")
    own = initialised(shop)
    (shop / "docs").mkdir()
    initialised(shop / "docs")
    assert folder_for(shop / "docs") == own


def test_outside_of_any_repository_there_is_none(tmp_path: Path) -> None:
    assert repository_root(str(tmp_path)) is None
    assert folder_for(tmp_path) is None


def test_a_broken_pointer_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("nonsense\n")
    assert repository_root(str(tmp_path)) is None


def test_an_agent_is_told_and_never_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = repository(tmp_path / "shop")
    own = initialised(shop)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert find() is None
    monkeypatch.setenv("NOBRAKES_HOME", own)
    paths = find()
    assert paths is not None and paths.root == str(shop)
    monkeypatch.setenv("NOBRAKES_HOME", str(tmp_path / "gone"))
    monkeypatch.chdir(shop)
    assert find() is None, "it searched, though it was told"


def test_everything_lies_below_the_folder() -> None:
    paths = Paths("/x/.nobrakes")
    names = [
        name for name, value in vars(Paths).items() if type(value).__name__ in ("_Below", "property") and name != "root"
    ]
    assert len(names) > 15
    assert all(getattr(paths, name).startswith("/x/.nobrakes/") for name in names)


@pytest.mark.parametrize("name", ["NAMES.json", "config/nobrakes.toml"])
def test_what_comes_with_nobrakes_is_there(name: str) -> None:
    assert Path(resource(name)).is_file()


def test_a_program_is_found_where_the_library_finds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, mode in (("a/tool", 0o755), ("b/tool", 0o755), ("a/data", 0o644), ("b/data", 0o755)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(mode)
    (tmp_path / "a" / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    both = f"{tmp_path}/a{os.pathsep}{tmp_path}/b"
    for path in (both, f"{tmp_path}/none{os.pathsep}{both}", "", os.pathsep, "a", None):
        for name in (
            "tool",
            "data",
            "folder",
            "none",
            "./tool",
            "../a/tool",
            f"{tmp_path}/a/data",
            "",
            "sh",
            "a\0b",
            "a\ud800",
        ):
            assert which(name, path) == shutil.which(name, path=path), (name, path)
