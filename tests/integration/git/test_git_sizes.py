"""What an agent made is measured before it is copied or read: beyond a limit nothing of it comes in, and all is kept."""

import hashlib
import os
import resource
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from git_worlds import sh

from nobrakes.agents.limits import Sizes
from nobrakes.errors import FileTooLarge, Tampered, TooLarge
from nobrakes.git.repository import Repository
from nobrakes.git.workspaces import measurement
from nobrakes.trash import clear

SMALL = Sizes(file=200_000, new=2_000_000, paths=300, depth=20)


class Clone:
    """A clone in which an agent writes objects by hand."""

    def __init__(self, path: str, branch: str) -> None:
        self.path = Path(path)
        self.branch = branch

    def put(self, kind: bytes, body: bytes, size: int | None = None) -> str:
        """An object as a file of its own; `size`: what it says of itself."""
        head = kind + b" %d\0" % (len(body) if size is None else size)
        oid = hashlib.sha1(kind + b" %d\0" % len(body) + body).hexdigest()
        file = self.path / ".git" / "objects" / oid[:2] / oid[2:]
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_bytes(zlib.compress(head + body, 1))
        return oid

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """A folder of (mode, name, object)."""
        return self.put(b"tree", b"".join(f"{m} {n}".encode() + b"\0" + bytes.fromhex(o) for m, n, o in entries))

    def commit(self, tree: str, message: bytes = b"odd\n") -> str:
        parent = sh(self.path, "git", "rev-parse", "HEAD").strip()
        who = b"A <a@b.invalid> 1700000000 +0000"
        body = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\n" % (tree.encode(), parent.encode(), who, who)
        oid = self.put(b"commit", body + message)
        (self.path / ".git" / "refs" / "heads" / self.branch).write_text(oid + "\n")
        return oid

    def beside_what_there_is(self, mode: str, oid: str) -> str:
        """The folder of HEAD with `zz` in it."""
        rows = [line.split() for line in sh(self.path, "git", "ls-tree", "HEAD").splitlines()]
        kept = [("40000" if m == "040000" else m, name, o) for m, _, o, name in rows]
        return self.tree(*kept, (mode, "zz", oid))


def nested(clone: Clone) -> str:
    tree = clone.tree(("100644", "x", clone.put(b"blob", b"x")))
    for _ in range(3000):
        tree = clone.tree(("40000", "d", tree))
    return clone.beside_what_there_is("40000", tree)


def bomb(clone: Clone) -> str:
    """A few objects, and ten thousand million paths."""
    tree = clone.tree(*(("100644", f"f{n}", clone.put(b"blob", b"x")) for n in range(10)))
    for _ in range(9):
        tree = clone.tree(*(("40000", f"d{n}", tree) for n in range(10)))
    return clone.beside_what_there_is("40000", tree)


def wide(clone: Clone) -> str:
    blob = clone.put(b"blob", b"x")
    return clone.beside_what_there_is("40000", clone.tree(*(("100644", f"f{n:06}", blob) for n in range(20_000))))


def zeros(clone: Clone) -> str:
    return clone.beside_what_there_is("100644", clone.put(b"blob", bytes(30_000_000)))


def many_megabytes(clone: Clone) -> str:
    rows = [("100644", f"f{n:03}", clone.put(b"blob", b"%03d" % n + os.urandom(100_000))) for n in range(40)]
    return clone.beside_what_there_is("40000", clone.tree(*rows))


def many_files(clone: Clone) -> str:
    rows = [("100644", f"f{n:04}", clone.put(b"blob", b"%d" % n)) for n in range(400)]
    return clone.beside_what_there_is("40000", clone.tree(*rows))


def many_objects(clone: Clone) -> str:
    for number in range(17_000):
        clone.put(b"blob", b"garbage %d" % number)
    return clone.beside_what_there_is("100644", clone.put(b"blob", b"x"))


def long_name(clone: Clone) -> str:
    return clone.beside_what_there_is(
        "40000", clone.tree(("100644", "n" * 300, clone.put(b"blob", os.urandom(150_000))))
    )


def long_path(clone: Clone) -> str:
    tree = clone.tree(("100644", "n" * 250, clone.put(b"blob", b"x")))
    for _ in range(18):
        tree = clone.tree(("40000", "n" * 250, tree))
    return clone.beside_what_there_is("40000", tree)


def liar(clone: Clone) -> str:
    """An object that says that it is larger than any disk, and is a megabyte of nothing."""
    return clone.beside_what_there_is("100644", clone.put(b"blob", bytes(1_000_000), 10**13))


LARGE: dict[Callable[[Clone], str], str] = {
    nested: "limits.max_depth",
    bomb: "limits.max_paths",
    wide: "limits.max_paths",
    zeros: "limits.max_file_mb",
    many_megabytes: "limits.max_new_mb",
    many_files: "limits.max_paths",
    many_objects: "limits.max_paths",
    long_name: "255 bytes",
    long_path: "4096 bytes",
    liar: "limits.max_file_mb",
}


@pytest.fixture
def small(world):
    world.git = Repository(world.paths, "main", sizes=SMALL)
    yield world
    world.git.close()


