"""Repositories that are not like most: each is worked on to the end, and what its person set up still means the same."""

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.config.settings import load
from nobrakes.errors import GitUnusable
from nobrakes.files import IGNORED_BEFORE, TRACKED
from nobrakes.git.commits import Signer
from nobrakes.git.location import Place
from nobrakes.git.port import Signing
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths
from tests.support.scripted import Scripted, until

OPEN = ("-c", "protocol.file.allow=always")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


class Strange(Scripted):
    """A project whose settings are committed, as a person does before the night."""

    def commit(self, text: str = "Set up") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text, "--allow-empty")

    def run_to_the_end(self, *beads: str) -> None:
        """Every bead is done, main holds them, and the checkout has nothing that a person did not do."""
        self.nobrakes("run")
        assert [self.status(bead) for bead in beads] == ["done"] * len(beads), self.nobrakes("escalations").stdout
        assert sorted(self.landed().values()) == sorted(beads)
        self.nobrakes("verify")


@pytest.fixture
def project(tmp_path: Path) -> Strange:
    return Strange(tmp_path)


# --- checkouts that lack what main has -----------------------------------------------------------


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_a_sparse_checkout_without_nobrakes_loses_no_setting(project: Strange, cone: str) -> None:
    (project.folder / "src").mkdir()
    (project.folder / "src" / "a").write_text("a\n")
    project.commit()
    project.add("one", "two")
    project.nobrakes("commit-strategy", "--yes")
    settings = project.git("show", "main:.nobrakes/config.toml")
    project.git("sparse-checkout", "set", cone, "src")
    assert not project.config.exists(), "git takes it out of the checkout"
    project.run_to_the_end("one", "two")
    assert project.git("show", "main:.nobrakes/config.toml") == settings
    project.nobrakes("init")
    assert not project.config.exists() and project.git("status", "--porcelain", "--untracked-files=no") == ""
    assert "git sparse-checkout add .nobrakes" in project.nobrakes("doctor", expect=None).stdout
    project.git("sparse-checkout", "disable")
    assert project.config.read_text() == settings


@pytest.mark.parametrize("typed", ["--cone", "--no-cone", "--cone --sparse-index"])
@pytest.mark.parametrize("commit", ["by git", "by nobrakes"])
def test_a_sparse_checkout_that_leaves_out_nobrakes_removes_nothing_that_is_worked_on(
    project: Strange, typed: str, commit: str
) -> None:
    (project.folder / "src").mkdir()
    (project.folder / "src" / "a").write_text("a\n")
    project.git("add", "src")
    project.git("commit", "-q", "-m", "Files")
    project.add("one", "two")
    if commit == "by git":
        project.commit()
    else:
        project.nobrakes("commit-strategy", "--yes")
    assert project.git("status", "--porcelain", "--", ".nobrakes") == ""
    project.nobrakes("add", "never committed", "--draft")
    half = "echo half >half; commit half; echo unsaved >unsaved; "
    project.does("one", f"{half}touch $BOOK/begun; while [ ! -e $BOOK/go ]; do sleep 0.05; done; ls; commit rest")
    project.does("two", "exit 3")
    before = {bead["id"] for bead in project.ask("list", "--all")}
    with project.running():
        until(project.flag("begun").exists)
        for words in (
            ["set", *typed.split(), "src"],
            ["reapply"],
            ["set", "src"],
            ["disable"],
            ["set", "--cone", "src"],
        ):
            project.git("sparse-checkout", *words)
            folder = project.folder / ".nobrakes"
            assert (folder / "workspaces" / "one" / "unsaved").exists() and (folder / "nobrakes.db").exists(), words
            assert {bead["id"] for bead in project.ask("list", "--all")} == before
        project.flag("go").touch()
        until(lambda: project.status("one") == "done" and project.status("two") == "escalated")
    assert len(project.turns("one")) == 1, "it was interrupted"
    project.git("sparse-checkout", "disable")
    assert project.git("status", "--porcelain") == "" and project.git("show", "main:unsaved") == "unsaved\n"
    assert len(project.open()) == 1 and project.git("ls-files", ".nobrakes").split() == sorted(
        f".nobrakes/{name}" for name in TRACKED if (project.folder / ".nobrakes" / name).exists()
    )


@pytest.mark.parametrize("typed", ["set src", "set --no-cone src", "set --sparse-index src"])
def test_an_agent_that_makes_its_own_clone_sparse_hands_in_a_whole_tree(project: Strange, typed: str) -> None:
    for name in ("src", "web"):
        (project.folder / name).mkdir()
        (project.folder / name / "a").write_text("a\n")
    project.commit()
    project.add("one")
    project.does("one", f"git sparse-checkout {typed}; echo half >src/half; commit half")
    project.run_to_the_end("one")
    assert project.git("diff", "--name-status", "main~", "main").split() == ["A", "src/half"]


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_init_within_a_sparse_checkout_says_that_it_leaves_out_nobrakes(tmp_path: Path, cone: str) -> None:
    project = Strange(tmp_path)
    (project.folder / "src").mkdir()
    (project.folder / "src" / "a").write_text("a\n")
    project.commit()
    project.git("rm", "-q", "--cached", "-r", ".nobrakes")
    project.git("commit", "-q", "-m", "Before nobrakes")
    shutil.move(project.folder / ".nobrakes", tmp_path / "away")
    project.git("sparse-checkout", "set", cone, "src")
    for words in (["init", "--test", "true"], ["init"], ["doctor"]):
        said = " ".join(project.nobrakes(*words, expect=None).stdout.split())
        assert "get .nobrakes back" in said and "git sparse-checkout add .nobrakes" in said, said
    project.git("sparse-checkout", "add", ".nobrakes")
    project.git("add", ".nobrakes")
    assert "sparse checkout" not in project.nobrakes("doctor", expect=None).stdout


