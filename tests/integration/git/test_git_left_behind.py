"""A kill beside the swap, whatever a person has staged or edited: their next plain commit never takes a merge back.

The kill is a call of the lander that does not come back. `next_start` is what a new daemon does before its first turn
and in the turn of the review that was about to land.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from git_worlds import ME, RealWorld, SharedWorld, message, read_all, sh, write

from nobrakes.git import command_line, objects
from nobrakes.git.landing import local, standing
from nobrakes.git.landing.remote import Shared
from nobrakes.git.landing.standing import Note, Worktree
from nobrakes.git.repository import Repository
from nobrakes.review.waits import Land, Landing

WORK = {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None, "deep/er/file": None}


class Killed(BaseException):
    """The daemon was killed here."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RealWorld]:
    made = RealWorld(tmp_path, checked_out=True)
    write(made.root, {"old": "old\n", "mine": "mine\n", "deep/er/file": "deep\n", ".gitignore": "*.env\n"})
    made.sh("git", "add", "-A")
    made.sh("git", "commit", "-qm", "more", env=ME)
    yield made
    made.close()


def candidate(world: RealWorld, files=None, name: str = "login") -> tuple[str, str]:
    """(new, old)"""
    old = world.git.main()
    head = world.commit_in_workspace_of(name, files or WORK)
    return world.git.squash(old, head, message(name)).commit, old


def killed(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch, new: str, old: str, moment: str = "swap", locks: bool = True
) -> None:
    """Land, and be killed at this moment; the locks stay, as a kill leaves them, or somebody removed them."""
    real_swap, real_run, real_publish, real_write = objects.swap, command_line.run, standing.publish, standing.write

    def swap(*given):
        if moment == "before":
            raise Killed
        done = real_swap(*given)
        if moment == "swap":
            raise Killed
        return done

    def run(arguments, **options):
        answer = real_run(arguments, **options)
        if moment == "files" and list(arguments[:3]) == ["read-tree", "-m", "-u"]:
            raise Killed
        return answer

    def publish(holder):
        real_publish(holder)
        if moment == "index":
            raise Killed

    def write_note(holder, at, to=""):
        if moment == "note" and not to:
            raise Killed
        real_write(holder, at, to)

    with monkeypatch.context() as patch:
        patch.setattr(objects, "swap", swap)
        patch.setattr(local.command_line, "run", run)
        patch.setattr(standing, "publish", publish)
        if moment == "note":
            standing.write(holder_of(world), old)
            patch.setattr(standing, "write", write_note)
        if locks:
            patch.setattr(standing, "_remove", _all_but_locks(standing._remove))
        with pytest.raises(Killed):
            world.git.land(new, old)


def _all_but_locks(real: Callable[[str], None]) -> Callable[[str], None]:
    def remove(path: str) -> None:
        if not path.endswith((".lock", "index.nobrakes")):
            real(path)

    return remove


def next_start(world: RealWorld, new: str, old: str) -> Land:
    world.git.close()
    world.git = Repository(world.paths, "main")
    world.git.clear_locks()
    return world.git.land(new, old)


def holder_of(world: RealWorld) -> Worktree:
    return Worktree(str(world.root), str(world.root / ".git"))


def status(world: RealWorld) -> str:
    return world.sh("git", "status", "--porcelain", "--untracked-files=all")


def commit_of_a_person(root: Path) -> list[str]:
    """A plain commit of what is staged; the paths that it changed."""
    sh(root, "git", "commit", "-qm", "mine", env=ME)
    return sh(root, "git", "diff", "--name-only", "HEAD~1", "HEAD").split()


def leftovers(world: RealWorld) -> list[str]:
    return [name for name in os.listdir(world.root / ".git") if name.startswith("index") and name != "index"]


# --- whatever else is staged or edited ---------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "swap", "files", "index", "note"])
@pytest.mark.parametrize("stage", ["staged", "dirty", "clean", "removed", "intent"])
def test_the_next_plain_commit_contains_what_was_staged_and_nothing_else(world, monkeypatch, stage, moment):
    new, old = candidate(world)
    if stage != "clean":
        write(world.root, {"mine": "edited\n", "extra": "extra\n"})
    if stage == "staged":
        world.sh("git", "add", "mine", "extra")
    if stage == "removed":
        world.sh("git", "rm", "-q", "-f", "mine")
    if stage == "intent":
        world.sh("git", "add", "-N", "extra")
    before = status(world)
    killed(world, monkeypatch, new, old, moment)
    assert next_start(world, new, old).landing is Landing.MOVED
    assert status(world) == before and world.git.behind() == () and leftovers(world) == []
    write(world.root, {"last": "last\n"})
    world.sh("git", "add", "last")
    told = {"staged": ["extra", "last", "mine"], "removed": ["last", "mine"]}.get(stage, ["last"])
    assert commit_of_a_person(world.root) == told
    assert world.files("main")["src/new.py"] == "new\n" and "old" not in world.files("main")


