"""Trees that are put together by hand are those that `git merge-tree` makes, and what git has to decide is git's."""

import random
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from nobrakes.git.command_line import content
from nobrakes.git.commits import Person, Signer
from nobrakes.git.filters import Filters
from nobrakes.git.history import History, merged
from nobrakes.git.location import Place
from nobrakes.git.merge import Merger
from nobrakes.git.objects import EXECUTABLE, FILE, FOLDER, MODULE, Entry, Objects, tree_content
from nobrakes.git.port import Candidate, Message

Files = dict[str, tuple[str, str]]
"""Mode and object, by path."""


class Trees:
    """A repository to make trees in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
        self.place = Place(str(folder), "main")
        self.objects = Objects(self.place)
        # similar texts, so that git finds renames among them
        self.blobs = [self.blob("".join(f"line {i}\n" for i in range(20)) + f"{n}\n") for n in range(6)]

    def blob(self, text: str) -> str:
        asked = ["git", "hash-object", "-w", "--stdin"]
        return subprocess.run(asked, cwd=self.folder, input=text, text=True, capture_output=True, check=True).stdout[
            :-1
        ]

    def write(self, entries: Mapping[str, Entry]) -> str:
        return self.place.trees.write(tree_content(entries), self.place.git_dir, self.place.plumbing)

    def changed(self, ours: str, entries: Mapping[str, Entry], changes: Mapping[str, Entry]) -> str:
        return self.write({**entries, **changes})

    def tree(self, files: Files) -> str:
        entries: dict[str, Entry] = {}
        folders: dict[str, Files] = {}
        for path, (mode, oid) in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = (mode, oid)
            else:
                entries[name] = Entry(mode, oid)
        return self.write({**entries, **{n: Entry(FOLDER, self.tree(f)) for n, f in folders.items()}})

    def commit(self, tree: str, parent: str | None = None) -> str:
        me = (Person("A", "a@x"), "1 +0000")
        whole = content(tree, (parent,) if parent else (), me, me, "x\n")
        return self.place.commits.write(whole, self.place.git_dir, self.place.plumbing)

    def by_hand(self, base: Files, ours: Files, theirs: Files) -> str | None:
        return merged(self.objects, self.changed, *(self.tree(files) for files in (base, ours, theirs)))

    def by_git(self, base: Files, ours: Files, theirs: Files) -> str | None:
        """The merged tree; None: a conflict."""
        root = self.commit(self.tree(base))
        sides = [self.commit(self.tree(files), root) for files in (ours, theirs)]
        ran = subprocess.run(
            ["git", "merge-tree", "--write-tree", *sides], cwd=self.folder, capture_output=True, text=True
        )
        return ran.stdout.split("\n")[0] if ran.returncode == 0 else None


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Trees:
    return Trees(tmp_path_factory.mktemp("trees"))


NAMES = ["a", "b", "d/a", "d/b", "d/s/a", "d/s/b", "e/a", "e/s/a", "e", "d/s", "a-b", "a/b", "é", "z.txt"]


def sound(files: Files) -> Files:
    """Without files whose name is a folder's."""
    folders = {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}
    return {path: entry for path, entry in files.items() if path not in folders}


def changed(trees: Trees, files: Files, rng: random.Random, removes: bool) -> Files:
    """The files with some changes: edits, additions, and where `removes`, removals, moves and whole folders moved."""
    found = dict(files)
    for _ in range(rng.randint(1, 3)):
        what = rng.choice(["edit", "add", "mode", *(["remove", "move", "move folder"] if removes else [])])
        path = rng.choice(NAMES)
        if what in ("edit", "add"):
            found[path] = (FILE, rng.choice(trees.blobs))
        elif what == "mode" and path in found:
            found[path] = (EXECUTABLE, found[path][1])
        elif what == "remove":
            found.pop(path, None)
        elif what == "move" and path in found:
            found[rng.choice(NAMES)] = found.pop(path)
        elif what == "move folder":
            old, new = rng.choice(["d", "d/s", "e"]), rng.choice(["e", "f", "d/t"])
            for name in [n for n in found if n.startswith(f"{old}/")]:
                found[f"{new}{name[len(old) :]}"] = found.pop(name)
    return sound(found)