def test_an_older_gitignore_keeps_no_folder_and_what_is_typed_then_does(project: Strange) -> None:
    (project.folder / "src").mkdir()
    (project.folder / "src" / "a").write_text("a\n")
    state = project.folder / ".nobrakes"
    (state / ".gitignore").write_bytes(IGNORED_BEFORE)
    (state / ".gitattributes").unlink()
    project.commit("As an earlier version wrote it")
    found = json.loads(project.nobrakes("doctor", "--json", expect=None).stdout)["data"]
    told = {one["text"]: one["level"] for one in found}
    [level] = [told[text] for text in told if ".gitignore is outdated" in text and "type: nobrakes init" in text]
    assert level == "ok", "it works as it is"
    project.git("sparse-checkout", "set", "--no-cone", "src")
    for words in (["doctor"], ["init"]):
        said = " ".join(project.nobrakes(*words, expect=None).stdout.split())
        assert "older .nobrakes/.gitignore" in said and "where they are" not in said, said
    project.git("sparse-checkout", "add", ".nobrakes")
    project.nobrakes("init")
    project.git("add", ".nobrakes/.gitignore", ".nobrakes/.gitattributes")
    project.git("commit", "-q", "-m", "Keep the folder")
    project.git("sparse-checkout", "set", "--cone", "src")
    assert (state / "nobrakes.db").exists()
    said = " ".join(project.nobrakes("doctor", expect=None).stdout.split())
    assert "get .nobrakes back" in said and ".gitignore is outdated" not in said


def test_settings_that_main_gets_in_a_sparse_checkout_hold_at_once(project: Strange) -> None:
    (project.folder / "src").mkdir()
    (project.folder / "src" / "a").write_text("a\n")
    project.commit()
    project.add("one")
    project.git("sparse-checkout", "set", "--no-cone", "src")
    project.does("one", "touch $BOOK/begun; while [ ! -e $BOOK/go ]; do sleep 0.05; done; work")
    with project.running():
        until(project.flag("begun").exists)
        old = project.git("show", "main:.nobrakes/config.toml")
        new = old.replace('command = "sh tests/run.sh"', 'command = "sh tests/run.sh; echo of-main"')
        blob = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=project.folder, input=new, text=True, stdout=-1, check=True
        ).stdout.strip()
        project.git("update-index", "--cacheinfo", f"100644,{blob},.nobrakes/config.toml")
        project.git("commit", "-q", "-m", "Another check")
        project.flag("go").touch()
        until(lambda: project.status("one") == "done")
    said = [run.read_text() for run in (project.folder / ".nobrakes" / "runs").glob("*/contract.json")]
    assert any("of-main" in text for text in said)


def test_a_branch_without_settings_is_checked_out_and_the_work_goes_on(project: Strange) -> None:
    project.git("branch", "side")
    project.commit()
    project.add("one")
    project.git("checkout", "-q", "side")
    assert not project.config.exists()
    project.nobrakes("run")
    assert project.status("one") == "done"
    project.nobrakes("init")
    project.git("checkout", "-q", "main")
    assert (project.folder / "src" / "one").exists() and project.git("status", "--porcelain") == ""


def test_a_setting_is_changed_where_the_checkout_has_none(project: Strange) -> None:
    project.git("branch", "side")
    project.commit()
    project.git("checkout", "-q", "side")
    project.nobrakes("config", "set", "limits.doers", "2")
    assert "doers = 2" in project.config.read_text() and 'command = "sh tests/run.sh"' in project.config.read_text()


# --- submodules ----------------------------------------------------------------------------------


def with_submodule(project: Strange, tmp_path: Path) -> None:
    """main has a library below `lib`, which has another one, and a test that reads both."""
    for name, inner in (("inner", ""), ("library", "inner")):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q", "-b", "main")
        (tmp_path / name / f"{name}.txt").write_text(name)
        if inner:
            git(tmp_path / name, *OPEN, "submodule", "add", "-q", str(tmp_path / inner), inner)
        git(tmp_path / name, "add", "-A")
        git(tmp_path / name, "commit", "-q", "-m", name)
    project.git(*OPEN, "submodule", "add", "-q", str(tmp_path / "library"), "lib")
    project.git(*OPEN, "submodule", "update", "-q", "--init", "--recursive")
    (project.folder / "tests" / "test_lib.sh").write_text("test -f lib/library.txt && test -f lib/inner/inner.txt\n")
    project.commit()


