"""Landing while a human has main checked out: their work is never lost, and never in the way for nothing."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_worlds import ME, RealWorld, message, read_all, sh, write

from nobrakes.git.landing import standing
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths
from nobrakes.review.waits import Landing


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RealWorld]:
    """A human's repository with main checked out, some more files, and work of an agent ready to land."""
    made = RealWorld(tmp_path, checked_out=True)
    write(made.root, {"old": "old\n", "mine": "mine\n", "deep/er/file": "deep\n", ".gitignore": "*.env\nbuild/\n"})
    made.sh("git", "add", "-A")
    made.sh("git", "commit", "-qm", "more", env=ME)
    yield made
    made.close()


def candidate(world: RealWorld, begin, files=None) -> tuple[str, str]:
    """(new, old): a commit that changes src/app.py, adds src/new.py, removes old and deep/er/file."""
    old = world.git.main()
    it = begin()
    changed = {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None, "deep/er/file": None}
    head = world.commit_in_workspace(it, files or changed)
    assert world.git.fetch_work(it, 1) == head
    return world.git.squash(old, head, message()).commit, old


def status(world: RealWorld) -> str:
    return world.sh("git", "status", "--porcelain", "--untracked-files=all")


def blocked(world: RealWorld, new: str, old: str) -> str:
    """Assert that nothing moves, and return the reason."""
    before = read_all(world.root), status(world), world.sh("git", "ls-files", "-s")
    land = world.git.land(new, old)
    assert land.landing is Landing.BLOCKED
    assert world.git.main() == old
    assert (read_all(world.root), status(world), world.sh("git", "ls-files", "-s")) == before
    assert leftovers(world) == []
    return land.reason


def leftovers(world: RealWorld) -> list[str]:
    return [name for name in os.listdir(world.root / ".git") if name.startswith("index") and name != "index"]


def landed(world: RealWorld, new: str, old: str) -> None:
    assert world.git.land(new, old).landing is Landing.MOVED
    assert world.git.main() == new
    assert leftovers(world) == []


def test_a_clean_checkout_comes_along(world, begin):
    new, old = candidate(world, begin)
    landed(world, new, old)
    assert status(world) == ""
    assert read_all(world.root) == world.files("main")
    assert not (world.root / "deep").exists()


def test_edits_elsewhere_are_kept_and_do_not_block(world, begin):
    new, old = candidate(world, begin)
    write(world.root, {"mine": "edited\n", "untracked": "u\n", "README": None, "staged": "s\n", "x.env": "secret\n"})
    world.sh("git", "add", "staged")
    (world.root / "tests" / "test_app.py").chmod(0o755)
    before = status(world)
    landed(world, new, old)
    assert status(world) == before
    assert (world.root / "mine").read_text() == "edited\n"
    assert (world.root / "x.env").read_text() == "secret\n"
    assert (world.root / "src" / "new.py").read_text() == "new\n"
    assert not (world.root / "old").exists()


@pytest.mark.parametrize("stage", [False, True])
@pytest.mark.parametrize("edit", [{"src/app.py": "human\n"}, {"old": "human\n"}, {"deep/er/file": "human\n"}])
def test_an_edit_in_the_same_file_blocks(world, begin, stage, edit):
    new, old = candidate(world, begin)
    write(world.root, edit)
    if stage:
        world.sh("git", "add", "-A")
    reason = blocked(world, new, old)
    assert str(world.root) in reason
    assert next(iter(edit)) in reason
    assert "Commit or stash" in reason


def test_a_staged_edit_that_was_taken_back_in_the_file_blocks(world, begin):
    new, old = candidate(world, begin)
    write(world.root, {"src/app.py": "human\n"})
    world.sh("git", "add", "-A")
    write(world.root, {"src/app.py": "one = 1\n"})
    blocked(world, new, old)


def test_a_changed_mode_in_the_same_file_blocks(world, begin):
    new, old = candidate(world, begin)
    (world.root / "src" / "app.py").chmod(0o755)
    blocked(world, new, old)