@pytest.mark.parametrize("edit", [{"src/app.py": "human\n"}, {"src/new.py": "human\n"}, {"old": "human\n"}])
@pytest.mark.parametrize("stage", [False, True])
def test_a_path_that_was_edited_meanwhile_takes_main_back_until_the_person_is_ready(world, monkeypatch, edit, stage):
    new, old = candidate(world)
    killed(world, monkeypatch, new, old)
    write(world.root, edit)
    if stage:
        (world.root / ".git" / "index.lock").unlink()  # as git itself tells people to
        world.sh("git", "add", "--", *edit)
    land = next_start(world, new, old)
    assert land.landing is Landing.BLOCKED and not land.may_have_landed
    assert (
        world.git.main() == old
        and next(iter(edit)) in land.reason
        and ("Commit or stash" in land.reason or "Add and commit" in land.reason)
    )
    assert (world.root / next(iter(edit))).read_text() == "human\n"
    assert "nobrakes: taken back" in world.sh("git", "reflog", "main")
    assert world.git.land(new, old).landing is Landing.BLOCKED
    assert {line[3:] for line in status(world).splitlines()} >= edit.keys()
    world.sh("git", "stash", "-q", "--include-untracked", env=ME)
    assert world.git.land(new, old).landing is Landing.MOVED
    assert status(world) == "" and read_all(world.root) == world.files("main")


def test_a_commit_after_main_was_taken_back_takes_nothing_back(world, monkeypatch):
    new, old = candidate(world)
    killed(world, monkeypatch, new, old)
    write(world.root, {"src/app.py": "human\n"})
    assert next_start(world, new, old).landing is Landing.BLOCKED
    world.sh("git", "add", "src/app.py")
    assert commit_of_a_person(world.root) == ["src/app.py"]
    assert world.git.land(new, old).landing is Landing.LOST


def test_main_that_went_on_is_not_taken_back_and_the_person_keeps_both_sides(world, monkeypatch):
    new, old = candidate(world)
    killed(world, monkeypatch, new, old)
    write(world.root, {"src/app.py": "human\n"})
    world.git.clear_locks()
    on_top = world.sh("git", "commit-tree", "-p", new, "-m", "pushed", f"{new}^{{tree}}", env=ME).strip()
    world.sh("git", "update-ref", "refs/heads/main", on_top, new)
    land = next_start(world, new, old)
    assert land.landing is Landing.BLOCKED and land.may_have_landed and world.git.main() == on_top
    assert (world.root / "src" / "app.py").read_text() == "human\n"
    (told,) = world.git.behind()
    assert "src/app.py" in told and str(world.root) in told and told in land.reason
    assert "--hard" not in land.reason and "checkout -f" not in land.reason
    more, _ = candidate(world, {"more": "more\n"}, "more")
    assert world.git.land(more, on_top).landing is Landing.BLOCKED, "nothing else lands meanwhile"
    assert told.count("`git branch my-work") == 1
    world.sh("git", "branch", "my-work", old)
    world.sh("git", "symbolic-ref", "HEAD", "refs/heads/my-work")
    world.sh("git", "add", "src/app.py")
    assert commit_of_a_person(world.root) == ["src/app.py"]
    world.sh("git", "switch", "-q", "main")
    assert world.git.behind() == () and world.git.land(new, old).landing is Landing.MOVED
    assert read_all(world.root) == world.files("main")


def test_a_partial_commit_in_a_checkout_that_is_behind_loses_nothing(world, monkeypatch):
    new, old = candidate(world)
    killed(world, monkeypatch, new, old)
    (world.root / ".git" / "index.lock").unlink()
    write(world.root, {"mine": "edited\n"})
    world.sh("git", "commit", "-qm", "only this", "--", "mine", env=ME)
    assert next_start(world, new, old).landing is Landing.MOVED
    assert status(world) == "" and read_all(world.root) == world.files("main")
    assert world.files("main")["mine"] == "edited\n"


