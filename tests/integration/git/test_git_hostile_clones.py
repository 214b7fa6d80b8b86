"""Clones that an agent tampered with: nothing of theirs runs on our side, and every failure has our own name."""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from git_worlds import sh, write

from nobrakes.beads.branches import branch_of
from nobrakes.errors import GitFailed, NobrakesError
from nobrakes.git.workspaces import measurement, salvage
from nobrakes.git.workspaces.make import INDEX


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a trace when anybody runs it."""
    program = tmp_path / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >>{tmp_path}/sprung\ncat\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def clone(world, begin) -> Path:
    it = begin()
    world.commit_in_workspace(it, {"src/a.py": "a\n"})
    return Path(world.workspace_path(it))


def everything(world, it, fence=1):
    """All that the daemon ever does with a clone."""
    head = world.git.fetch_work(it, fence)
    world.git.archive(it, fence)
    world.git.has_workspace(it.id)
    world.git.workspace(it, world.git.main(), "Bea")
    world.git.retire(it, fence)
    return head


def test_nothing_that_a_clone_configures_is_run(world, begin, trap, tmp_path):
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n", ".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    clone = Path(world.workspace_path(it))
    settings = [
        "core.fsmonitor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "core.editor",
        "core.pager",
        "core.gitProxy",
        "uploadpack.packObjectsHook",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
        "credential.helper",
        "gpg.program",
    ]
    config = clone / ".git" / "config"
    with config.open("a") as file:
        for key in settings:
            section, name = key.rsplit(".", 1)
            section, _, sub = section.partition(".")
            file.write(f"[{section}{f' {chr(34)}{sub}{chr(34)}' if sub else ''}]\n\t{name} = {trap}\n")
        file.write(f'[filter "evil"]\n\trequired = true\n[core]\n\thooksPath = {clone}/hooks\n')
        file.write(f"[include]\n\tpath = {tmp_path}/pipe\n")
    os.mkfifo(tmp_path / "pipe")
    for folder in (clone / "hooks", clone / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction", "post-merge"):
            shutil.copy(trap, folder / hook)
    (clone / ".git" / "info").mkdir(exist_ok=True)
    (clone / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    write(clone, {"uncommitted": "u\n"})
    assert everything(world, it) == head
    assert not (tmp_path / "sprung").exists()
    refs = dict(world.git.archived("login"))
    assert world.files(refs["refs/nobrakes/archive/login/1-wip"])["uncommitted"] == "u\n"


def test_the_trap_would_have_sprung(world, clone, trap, tmp_path):
    """The proof that the test above can fail: git in the clone does run what is configured there."""
    sh(clone, "git", "config", "core.fsmonitor", str(trap))
    sh(clone, "git", "status", check=False)
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize("where", ["elsewhere", "a pipe", "nested"])
def test_borrowed_objects_from_elsewhere_are_refused(world, begin, clone, tmp_path, where):
    alternates = clone / ".git" / "objects" / "info" / "alternates"
    other = tmp_path / "other"
    sh(tmp_path, "git", "init", "-q", str(other))
    if where == "a pipe":
        alternates.unlink()
        os.mkfifo(alternates)
    elif where == "nested":
        alternates.write_text(alternates.read_text() + f"{other}/.git/objects\n")
    else:
        alternates.write_text(f"{other}/.git/objects\n")
    with pytest.raises(GitFailed):
        world.git.fetch_work(bead_of(clone), 1)


def bead_of(clone: Path):
    from git_worlds import bead

    return bead(clone.name)


def branch_file(clone: Path) -> Path:
    return clone / ".git" / "refs" / "heads" / "feature" / "bead-login"


def make_link(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "oid").write_text(branch_file(clone).read_text())
    branch_file(clone).unlink()
    branch_file(clone).symlink_to(tmp_path / "oid")


def make_symbolic(clone: Path, tmp_path: Path) -> None:
    sh(clone, "git", "branch", "other")
    branch_file(clone).write_text("ref: refs/heads/other\n")


def make_missing(clone: Path, tmp_path: Path) -> None:
    branch_file(clone).unlink()


def make_pipe(clone: Path, tmp_path: Path) -> None:
    branch_file(clone).unlink()
    os.mkfifo(branch_file(clone))


def make_nonsense(clone: Path, tmp_path: Path) -> None:
    branch_file(clone).write_bytes(b"\xff\x00 not an id\n")


def make_folder(clone: Path, tmp_path: Path) -> None:
    branch_file(clone).unlink()
    branch_file(clone).mkdir()


def make_option(clone: Path, tmp_path: Path) -> None:
    branch_file(clone).write_text("--upload-pack=touch\n")


def make_git_a_file(clone: Path, tmp_path: Path) -> None:
    (clone / ".git").rename(tmp_path / "real.git")
    (clone / ".git").write_text(f"gitdir: {tmp_path}/real.git\n")


def make_git_a_link(clone: Path, tmp_path: Path) -> None:
    (clone / ".git").rename(tmp_path / "real.git")
    (clone / ".git").symlink_to(tmp_path / "real.git")


def make_git_gone(clone: Path, tmp_path: Path) -> None:
    shutil.rmtree(clone / ".git")


def make_refs_a_link(clone: Path, tmp_path: Path) -> None:
    (clone / ".git" / "refs").rename(tmp_path / "refs")
    (clone / ".git" / "refs").symlink_to(tmp_path / "refs")


NO_BRANCH = [
    make_link,
    make_symbolic,
    make_missing,
    make_pipe,
    make_nonsense,
    make_folder,
    make_option,
    make_git_a_file,
    make_git_a_link,
    make_git_gone,
    make_refs_a_link,
]


@pytest.mark.parametrize("tamper", NO_BRANCH)
def test_what_is_no_plain_branch_is_none_and_its_files_are_kept(world, clone, tmp_path, tamper):
    write(clone, {"uncommitted": "u\n"})
    tamper(clone, tmp_path)
    it = bead_of(clone)
    assert world.git.fetch_work(it, 1) is None
    world.git.retire(it, 1)
    assert not clone.exists()
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["uncommitted"] == "u\n"
    assert files["src/a.py"] == "a\n"


@pytest.mark.parametrize("tamper", [make_missing, make_git_gone, make_git_a_file])
def test_a_clone_without_its_branch_is_archived_and_made_again(world, clone, tmp_path, tamper):
    write(clone, {"uncommitted": "u\n"})
    tamper(clone, tmp_path)
    made = world.git.workspace(bead_of(clone), world.git.main(), "Bea")
    world.prepare(made.prologue)
    assert world.git.fetch_work(bead_of(clone), 2) == world.git.main()
    assert world.git.archived("login")


def broken_blob(clone: Path) -> Path:
    oid = sh(clone, "git", "rev-parse", "HEAD:src/a.py").strip()
    return clone / ".git" / "objects" / oid[:2] / oid[2:]


@pytest.mark.parametrize("how", ["missing", "garbage", "another", "empty", "link", "pipe", "missing tree"])
def test_broken_objects_do_not_come_in_and_the_clone_is_moved_away(world, clone, tmp_path, how):
    it = bead_of(clone)
    file = broken_blob(clone)
    write(clone, {"src/a.py": "changed since\n"})
    os.chmod(file, 0o644)
    if how == "missing":
        file.unlink()
    elif how == "garbage":
        file.write_bytes(b"garbage")
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "another":
        sh(clone, "sh", "-c", "echo other | git hash-object -w --stdin >../oid")
        oid = (clone.parent / "oid").read_text().strip()
        (clone.parent / "oid").unlink()
        file.unlink()
        shutil.copy(clone / ".git" / "objects" / oid[:2] / oid[2:], file)
    elif how == "link":
        file.rename(tmp_path / "blob")
        file.symlink_to(tmp_path / "blob")
    elif how == "pipe":
        file.unlink()
        os.mkfifo(file)
    else:
        oid = sh(clone, "git", "rev-parse", "HEAD:src").strip()
        (clone / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(GitFailed):
        world.git.fetch_work(it, 1)
    assert world.sh("git", "for-each-ref", "refs/nobrakes/incoming") == ""
    with pytest.raises(GitFailed):
        world.git.archive(it, 1)
    world.git.retire(it, 1)
    assert not world.git.has_workspace("login")
    background = Path(str(clone) + "~broken-1")
    assert (background / "src" / "a.py").read_text() == "changed since\n"
    wip = dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"]
    assert world.files(wip)["src/a.py"] == "changed since\n"
    world.sh("git", "fsck", "--full", "--strict")


@pytest.mark.parametrize("how", ["missing", "garbage"])
def test_a_broken_object_that_the_files_still_hold_is_healed(world, clone, how):
    it = bead_of(clone)
    head = sh(clone, "git", "rev-parse", "HEAD").strip()
    file = broken_blob(clone)
    file.unlink()
    if how == "garbage":
        file.write_bytes(b"garbage")
    world.git.retire(it, 1)
    assert not clone.exists()
    assert dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-branch"] == head
    world.sh("git", "fsck", "--full", "--strict")


def test_a_branch_packed_by_git_gc_is_found(world, clone):
    head = sh(clone, "git", "rev-parse", "HEAD").strip()
    sh(clone, "git", "pack-refs", "--all")
    sh(clone, "git", "gc", "-q", "--prune=now")
    assert not branch_file(clone).exists()
    assert world.git.fetch_work(bead_of(clone), 1) == head
    world.sh("git", "fsck", "--full", "--strict")


def test_head_elsewhere_and_odd_refs_do_not_matter(world, clone):
    head = sh(clone, "git", "rev-parse", "HEAD").strip()
    sh(clone, "git", "checkout", "-q", "--detach")
    sh(clone, "git", "update-ref", "refs/heads/--upload-pack=x", "HEAD")
    (clone / ".git" / "HEAD").write_text("ref: refs/heads/../../../etc\n")
    assert world.git.fetch_work(bead_of(clone), 1) == head


def test_many_objects_come_in_as_one_pack(world, begin):
    it = begin()
    head = world.commit_in_workspace(it, {f"src/f{n}.py": f"{n}\n" for n in range(150)})
    assert world.git.fetch_work(it, 1) == head
    assert len(world.files(head)) == 153
    assert list(Path(world.root, ".git", "objects", "pack").glob("*.pack"))
    world.sh("git", "fsck", "--full", "--strict")


def test_an_evil_tree_does_not_come_in(world, clone):
    """A tree with a .git folder in it is what fsckObjects is for."""
    blob = sh(clone, "git", "rev-parse", "HEAD:src/a.py").strip()
    tree = subprocess.run(
        ["git", "mktree"], cwd=clone, input=f"100644 blob {blob}\t.git\n", capture_output=True, text=True, check=True
    ).stdout.strip()
    commit = sh(clone, "git", "commit-tree", "-p", "HEAD", "-m", "evil", tree).strip()
    sh(clone, "git", "update-ref", "HEAD", commit)
    with pytest.raises(GitFailed):
        world.git.fetch_work(bead_of(clone), 1)


REFUSED = '[submodule "../../evil"]\n\tpath = x\n\turl = -u./payload\n\tupdate = !sh\n'


@pytest.mark.parametrize("name", [".gitmodules", ".GitModules", "GITMOD~1", "src/.gitmodules", ".g\u200citmodules"])
@pytest.mark.parametrize("committed", [False, True])
def test_modules_that_git_refuses_are_kept_under_another_name(world, clone, name, committed):
    write(clone, {name: REFUSED, "kept": "k\n"})
    if committed:
        sh(clone, "git", "-c", "core.protectNTFS=false", "add", "-A")
        sh(clone, "git", "commit", "-qm", "modules")
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["kept"] == "k\n" and REFUSED in files.values()
    world.sh("git", "fsck", "--full", "--strict")


def test_a_folder_in_their_place_is_kept_too(world, clone):
    write(clone, {"src/.gitmodules/x": "x\n"})
    world.git.retire(bead_of(clone), 1)
    wip = dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"]
    assert "src/gitmodules.refused/x" in world.git.paths(wip)
    world.sh("git", "fsck", "--full", "--strict")


def test_sound_modules_keep_their_name(world, clone):
    write(clone, {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ./x\n'})
    world.git.retire(bead_of(clone), 1)
    assert ".gitmodules" in world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])


@pytest.mark.parametrize("place", ["refs", "refs/heads", "refs/heads/feature"])
def test_a_clone_that_is_made_fit_again_writes_through_no_link(world, clone, tmp_path, place):
    """The agent committed beside its branch, and its branch's folder leads to somewhere of ours."""
    sh(clone, "git", "checkout", "-q", "--detach")
    sh(clone, "git", "commit", "-q", "--allow-empty", "-m", "beside")
    head = sh(clone, "git", "rev-parse", "HEAD").strip()
    precious = tmp_path / "precious"
    precious.mkdir()
    shutil.rmtree(clone / ".git" / place)
    (clone / ".git" / place).symlink_to(precious)
    made = world.git.workspace(bead_of(clone), world.git.main(), "Bea")
    assert made.is_kept
    world.prepare(made.prologue)
    assert list(precious.iterdir()) == []
    assert branch_file(clone).read_text().strip() == head