def test_submodules_are_filled_from_the_persons_own(project: Strange, tmp_path: Path) -> None:
    with_submodule(project, tmp_path)
    project.tries_main = True
    project.add("one", "two")
    project.does("one", 'cat lib/inner/inner.txt >"$BOOK/seen"; git status --porcelain >"$BOOK/status"; work')
    project.does("two", "echo not committed >half; exit 1", 1)
    project.run_to_the_end("one", "two")
    assert project.flag("seen").read_text() == "inner" and project.flag("status").read_text() == ""
    assert project.git("ls-tree", "main", "lib").startswith("160000 commit")
    assert "half" in project.git("show", "--stat", *project.git("for-each-ref", "--format=%(refname)").split())
    for ref in project.git("for-each-ref", "--format=%(refname)", "refs/nobrakes/archive").split():
        assert project.git("ls-tree", ref, "lib").startswith("160000 commit"), "the submodule stays one"
    assert project.git("status", "--porcelain") == ""


def test_a_submodule_that_is_not_there_is_named_and_main_is_not_called_red(project: Strange, tmp_path: Path) -> None:
    with_submodule(project, tmp_path)
    project.git("submodule", "--quiet", "deinit", "-f", "lib")
    assert "git submodule update --init --recursive" in project.nobrakes("init").stdout
    assert "the submodule lib is missing" in project.nobrakes("doctor", expect=None).stdout
    project.tries_main = True
    project.add("one")
    said = project.nobrakes("run", expect=None).stdout
    assert "git submodule update --init --recursive" in " ".join(said.split()) and "main is red" not in said
    assert project.open()[0]["type"] == "broken_checks" and project.turns("one") == []


# --- what git can be beside --------------------------------------------------------------------


def test_object_ids_of_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    project = Strange(tmp_path)
    assert len(project.git("rev-parse", "main").strip()) == 64
    project.add("one", "two")
    project.run_to_the_end("one", "two")


@pytest.mark.parametrize("how", ["--depth=1", "--filter=blob:none"])
def test_a_clone_that_does_not_have_all(project: Strange, tmp_path: Path, how: str) -> None:
    project.commit()
    project.commit("Another")
    project.git("config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", how, f"file://{project.folder}", str(tmp_path / "clone"))
    project.folder = tmp_path / "clone"
    project.config = project.folder / ".nobrakes" / "config.toml"
    project.add("one", "two")
    project.run_to_the_end("one", "two")


def test_a_blobless_clone_fetches_what_its_sparse_checkout_never_had(project: Strange, tmp_path: Path) -> None:
    (project.folder / "large").mkdir()
    (project.folder / "large" / "file").write_text("never checked out\n")
    project.commit()
    project.git("config", "uploadpack.allowFilter", "true")
    git(
        tmp_path,
        "clone",
        "-q",
        "--no-checkout",
        "--filter=blob:none",
        f"file://{project.folder}",
        str(tmp_path / "clone"),
    )
    git(tmp_path / "clone", "sparse-checkout", "set", "--cone", ".nobrakes")
    git(tmp_path / "clone", "checkout", "-q", "main")
    away = project.folder.rename(tmp_path / "away")
    project.folder = tmp_path / "clone"
    project.config = project.folder / ".nobrakes" / "config.toml"
    project.add("one")
    said = project.nobrakes("init", "--trial", expect=None)
    assert "Make the remote reachable. Then `git fetch --refetch --no-filter`" in " ".join(
        (said.stdout + said.stderr).split()
    )
    project.tries_main = True
    with project.running() as run:
        until(lambda: "its remote did not give it" in str(project.ask("status")["hindrances"]))
        assert not project.ask("escalations") and run.poll() is None, "it may pass by itself"
    project.tries_main = False  # the bead's workspace meets it
    with project.running():
        until(lambda: "its remote did not give it" in str(project.ask("status")["hindrances"]))
    project.git("config", "core.sshCommand", "/nowhere/ssh")
    project.git("config", "remote.origin.url", "git@example.invalid:a/b.git")
    with project.running():
        until(lambda: len(project.ask("escalations")) == 1)
        (asked,) = project.ask("escalations")
        assert "/nowhere/ssh" in asked["title"] and "Make the remote reachable" in asked["detail"]
        away.rename(tmp_path / "repository")
        project.git("config", "remote.origin.url", f"file://{tmp_path / 'repository'}")
        until(lambda: not project.ask("escalations"))
        until(lambda: "did not give it" not in str(project.ask("status")["hindrances"]))
    project.run_to_the_end("one")


def test_files_whose_line_ends_git_rewrites(project: Strange) -> None:
    project.git("config", "core.autocrlf", "true")
    (project.folder / ".gitattributes").write_text("*.pas text eol=crlf\n*.sh text eol=lf\n")
    (project.folder / "unit.pas").write_bytes(b"a\r\n")
    (project.folder / "plain.txt").write_bytes(b"a\r\n")
    project.commit()
    project.add("one")
    project.does("one", "printf 'b\\r\\n' >>unit.pas; printf 'b\\n' >>plain.txt; commit one")
    project.run_to_the_end("one")
    assert (project.folder / "unit.pas").read_bytes() == b"a\r\nb\r\n"
    assert (project.folder / "plain.txt").read_bytes() == b"a\r\nb\r\n"
    assert project.git("show", "main:unit.pas") == "a\nb\n" and project.git("status", "--porcelain") == ""


