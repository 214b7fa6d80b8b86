"""Objects that git takes and that are read in more ways than one: we read them as git does, or they do not come in."""

import subprocess
from pathlib import Path

import pytest
from git_worlds import sh

from nobrakes.errors import Tampered
from nobrakes.git.commits import Chain
from nobrakes.git.history import History
from nobrakes.git.location import Place
from nobrakes.git.objects import Objects, parse_commit

ME = "A <a@x> 1 +0000"


def store(folder: Path, kind: str, content: bytes) -> str:
    """An object written as somebody with bad intentions would."""
    asked = ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
    return subprocess.run(asked, cwd=folder, input=content, capture_output=True, check=True).stdout.decode().strip()


def hand_in(folder: Path, links: str) -> str:
    """The workspace's branch leads to a new commit."""
    head = store(folder, "commit", f"{links}\nauthor {ME}\ncommitter {ME}\n\nx\n".encode())
    (folder / ".git" / sh(folder, "git", "symbolic-ref", "HEAD").strip()).write_text(f"{head}\n")
    return head


@pytest.fixture
def place(tmp_path: Path) -> Place:
    sh(tmp_path, "git", "init", "-q", "-b", "main")
    return Place(str(tmp_path), "main")


@pytest.mark.parametrize(
    "lines",
    [
        "tree {one}\nparent {p}\nauthor {me}\ncommitter {me}\ntree {two}",
        "tree {one}\nauthor {me}\ncommitter {me}\nparent {p}",
        "tree {one}\nparent {p}\nauthor {me}\ncommitter {me}\nauthor Other <o@x> 2 +0000",
        "tree {one}\nparent {p}\nparent {q}\nauthor {me}\ncommitter {me}\ngpgsig x\n tree {two}\n parent {p}",
    ],
)
def test_a_commit_is_read_as_git_reads_it(place: Place, lines: str) -> None:
    folder = Path(place.root)
    blobs = [store(folder, "blob", text) for text in (b"one", b"two")]
    one, two = (store(folder, "tree", b"100644 a\0" + bytes.fromhex(blob)) for blob in blobs)
    p, q = (store(folder, "commit", f"tree {one}\nauthor {ME}\ncommitter {ME}\n\n{n}".encode()) for n in "pq")
    head = lines.format(one=one, two=two, p=p, q=q, me=ME)
    commit = store(folder, "commit", f"{head}\n\nx\n".encode())
    found = Objects(place).commit(commit)
    assert found.tree == sh(folder, "git", "rev-parse", f"{commit}^{{tree}}").strip() == one
    assert [commit, *found.parents] == sh(folder, "git", "rev-list", "-1", "--parents", commit).split()
    assert found.author == ME


@pytest.mark.parametrize(
    "encoding", ["idna", "punycode", "undefined", "unicode_escape", "hex", "rot13", "no such", "\xff"]
)
def test_no_encoding_of_a_message_stops_us(encoding: str) -> None:
    raw = f"tree {'1' * 40}\nauthor {ME}\nencoding {encoding}\n\n".encode("latin-1") + b"a" * 200_000 + "-ü..x".encode()
    assert parse_commit("2" * 40, raw).message.endswith("-ü..x")


@pytest.mark.parametrize(
    ("encoding", "text"), [("ISO-8859-1", "ü"), ("latin1", "ü"), ("windows-1251", "ж"), ("UTF-8", "漢")]
)
def test_a_message_in_an_old_encoding_is_readable(encoding: str, text: str) -> None:
    raw = f"tree {'1' * 40}\nauthor {ME}\nencoding {encoding}\n\n".encode() + text.encode(encoding)
    assert parse_commit("2" * 40, raw).message == text


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
@pytest.mark.parametrize("mode", ["100000000000", "40000040000", "7777777"])
def test_a_tree_with_a_mode_of_its_own_does_not_come_in(world, begin, mode: str, packed: bool) -> None:
    it = begin()
    folder = Path(world.workspace_path(it))
    world.commit_in_workspace(it, {"src/a.py": "a\n"})
    blob = store(folder, "blob", b"x")
    tree = store(folder, "tree", f"{mode} a\0".encode() + bytes.fromhex(blob))
    parent = sh(folder, "git", "rev-parse", "HEAD").strip()
    head = hand_in(folder, f"tree {tree}\nparent {parent}")
    if packed:
        names = "".join(f"{oid}\n" for oid in (blob, tree, head)).encode()
        asked = ["git", "pack-objects", "-q", ".git/objects/pack/pack"]
        subprocess.run(asked, cwd=folder, input=names, capture_output=True, check=True)
        sh(folder, "git", "prune-packed")
    with pytest.raises(Tampered):
        world.git.fetch_work(it, 1)


@pytest.mark.parametrize("where", ["entry", "known entry", "folder", "tree", "parent"])
def test_an_object_of_another_kind_than_named_does_not_come_in(world, begin, where: str) -> None:
    main = world.git.main()
    tag = store(world.root, "tag", f"object {main}\ntype commit\ntag v1\ntagger {ME}\n\nx\n".encode())
    it = begin()
    folder = Path(world.workspace_path(it))
    blob = store(folder, "blob", b"x")
    named = {
        "entry": [("100644 a", tag)],
        "known entry": [("100644 a", blob), ("40000 b", blob)],
        "folder": [("40000 a", tag)],
    }
    rows = named.get(where, [("100644 a", blob)])
    tree = store(folder, "tree", b"".join(f"{name}\0".encode() + bytes.fromhex(oid) for name, oid in rows))
    more = f"\nparent {tag}" if where == "parent" else ""
    hand_in(folder, f"tree {tag if where == 'tree' else tree}\nparent {main}{more}")
    with pytest.raises(Tampered):
        world.git.fetch_work(it, 1)


@pytest.mark.parametrize(
    ("author", "committer", "at"),
    [
        ("A <a@x> 1 +0000", "B <b@x> 7 +0100", 7.0),
        ("A <a@x>1 +0000", "B <b@x>7 +0000", 7.0),
        ("A <a@x>", "B <b@x>", 0.0),
        ("A <a@x> soon", "B <b@x> soon", 0.0),
        ("A 1 +0000", "B 7 +0000", 0.0),
        ("", "", 0.0),
    ],
)
def test_a_commits_time_is_its_committers_and_zero_if_unreadable(
    place: Place, author: str, committer: str, at: float
) -> None:
    tree = store(Path(place.root), "tree", b"")
    lines = f"tree {tree}\nauthor {author}\ncommitter {committer}\n\nAn old import\n"
    commit = store(Path(place.root), "commit", lines.encode())
    objects = Objects(place)
    made, (line,) = History(place, objects).made(commit), Chain(place, objects).line(commit)
    assert made is not None and (made.commit, made.at, line.commit, line.at) == (commit, at, commit, at)
    assert made.author == author[: author.find(">") + 1]
    objects.close()
