"""A checkout in which a session works: one claim, what is kept of it, and how it follows, whenever it is cut off."""

import multiprocessing
import os
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.agents.limits import DEFAULT
from nobrakes.config.user import OVERRIDE
from nobrakes.errors import NotAllowed
from nobrakes.git import persons
from nobrakes.git.landing import standing
from nobrakes.git.location import Place
from nobrakes.git.persons import Claim
from nobrakes.git.workspaces import salvage as module
from nobrakes.git.workspaces.salvage import follow, keep, main


class Checkout:
    """A repository with a commit, a staged file, an edit and files that git does not know."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "trunk")
        (root / ".gitignore").write_text("*.secret\nbuilt/\n")
        (root / "tracked").write_text("one\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "Begin")
        (root / "tracked").write_text("edited\n")
        (root / "staged").write_text("staged\n")
        self.git("add", "staged")
        (root / "loose").write_text("loose\n")
        (root / "a.secret").write_text("mine\n")
        (root / "built").mkdir()
        (root / "built" / "large").write_text("x" * 1000)
        self.start = self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def place(self) -> "closing[Place]":
        found = Place(str(self.root), "HEAD")
        found.close = lambda: (found.transactions.close(), found.commits.close(), found.trees.close())  # type: ignore
        return closing(found)  # type: ignore[type-var]

    def made(self) -> str:
        """What an agent committed, with the files that lie there: nothing is checked out by it."""
        index = str(self.root / ".git" / "of-the-agent")
        env = {**os.environ, "GIT_INDEX_FILE": index}
        for words in (["read-tree", "HEAD"], ["add", "-A"]):
            subprocess.run(["git", *words], cwd=self.root, env=env, check=True)
        tree = subprocess.run(["git", "write-tree"], cwd=self.root, env=env, check=True, capture_output=True, text=True)
        os.unlink(index)
        return self.git("commit-tree", tree.stdout.strip(), "-p", self.start, "-m", "Work")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setenv(OVERRIDE, str(tmp_path / "own"))
    return Checkout(tmp_path / "repository")


def test_all_is_kept_elsewhere_and_nothing_is_written_here(tmp_path: Path, checkout: Checkout) -> None:
    top, at = checkout.root / ".git", tmp_path / "kept" / "1-1-x"
    before = {path: path.read_bytes() for path in top.rglob("*") if path.is_file()}
    keep(str(checkout.root), str(at), DEFAULT)
    keep(str(checkout.root), str(at), DEFAULT)
    assert {path: path.read_bytes() for path in top.rglob("*") if path.is_file()} == before
    assert sorted(os.listdir(at)) == ["HEAD", "ignored", "index", "repository.git"]
    assert os.listdir(at / "ignored") == ["a.secret"], "what is built is not kept"
    checkout.git("fetch", "-q", str(at / "repository.git"), "before:came-back")
    for path, text in (("tracked", "edited"), ("staged", "staged"), ("loose", "loose")):
        assert checkout.git("show", f"came-back:{path}") == text
    assert checkout.git("rev-parse", "came-back^") == checkout.start


def test_a_sparse_checkout_is_kept_as_it_is_and_nobody_works_in_place_there(tmp_path: Path, checkout: Checkout) -> None:
    (checkout.root / "docs").mkdir()
    for name in ("one", "two"):
        (checkout.root / "docs" / name).write_text(f"{name}\n")
    checkout.git("add", "-A")
    checkout.git("commit", "-qm", "More")
    checkout.git("sparse-checkout", "set", "--sparse-index", "src")
    (checkout.root / "docs").mkdir()
    (checkout.root / "docs" / "two").write_text("edited\n")
    at = tmp_path / "kept" / "1-1-x"
    keep(str(checkout.root), str(at), DEFAULT)
    checkout.git("fetch", "-q", str(at / "repository.git"), "before:came-back")
    assert (
        checkout.git("show", "came-back:docs/two") == "edited" and checkout.git("show", "came-back:docs/one") == "one"
    )
    with pytest.raises(NotAllowed, match="sparse checkout"):
        persons.take(Claim(str(checkout.root), str(checkout.root / ".nobrakes"), 7))


def test_what_is_too_large_to_be_kept_is_said_and_nothing_half_is_left(
    tmp_path: Path, checkout: Checkout, capfd: pytest.CaptureFixture[str]
) -> None:
    (checkout.root / "loose").write_bytes(os.urandom(20_000))
    at = tmp_path / "kept" / "1-1-x"
    assert main(str(checkout.root), str(at), "1000", "10000", "100", "10") == 1
    assert "so no agent works there" in capfd.readouterr().err and not at.exists()
    keep(str(checkout.root), str(at), DEFAULT)
    assert at.exists(), "what a cut-off try left is no blocker"


def follows(checkout: Checkout, head: str) -> bool:
    with checkout.place() as place:
        return follow(place, "relay/7", head, checkout.start)


def test_it_follows_without_touching_a_file_or_a_branch(checkout: Checkout) -> None:
    head, files = checkout.made(), {p.name: p.stat().st_mtime_ns for p in checkout.root.iterdir() if p.is_file()}
    assert follows(checkout, head) and follows(checkout, head), "twice is once"
    assert checkout.git("symbolic-ref", "HEAD") == "refs/heads/relay/7" and checkout.git("rev-parse", "HEAD") == head
    assert checkout.git("status", "--porcelain") == "" and checkout.git("rev-parse", "trunk") == checkout.start
    assert {p.name: p.stat().st_mtime_ns for p in checkout.root.iterdir() if p.is_file()} == files


@pytest.mark.parametrize("cut", ["publish", "swap", "symbolic-ref"])
def test_cut_off_anywhere_the_next_try_ends_it(checkout: Checkout, cut: str, monkeypatch: pytest.MonkeyPatch) -> None:
    head = checkout.made()

    class CutError(Exception):
        pass

    def stop(*_: object, **__: object) -> None:
        raise CutError

    with monkeypatch.context() as patched:
        if cut == "publish":
            patched.setattr(standing, "publish", stop)
        elif cut == "swap":
            patched.setattr(module.git_objects, "swap", stop)
        else:
            run = module.command_line.run
            patched.setattr(
                module.command_line, "run", lambda a, **more: stop() if a[0] == "symbolic-ref" else run(a, **more)
            )
        with pytest.raises(CutError):
            follows(checkout, head)
    assert checkout.git("symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert checkout.git("rev-parse", "HEAD") == checkout.start
    assert (checkout.root / "loose").read_text() == "loose\n"
    assert follows(checkout, head) and checkout.git("status", "--porcelain") == ""


def test_whoever_went_on_there_keeps_their_checkout(checkout: Checkout) -> None:
    head = checkout.made()
    checkout.git("commit", "-qm", "Mine", "staged")
    mine = checkout.git("rev-parse", "HEAD"), checkout.git("status", "--porcelain")
    assert not follows(checkout, head)
    assert (checkout.git("rev-parse", "HEAD"), checkout.git("status", "--porcelain")) == mine
    lock = checkout.root / ".git" / "index.lock"
    checkout.git("update-ref", "refs/heads/trunk", checkout.start)
    lock.write_text("")
    assert not follows(checkout, head), "a git command of the person is at work"
    lock.unlink()
    (checkout.root / ".git" / "MERGE_HEAD").write_text(checkout.start + "\n")
    assert not follows(checkout, head), "a merge of the person is in progress"


def test_one_session_a_checkout_whoever_comes_first(tmp_path: Path, checkout: Checkout) -> None:
    root, folders = str(checkout.root), [tmp_path / f"store-{number}" for number in range(8)]
    for folder in folders:
        folder.mkdir()
    claims = [Claim(root, str(folder), number) for number, folder in enumerate(folders)]
    with multiprocessing.get_context("fork").Pool(8) as pool:
        won = pool.map(_try, claims)
    assert sum(won) == 1
    mine = claims[won.index(True)]
    assert persons.who(root) == mine and list(persons.list_claims(mine.folder)) == [mine]
    persons.take(mine)
    other = claims[won.index(False)]
    with pytest.raises(NotAllowed, match=f"session {mine.session} of"):
        persons.take(other)
    persons.release(other)
    assert persons.who(root) == mine, "nobody else's claim is given back"
    os.rmdir(mine.folder)
    assert persons.who(root) is None, "whose store is gone is nobody"
    persons.take(other)
    persons.release(other)
    assert persons.who(root) is None


def _try(claim: Claim) -> bool:
    try:
        persons.take(claim)
        return True
    except NotAllowed:
        return False


def test_nobody_works_in_place_around_a_home(
    tmp_path: Path, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for inside in (checkout.root / "home", checkout.root):
        monkeypatch.setenv("HOME", str(inside))
        with pytest.raises(NotAllowed, match="is private"):
            persons.take(Claim(str(checkout.root), str(tmp_path), 1))
    assert persons.who(str(checkout.root)) is None