def test_repositories_inside_a_clone_are_kept_as_files(world, clone):
    for name, commits in (("unborn", False), ("born", True), ("deep/er", True)):
        inner = clone / name
        inner.mkdir(parents=True)
        sh(inner, "git", "init", "-q")
        write(inner, {"inside": name, ".gitignore": "x\n"})
        if commits:
            sh(inner, "git", "-c", "user.name=x", "-c", "user.email=x@y", "add", "-A")
            sh(inner, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "inner")
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert {name: files[f"{name}/inside"] for name in ("unborn", "born", "deep/er")} == {
        "unborn": "unborn",
        "born": "born",
        "deep/er": "deep/er",
    }


def test_a_committed_repository_inside_becomes_files_too(world, clone):
    inner = clone / "inner"
    inner.mkdir()
    sh(inner, "git", "init", "-q")
    write(inner, {"inside": "1\n"})
    sh(inner, "git", "add", "-A")
    sh(inner, "git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "inner")
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "a gitlink")
    write(inner, {"inside": "2\n"})
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["inner/inside"] == "2\n"


def test_ignored_files_are_left_out_and_pipes_do_not_stop_us(world, clone):
    write(clone, {".gitignore": "*.log\n", "a.log": "x\n", "kept": "k\n"})
    os.mkfifo(clone / "pipe")
    (clone / "dangling").symlink_to("/nowhere")
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert set(files) >= {".gitignore", "kept", "dangling"}
    assert not set(files) & {"a.log", "pipe"}
    assert not clone.exists()


