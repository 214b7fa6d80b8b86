"""Landing while a human's checkout of main is in one of its rarer states: each is kept, or the merge waits and says so."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_worlds import ME, RealWorld, message, read_all, sh, write

from nobrakes.review.waits import Land, Landing


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RealWorld]:
    made = RealWorld(tmp_path, checked_out=True)
    write(made.root, {"old": "old\n", "mine": "mine\n", ".gitignore": "*.env\n"})
    made.sh("git", "add", "-A")
    made.sh("git", "commit", "-qm", "more", env=ME)
    yield made
    made.close()


def candidate(world: RealWorld, files=None) -> tuple[str, str]:
    """(new, old): a commit that changes src/app.py, adds src/new.py and removes old."""
    old = world.git.main()
    changed = files or {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None}
    head = world.commit_in_workspace_of("login", changed)
    return world.git.squash(old, head, message()).commit, old


def state(world: RealWorld) -> tuple[object, ...]:
    return (
        read_all(world.root),
        world.sh("git", "status", "--porcelain", "--untracked-files=all"),
        world.sh("git", "ls-files", "-s"),
    )


def waits(world: RealWorld, new: str, old: str) -> str:
    before = state(world)
    land = world.git.land(new, old)
    assert land.landing is Landing.BLOCKED and world.git.main() == old and state(world) == before
    return land.reason


def lands(world: RealWorld, new: str, old: str) -> Land:
    land = world.git.land(new, old)
    assert land.landing is Landing.MOVED and world.git.main() == new
    return land


# --- what a person has begun and not ended -----------------------------------------------------------


def two_that_conflict(world: RealWorld) -> tuple[str, str]:
    """Two commits on another branch, the first of which conflicts with main."""
    world.sh("git", "checkout", "-q", "-b", "theirs")
    for text in ("theirs", "theirs again"):
        write(world.root, {"mine": f"{text}\n"})
        world.sh("git", "commit", "-qam", text, env=ME)
    first, second = world.sh("git", "rev-list", "--reverse", "main..theirs").split()
    world.sh("git", "checkout", "-q", "main")
    write(world.root, {"mine": "ours\n"})
    world.sh("git", "commit", "-qam", "ours", env=ME)
    return first, second


@pytest.mark.parametrize(
    ("begin", "word"),
    [
        (["git", "cherry-pick", "theirs~1", "theirs"], "a cherry-pick"),
        (["git", "revert", "--no-edit", "HEAD~1"], "a revert"),
        (["sh", "-c", "git format-patch -q --stdout -1 theirs~1 | git am -q -3"], "a rebase or `git am`"),
    ],
    ids=["cherry-pick", "revert", "am"],
)
def test_what_stopped_at_a_conflict_is_waited_for(world, begin, word):
    two_that_conflict(world)
    if word == "a revert":
        write(world.root, {"old": "changed\n"})
        world.sh("git", "commit", "-qam", "changed", env=ME)
        write(world.root, {"old": "changed again\n"})
        world.sh("git", "commit", "-qam", "changed again", env=ME)
    new, old = candidate(world)
    world.sh(*begin, check=False, env=ME)
    assert f"{word} is in progress" in waits(world, new, old)


def test_a_pick_of_several_commits_is_waited_for_between_two_of_them(world):
    two_that_conflict(world)
    world.sh("git", "cherry-pick", "theirs~1", "theirs", check=False, env=ME)
    write(world.root, {"mine": "settled\n"})
    world.sh("git", "commit", "-qam", "settled", env=ME)
    assert not (world.root / ".git" / "CHERRY_PICK_HEAD").exists() and (world.root / ".git" / "sequencer").exists()
    new, old = candidate(world)
    assert "of several commits is in progress" in waits(world, new, old)
    world.sh("git", "cherry-pick", "--quit")
    lands(world, new, old)


def test_a_bisection_is_left_alone_and_ends_on_the_new_main(world):
    new, old = candidate(world)
    world.sh("git", "bisect", "start", "HEAD", "HEAD~1")
    world.sh("git", "checkout", "-q", "--detach", "HEAD~1")
    before = read_all(world.root)
    lands(world, new, old)
    assert read_all(world.root) == before
    world.sh("git", "bisect", "reset")
    assert world.sh("git", "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert world.sh("git", "status", "--porcelain") == "" and (world.root / "src" / "new.py").exists()


def test_a_bisection_that_has_only_begun_is_waited_for(world):
    new, old = candidate(world)
    world.sh("git", "bisect", "start")
    assert "a bisection is in progress" in waits(world, new, old)
    world.sh("git", "bisect", "reset")
    lands(world, new, old)


def test_a_stash_that_came_back_with_conflicts_is_waited_for(world):
    write(world.root, {"mine": "stashed\n"})
    world.sh("git", "stash", "-q", env=ME)
    write(world.root, {"mine": "ours\n"})
    world.sh("git", "commit", "-qam", "ours", env=ME)
    new, old = candidate(world)
    world.sh("git", "stash", "pop", check=False, env=ME)
    assert world.sh("git", "ls-files", "-u")
    waits(world, new, old)
    assert world.sh("git", "stash", "list")


# --- what stands in the index or in the files --------------------------------------------------------


def test_an_edit_behind_skip_worktree_is_waited_for(world):
    new, old = candidate(world)
    world.sh("git", "update-index", "--skip-worktree", "src/app.py")
    write(world.root, {"src/app.py": "my own\n"})
    land = world.git.land(new, old)
    assert (world.root / "src" / "app.py").read_text() == "my own\n", "it is kept, whether main moves or waits"
    assert land.landing is not Landing.LOST


def test_a_file_that_was_taken_out_of_the_index_is_kept(world):
    new, old = candidate(world)
    world.sh("git", "rm", "-q", "--cached", "src/app.py")
    write(world.root, {"src/app.py": "my own\n"})
    assert "src/app.py" in waits(world, new, old)


def test_a_file_that_is_only_meant_to_be_added_is_kept(world):
    new, old = candidate(world)
    write(world.root, {"src/new.py": "my own\n"})
    world.sh("git", "add", "-N", "src/new.py")
    waits(world, new, old)


def test_a_link_in_the_place_of_a_file_is_kept(world):
    new, old = candidate(world)
    (world.root / "src" / "app.py").unlink()
    (world.root / "src" / "app.py").symlink_to("../mine")
    assert "src/app.py" in waits(world, new, old)


def test_a_staged_rename_of_what_main_changes_is_waited_for(world):
    new, old = candidate(world)
    world.sh("git", "mv", "src/app.py", "src/moved.py")
    waits(world, new, old)


# --- sparse checkouts --------------------------------------------------------------------------------


def test_a_sparse_index_stays_sparse(world):
    new, old = candidate(world)
    world.sh("git", "sparse-checkout", "set", "--cone", "--sparse-index", "tests")
    assert "src/" in world.sh("git", "ls-files", "--sparse")
    lands(world, new, old)
    assert world.sh("git", "status", "--porcelain") == "" and not (world.root / "src").exists()


@pytest.mark.parametrize("name", ["src/new.py", "src/app.py"])
def test_a_humans_file_outside_of_a_sparse_checkout_is_kept(world, name):
    new, old = candidate(world)
    world.sh("git", "sparse-checkout", "set", "--cone", "tests")
    write(world.root, {name: "my own\n"})
    land = world.git.land(new, old)
    assert (world.root / name).read_text() == "my own\n"
    assert land.landing is not Landing.LOST


# --- submodules --------------------------------------------------------------------------------------


@pytest.fixture
def with_module(world, tmp_path):
    """The world with a submodule `lib`, in which the human has an edit, an untracked and an ignored file."""
    lib = tmp_path / "lib"
    sh(tmp_path, "git", "init", "-q", "-b", "main", str(lib))
    write(lib, {"a": "a\n", ".gitignore": "*.env\n"})
    sh(lib, "git", "add", "-A")
    sh(lib, "git", "commit", "-qm", "a", env=ME)
    world.sh("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "lib")
    world.sh("git", "commit", "-qm", "lib", env=ME)
    write(world.root, {"lib/a": "edited\n", "lib/loose": "loose\n", "lib/x.env": "secret\n"})
    return world


def made_of(world: RealWorld, *lines: str) -> tuple[str, str]:
    """(new, old): main with these entries of the index changed."""
    old = world.git.main()
    index = {"GIT_INDEX_FILE": str(world.root.parent / "other-index")}
    world.sh("git", "read-tree", old, env=index)
    for line in lines:
        world.sh("git", "update-index", "--add", *line.split(), env=index)
    tree = world.sh("git", "write-tree", env=index).strip()
    return world.sh("git", "commit-tree", "-p", old, "-m", "new", tree, env=ME).strip(), old


def module_is_kept(world: RealWorld) -> None:
    kept = {name: (world.root / "lib" / name).read_text() for name in ("a", "loose", "x.env")}
    assert kept == {"a": "edited\n", "loose": "loose\n", "x.env": "secret\n"}


def test_a_submodule_is_left_as_it_is_by_what_does_not_touch_it(with_module):
    new, old = candidate(with_module)
    lands(with_module, new, old)
    module_is_kept(with_module)


def test_a_submodule_that_main_moves_keeps_its_files(with_module):
    other = sh(with_module.root / "lib", "git", "rev-parse", "HEAD").strip()[:-4] + "0000"
    new, old = made_of(with_module, f"--cacheinfo 160000,{other},lib")
    land = with_module.git.land(new, old)
    assert land.landing in (Landing.MOVED, Landing.BLOCKED)
    module_is_kept(with_module)
    assert sh(with_module.root / "lib", "git", "rev-parse", "HEAD").strip() != other


@pytest.mark.parametrize("instead", ["nothing", "a file"])
def test_a_submodule_that_main_removes_keeps_its_files(with_module, instead):
    blob = with_module.sh("git", "rev-parse", "main:mine").strip()
    lines = ["--force-remove lib"]
    lines += [f"--cacheinfo 100644,{blob},lib"] if instead == "a file" else []
    new, old = made_of(with_module, *lines)
    land = with_module.git.land(new, old)
    assert land.landing is not Landing.LOST
    module_is_kept(with_module)


# --- large files -------------------------------------------------------------------------------------

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 4\n"


def lfs(world: RealWorld) -> tuple[str, str]:
    write(
        world.root, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": POINTER.format("1" * 64)}
    )
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-qm", "large", env=ME)
    return candidate(world, {"a.bin": POINTER.format("2" * 64), "b.bin": POINTER.format("3" * 64)})


def test_pointers_of_large_files_stay_pointers_where_nothing_reads_them(world):
    new, old = lfs(world)
    lands(world, new, old)
    assert (world.root / "b.bin").read_text() == POINTER.format("3" * 64)
    assert world.sh("git", "status", "--porcelain") == ""


def test_large_files_that_cannot_be_fetched_leave_main_where_it_was(world):
    new, old = lfs(world)
    world.sh("git", "config", "filter.lfs.smudge", "false")
    world.sh("git", "config", "filter.lfs.clean", "cat")
    world.sh("git", "config", "filter.lfs.required", "true")
    waits(world, new, old)
    world.sh("git", "config", "filter.lfs.smudge", "sed s/version/content/")
    world.sh("git", "config", "filter.lfs.clean", "sed s/content/version/")
    lands(world, new, old)
    assert (world.root / "b.bin").read_text().startswith("content ")


def test_the_content_of_a_large_file_that_a_human_edits_is_waited_for(world):
    new, old = lfs(world)
    world.sh("git", "config", "filter.lfs.smudge", "cat")
    world.sh("git", "config", "filter.lfs.clean", "cat")
    write(world.root, {"a.bin": "my own bytes\n"})
    assert "a.bin" in waits(world, new, old)


# --- linked worktrees --------------------------------------------------------------------------------


def test_a_locked_worktree_is_a_worktree(world, tmp_path):
    world.sh("git", "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    world.sh("git", "worktree", "add", "-q", "--lock", str(linked), "main")
    new, old = candidate(world)
    write(linked, {"src/app.py": "mine\n"})
    land = world.git.land(new, old)
    assert land.landing is Landing.BLOCKED and str(linked) in land.reason
    assert (linked / "src" / "app.py").read_text() == "mine\n"


def test_what_is_begun_in_a_linked_worktree_is_waited_for(world, tmp_path):
    two_that_conflict(world)
    world.sh("git", "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    world.sh("git", "worktree", "add", "-q", str(linked), "main")
    new, old = candidate(world)
    subprocess.run(["git", "merge", "-q", "theirs"], cwd=linked, capture_output=True, check=False)
    land = world.git.land(new, old)
    assert land.landing is Landing.BLOCKED and "a merge is in progress" in land.reason and str(linked) in land.reason
