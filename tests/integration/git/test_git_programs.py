"""How many git programs the work of one bead costs: an absolute count, which does not depend on the machine."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from git_worlds import ME, RealWorld, sh, write

from nobrakes.beads.model import Bead
from nobrakes.git import command_line, history, location
from nobrakes.git.port import Candidate, Message
from nobrakes.git.workspaces import checkout

BEAD = {"id": "login", "title": "Login", "type": "task"}
LASTING = ("cat-file", "update-ref --stdin", "hash-object")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git programs that are started, without those that keep answering."""
    found: list[str] = []
    begin = command_line.begin

    def noted(words: list[str], *rest: object, **named: object) -> subprocess.Popen[bytes]:
        shown = " ".join(words)
        if not any(all(part in shown for part in one.split()) for one in LASTING):
            found.append(shown)
        return begin(words, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(command_line, "begin", noted)
    return found


def names(started: list[str]) -> list[str]:
    return [next(word for word in one.split()[1:] if not word.startswith(("-", "core."))) for one in started]


def merge(world: RealWorld, it: Bead, files: dict[str, str | None], number: int) -> str:
    head = world.commit_in_workspace(it, files)
    assert world.git.touched(it.id) == len(files)
    assert world.git.fetch_work(it, 1) == head
    main = world.git.main()
    made = world.git.squash(main, head, Message("subject", "", "A <a@x>", float(number)))
    assert isinstance(made, Candidate)
    world.git.pin(f"candidate/{it.id}/review", made.commit)
    of = {"commit": made.commit}
    record = {"version": 1, "kind": "merge", "at": 1.0, "bead": {**BEAD, "id": it.id}, "candidate": of, "merged": of}
    world.git.hold({f"landing/{it.id}": record})
    world.git.land(made.commit, main)
    world.git.keep_evidence(record)
    world.git.retire(it, 1)
    return made.commit


def test_a_bead_costs_four_git_programs(world: RealWorld, begin: Callable[..., Bead], started: list[str]) -> None:
    merge(world, begin("first"), {"src/first.py": "1\n"}, 1)
    begun = [begin(f"b{number}") for number in range(3)]  # so that main has moved on when they are merged
    started.clear()
    for number, it in enumerate(begun):
        merge(world, it, {f"src/{it.id}.py": f"{number}\n", f"{it.id}/deep/file": "x\n"}, number)
    assert names(started) == ["ls-files", "index-pack", "update-ref", "ls-files"] * 3
    assert sh(world.root, "git", "fsck", "--no-dangling", "--no-progress") == ""
    assert {ref.split("/")[-2] for ref, _ in world.git.archived()} == {"first", "b0", "b1", "b2"}


@pytest.mark.parametrize("shape", ["one commit", "many commits"])
def test_the_number_of_parents_does_not_count(
    world: RealWorld, begin: Callable[..., Bead], started: list[str], shape: str
) -> None:
    base, tree = world.git.main(), world.sh("git", "rev-parse", "main^{tree}").strip()
    ours = [base]
    for number in range(50):
        ours.append(sh(world.root, "git", "commit-tree", tree, "-p", ours[-1], "-m", f"{number}", env=ME).strip())
    # a merge, so that the way from main to each of them is git's to find
    main = sh(world.root, "git", "commit-tree", tree, "-p", ours[-1], "-p", base, "-m", "merge", env=ME).strip()
    world.sh("git", "update-ref", "refs/heads/main", main)
    it = begin()
    folder = world.workspace_path(it)
    head = ""
    for parents in [ours[1:]] if shape == "one commit" else [[one] for one in ours[1:]]:
        before = [head, *parents] if head else parents
        named = [word for one in before for word in ("-p", one)]
        head = sh(folder, "git", "commit-tree", tree, *named, "-m", "many", env=ME).strip()
    sh(folder, "git", "reset", "-q", "--soft", head)
    started.clear()
    assert world.git.fetch_work(it, 1) == head
    assert len(started) <= 12, names(started)


CHANGES: dict[str, Callable[[Path], object]] = {
    "another file": lambda root: write(root, {"src/loose.py": "x\n"}),
    "a changed file": lambda root: write(root, {"src/app.py": "two = 2\n"}),
    "a change of what was committed": lambda root: write(root, {"src/new.py": "other\n"}),
    "a removed file": lambda root: (root / "src" / "app.py").unlink(),
    "a removed file that was committed": lambda root: (root / "src" / "new.py").unlink(),
    "another mode": lambda root: (root / "src" / "new.py").chmod(0o755),
    "a link in its place": lambda root: ((root / "src" / "new.py").unlink(), (root / "src" / "new.py").symlink_to("x")),
    "a file that was changed back": lambda root: write(root, {"README": "read me\n"}),
    "a repository": lambda root: sh(root, "git", "init", "-q", "inner") or write(root, {"inner/f": "x\n"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_not_committed_is_kept(world: RealWorld, begin: Callable[..., Bead], change: str) -> None:
    it = begin()
    world.commit_in_workspace(it, {"src/new.py": "new\n", "README": "changed\n"})
    world.git.fetch_work(it, 1)
    CHANGES[change](Path(world.workspace_path(it)))
    world.git.retire(it, 1)
    (wip,) = [commit for ref, commit in world.git.archived(it.id) if ref.endswith("-wip")]
    assert sh(world.root, "git", "diff", "--name-only", f"{wip}^", wip) != ""


def test_what_is_ignored_and_committed_is_no_change(world: RealWorld, begin: Callable[..., Bead]) -> None:
    it = begin()
    root = world.workspace_path(it)
    write(root, {".gitignore": "*.log\n", "forced.log": "x\n", "other.log": "y\n"})
    sh(root, "git", "add", "-f", ".gitignore", "forced.log")
    sh(root, "git", "commit", "-q", "-m", "forced", env=ME)
    world.git.fetch_work(it, 1)
    world.git.retire(it, 1)
    assert [ref.rpartition("-")[2] for ref, _ in world.git.archived(it.id)] == ["branch"]


def test_settings_are_asked_of_git_when_a_file_of_them_changed(
    world: RealWorld, started: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, own, included = world.git.place, tmp_path / "own", tmp_path / "included"  # type: ignore[attr-defined]
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    monkeypatch.setattr(location, "YOUNG_SECONDS", -1.0)

    def asked() -> dict[str, str]:
        started.clear()
        return {key: value for key, value, _ in location.said(place)}

    asked()
    assert "a.b" not in asked() and not started
    for number, (file, text) in enumerate(
        ((own, f"[include]\n\tpath = {included}\n"), (included, "[a]\n\tb = 1\n"), (included, "[a]\n\tb = 22\n"))
    ):
        file.write_text(text)
        found = asked()
        assert started and found.get("a.b") == (None, "1", "22")[number]
        assert asked() == found and not started
    included.unlink()
    assert "a.b" not in asked() and started
    monkeypatch.setattr(location, "YOUNG_SECONDS", 60.0)
    own.write_text("[a]\n\tb = 3\n")
    for _ in range(2):
        assert asked()["a.b"] == "3" and started, "it may change again in the same moment"
    os.utime(own, (time.time() + 3600,) * 2)
    assert asked() and started


def test_the_changes_of_a_commit_are_compared_once(world: RealWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = [world.commit_on_main({"src/app.py": f"{number}\n"}) for number in range(3)]
    compared: list[str] = []
    raw = history.raw
    monkeypatch.setattr(history, "raw", lambda *given: compared.append(given[2]) or raw(*given))
    for _ in range(2):
        assert [[path for path, _, _ in world.git.moves(commit)] for commit in commits] == [["src/app.py"]] * 3
    assert compared == commits
    world.git.is_whole(commits[0])  # objects may be gone: everything is forgotten
    assert world.git.moves(commits[0]) and compared == [*commits, commits[0]]


def test_git_reads_no_file_of_a_large_new_workspace_again(world: RealWorld, begin: Callable[..., Bead]) -> None:
    world.commit_on_main({f"many/{number // 100}/{number}": f"{number}\n" for number in range(checkout.MANY_FILES)})
    clone = Path(world.workspace_path(begin()))
    written = int(max(one.stat().st_mtime for one in clone.glob("many/*/*")))
    assert int((clone / ".git" / "index").stat().st_mtime) > written  # else git does not trust the index
    (clone / "many" / "0" / "7").write_text("8\n")  # as long as before
    assert sh(clone, "git", "status", "--short") == " M many/0/7\n"