@pytest.mark.parametrize(
    "path", [".gitignore", "src/.gitignore", ".gitattributes", "src/deep/.gitattributes", ".gitmodules"]
)
@pytest.mark.parametrize("index", [True, False], ids=["index", "no-index"])
def test_a_pipe_that_git_would_read_does_not_stop_us(world, clone, monkeypatch, path, index):
    monkeypatch.setattr(measurement, "SILENT", 0.05)
    (clone / path).parent.mkdir(exist_ok=True)
    write(clone, {f"{os.path.dirname(path) or '.'}/loose": "l\n", "src/a.py": "changed\n"})
    os.mkfifo(clone / path)
    if not index:
        os.unlink(f"{clone}{INDEX}")
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["src/a.py"] == "changed\n" and path not in files
    assert not clone.exists()


def test_a_pipe_is_found_beside_folders_that_are_too_deep(world, clone, monkeypatch):
    monkeypatch.setattr(measurement, "SILENT", 0.05)
    write(clone, {".gitignore": "/a/\n", "src/a.py": "changed\n", "z/loose": "l\n"})
    (clone / "/".join("a" * 900)).mkdir(parents=True)
    os.mkfifo(clone / "z" / ".gitignore")
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["src/a.py"] == "changed\n" and files["z/loose"] == "l\n"