def test_main_in_a_linked_worktree(project: Strange, tmp_path: Path) -> None:
    project.commit()
    project.git("switch", "-q", "-c", "side")
    project.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    project.add("one")
    project.run_to_the_end("one")
    assert (tmp_path / "linked" / "src" / "one").exists() and git(tmp_path / "linked", "status", "--porcelain") == ""


def test_a_remote_that_takes_no_push_to_main(tmp_path: Path) -> None:
    project = Strange(tmp_path, more='[review]\nland = "remote"\nremote_seconds = 20\n')
    remote = tmp_path / "remote.git"
    git(tmp_path, "clone", "-q", "--bare", str(project.folder), str(remote))
    project.git("remote", "add", "origin", str(remote))
    before = git(remote, "rev-parse", "main")
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed for refs/heads/main.' >&2\nexit 1\n")
    hook.chmod(0o755)
    project.add("one")
    with project.running():
        assert "GH006: Protected branch update failed" in until(project.waits)[0]
        assert git(remote, "rev-parse", "main") == before == project.git("rev-parse", "main")
    hook.unlink()
    with project.running():
        until(lambda: project.status("one") == "done", seconds=120.0)  # a remote that said no is asked once a minute
    assert git(remote, "rev-parse", "main") == project.git("rev-parse", "main") != before


def test_a_bare_repository_is_told_what_can_be_typed_there(tmp_path: Path) -> None:
    project = Strange(tmp_path)
    git(tmp_path, "clone", "-q", "--bare", str(project.folder), "bare.git")
    project.folder = tmp_path / "bare.git"
    said = project.nobrakes("init").stdout
    assert "git add" not in said and "nobrakes init --test" in said


def test_hooks_of_a_company_are_named(project: Strange, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "pre-commit").chmod(0o755)
    git(tmp_path, "config", "--global", "core.hooksPath", str(hooks))
    for command in ("init", "doctor"):
        said = project.nobrakes(command, expect=None).stdout
        assert f"your git hooks pre-commit in {hooks}" in " ".join(said.split()), said


# --- files that git keeps through a filter -------------------------------------------------------

ROT = {"clean": "tr a-z n-za-m", "smudge": "tr n-za-m a-z", "required": "true"}


def with_filter(project: Strange, where: str = ".gitattributes", **commands: str) -> None:
    """A secret that main has encrypted, as the person's own git makes it."""
    for key, value in {**ROT, **commands}.items():
        project.git("config", f"filter.crypt.{key}", value)
    (project.folder / where).parent.mkdir(exist_ok=True)
    with (project.folder / where).open("a") as file:
        file.write("*.secret filter=crypt\n")
    (project.folder / "a.secret").write_text("password is hunter\n")
    project.commit()
    assert project.git("show", "main:a.secret") == "cnffjbeq vf uhagre\n"


def allow(project: Strange, *keys: str) -> None:
    for key in keys:
        project.nobrakes("config", "set", f"git.{key}", "crypt")


def everything(project: Strange) -> str:
    """All that main ever held, as git stores it."""
    return project.git("log", "-p", "--no-textconv", "main", "--", "*.secret")


@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes", "deep/.gitattributes"])
def test_no_secret_comes_to_main_in_clear(project: Strange, where: str) -> None:
    with_filter(project, ".gitattributes")
    (project.folder / ".gitattributes").write_text("[attr]hidden filter=crypt\na.secret hidden\n")
    (project.folder / "deep").mkdir(exist_ok=True)
    with (project.folder / where).open("a") as file:
        file.write("*.secret filter=crypt\n")
    project.commit()
    project.add("one")
    project.does("one", 'cat a.secret >"$BOOK/seen"; mkdir -p deep; echo another password >deep/b.secret; commit one')
    project.nobrakes("run", expect=None)
    assert project.flag("seen").read_text() == "cnffjbeq vf uhagre\n", "nobody let agents see it"
    assert project.status("one") == "escalated" and "another password" not in everything(project)
    said = str(project.open())
    assert "the filter 'crypt'" in said and "nobrakes config set git.filters +crypt" in said
    # what main has already passes as it is, where it stays under the filter
    project.add("two")
    project.does("two", "mkdir -p deep; git mv a.secret deep/moved.secret; commit two")
    project.nobrakes("run", expect=None)
    assert project.status("two") == "done" and project.git("show", "main:deep/moved.secret") == "cnffjbeq vf uhagre\n"
    for command in ("init", "doctor"):
        told = " ".join(project.nobrakes(command, expect=None).stdout.split())
        assert where == "deep/.gitattributes" or "through the filter 'crypt', which nobrakes does not run" in told