def test_a_file_that_both_deleted_stays_deleted(world, begin):
    new, old = candidate(world, begin)
    (world.root / "old").unlink()
    landed(world, new, old)
    assert not (world.root / "old").exists()


@pytest.mark.parametrize("name", ["src/new.py", "src/new.env"])
def test_an_untracked_file_in_the_way_blocks_also_when_git_ignores_it(world, begin, name):
    new, old = candidate(world, begin, {name: "agent\n", "-f.txt": "x\n"} | ({".gitignore": "x\n"}))
    write(world.root, {name: "human\n"})
    assert name in blocked(world, new, old)


def test_the_trap_that_git_itself_would_step_into(world, begin):
    """The proof that the test above can fail: read-tree alone overwrites what is ignored."""
    new, old = candidate(world, begin, {"src/new.env": "agent\n", ".gitignore": "x\n"})
    write(world.root, {"src/new.env": "human\n"})
    world.sh("git", "read-tree", "-m", "-u", old, new)
    assert (world.root / "src" / "new.env").read_text() == "agent\n"


def test_an_ignored_folder_in_the_place_of_a_file_blocks(world, begin):
    new, old = candidate(world, begin, {"build": "agent\n", ".gitignore": "x\n"})
    write(world.root, {"build/output": "human\n"})
    assert "build/output" in blocked(world, new, old)


def test_a_file_in_the_place_of_a_folder_blocks(world, begin):
    new, old = candidate(world, begin, {"notes/today": "agent\n"})
    write(world.root, {"notes": "human\n"})
    assert "notes" in blocked(world, new, old)


def test_a_link_in_the_place_of_a_folder_is_not_written_through(world, begin, tmp_path):
    new, old = candidate(world, begin, {"notes/today": "agent\n"})
    (tmp_path / "elsewhere").mkdir()
    (world.root / "notes").symlink_to(tmp_path / "elsewhere")
    blocked(world, new, old)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_file_becomes_a_folder_and_a_folder_a_file(world, begin):
    it = begin()
    clone = Path(world.workspace_path(it))
    (clone / "old").unlink()
    sh(clone, "rm", "-r", "deep/er")
    new, old = candidate(world, begin, {"old/inner": "1\n", "deep/er": "2\n"})
    landed(world, new, old)
    assert status(world) == ""
    assert read_all(world.root) == world.files("main")


def test_the_same_change_already_staged_by_the_human_does_not_block(world, begin):
    new, old = candidate(world, begin)
    write(world.root, {"src/app.py": "one = 2\n", "src/new.py": "new\n"})
    world.sh("git", "add", "-A")
    landed(world, new, old)
    assert status(world) == ""


def test_touched_but_unchanged_files_do_not_block(world, begin):
    new, old = candidate(world, begin)
    for name in ("src/app.py", "old"):
        os.utime(world.root / name, (1, 1))
    landed(world, new, old)
    assert status(world) == ""


def test_edits_hidden_by_assume_unchanged_block(world, begin):
    new, old = candidate(world, begin)
    world.sh("git", "update-index", "--assume-unchanged", "src/app.py")
    write(world.root, {"src/app.py": "human\n"})
    blocked(world, new, old)
    assert (world.root / "src" / "app.py").read_text() == "human\n"