def test_names_of_any_kind_are_kept(world, clone):
    names = ["-n", "a\nb", 'q"uote', "sp ace", "tab\t", "\udcff"]
    for name in names:
        Path(os.fsdecode(os.fsencode(clone)), name).write_text("x\n")
    world.git.retire(bead_of(clone), 1)
    wip = dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"]
    assert {change.path for change in world.git.changes(world.git.main(), wip)} >= set(names)


def test_removing_a_clone_copes_with_closed_folders_and_follows_no_link(world, clone, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    (clone / "link").symlink_to(precious)
    closed = clone / "closed" / "inner"
    closed.mkdir(parents=True)
    (closed / "file").write_text("y")
    closed.chmod(0o000)
    closed.parent.chmod(0o500)
    world.git.retire(bead_of(clone), 1)
    assert not clone.exists()
    assert (precious / "file").read_text() == "x"
    assert oct(precious.stat().st_mode & 0o777) == oct(tmp_path.joinpath("precious").stat().st_mode & 0o777)
    assert (
        world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])["closed/inner/file"] == "y"
    )


def test_a_clone_that_is_a_link_is_neither_read_nor_followed(world, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    os.makedirs(world.paths.workspaces)
    os.symlink(precious, os.path.join(world.paths.workspaces, "login"))
    it = bead_of(Path("login"))
    assert world.git.fetch_work(it, 1) is None
    world.git.retire(it, 1)
    assert not os.path.lexists(os.path.join(world.paths.workspaces, "login"))
    assert (precious / "file").read_text() == "x"


def test_when_archiving_fails_nothing_is_removed(world, clone, monkeypatch):
    write(clone, {"uncommitted": "u\n"})
    objects = Path(world.root, ".git", "objects")
    background = objects.with_name("objects.aside")
    world.git.main()
    world.git.tree(world.git.main())
    objects.rename(background)
    objects.write_text("no folder")
    try:
        with pytest.raises(NobrakesError):
            world.git.retire(bead_of(clone), 1)
    finally:
        objects.unlink()
        background.rename(objects)
    assert (clone / "uncommitted").read_text() == "u\n"
    assert world.git.has_workspace("login")


def test_a_merge_inside_the_branch_is_replayed_as_one_commit(world, clone):
    from git_worlds import message

    sh(clone, "git", "checkout", "-q", "-b", "side", "HEAD~1")
    write(clone, {"side": "s\n"})
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "side")
    sh(clone, "git", "checkout", "-q", branch_of(bead_of(clone)))
    sh(clone, "git", "merge", "-q", "--no-edit", "side")
    head = world.git.fetch_work(bead_of(clone), 1)
    main = world.commit_on_main({"b": "b\n"})
    (step,) = world.git.replay(main, head, message())
    assert world.files(step.commit) == {**world.files(main), "side": "s\n", "src/a.py": "a\n"}