@pytest.mark.parametrize("merge", ["squash", "rebase"])
def test_a_filter_that_a_person_allows_is_run(tmp_path: Path, merge: str) -> None:
    project = Strange(tmp_path, more=f'[review]\nmerge = "{merge}"\n')
    with_filter(project)
    allow(project, "filters", "clear_text")
    project.add("one")
    project.add("two", needs=["one"])
    project.does("one", 'cat a.secret >"$BOOK/seen"; git status --porcelain >"$BOOK/status"; echo b >b.secret; work')
    project.does(
        "two", "echo more >>a.secret; commit first; echo even more >>a.secret; echo c >>b.secret; commit second"
    )
    project.run_to_the_end("one", "two") if merge == "squash" else project.nobrakes("run")
    assert project.status("two") == "done"
    assert project.flag("seen").read_text() == "password is hunter\n" and project.flag("status").read_text() == ""
    assert project.git("show", "main:a.secret") == "cnffjbeq vf uhagre\nzber\nrira zber\n"
    assert project.git("show", "main:b.secret") == "o\np\n"
    assert "+more" not in everything(project) and "+b\n" not in everything(project)
    assert (project.folder / "a.secret").read_text() == "password is hunter\nmore\neven more\n"
    assert project.git("status", "--porcelain", "*.secret") == ""


def test_what_agents_cannot_read_they_cannot_change(project: Strange) -> None:
    with_filter(project)
    allow(project, "filters")
    project.add("one", "two")
    project.does("one", "echo more >>a.secret; commit one")
    project.does("two", "echo new >b.secret; commit two")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "escalated" and project.git("show", "main:a.secret") == "cnffjbeq vf uhagre\n"
    assert "nobrakes config set git.clear_text +crypt" in str(project.open())
    assert project.status("two") == "done" and project.git("show", "main:b.secret") == "arj\n"


@pytest.mark.parametrize(
    "clean", ["false", "./filter.sh", "curl -s http://127.0.0.1:9/", 'echo x >"$HOME/written" && cat', ""]
)
def test_a_filter_that_cannot_be_run_lets_nothing_through(project: Strange, clean: str) -> None:
    with_filter(project)
    (project.folder / "filter.sh").write_text("#!/bin/sh\ncat\n")
    (project.folder / "filter.sh").chmod(0o755)
    project.commit()
    project.git("config", "filter.crypt.clean", clean)
    allow(project, "filters", "clear_text")
    project.add("one")
    project.does("one", "echo new >b.secret; commit one")
    project.nobrakes("run", expect=None)
    assert project.status("one") != "done" and "b.secret" not in project.git("ls-tree", "-r", "--name-only", "main")


def test_a_filter_of_the_persons_own_that_only_cleans(project: Strange) -> None:
    git(project.folder, "config", "--global", "filter.strip.clean", "grep -v output")
    git(project.folder, "config", "--global", "filter.strip.smudge", "cat")
    (project.folder / ".gitattributes").write_text("*.nb filter=strip\n")
    (project.folder / "a.nb").write_text("code\n")
    project.commit()
    project.nobrakes("config", "set", "git.filters", "strip")
    project.nobrakes("config", "set", "git.clear_text", "strip")
    project.add("one")
    project.does("one", "printf 'code\\noutput of a run\\n' >a.nb; commit one")
    project.nobrakes("run", expect=None)
    assert project.status("one") in ("done", "escalated")
    assert "output" not in project.git("show", "main:a.nb")


def test_work_that_a_person_hands_in_came_through_their_own_filters(project: Strange) -> None:
    with_filter(project)
    project.add("one")
    project.git("switch", "-q", "-c", "by-hand")
    (project.folder / "a.secret").write_text("password is other\n")
    project.git("commit", "-q", "-am", "By hand")
    project.git("switch", "-q", "main")
    project.nobrakes("hand-in", "one", "--from", "by-hand")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done", project.nobrakes("escalations").stdout
    assert project.git("show", "main:a.secret") == "cnffjbeq vf bgure\n"


def test_settings_of_nobrakes_are_not_written_through_a_filter(project: Strange) -> None:
    with_filter(project)
    (project.folder / ".gitattributes").write_text("* filter=crypt\n.gitattributes -filter\n")
    project.git("add", ".gitattributes")
    project.git("commit", "-q", "-m", "All of it")
    project.plan([{"id": "one", "title": "One", "needs_tests": False}])
    said = project.nobrakes("commit-strategy", "--yes", expect=None)
    assert said.returncode and ".nobrakes/** -filter" in said.stdout + said.stderr


# --- commits that are signed ---------------------------------------------------------------------


def sign(project: Strange, tmp_path: Path, passphrase: str = "") -> None:
    """The person's commits are signed by a key of ssh."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(key)], check=True)
    (tmp_path / "signers").write_text(f"* {(tmp_path / 'key.pub').read_text()}")
    settings = {
        "gpg.format": "ssh",
        "user.signingkey": f"{key}.pub",
        "gpg.ssh.allowedSignersFile": tmp_path / "signers",
    }
    for name, value in {**settings, "commit.gpgsign": "true"}.items():
        git(project.folder, "config", "--global", name, str(value))


UNSIGNED = """#!/bin/sh
while read old new ref; do
    for one in $(git rev-list $old..$new); do
        git cat-file commit $one | grep -q ^gpgsig || { echo "Commits must have verified signatures."; exit 1; }
    done