def test_what_is_put_together_is_what_git_would_have_made(trees: Trees) -> None:
    rng = random.Random(5)
    answered = 0
    for number in range(300):
        base = sound({path: (FILE, rng.choice(trees.blobs)) for path in rng.sample(NAMES, rng.randint(1, 9))})
        ours = changed(trees, base, rng, removes=True)
        theirs = changed(trees, base, rng, removes=number % 4 == 0)
        found = trees.by_hand(base, ours, theirs)
        if found is not None:
            answered += 1
            assert found == trees.by_git(base, ours, theirs), (number, base, ours, theirs)
    assert answered > 60, "the rule is hardly ever used"


def one(trees: Trees, *paths: str) -> Files:
    return {path: (FILE, trees.blobs[n % 6]) for n, path in enumerate(paths)}


def test_two_files_beside_each_other_need_no_git(trees: Trees) -> None:
    base = one(trees, "a", "d/s/a")
    ours, theirs = {**base, "d/s/b": (FILE, trees.blobs[3])}, {**base, "d/s/c": (FILE, trees.blobs[4])}
    assert trees.by_hand(base, ours, theirs) == trees.tree({**ours, **theirs}) == trees.by_git(base, ours, theirs)


def test_what_a_merge_wrote_is_remembered_as_it_would_be_read(trees: Trees) -> None:
    base = one(trees, "a", "d/a")
    root = trees.commit(trees.tree(base))
    ours, theirs = (
        trees.commit(trees.tree({**base, path: (EXECUTABLE, trees.blobs[3])}), root) for path in ("d/b", "é")
    )
    place, known = trees.place, trees.objects
    merger = Merger(place, known, History(place, known), Filters(place, known), Signer(place))
    made = merger.squash(ours, theirs, Message("Tïtle", "text", "A <a@x>", 5.0, (("Bead", "b1"),)))
    assert isinstance(made, Candidate)
    fresh = Objects(trees.place)
    assert trees.objects.commit(made.commit) == fresh.commit(made.commit)
    assert trees.objects.entries(made.tree) == fresh.entries(made.tree)
    for name in (made.commit, f"{made.commit}^{{commit}}"):
        assert trees.objects.find(name) == fresh.find(name) == (made.commit, "commit")


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        ({"a": 1}, {"a": 2}, "both changed it"),
        ({"n": 1}, {"n": 1}, "both added it"),
        ({"n": 1}, {"n/x": 2}, "a file and a folder"),
        ({"n/x": 1}, {"n": 2}, "a folder and a file"),
        ({}, {"a": None}, "theirs removed it"),
        ({"d/s/a": None, "d/s/b": None, "e/a": 0, "e/b": 1}, {"d/s/c": 3}, "ours may have moved the folder"),
        ({"a": None}, {"a": 2}, "ours removed it, theirs changed it"),
    ],
)
def test_what_meets_is_left_to_git(trees: Trees, ours: dict[str, int | None], theirs: dict[str, int | None], why: str):
    base = one(trees, "a", "d/s/a", "d/s/b")

    def with_changes(changes: dict[str, int | None]) -> Files:
        after = base | {path: (FILE, trees.blobs[n]) for path, n in changes.items() if n is not None}
        return {path: entry for path, entry in after.items() if changes.get(path, 0) is not None}

    assert trees.by_hand(base, with_changes(ours), with_changes(theirs)) is None, why


def test_a_submodule_is_left_to_git(trees: Trees) -> None:
    base = one(trees, "a")
    module = {**base, "lib": (MODULE, "1" * 40)}
    assert trees.by_hand(base, {**base, "b": (FILE, trees.blobs[1])}, module) is None


def test_folders_deeper_than_python_may_call_itself_are_left_to_git(trees: Trees) -> None:
    path = "/".join("d" * 300)
    base, theirs = one(trees, f"{path}/a"), {f"{path}/a": (FILE, trees.blobs[1])}
    assert trees.by_hand(base, base, theirs) is None