def test_unrelated_history_is_a_conflict_and_has_no_fork(world, clone):
    from git_worlds import message

    tree = sh(clone, "git", "rev-parse", "HEAD^{tree}").strip()
    commit = sh(clone, "git", "commit-tree", "-m", "root", tree).strip()
    sh(clone, "git", "update-ref", "HEAD", commit)
    head = world.git.fetch_work(bead_of(clone), 1)
    assert world.git.fork(world.git.main(), head) is None
    assert world.git.squash(world.git.main(), head, message()).detail
    assert world.git.replay(world.git.main(), head, message()).detail


@pytest.mark.parametrize("asked_again", [True, False])
def test_a_killed_prologue_leaves_no_workspace_and_the_next_one_works(world, asked_again):
    from git_worlds import bead

    it = bead()
    made = world.git.workspace(it, world.git.main(), "Ada")
    half = Path(made.path + "~making")
    write(half, {".git/config": "[core", ".git/index": "DIRC", "README": "half of it"})
    (half / "closed").mkdir()
    (half / "closed" / "x").write_text("x")
    (half / "closed").chmod(0o500)
    assert not world.git.has_workspace("login")
    if asked_again:
        made = world.git.workspace(it, world.git.main(), "Ada")
    world.prepare(made.prologue)
    world.prepare(made.prologue)
    assert world.git.has_workspace("login")
    assert sh(made.path, "git", "status", "--porcelain") == ""
    assert sh(made.path, "git", "log", "-1", "--format=%H").strip() == world.git.main()