def test_a_checkout_that_is_several_merges_behind_is_brought_along(world):
    first = world.git.main()
    standing.write(holder_of(world), first)
    write(world.root, {"mine": "edited\n", "extra": "extra\n"})
    world.sh("git", "add", "extra")
    for number, files in enumerate((WORK, {"src/new.py": "newer\n"}, {"old": "again\n", "src/app.py": "one = 3\n"})):
        new, old = candidate(world, files, f"b{number}")
        world.sh("git", "update-ref", "refs/heads/main", new, old)
    assert len(world.git.behind()) == 1
    world.git.clear_locks()
    assert world.git.behind() == () and status(world) == "A  extra\n M mine\n"
    assert standing.read(holder_of(world)) == Note(world.git.main())


# --- what a person moves themselves ------------------------------------------------------------------


@pytest.mark.parametrize("logs", [True, False])
@pytest.mark.parametrize(
    "move",
    [
        ["commit -qam mine"],
        ["commit -qam mine", "reset -q --soft HEAD~1"],
        ["reset -q --soft HEAD~1"],
        ["reset -q --hard HEAD~1"],
        ["commit -qam mine --amend"],
        ["checkout -q -b other", "commit -qam mine", "checkout -q -B main"],
        ["stash -q"],
    ],
)
def test_what_a_person_moves_is_never_behind(world, logs, move):
    world.sh("git", "config", "core.logAllRefUpdates", str(logs).lower())
    if not logs:
        shutil.rmtree(world.root / ".git" / "logs")
    new, old = candidate(world)
    assert world.git.land(new, old).landing is Landing.MOVED
    write(world.root, {"mine": "edited\n"})
    for words in move:
        world.sh("git", *words.split(), env=ME)
    before = read_all(world.root), status(world)
    assert world.git.behind() == ()
    world.git.clear_locks()
    assert (read_all(world.root), status(world)) == before


def test_a_removal_that_a_person_stages_after_their_own_commit_is_theirs(world):
    new, old = candidate(world)
    assert world.git.land(new, old).landing is Landing.MOVED
    write(world.root, {"mine": "edited\n"})
    world.sh("git", "commit", "-qam", "mine", env=ME)
    world.sh("git", "checkout", "-q", "HEAD~1", "--", "mine")
    before = status(world)
    assert before == "M  mine\n" and world.git.behind() == ()
    more, main = candidate(world, {"more": "more\n"}, "more")
    assert world.git.land(more, main).landing is Landing.MOVED
    assert status(world) == before


def test_a_merge_that_is_under_way_in_a_checkout_that_is_behind_waits(world, monkeypatch):
    new, old = candidate(world)
    killed(world, monkeypatch, new, old)
    (world.root / ".git" / "MERGE_HEAD").write_text(old + "\n")
    land = next_start(world, new, old)
    assert land.landing is Landing.BLOCKED and "in progress" in land.reason
    (world.root / ".git" / "MERGE_HEAD").unlink()
    assert next_start(world, new, old).landing is Landing.MOVED and status(world) == ""


def test_a_file_in_the_way_is_never_overwritten(world, monkeypatch):
    new, old = candidate(world, {"src/new.env": "agent\n", "-f.txt": "x\n", ".gitignore": "x\n"})
    killed(world, monkeypatch, new, old)
    write(world.root, {"src/new.env": "human\n"})
    land = next_start(world, new, old)
    assert land.landing is Landing.BLOCKED and "src/new.env" in land.reason and world.git.main() == old
    assert (world.root / "src" / "new.env").read_text() == "human\n"


def test_a_file_that_a_killed_git_had_begun_to_write_is_finished(world, monkeypatch):
    new, old = candidate(world, {"src/app.py": "one = 2\n" * 50, "src/new.py": "new\n" * 50})
    killed(world, monkeypatch, new, old)
    write(world.root, {"src/app.py": "one = 2\none", "src/new.py": ""})
    assert next_start(world, new, old).landing is Landing.MOVED
    assert status(world) == "" and read_all(world.root) == world.files("main")


# --- several worktrees, and odd ones -----------------------------------------------------------------


