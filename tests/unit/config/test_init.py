"""`nobrakes init` in every kind of repository: nothing outside .nobrakes changes, nothing is overwritten."""

import os
from pathlib import Path

import pytest

from nobrakes import paths as finding
from nobrakes.beads.service import bead_commands
from nobrakes.config.sections import CheckSettings
from nobrakes.config.settings import load
from nobrakes.config.setup import init
from nobrakes.errors import ConfigError, NotARepository
from nobrakes.features.service.approving import commit_strategy
from nobrakes.store import open_store


def status(git, root):
    return git(root, "status", "--porcelain").splitlines()


def everything(root: Path) -> dict[str, bytes]:
    """Every file outside .nobrakes, git's own too, but for git's index, which `git status` refreshes."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".nobrakes" not in path.parts and path.name != "index"
    }


def test_a_plain_repository(repository, git):
    before = everything(repository)
    report = init.init(str(repository))
    assert everything(repository) == before
    assert status(git, repository) == ["?? .nobrakes/"]
    assert report.main == "main" and report.paths.root == str(repository)
    assert "config.toml" in report.created and "nobrakes.db" in report.created
    assert load(report.paths.config).main == "main"
    for folder in ("wake", "runs", "workspaces", "scratch"):
        assert (repository / ".nobrakes" / folder).is_dir()
    assert finding.find(str(repository)).folder == report.paths.folder


def test_only_what_is_to_be_tracked_is_seen_by_git(repository, git):
    init.init(str(repository))
    own = repository / ".nobrakes"
    (own / "roles").mkdir()
    (own / "roles" / "doer.md").write_text("x")
    (own / "beads.jsonl").write_text("")
    (own / "runs" / "1").write_text("secret")
    git(repository, "add", ".nobrakes")
    tracked = git(repository, "ls-files", ".nobrakes").splitlines()
    assert tracked == [
        f".nobrakes/{name}"
        for name in sorted((".gitattributes", ".gitignore", "beads.jsonl", "config.toml", "roles/doer.md"))
    ]


def test_a_second_init_changes_nothing_and_says_so(repository):
    init.init(str(repository))
    config = repository / ".nobrakes" / "config.toml"
    config.write_text('main = "trunk"\n')
    (repository / ".nobrakes" / "wake").rmdir()
    before = {
        p: p.stat().st_mtime_ns
        for p in (repository / ".nobrakes").rglob("*")
        if p.is_file() and p.name != "config.checked"
    }
    report = init.init(str(repository), main="other")
    assert report.created == ("wake/",)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert report.main == "trunk"
    assert any("main is still 'trunk'" in text for text in report.warnings)
    assert init.init(str(repository)).created == ()


def test_a_second_init_adds_the_checks_that_are_named_and_changes_none(repository):
    init.init(str(repository), checks=[CheckSettings(name="test", command="python3 -m pytest -q")])
    given = [
        CheckSettings(name="test", command="make test"),
        CheckSettings(name="lint", command="gone-linter .", kind="lint"),
    ]
    report = init.init(str(repository), checks=given)
    found = load(str(repository / ".nobrakes" / "config.toml")).checks
    assert [(check.name, check.command, check.kind, check.format) for check in found] == [
        ("test", "python3 -m pytest -q", "test", "pytest"),
        ("lint", "gone-linter .", "lint", "auto"),
    ]
    assert [change.key for change in report.changes] == ["checks.lint.command"]
    assert [check.name for check in report.detected.checks] == ["test", "lint"]
    said = "\n".join(report.warnings)
    assert (
        "still runs `python3 -m pytest -q`: to change, type nobrakes config set checks.test.command 'make test'" in said
    )
    assert init.init(str(repository), checks=given).changes == ()


def test_a_broken_config_is_not_overwritten(repository):
    init.init(str(repository))
    config = repository / ".nobrakes" / "config.toml"
    config.write_text("nonsense = 1\n")
    with pytest.raises(ConfigError, match="nonsense"):
        init.init(str(repository))
    assert config.read_text() == "nonsense = 1\n"


def test_no_repository(tmp_path):
    with pytest.raises(NotARepository):
        init.init(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_no_commit_yet(tmp_path, git):
    git(tmp_path, "init", "-q", "-b", "trunk", "p")
    report = init.init(str(tmp_path / "p"))
    assert report.main == "trunk" and report.main_why == "checked out"
    assert any("no commit yet" in text for text in report.warnings)


def test_a_dirty_repository_stays_dirty(repository, git):
    (repository / "README.md").write_text("edited")
    (repository / "new.txt").write_text("new")
    report = init.init(str(repository))
    assert status(git, repository) == [" M README.md", "?? .nobrakes/", "?? new.txt"] or set(
        status(git, repository)
    ) == {"M README.md", "?? .nobrakes/", "?? new.txt"}
    assert any("uncommitted" in text for text in report.warnings)


def test_a_linked_worktree_uses_the_main_one(repository, git, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    report = init.init(str(tmp_path / "linked"))
    assert report.paths.root == str(repository) and report.main == "main"
    assert not (tmp_path / "linked" / ".nobrakes").exists()


def test_a_bare_repository_has_it_inside(repository, git, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    report = init.init(str(tmp_path / "bare.git"))
    assert report.paths.root == str(tmp_path / "bare.git") and report.main == "main"
    assert report.main_why == "named by HEAD", "nothing is checked out there"
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "w"), "main")
    assert init.init(str(tmp_path / "w")).created == ()


def test_a_submodule_has_its_own(repository, git, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "inner")
    report = init.init(str(outer / "inner"))
    assert report.paths.root == str(outer / "inner")
    assert not (outer / ".nobrakes").exists()


def test_which_branch_is_main(repository, git, tmp_path):
    git(repository, "switch", "-q", "-c", "feature/x")
    assert init._main(str(repository), init.discover(str(repository))) == (
        "main",
        "the repository has a branch with this name",
    )
    git(repository, "branch", "-q", "-m", "main", "development")
    assert init._main(str(repository), init.discover(str(repository)))[0] == "feature/x"
    git(tmp_path, "clone", "-q", str(repository), "clone")
    git(tmp_path / "clone", "switch", "-q", "-c", "main")
    found = init._main(str(tmp_path / "clone"), init.discover(str(tmp_path / "clone")))
    assert found == ("feature/x", "the main branch of the remote origin")
    assert init.init(str(repository), main="release").main_why == "your choice"


def test_a_missing_test_check_is_told(repository):
    (repository / "ruff.toml").write_text("")
    (repository / "setup.py").write_text("")
    said = " ".join(init.init(str(repository)).warnings)
    assert "no check runs tests" in said and "no check yet" not in said


def test_a_given_check_leaves_a_package_of_that_name_its_tests(repository):
    (repository / "packages" / "types").mkdir(parents=True)
    (repository / "packages" / "types" / "package.json").write_text('{"scripts": {"test": "vitest run"}}')
    report = init.init(str(repository), checks=[CheckSettings(name="types", command="tsc", kind="types")])
    made = {check.name: check.command for check in load(report.paths.config).checks}
    assert made == {"types": "tsc", "types-2": "npm run test"}


def test_given_checks_replace_the_detected_ones_of_their_kind(repository):
    (repository / "pyproject.toml").write_text("[tool.pytest.ini_options]\n[tool.ruff]\n")
    init.init(str(repository), checks=[CheckSettings(name="mine", command="make -C x test", kind="test", min_tests=3)])
    found = load(str(repository / ".nobrakes" / "config.toml")).checks
    assert [(c.name, c.command, c.min_tests) for c in found] == [
        ("mine", "make -C x test", 3),
        ("lint", "ruff check .", 1),
    ]


@pytest.mark.parametrize("make", [lambda p: p.write_text("x"), lambda p: p.symlink_to("/nowhere")])
def test_something_else_of_that_name_is_left_alone(repository, make):
    make(repository / ".nobrakes")
    with pytest.raises(ConfigError, match="not a folder"):
        init.init(str(repository))


def test_a_clone_of_a_repository_that_tracks_the_graph_gets_it_back(repository, git, tmp_path):
    from nobrakes.git.repository import Repository

    report = init.init(str(repository))
    store = open_store(report.paths.database)
    bead_commands.add(store, "A", id="a")
    bead_commands.add(store, "B", id="b", needs=["a"])
    done = commit_strategy(store, Repository(report.paths, "main"), report.paths, "me")
    assert done.approved == ("a", "b") and done.commit == git(repository, "rev-parse", "main")
    store.close()
    assert status(git, repository) == []
    git(tmp_path, "clone", "-q", str(repository), "clone")
    assert "nobrakes.db" in init.init(str(tmp_path / "clone")).created
    again = open_store(os.path.join(tmp_path, "clone", ".nobrakes", "nobrakes.db"))
    assert [bead.id for bead in again.ready(5)] == ["a"]
    again.close()