def test_the_agents_identity_our_hooks_alone_and_no_remotes(world, begin):
    from git_worlds import bead

    it = bead("x")
    world.prepare(world.git.workspace(it, world.git.main(), 'Zoë "Z" O\'Neil\n[core]').prologue)
    clone = world.workspace_path(it)
    assert sh(clone, "git", "config", "user.name").strip() == 'Zoë "Z" O\'Neil [core] (nobrakes)'
    assert sh(clone, "git", "config", "user.email").strip() == "zoe-z-o-neil-core@nobrakes.invalid"
    assert sh(clone, "git", "remote") == ""
    assert sh(clone, "git", "for-each-ref", "--format=%(refname)").split() == ["refs/heads/feature/bead-x"]
    assert os.listdir(Path(clone, ".git", "hooks")) == [], "ours alone, and here nobody put them in their place"


def test_the_index_that_is_kept_beside_the_clone_gives_the_same_archive(world, begin):
    from git_worlds import bead

    it = begin("big")
    assert Path(world.workspace_path(it) + "~index").is_file()
    world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.write_in_workspace(it, {"src/app.py": "one = 9\n", "new": "n\n"})
    world.git.retire(it, 1)
    wip = dict(world.git.archived("big"))["refs/nobrakes/archive/big/1-wip"]
    assert world.files(wip) == {
        "README": "read me\n",
        "new": "n\n",
        "src/a.py": "a\n",
        "src/app.py": "one = 9\n",
        "tests/test_app.py": "assert True\n",
    }
    assert os.listdir(world.paths.workspaces) == []
    assert bead("big").id == "big"


def test_two_threads_may_read_at_once(world):
    main = world.git.main()
    answers: list[bytes | None] = []

    def look() -> None:
        answers.extend(world.git.read(main, "src/app.py") for _ in range(50))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [b"one = 1\n"] * 200


def test_a_head_that_was_handed_in_and_rewritten_away_stays(world, begin, clone):
    """An agent hands a commit in and then resets its branch: only our incoming ref still holds it."""
    it = begin()
    handed_in = world.git.fetch_work(it, 7)
    sh(clone, "git", "reset", "-q", "--hard", "HEAD~1")
    sh(clone, "git", "commit", "-q", "--allow-empty", "-m", "another")
    world.git.retire(it, 8)
    assert handed_in in {commit for _, commit in world.git.archived(it.id)}


def in_a_cone(clone: Path) -> None:
    sh(clone, "git", "sparse-checkout", "set", "src")


def by_patterns(clone: Path) -> None:
    sh(clone, "git", "sparse-checkout", "set", "--no-cone", "/src/*")


def in_a_sparse_index(clone: Path) -> None:
    sh(clone, "git", "sparse-checkout", "set", "--cone", "--sparse-index", "src")
    assert "tests/" in sh(clone, "git", "ls-files", "--sparse").split()


def in_short_names(clone: Path) -> None:
    sh(clone, "git", "update-index", "--index-version=4")
    sh(clone, "git", "sparse-checkout", "set", "src")


def in_a_split_index(clone: Path) -> None:
    sh(clone, "git", "sparse-checkout", "set", "src")
    sh(clone, "git", "update-index", "--split-index")