done
"""


@pytest.mark.parametrize("merge", ["squash", "rebase"])
def test_commits_are_signed_where_the_person_signs(tmp_path: Path, merge: str) -> None:
    more = f'[review]\nland = "remote"\nmerge = "{merge}"\n[git]\ncommitter = "Night Shift <night@example.invalid>"\n'
    project = Strange(tmp_path, more=more)
    git(tmp_path, "clone", "-q", "--bare", str(project.folder), "remote.git")
    hook = tmp_path / "remote.git" / "hooks" / "pre-receive"
    hook.write_text(UNSIGNED)
    hook.chmod(0o755)
    project.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    sign(project, tmp_path)
    before = project.git("rev-parse", "main").strip()
    project.add("one", "two")
    project.nobrakes("commit-strategy", "--yes")
    project.nobrakes("run")
    assert project.status("one") == project.status("two") == "done"
    made = project.git("log", "--format=%H %G? %cn %ce", f"{before}..main").splitlines()
    assert len(made) >= 3 and all(line.split(" ", 1)[1] == "G Night Shift night@example.invalid" for line in made), made
    assert project.git("rev-parse", "main") == git(tmp_path / "remote.git", "rev-parse", "main")
    project.nobrakes("verify")


def test_a_key_that_asks_for_a_passphrase_is_told_before_work_begins(project: Strange, tmp_path: Path) -> None:
    sign(project, tmp_path, passphrase="secret")
    project.add("one")
    for words in (["init"], ["doctor"], ["run"], ["status"]):
        said = " ".join(project.nobrakes(*words, expect=None).stdout.split())
        assert "nobrakes cannot sign its commits" in said and "review.land pull_request" in said, said
        assert "user.signingkey" in said and "passphrase" in said, said
    assert project.status("one") == "done"
    project.git("config", "commit.gpgsign", "false")
    project.nobrakes("run")
    assert "cannot sign" not in project.nobrakes("status").stdout


def test_whoever_signs_on_main_signs_on_branches_of_epics_too(project: Strange, tmp_path: Path) -> None:
    sign(project, tmp_path)
    repository = Repository(Paths(str(project.folder / ".nobrakes")), "main", signing=Signing("auto"))
    assert repository.signer.trouble == ""
    (tmp_path / "key").unlink()
    with pytest.raises(GitUnusable, match="cannot sign"):  # tried at the start, so none of them goes unsigned
        repository.with_epic_branch("all").signer.signed(commit_of(project, "first"))


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A keyring of gpg that nobody else has; its folder is short, since the agent's socket lies there."""
    if shutil.which("gpg") is None or shutil.which("gpg-agent") is None:
        pytest.skip("gpg is not installed")
    with tempfile.TemporaryDirectory(prefix="g", dir="/tmp") as folder:
        monkeypatch.setenv("GNUPGHOME", folder)
        yield Path(folder)
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)


def why_unsigned(project: Strange) -> str:
    """What `init`, `doctor` and the run say of signatures."""
    config = load(str(project.config))
    signer = Signer(Place(str(project.folder), "HEAD"), Signing(config.git.sign, config.git.committer))
    return signer.unsigned(config.review.land)


def test_a_key_of_gpg_whose_passphrase_nobody_types(project: Strange, keyring: Path) -> None:
    settings = {"user.name": "Ada", "user.email": "ada@example.invalid", "commit.gpgsign": "true"}
    for name, value in settings.items():
        project.git("config", name, value)
    assert "No secret key" in why_unsigned(project)
    who, quiet = "Ada <ada@example.invalid>", ("--batch", "-q", "--pinentry-mode", "loopback", "--passphrase", "secret")
    subprocess.run(["gpg", *quiet, "--quick-generate-key", who, "ed25519", "sign", "never"], check=True)
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)
    said = why_unsigned(project)
    assert f"would ask for the passphrase of the key of {who}" in said and "review.land pull_request" in said, said
    assert f"gpg -bsau '{who}'" in said
    subprocess.run(["gpg", *quiet, "--clearsign"], input=b"x", check=True, capture_output=True)
    assert why_unsigned(project) == "", "the agent holds it"
    signer = Signer(Place(str(project.folder), "main"), Signing("auto"))
    assert signer.signed(commit_of(project, "first"))
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)
    with pytest.raises(GitUnusable, match="would ask for the passphrase"):
        signer.signed(commit_of(project, "second"))
    project.git("config", "gpg.program", "/nowhere/gpg")
    assert "/nowhere/gpg cannot run: No such file" in why_unsigned(project)


