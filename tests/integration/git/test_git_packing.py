"""What is packed by hand is what `git pack-objects` would have packed, and what is not plain is left to it."""

import os
import random
import subprocess
import zlib
from pathlib import Path

import pytest

from nobrakes.git.history import History
from nobrakes.git.location import Place
from nobrakes.git.objects import Objects
from nobrakes.git.refs import is_oid
from nobrakes.git.refs import main as main_of
from nobrakes.git.workspaces import packing


def git(folder: Path, *argv: str, stdin: bytes = b"") -> str:
    me = ["-c", "user.name=A", "-c", "user.email=a@x", "-c", "gc.auto=0"]
    done = subprocess.run(["git", *me, *argv], cwd=folder, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


class Pair:
    """A repository, and a clone that borrows its objects."""

    def __init__(self, folder: Path, format: str = "sha1") -> None:
        self.ours, self.clone = folder / "ours", folder / "clone"
        self.ours.mkdir()
        git(self.ours, "init", "-q", "-b", "main", f"--object-format={format}")
        for name in ("a", "d/b", "d/e/c", "d/e/d"):
            self.write(self.ours, name, f"first {name}\n")
        self.commit(self.ours)
        git(self.ours, "checkout", "-q", "--detach")
        git(folder, "clone", "-q", "--shared", "-b", "main", str(self.ours), str(self.clone))
        self.place = Place(str(self.ours), "main")
        self.objects = Objects(self.place)
        self.history = History(self.place, self.objects)

    def write(self, folder: Path, name: str, text: str) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def commit(self, folder: Path) -> str:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x")
        return git(folder, "rev-parse", "HEAD")

    def is_main(self, commit: str) -> bool:
        known = subprocess.run(["git", "cat-file", "-e", commit], cwd=self.ours, capture_output=True).returncode == 0
        return known and self.history.contains(commit, main_of(self.place))

    def packed(self, head: str) -> bytes | None:
        return packing.packed(self.objects, str(self.clone), head, self.is_main)

    def held(self, pack: bytes, folder: Path) -> set[str]:
        """The ids of a pack's objects, by git's own count."""
        path = folder / "some.pack"
        path.write_bytes(pack)
        git(self.ours, "index-pack", "--strict", "-o", str(folder / "some.idx"), str(path))
        listed = git(self.ours, "verify-pack", "-v", str(path)).split("\n")
        return {word for line in listed if is_oid(word := line.split(" ")[0])}

    def new(self, head: str) -> set[str]:
        """The objects of the head that main has not."""
        main = git(self.ours, "rev-parse", "main")
        listed = git(self.clone, "rev-list", "--objects", head, f"^{main}")
        return {line.split(" ")[0] for line in listed.split("\n") if line}


@pytest.fixture(params=["sha1", "sha256"])
def pair(tmp_path: Path, request: pytest.FixtureRequest) -> Pair:
    return Pair(tmp_path, request.param)


def test_a_branch_of_any_commits_is_packed_as_git_would(pair: Pair, tmp_path: Path) -> None:
    rng = random.Random(4)
    packs = 0
    for number in range(12):
        git(pair.clone, "checkout", "-q", "-B", f"work-{number}", "origin/main")
        for step in range(rng.randint(1, 5)):
            for name in rng.sample(["a", "d/b", "d/e/c", "f", "g/h/i/j", "d/e/k"], rng.randint(0, 3)):
                path = pair.clone / name
                if path.exists() and rng.random() < 0.3:
                    path.unlink()
                else:
                    pair.write(pair.clone, name, f"{number} {step} {name}\n")
                    path.chmod(rng.choice([0o644, 0o755]))
            head = pair.commit(pair.clone)
        made = pair.packed(head)
        if made is not None:
            packs += 1
            assert pair.held(made, tmp_path) == pair.new(head), number
    assert packs >= 8


def test_what_moved_to_another_path_is_left_to_git(pair: Pair) -> None:
    os.rename(pair.clone / "d/b", pair.clone / "elsewhere")
    assert pair.packed(pair.commit(pair.clone)) is None


def test_a_commit_without_a_change_is_packed_alone(pair: Pair, tmp_path: Path) -> None:
    head = pair.commit(pair.clone)
    made = pair.packed(head)
    assert made is not None and pair.held(made, tmp_path) == {head}


def changed(pair: Pair) -> str:
    pair.write(pair.clone, "a", "another a\n")
    return pair.commit(pair.clone)


def loose(pair: Pair, oid: str) -> Path:
    path = pair.clone / ".git" / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    return path


def with_a_pack(pair: Pair, head: str) -> None:
    git(pair.clone, "repack", "-q", "-a", "-d", "-l")


def with_a_hole(pair: Pair, head: str) -> None:
    loose(pair, git(pair.clone, "rev-parse", f"{head}:a")).unlink()


def with_another_type(pair: Pair, head: str) -> None:
    loose(pair, git(pair.clone, "rev-parse", f"{head}:a")).write_bytes(zlib.compress(b"tree 0\0"))


def with_a_wrong_size(pair: Pair, head: str) -> None:
    loose(pair, git(pair.clone, "rev-parse", f"{head}:a")).write_bytes(zlib.compress(b"blob 7\0abc"))


def with_no_zlib(pair: Pair, head: str) -> None:
    loose(pair, git(pair.clone, "rev-parse", f"{head}^{{tree}}")).write_bytes(b"no zlib")


def with_a_bomb(pair: Pair, head: str) -> None:
    blob = loose(pair, git(pair.clone, "rev-parse", f"{head}:a"))
    blob.write_bytes(zlib.compress(b"blob 30000000\0" + b"\0" * 30_000_000))


def with_a_torn_tree(pair: Pair, head: str) -> None:
    loose(pair, git(pair.clone, "rev-parse", f"{head}^{{tree}}")).write_bytes(zlib.compress(b"tree 4\x00abcd"))


def with_a_link(pair: Pair, head: str) -> None:
    path = loose(pair, git(pair.clone, "rev-parse", f"{head}:a"))
    path.rename(path.with_suffix(".away"))
    path.symlink_to(path.with_suffix(".away"))


@pytest.mark.parametrize(
    "tamper",
    [with_a_pack, with_a_hole, with_another_type, with_a_wrong_size, with_no_zlib, with_a_bomb, with_a_torn_tree,
     with_a_link],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_git(pair: Pair, tamper) -> None:
    head = changed(pair)
    assert pair.packed(head) is not None
    tamper(pair, head)
    assert pair.packed(head) is None


def test_many_objects_are_left_to_git(pair: Pair) -> None:
    for number in range(packing.MOST):
        pair.write(pair.clone, f"many/{number}", f"{number}\n")
    assert pair.packed(pair.commit(pair.clone)) is None


def test_a_root_of_its_own_is_left_to_git(pair: Pair) -> None:
    git(pair.clone, "checkout", "-q", "--orphan", "own")
    assert pair.packed(pair.commit(pair.clone)) is None


def test_an_object_that_is_not_what_its_name_says_is_left_to_git(pair: Pair) -> None:
    head = changed(pair)
    loose(pair, head).write_bytes(zlib.compress(_commit(pair, head).replace(b"a@x", b"b@y")))
    assert pair.packed(head) is None


def test_a_merge_is_left_to_git(pair: Pair) -> None:
    first = changed(pair)
    git(pair.clone, "checkout", "-q", "-b", "side", "origin/main")
    pair.write(pair.clone, "side", "side\n")
    pair.commit(pair.clone)
    git(pair.clone, "merge", "-q", "-m", "merge", first)
    assert pair.packed(git(pair.clone, "rev-parse", "HEAD")) is None


def _commit(pair: Pair, head: str) -> bytes:
    whole = subprocess.run(["git", "cat-file", "commit", head], cwd=pair.clone, capture_output=True, check=True).stdout
    return b"commit %d\0%b" % (len(whole), whole)