@pytest.mark.parametrize("edited", [None, "src/app.py"])
def test_two_worktrees_of_main_go_on_together_or_go_back_together(world, monkeypatch, tmp_path, edited):
    linked = tmp_path / "linked"
    world.sh("git", "worktree", "add", "-q", "--force", str(linked), "main")
    new, old = candidate(world)
    write(linked, {"mine": "edited\n"})
    sh(linked, "git", "add", "mine")
    killed(world, monkeypatch, new, old, "index")  # the first one has followed, the second one has not
    if edited:
        write(linked, {edited: "human\n"})
    land = next_start(world, new, old)
    assert land.landing is (Landing.BLOCKED if edited else Landing.MOVED)
    assert world.git.main() == (old if edited else new) and status(world) == ""
    assert read_all(world.root) == world.files("main")
    if not edited:
        assert commit_of_a_person(linked) == ["mine"]


@pytest.mark.parametrize("moment", ["swap", "files", "index"])
@pytest.mark.parametrize(
    "kind", ["sparse", "split", "untracked", "autocrlf", "filter", "sha256", "link", "folder", "file", "mode"]
)
def test_odd_checkouts_are_brought_along(tmp_path, monkeypatch, kind, moment):
    world = odd(tmp_path, kind)
    files = {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None}
    if kind == "folder":
        files = {"old": None, "old/inner": "1\n"}
    new, old = candidate(world, files)
    if kind in ("link", "file", "mode"):
        new = with_entry(world, new, old, kind)
    write(world.root, {"mine": "edited\n"})
    world.sh("git", "add", "mine")
    killed(world, monkeypatch, new, old, moment)
    assert next_start(world, new, old).landing is Landing.MOVED
    assert status(world) == "M  mine\n" and world.git.behind() == ()
    assert commit_of_a_person(world.root) == ["mine"]
    if kind == "filter":
        assert (world.root / "src" / "new.py").read_text() == "NEW\n"
    if kind == "autocrlf":
        assert (world.root / "src" / "new.py").read_bytes() == b"new\r\n"


def odd(tmp_path: Path, kind: str) -> RealWorld:
    world = RealWorld(tmp_path, checked_out=True)
    if kind == "sha256":
        shutil.rmtree(world.root / ".git")
        world.sh("git", "init", "-q", "-b", "main", "--object-format=sha256")
        world.git = Repository(world.paths, "main")
    settings = {
        "split": ["core.splitIndex true"],
        "untracked": ["core.untrackedCache true"],
        "autocrlf": ["core.autocrlf true"],
        "filter": ["filter.up.smudge tr a-z A-Z", "filter.up.clean tr A-Z a-z"],
    }
    for setting in settings.get(kind, ()):
        world.sh("git", "config", *setting.split(" ", 1))
    if kind == "filter":
        write(world.root, {".gitattributes": "*.py filter=up\n"})
    write(world.root, {"old": "old\n", "mine": "mine\n", "deep/er/file": "deep\n"})
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-qm", "more", env=ME)
    if kind == "autocrlf":
        world.sh("git", "rm", "-q", "-r", "--cached", ".")
        world.sh("git", "reset", "-q", "--hard")
    if kind == "sparse":
        world.sh("git", "sparse-checkout", "set", "--no-cone", "/*", "!src")
    return world


def with_entry(world: RealWorld, new: str, old: str, kind: str) -> str:
    """The candidate, in which `old` has become a link or an executable, or the folder `deep` a file."""
    mode, path = {"link": ("120000", "old"), "mode": ("100755", "old"), "file": ("100644", "deep")}[kind]
    oid = world.sh("git", "rev-parse", f"{new}:mine").strip()
    index = {"GIT_INDEX_FILE": str(world.root.parent / "index")}
    world.sh("git", "read-tree", new, env=index)
    world.sh("git", "update-index", "--add", "--replace", "--cacheinfo", f"{mode},{oid},{path}", env=index)
    tree = world.sh("git", "write-tree", env=index).strip()
    return world.sh("git", "commit-tree", "-p", old, "-m", "odd", tree, env=ME).strip()