def by_hand(clone: Path) -> None:
    listed = [path for path in sh(clone, "git", "ls-files").split() if not path.startswith("src/")]
    sh(clone, "git", "update-index", "--skip-worktree", *listed)
    for path in listed:
        (clone / path).unlink()


def beside_a_repository(clone: Path) -> None:
    in_a_cone(clone)
    (clone / "src" / "inner").mkdir()
    sh(clone / "src" / "inner", "git", "init", "-q")


@pytest.mark.parametrize(
    "narrow",
    [in_a_cone, by_patterns, in_a_sparse_index, in_short_names, in_a_split_index, by_hand, beside_a_repository],
)
def test_what_an_agent_left_out_of_its_checkout_is_not_kept_as_removed(world, clone, narrow):
    world.commit_in_workspace(bead_of(clone), {"tests/deep/b.txt": "b\n", "top.txt": "t\n"})
    head = world.commit_in_workspace(bead_of(clone), {"src/gone.py": "g\n"})
    assert world.git.fetch_work(bead_of(clone), 1) == head
    before = world.files(head)
    narrow(clone)
    assert not (clone / "tests" / "deep" / "b.txt").exists()
    (clone / "src" / "gone.py").unlink()
    written = {"src/a.py": "changed\n", "tests/deep/b.txt": "beside the cone\n", "src/inner/new.txt": "n\n"}
    write(clone, written)
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    del before["src/gone.py"]
    assert files == {**before, **written}


@pytest.mark.parametrize("narrow", [in_a_cone, in_a_sparse_index])
def test_a_narrow_checkout_without_changes_leaves_nothing_to_keep(world, clone, narrow):
    assert any(path.startswith("tests/") for path in world.git.paths(world.git.main()))
    assert world.git.touched("login") == 1
    narrow(clone)
    assert world.git.touched("login") == 1
    world.git.retire(bead_of(clone), 1)
    assert [ref for ref, _ in world.git.archived("login")] == ["refs/nobrakes/archive/login/1-branch"]


def test_a_file_in_the_place_of_a_folder_that_was_left_out_is_kept(world, clone):
    world.commit_in_workspace(bead_of(clone), {"lib/b.txt": "b\n"})
    in_a_cone(clone)
    write(clone, {"lib": "a file now\n"})
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["lib"] == "a file now\n"


@pytest.mark.parametrize("cut", [4, 11, 40, 90, 200, -21])
def test_an_index_that_is_cut_off_keeps_no_clone_from_being_archived(world, clone, cut):
    in_a_cone(clone)
    index = clone / ".git" / "index"
    index.write_bytes(index.read_bytes()[:cut])
    write(clone, {"src/a.py": "changed\n"})
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["src/a.py"] == "changed\n"


def test_an_index_whose_names_grow_without_end_is_read_no_further(world, clone):
    entry = bytes(60) + b"\x40\0\x40\0" + b"\0a\0"  # left out, and called like the one before with an a behind it
    (clone / ".git" / "index").write_bytes(
        b"DIRC" + (4).to_bytes(4, "big") + (20_000).to_bytes(4, "big") + entry * 20_000
    )
    found = salvage.left_out(world.git.place, str(clone))
    assert found and sum(map(len, found)) <= 2 * (clone / ".git" / "index").stat().st_size
    write(clone, {"src/a.py": "changed\n"})
    world.git.retire(bead_of(clone), 1)
    files = world.files(dict(world.git.archived("login"))["refs/nobrakes/archive/login/1-wip"])
    assert files["src/a.py"] == "changed\n"


def test_an_index_that_drops_more_of_a_name_than_there_is_is_read_no_further(world, clone):
    entry = bytes(60) + b"\x40\0\x40\0" + b"\xff" * 50_000_000  # a number that grows with each byte
    (clone / ".git" / "index").write_bytes(b"DIRC" + (4).to_bytes(4, "big") + (1).to_bytes(4, "big") + entry)
    assert salvage.left_out(world.git.place, str(clone)) == set()