@pytest.mark.parametrize("state", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-apply"])
def test_a_human_in_the_middle_of_something_blocks(world, begin, state):
    new, old = candidate(world, begin)
    if state.startswith("rebase"):
        (world.root / ".git" / state).mkdir()
    else:
        (world.root / ".git" / state).write_text(old + "\n")
    assert "in progress" in blocked(world, new, old)


def test_a_real_merge_with_conflicts_blocks(world, begin):
    new, _ = candidate(world, begin, {"z": "z\n"})
    world.sh("git", "checkout", "-q", "-b", "theirs", "HEAD~1")
    write(world.root, {"src/app.py": "theirs\n"})
    world.sh("git", "commit", "-qam", "theirs", env=ME)
    world.sh("git", "checkout", "-q", "main")
    write(world.root, {"src/app.py": "ours\n"})
    world.sh("git", "commit", "-qam", "ours", env=ME)
    head = world.git.main()
    world.sh("git", "merge", "theirs", check=False, env=ME)
    made = world.git.squash(head, new, message())
    assert "a merge is in progress" in blocked(world, made.commit, head)


def test_a_rebase_of_main_blocks_though_head_is_detached(world, begin):
    new, old = candidate(world, begin)
    world.sh("git", "rebase", "-q", "--exec", "false", "HEAD~1", check=False, env=ME)
    assert "a rebase is in progress" in blocked(world, new, old)


def test_a_lock_of_the_humans_git_blocks_and_is_not_removed(world, begin):
    new, old = candidate(world, begin)
    lock = world.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    held = world.git.land(new, old)
    assert held.landing is Landing.BLOCKED and held.timeout > 0 and str(lock) in held.reason
    os.utime(lock, (0, 0))
    left = world.git.land(new, old)
    assert left.landing is Landing.BLOCKED and left.timeout == 0 and str(lock) in left.reason
    world.git.clear_locks()
    assert lock.exists()
    assert world.git.main() == old
    lock.unlink()
    landed(world, new, old)


def test_a_linked_worktree_of_main_comes_along(world, begin, tmp_path):
    world.sh("git", "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    world.sh("git", "worktree", "add", "-q", str(linked), "main")
    new, old = candidate(world, begin)
    write(linked, {"mine": "edited\n"})
    assert world.git.land(new, old).landing is Landing.MOVED
    assert sh(linked, "git", "status", "--porcelain") == " M mine\n"
    assert (linked / "src" / "new.py").exists()
    assert not (world.root / "src" / "new.py").exists()


def test_an_edit_in_a_linked_worktree_blocks_and_names_it(world, begin, tmp_path):
    world.sh("git", "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    world.sh("git", "worktree", "add", "-q", str(linked), "main")
    new, old = candidate(world, begin)
    write(linked, {"src/app.py": "human\n"})
    land = world.git.land(new, old)
    assert land.landing is Landing.BLOCKED
    assert str(linked) in land.reason
    assert (linked / "src" / "app.py").read_text() == "human\n"


def test_two_worktrees_of_main_move_together_or_not_at_all(world, begin, tmp_path):
    linked = tmp_path / "linked"
    world.sh("git", "worktree", "add", "-q", "--force", str(linked), "main")
    new, old = candidate(world, begin)
    write(linked, {"src/app.py": "human\n"})
    assert world.git.land(new, old).landing is Landing.BLOCKED
    assert status(world) == ""
    write(linked, {"src/app.py": "one = 1\n"})
    landed(world, new, old)
    assert status(world) == ""
    assert sh(linked, "git", "status", "--porcelain") == ""


def test_a_worktree_whose_folder_is_gone_does_not_matter(world, begin, tmp_path):
    world.sh("git", "worktree", "add", "-q", "--force", str(tmp_path / "linked"), "main")
    sh(tmp_path, "rm", "-rf", str(tmp_path / "linked"))
    new, old = candidate(world, begin)
    landed(world, new, old)


def test_a_submodules_checkout_of_main_comes_along(tmp_path):
    origin = RealWorld(tmp_path, checked_out=True)
    outer = tmp_path / "outer"
    sh(tmp_path, "git", "init", "-q", "-b", "main", str(outer))
    sh(outer, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin.root), "lib")
    origin.root = outer / "lib"
    origin.paths = Paths(str(origin.root / ".nobrakes"))
    write(origin.root, {".nobrakes/.gitignore": "*\n"})
    origin.git = Repository(origin.paths, "main")
    old = origin.git.main()
    new = origin.git.squash(old, origin.commit_in_workspace_of("login", {"src/app.py": "one = 2\n"}), message()).commit
    assert origin.git.land(new, old).landing is Landing.MOVED
    assert (origin.root / "src" / "app.py").read_text() == "one = 2\n"
    assert origin.sh("git", "status", "--porcelain") == ""


def test_a_bare_repository_just_moves(tmp_path):
    origin = RealWorld(tmp_path, checked_out=True)
    bare = tmp_path / "bare.git"
    sh(tmp_path, "git", "clone", "-q", "--bare", str(origin.root), str(bare))
    origin.root = bare
    origin.paths = Paths(str(bare / ".nobrakes"))
    origin.git = Repository(origin.paths, "main")
    old = origin.git.main()
    new = origin.git.squash(old, origin.commit_in_workspace_of("login", {"src/app.py": "one = 2\n"}), message()).commit
    assert origin.git.land(new, old).landing is Landing.MOVED
    assert origin.git.main() == new


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
def test_a_sparse_checkout_stays_sparse(world, begin, cone):
    new, old = candidate(world, begin)
    world.sh("git", "sparse-checkout", "set", cone, "tests")
    assert not (world.root / "src").exists()
    landed(world, new, old)
    assert status(world) == ""
    assert not (world.root / "src").exists()
    assert world.files("main")["src/app.py"] == "one = 2\n"


def test_the_humans_own_filters_write_the_humans_files(world, begin):
    world.sh("git", "config", "filter.up.smudge", "tr a-z A-Z")
    world.sh("git", "config", "filter.up.clean", "tr A-Z a-z")
    write(world.root, {".gitattributes": "*.py filter=up\n"})
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-qm", "attributes", env=ME)
    new, old = candidate(world, begin, {"src/new.py": "new\n"})
    landed(world, new, old)
    assert (world.root / "src" / "new.py").read_text() == "NEW\n"
    assert status(world) == ""


def test_no_hook_of_the_human_is_run(world, begin):
    hooks = world.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("reference-transaction", "post-index-change", "post-merge", "pre-commit", "post-checkout"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {world.root.parent}/ran\nexit 1\n")
        (hooks / hook).chmod(0o755)
    new, old = candidate(world, begin)
    landed(world, new, old)
    world.git.commit_files({"f": b"f\n"}, message())
    assert not (world.root.parent / "ran").exists()


# --- after a crash -------------------------------------------------------------------------------


def test_a_checkout_that_was_left_behind_comes_along(world, begin):
    new, old = candidate(world, begin)
    world.sh("git", "update-ref", "refs/heads/main", new, old)
    assert status(world) != ""
    landed(world, new, old)
    assert status(world) == ""
    assert read_all(world.root) == world.files("main")


@pytest.mark.parametrize("written", [["src/new.py"], ["src/app.py", "old"], ["deep/er/file", "src/new.py"]])
def test_a_checkout_that_was_written_half_is_finished(world, begin, written):
    new, old = candidate(world, begin)
    world.sh("git", "update-ref", "refs/heads/main", new, old)
    after = {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None, "deep/er/file": None}
    write(world.root, {name: after[name] for name in written})
    lock = world.root / ".git" / "index.lock"
    lock.write_bytes(standing.MARK)
    world.git.clear_locks()
    assert not lock.exists()
    landed(world, new, old)
    assert status(world) == ""
    assert read_all(world.root) == world.files("main")


def test_what_the_human_staged_after_the_landing_is_not_taken_for_a_leftover(world, begin):
    new, old = candidate(world, begin)
    landed(world, new, old)
    write(world.root, {"src/app.py": "one = 1\n"})
    world.sh("git", "add", "-A")
    before = status(world)
    landed(world, new, old)
    assert status(world) == before
    assert (world.root / "src" / "app.py").read_text() == "one = 1\n"


def test_when_the_files_cannot_be_written_main_goes_back(world, begin, monkeypatch):
    """The disk is full in the middle: what was written is taken back, and main too."""
    new, old = candidate(world, begin)
    write(world.root, {"mine": "edited\n"})
    before = read_all(world.root), status(world)
    from nobrakes.errors import DiskFull
    from nobrakes.git import command_line

    real = command_line.run

    def full(arguments, **options):
        if list(arguments[:3]) == ["read-tree", "-m", "-u"]:
            write(world.root, {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None})
            raise DiskFull("git could not write: No space left on device")
        return real(arguments, **options)

    monkeypatch.setattr("nobrakes.git.landing.local.command_line.run", full)
    assert world.git.land(new, old).landing is Landing.BLOCKED
    monkeypatch.undo()
    assert world.git.main() == old
    assert (read_all(world.root), status(world)) == before
    assert leftovers(world) == []
    landed(world, new, old)


def test_locks_that_a_killed_nobrakes_left_are_cleared(world, begin):
    new, old = candidate(world, begin)
    git_dir = world.root / ".git"
    own = git_dir / "refs" / "nobrakes" / "candidate" / "login.lock"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"")
    past = time.time() - 5
    for name in ("refs/heads/main.lock", "HEAD.lock"):
        (git_dir / name).write_bytes(b"")
        os.utime(git_dir / name, (past, past))
    (git_dir / "packed-refs.lock").write_bytes(b"")
    other = git_dir / "refs" / "heads" / "other.lock"
    other.write_bytes(b"")
    world.git.clear_locks()
    assert not own.exists()
    assert (git_dir / "packed-refs.lock").exists()
    assert other.exists()
    os.utime(git_dir / "packed-refs.lock", (past - 60, past - 60))
    world.git.clear_locks()
    assert not (git_dir / "packed-refs.lock").exists()
    world.git.pin("candidate/login", new)
    landed(world, new, old)


# --- commit_files --------------------------------------------------------------------------------


def test_committed_files_that_lie_there_already_leave_a_clean_checkout(world):
    write(world.root, {".nobrakes/beads.jsonl": "{}\n", "mine": "edited\n"})
    commit = world.git.commit_files({".nobrakes/beads.jsonl": b"{}\n"}, message())
    assert world.git.main() == commit
    assert status(world) == " M mine\n"


def test_committed_files_leave_the_humans_version_and_staged_work_alone(world):
    write(world.root, {"mine": "staged\n", "old": "edited\n", "extra": "e\n"})
    world.sh("git", "add", "mine", "extra")
    world.git.commit_files({"mine": b"machine\n", "old": b"machine\n"}, message())
    assert (world.root / "mine").read_text() == "staged\n"
    assert (world.root / "old").read_text() == "edited\n"
    assert world.sh("git", "show", ":mine") == "staged\n"
    assert world.sh("git", "show", ":extra") == "e\n"
    assert world.sh("git", "show", "main:mine") == "machine\n"
    assert "extra" not in world.files("main")


def test_commit_files_again_when_main_moved_meanwhile(world, monkeypatch):
    from nobrakes.git import commits, objects

    moved: list[str] = []
    real = objects.main

    def late(place):
        found = real(place)
        if not moved:
            moved.append(world.commit_on_main({"late": "l\n"}))
        return found

    world.sh("git", "checkout", "-q", "--detach")
    monkeypatch.setattr(commits.objects, "main", late)
    commit = world.git.commit_files({"f": b"f\n"}, message())
    assert world.sh("git", "rev-parse", f"{commit}~1").strip() == moved[0]
    assert world.files(commit)["late"] == "l\n"


def test_main_that_moves_after_the_last_look_is_lost_not_overwritten(world, begin, monkeypatch):
    from nobrakes.git.landing import local

    new, old = candidate(world, begin)
    world.sh("git", "checkout", "-q", "--detach")
    newer = world.commit_on_main({"late": "l\n"})
    monkeypatch.setattr(local.git_objects, "main", lambda place: old)
    assert world.git.land(new, old).landing is Landing.LOST
    monkeypatch.undo()
    assert world.git.main() == newer


def test_the_humans_git_cannot_come_in_between(world, begin, monkeypatch):
    """While main and the files move, a commit of the human is refused by git itself."""
    from nobrakes.git import objects

    new, old = candidate(world, begin)
    write(world.root, {"mine": "edited\n"})
    refused: list[str] = []
    real = objects.swap

    def swap(*given):
        refused.append(world.sh("git", "commit", "-qam", "now", env=ME, check=False))
        assert world.git.main() == old
        return real(*given)

    monkeypatch.setattr(objects, "swap", swap)
    landed(world, new, old)
    assert len(refused) == 1
    assert status(world) == " M mine\n"