def test_a_passphrase_that_is_lost_at_night_is_told_once_and_merges_go_on_with_it(
    project: Strange, keyring: Path
) -> None:
    who, quiet = "Ada <ada@example.invalid>", ("--batch", "-q", "--pinentry-mode", "loopback", "--passphrase", "secret")
    for name, value in {"user.name": "Ada", "user.email": "ada@example.invalid", "commit.gpgsign": "true"}.items():
        project.git("config", name, value)
    subprocess.run(["gpg", *quiet, "--quick-generate-key", who, "ed25519", "sign", "never"], check=True)
    subprocess.run(["gpg", *quiet, "--clearsign"], input=b"x", check=True, capture_output=True)
    before, go, asked = project.git("rev-parse", "main").strip(), project.flag("go"), project.flag("asked")
    signs = project.book / "gpg"
    signs.write_text(f'#!/bin/sh\necho x >>{asked}\nexec gpg "$@"\n')
    signs.chmod(0o755)
    project.git("config", "gpg.program", str(signs))
    for one in ("one", "two"):
        project.add(one)
        project.does(one, f"while test ! -e '{go}'; do sleep 0.1; done; work")
    log = project.folder / ".nobrakes" / "daemon.log"
    project.nobrakes("daemon", "start")
    try:
        until(lambda: project.turns("one") and project.turns("two"))
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)
        go.touch()
        until(lambda: "would ask for the passphrase" in log.read_text(), what=log.read_text)
        tries = len(asked.read_text().split())
        until(lambda: len(asked.read_text().split()) > tries, 40, what=log.read_text)  # it is tried again, and not told
        told = [line for line in log.read_text().splitlines() if "passphrase" in line]
        assert len(told) == 1 and "git cannot sign a commit" in told[0] and "gpg -bsau" in told[0], told
        assert project.open() == [] and project.landed() == {}
        subprocess.run(["gpg", *quiet, "--clearsign"], input=b"x", check=True, capture_output=True)
        until(lambda: len(project.landed()) == 2, what=log.read_text)
    finally:
        project.nobrakes("daemon", "stop", expect=None)
        project.kill_orphans()
    made = project.git("log", "--format=%G?", f"{before}..main").split()
    assert made == ["G"] * len(made) and len(made) >= 2
    assert [project.show(one)["failures"] for one in ("one", "two")] == [0, 0]


def test_a_certificate_of_gpgsm(project: Strange, keyring: Path) -> None:
    if shutil.which("gpgsm") is None or shutil.which("openssl") is None:
        pytest.skip("gpgsm is not installed")
    for name, value in {
        "commit.gpgsign": "true",
        "gpg.format": "x509",
        "user.signingkey": "ada@example.invalid",
    }.items():
        project.git("config", name, value)
    assert "gpgsm does not sign with the key of ada@example.invalid" in why_unsigned(project)
    old = ["-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1", "-passout", "pass:x"]
    who = ["-subj", "/CN=Ada", "-addext", "subjectAltName=email:ada@example.invalid"]
    key, file = (
        ["-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem"],
        ["-inkey", "k.pem", "-in", "c.pem"],
    )
    subprocess.run(["openssl", "req", "-x509", *who, *key], cwd=keyring, check=True, capture_output=True)
    subprocess.run(["openssl", "pkcs12", "-export", *file, *old, "-out", "a.p12"], cwd=keyring, check=True)
    quiet = ["gpgsm", "--batch", "--pinentry-mode", "loopback", "--passphrase-fd", "0"]
    subprocess.run([*quiet, "--import", "a.p12"], cwd=keyring, check=True, input=b"x\n", capture_output=True)
    listed = subprocess.run(["gpgsm", "-K", "--with-colons"], check=True, capture_output=True, text=True).stdout
    mark = next(row.split(":")[9] for row in listed.splitlines() if row.startswith("fpr"))
    (keyring / "trustlist.txt").write_text(f"{mark} S relax\n")
    (keyring / "gpgsm.conf").write_text("disable-crl-checks\n")
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)
    assert "gpgsm would ask for the passphrase of the key of ada@example.invalid" in why_unsigned(project)
    signed = subprocess.run([*quiet, "-bsau", "ada@example.invalid"], cwd=keyring, input=b"x\n", capture_output=True)
    assert signed.returncode == 0 and why_unsigned(project) == "", "the agent holds it"
    assert Signer(Place(str(project.folder), "main"), Signing("auto")).signed(commit_of(project, "first"))


PROGRAM = """#!/bin/sh
cat >/dev/null
echo "$3" >>"{used}"
printf "\\n[GNUPG:] SIG_CREATED \\n" >&2
printf -- "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n"
"""


@pytest.mark.parametrize(
    ("named", "who", "key"),
    [
        ("", "", "Ada Person <ada@example.invalid>"),
        ("ABCD", "", "ABCD"),
        ("", "A <a@example.invalid>", "A <a@example.invalid>"),
    ],
)
def test_a_key_that_no_setting_names_is_found_by_the_person(
    project: Strange, tmp_path: Path, named: str, who: str, key: str
) -> None:
    program, used = tmp_path / "signs", tmp_path / "used"
    program.write_text(PROGRAM.format(used=used))
    program.chmod(0o755)
    settings = {"user.name": "Ada Person", "user.email": "ada@example.invalid", "gpg.program": str(program)}
    for name, value in {**settings, "commit.gpgsign": "true", **({"user.signingkey": named} if named else {})}.items():
        project.git("config", name, value)
    signer = Signer(Place(str(project.folder), "main"), Signing("auto", who))
    assert signer.signed(commit_of(project, "first")), signer.trouble
    assert set(used.read_text().splitlines()) == {key}


