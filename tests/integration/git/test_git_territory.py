"""What belongs to a repository, wherever it lies: git folders, worktrees, borrowed objects, files of settings."""

import subprocess
from pathlib import Path

import pytest

from nobrakes.git.repository import Repository
from nobrakes.paths import Paths


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    return folder


def territory(root: Path) -> set[str]:
    return set(Repository(Paths(str(root / ".nobrakes")), "main").territory())


def test_linked_worktrees_and_the_git_folder_belong_to_it(project, tmp_path):
    git(project, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    assert {str(project), str(project / ".git"), str(tmp_path / "linked")} <= territory(project)


def test_a_git_folder_elsewhere_belongs_to_it(tmp_path):
    (tmp_path / "project").mkdir()
    git(tmp_path / "project", "init", "-q", "-b", "main", "--separate-git-dir", str(tmp_path / "elsewhere"))
    assert str(tmp_path / "elsewhere") in territory(tmp_path / "project")


def test_a_bare_repository_and_what_it_borrows_belong_to_it(project, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", "--shared", str(project), "bare.git")
    found = territory(tmp_path / "bare.git")
    assert {str(tmp_path / "bare.git"), str(project / ".git" / "objects")} <= found


def test_files_of_settings_and_what_they_name_belong_to_it(project, tmp_path, nobody_touches_the_real_home):
    home = nobody_touches_the_real_home
    (home / "included").write_text("[core]\n\tattributesFile = ~/attributes\n")
    program = tmp_path / "filter"
    program.write_text("")
    git(project, "config", "--global", "include.path", "included")
    git(project, "config", "--global", "includeIf.gitdir:/nowhere/.path", "~/elsewhere")
    git(project, "config", "filter.own.clean", f"{program} --clean %f")
    wanted = {str(home / name) for name in (".gitconfig", "included", "attributes", "elsewhere")}
    assert wanted | {str(program), str(project / ".git" / "config")} <= territory(project)