def test_a_submodule_that_moves_comes_along_and_its_files_stay(tmp_path, monkeypatch):
    world = odd(tmp_path, "plain")
    inner = tmp_path / "inner"
    sh(tmp_path, "git", "init", "-q", str(inner))
    for text in ("one", "two"):
        sh(inner, "git", "commit", "-q", "--allow-empty", "-m", text, env=ME)
    first, second = sh(inner, "git", "rev-list", "--reverse", "HEAD").split()
    world.sh("git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    sh(world.root / "lib", "git", "checkout", "-q", first)
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-qm", "lib", env=ME)
    old = world.git.main()
    index = {"GIT_INDEX_FILE": str(tmp_path / "index")}
    world.sh("git", "read-tree", old, env=index)
    world.sh("git", "update-index", "--cacheinfo", f"160000,{second},lib", env=index)
    tree = world.sh("git", "write-tree", env=index).strip()
    new = world.sh("git", "commit-tree", "-p", old, "-m", "lib moves", tree, env=ME).strip()
    write(world.root, {"mine": "edited\n"})
    world.sh("git", "add", "mine")
    killed(world, monkeypatch, new, old)
    assert next_start(world, new, old).landing is Landing.MOVED
    assert commit_of_a_person(world.root) == ["mine"]
    assert world.sh("git", "rev-parse", "main:lib").strip() == second


# --- the lock and the note ---------------------------------------------------------------------------


def test_the_lock_has_our_mark_from_its_first_moment(world, monkeypatch):
    """Killed wherever it may be while it takes the lock: no lock that is not known for ours."""
    real = os.link
    seen: list[bytes] = []

    def link(source, target):
        assert not os.path.lexists(target)
        real(source, target)
        seen.append(Path(target).read_bytes())
        raise Killed

    monkeypatch.setattr(os, "link", link)
    new, old = candidate(world)
    with pytest.raises(Killed):
        world.git.land(new, old)
    assert seen == [standing.MARK]
    monkeypatch.undo()
    (world.root / ".git" / "index.nobrakes-4711").write_bytes(b"")
    assert next_start(world, new, old).landing is Landing.MOVED and leftovers(world) == []


def test_a_file_system_without_links_has_a_lock_too(world, monkeypatch):
    def no_links(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    new, old = candidate(world)
    assert world.git.land(new, old).landing is Landing.MOVED and leftovers(world) == []


@pytest.mark.parametrize("content", ["", "rubbish\n", "0" * 39 + "\n", None])
def test_a_note_that_cannot_be_read_is_made_again(world, content):
    new, old = candidate(world)
    assert world.git.land(new, old).landing is Landing.MOVED
    note = world.root / ".git" / standing.CONDITION_FILE
    assert note.read_text() == f"{new}\n"
    note.unlink() if content is None else note.write_text(content)
    write(world.root, {"mine": "edited\n"})
    world.git.clear_locks()
    assert note.read_text() == f"{new}\n" and status(world) == " M mine\n"


def test_committed_files_killed_before_the_index_followed(world, monkeypatch):
    write(world.root, {"mine": "edited\n", "extra": "extra\n", "by-us": "x\n"})
    world.sh("git", "add", "extra")
    from nobrakes.git import commits

    def refuse(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(commits.Committer, "_refresh", refuse)
        with pytest.raises(Killed):
            world.git.commit_files({"by-us": b"x\n"}, message())
    assert len(world.git.behind()) == 1
    world.git.clear_locks()
    assert status(world) == "A  extra\n M mine\n" and commit_of_a_person(world.root) == ["extra"]


@pytest.mark.parametrize("edited", [False, True])
def test_where_a_remote_decides_a_checkout_is_brought_along_or_waits(tmp_path, monkeypatch, edited):
    world = SharedWorld(tmp_path, checked_out=True)
    new, old = candidate(world, {"src/app.py": "one = 2\n", "src/new.py": "new\n"})
    killed(world, monkeypatch, new, old, locks=False)
    write(world.root, {"src/app.py": "human\n"} if edited else {"mine": "mine\n"})
    world.git.close()
    world.git = Repository(world.paths, "main", Shared("origin", "main", 30.0))
    if edited:
        land = world.git.land(new, old)
        assert land.landing is Landing.BLOCKED and land.may_have_landed, "the remote has it"
        assert world.git.main() == old and world.there() == new, "a commit here takes nothing back"
        assert (world.root / "src" / "app.py").read_text() == "human\n"
        world.sh("git", "stash", "-q", env=ME)
    else:
        world.sh("git", "add", "mine")
        world.git.clear_locks()
    assert world.git.land(new, old).landing is Landing.MOVED and world.git.main() == new
    assert world.git.catch_up().landing is Landing.MOVED and world.git.behind() == ()
    assert "src" not in status(world)