def test_what_was_signed_once_has_the_same_id_again(project: Strange, tmp_path: Path) -> None:
    sign(project, tmp_path)
    program = tmp_path / "now"  # a signature with a moment in it, as that of gpg
    program.write_text(
        '#!/bin/sh\ncat >/dev/null\nprintf "\\n[GNUPG:] SIG_CREATED \\n" >&2\n'
        'printf -- "-----BEGIN PGP SIGNATURE-----\\n\\n$(date +%s%N)\\n-----END PGP SIGNATURE-----\\n"\n'
    )
    program.chmod(0o755)
    git(project.folder, "config", "--global", "gpg.format", "openpgp")
    git(project.folder, "config", "--global", "gpg.program", str(program))
    contents = [commit_of(project, "first"), commit_of(project, "second")]
    once, again = [Signer(Place(str(project.folder), "main"), Signing("auto")) for _ in range(2)]
    first = [once.signed(content) for content in contents]
    assert None not in first and len(set(first)) == 2 and first == [again.signed(content) for content in contents]
    assert Signer(Place(str(project.folder), "main"), Signing("never")).signed(contents[0]) is None


def commit_of(project: Strange, text: str) -> bytes:
    tree, who = project.git("rev-parse", "main^{tree}").strip(), "A <a@example.invalid> 1700000000 +0100"
    return f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{text}\n".encode()


# --- Git LFS -------------------------------------------------------------------------------------

SUMS = 'for f in *.sum; do b=${f%.sum}.bin; test "$(sha256sum $b | cut -c1-64)" = "$(cat $f)" || exit 1; done\n'


@pytest.fixture
def stored(project: Strange) -> Strange:
    """A project with a file that Git LFS keeps, and a test that reads its content."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not installed")
    project.git("lfs", "install")
    project.git("lfs", "track", "*.bin")
    (project.folder / "data.bin").write_bytes(b"a" * 3000)
    (project.folder / "data.sum").write_text(hashlib.sha256(b"a" * 3000).hexdigest())
    (project.folder / "tests" / "test_sums.sh").write_text(SUMS)
    project.commit()
    project.tries_main = True
    return project


CHANGE = (
    'sha256sum data.bin >"$BOOK/seen"; git status --porcelain >"$BOOK/status"; head -c 200 /dev/urandom >$1.bin; '
    "sha256sum $1.bin | cut -c1-64 >$1.sum; commit $1"
)


def assert_pointers(project: Strange, folder: Path) -> None:
    for path in project.git("ls-tree", "-r", "--name-only", "main").split():
        if path.endswith(".bin"):
            assert project.git("show", f"main:{path}").startswith("version https://git-lfs"), path
            assert len((folder / path).read_bytes()) in (200, 3000), path
    assert "Git LFS fsck OK" in git(folder, "lfs", "fsck")


@pytest.mark.parametrize("installed", [True, False], ids=["agents-have-it", "agents-have-it-not"])
def test_what_git_lfs_keeps_stays_a_pointer(stored: Strange, tmp_path: Path, installed: bool) -> None:
    for bead, file in (("one", "new"), ("two", "data"), ("three", "data")):
        stored.add(bead, **({"needs": ["two"]} if bead == "three" else {"needs": ["one"]} if bead == "two" else {}))
        without = (
            ""
            if installed
            else "git config filter.lfs.required false; git config --unset-all filter.lfs.process; git config filter.lfs.clean cat; "
        )
        stored.does(bead, f"set -- {file}; {without}{CHANGE}")
    stored.run_to_the_end("one", "two", "three")
    assert stored.flag("status").read_text() == ""
    assert_pointers(stored, stored.folder)
    assert stored.git("status", "--porcelain", "*.bin", "*.sum") == ""


def test_content_of_git_lfs_goes_to_the_remote(stored: Strange, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    stored.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    stored.git("push", "-q", "origin", "main")
    stored.configure('main = "main"\n', 'main = "main"\nreview.land = "remote"\n')
    stored.add("one")
    stored.does("one", f"set -- new; {CHANGE}")
    stored.nobrakes("run")
    assert stored.status("one") == "done"
    git(tmp_path, "clone", "-q", str(tmp_path / "remote.git"), "elsewhere")
    assert_pointers(stored, tmp_path / "elsewhere")


def test_a_pointer_to_nothing_is_refused(stored: Strange) -> None:
    stored.add("one")
    pointer = f"version https://git-lfs.github.com/spec/v1\\noid sha256:{'7' * 64}\\nsize 3\\n"
    stage = f"blob=$(printf '{pointer}' | git hash-object -w --stdin --no-filters)"
    stored.does("one", f"{stage}; git update-index --cacheinfo 100644,$blob,data.bin; git commit -qm one")
    stored.nobrakes("run", expect=None)
    assert stored.status("one") == "escalated" and "its content 777777777777 is missing locally" in str(stored.open())