@pytest.mark.parametrize("make", LARGE, ids=lambda make: make.__name__)
def test_what_is_too_large_does_not_come_in_and_is_not_lost(small, begin, make):
    it = begin()
    clone = Clone(small.workspace_path(it), "feature/bead-login")
    head = clone.commit(make(clone))
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TooLarge, match=LARGE[make]):
        small.git.fetch_work(it, 1)
    assert time.monotonic() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000, "kilobytes"
    assert small.sh("git", "for-each-ref", "refs/nobrakes") == ""
    small.git.retire(it, 1)
    assert not small.git.has_workspace("login"), "it stands in nobody's way"
    kept = Path(str(clone.path) + "~broken-1", ".git", "objects", head[:2], head[2:])
    assert kept.is_file()
    other = begin("other")
    assert small.git.fetch_work(other, 1) is not None


def test_a_giant_message_does_not_come_in(small, begin):
    it = begin()
    clone = Clone(small.workspace_path(it), "feature/bead-login")
    clone.commit(sh(clone.path, "git", "rev-parse", "HEAD^{tree}").strip(), b"all work and no play\n" * 70_000)
    with pytest.raises(TooLarge, match="commit"):
        small.git.fetch_work(it, 1)


def test_what_is_within_the_limits_comes_in_by_either_way(small, begin):
    it = begin()
    clone = Clone(small.workspace_path(it), "feature/bead-login")
    rows = [("100644", f"f{n:03}", clone.put(b"blob", b"%d" % n)) for n in range(150)]
    tree = clone.tree(*rows)
    for _ in range(15):
        tree = clone.tree(("40000", "d", tree))
    head = clone.commit(clone.beside_what_there_is("40000", tree))
    assert small.git.fetch_work(it, 1) == head
    assert len(small.git.changes(small.git.main(), head)) == 150


@pytest.mark.parametrize("files", [20, 600])
def test_a_bead_is_measured_by_what_it_changed_and_not_by_all_files(world, begin, monkeypatch, files):
    asked: list[str] = []
    look = measurement._Asked.look

    def counted(self: object, oids: Iterable[str]) -> dict[str, tuple[str, int]]:
        asked.extend(some := list(oids))
        return look(self, some)  # type: ignore[arg-type]

    monkeypatch.setattr(measurement._Asked, "look", counted)
    world.commit_on_main({f"{folder}f{n}.py": f"{n}\n" for n in range(files) for folder in ("", "lib/deep/")})
    it = begin()
    head = world.commit_in_workspace(it, {"lib/deep/new.py": "new\n", "f7.py": "other\n"})
    world.commit_on_main({"f8.py": "meanwhile\n"})
    assert world.git.fetch_work(it, 1) == head
    # the commit, its parent, three folders, two files and the one that main has another of meanwhile: of both sides
    assert len(asked) <= 2 * 9
    assert set(world.files(head)) >= {"f7.py", "lib/deep/new.py"}


def sparse(folder: Path) -> str:
    with (folder / "sparse").open("wb") as file:
        file.truncate(10**12)
    return "limits.max_file_mb"


def files(folder: Path) -> str:
    for number in range(400):
        (folder / f"f{number}").write_text("x")
    return "limits.max_paths"


def deep(folder: Path) -> str:
    path = folder
    for _ in range(30):
        path = path / "d"
    path.mkdir(parents=True)
    (path / "x").write_text("x")
    return "limits.max_depth"


def deeper(folder: Path) -> str:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deeper", dir_fd=here)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("work", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)
    return "4096 bytes"


@pytest.mark.parametrize("make", [sparse, files, deep, deeper], ids=lambda make: make.__name__)
def test_files_that_are_too_large_are_moved_away_with_their_clone(small, begin, make):
    it = begin()
    head = small.commit_in_workspace(it, {"src/a.py": "a\n"})
    clone = Path(small.workspace_path(it))
    why = make(clone)
    assert small.git.fetch_work(it, 1) == head, "what was committed is none of it"
    with pytest.raises(TooLarge, match=why):
        small.git.archive(it, 1)
    small.git.retire(it, 1)
    assert "refs/nobrakes/archive/login/1-branch" in dict(small.git.archived("login")), "as far as it goes"
    assert not clone.exists() and Path(f"{clone}~broken-1", "src", "a.py").is_file()
    clear(f"{clone}~broken-1", time.monotonic() + 60)


def test_pipes_loops_and_sockets_in_a_clone_are_no_blocker(small, begin):
    it = begin()
    small.commit_in_workspace(it, {"src/a.py": "a\n"})
    clone = Path(small.workspace_path(it))
    os.mkfifo(clone / "pipe")
    (clone / "zero").symlink_to("/dev/zero")
    (clone / "loop").symlink_to("loop")
    (clone / "round").symlink_to(".")
    small.git.retire(it, 1)
    kept = dict(small.git.archived("login"))["refs/nobrakes/archive/login/1-wip"]
    assert small.files(kept).keys() >= {"zero", "loop", "round"} and "pipe" not in small.files(kept)


def test_a_giant_that_is_there_is_not_read(world):
    head = world.commit_on_main({"Makefile": "x" * 5_000_000})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileTooLarge):
        world.git.read(head, "Makefile")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000
    assert len(world.git.read(head, "Makefile", None)) == 5_000_000


def test_a_link_with_a_giant_target_leads_out(world, begin):
    it = begin()
    clone = Clone(world.workspace_path(it), "feature/bead-login")
    head = clone.commit(clone.beside_what_there_is("120000", clone.put(b"blob", b"a/" * 5000)))
    try:
        assert world.git.fetch_work(it, 1) == head
    except Tampered:
        return  # some versions of git refuse it
    [change] = world.git.changes(world.git.main(), head)
    assert change.link is not None and change.link.startswith("/")
