"""The command layer, the texts of commits, and finding a repository."""

import os
import threading
from pathlib import Path

import pytest
from git_worlds import ME, RealWorld, bead, message, read_all, sh, write

from nobrakes.errors import DiskFull, GitFailed, GitTooOld, GitUnusable, NoMain, NotARepository, StoreReadOnly
from nobrakes.git import command_line
from nobrakes.git.commits import compose, person, with_trailers
from nobrakes.git.location import Place, discover
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths, process_environment
from nobrakes.review.waits import Landing


def test_nothing_of_the_callers_git_variables_reaches_git(world, begin, monkeypatch, tmp_path):
    import git  # noqa: F401 - it asks for git's version when it is first imported, under whatever environment there is

    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    evil = {
        "GIT_DIR": str(tmp_path / "nowhere"),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(tmp_path),
        "GIT_COMMON_DIR": str(tmp_path),
        "GIT_NAMESPACE": "x",
        "GIT_CONFIG": str(tmp_path / "config"),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={trap}'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(trap),
        "GIT_CONFIG_KEY_40": "x",
        "GIT_AUTHOR_NAME": "Somebody Else",
        "GIT_COMMITTER_NAME": "Somebody Else",
        "GIT_COMMITTER_DATE": "@1 +0000",
        "GIT_EXTERNAL_DIFF": str(trap),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_SHALLOW_FILE": str(tmp_path / "shallow"),
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_QUARANTINE_PATH": str(tmp_path),
        "GIT_FUTURE": "x",
    }
    for name, value in evil.items():
        monkeypatch.setenv(name, value)
    before = set(os.listdir(tmp_path))
    old = world.git.main()
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    assert world.git.fetch_work(it, 1) == head
    made = world.git.squash(old, head, message())
    assert world.git.changes(old, head)[0].path == "src/a.py"
    assert world.git.land(made.commit, old).landing is Landing.MOVED
    world.git.commit_files({"f": b"f\n"}, message())
    world.git.retire(it, 1)
    assert discover(str(world.root)).root == str(world.root)
    assert set(os.listdir(tmp_path)) == before
    assert world.log(made.commit, old)[0][:2] == ("Ada (nobrakes)", "nobrakes")
    assert command_line.strays({}) != []


def test_a_failure_names_the_command_and_the_last_line_of_its_errors(world):
    with pytest.raises(GitFailed) as caught:
        world.git.tree("0" * 40)
    assert "0000" in str(caught.value)
    with pytest.raises(GitFailed) as caught:
        command_line.run(["rev-parse", "--verify", "nowhere"], cwd=str(world.root))
    assert str(caught.value) == "`git rev-parse --verify nowhere` failed: fatal: Needed a single revision"
    with pytest.raises(GitFailed, match="is missing"):
        command_line.run(["version"], cwd=str(world.root / "not there"))


def test_a_full_disk_and_a_read_only_one_have_their_own_errors():
    assert isinstance(command_line.failure(["git"], 128, "fatal: write error: No space left on device"), DiskFull)
    assert isinstance(command_line.failure(["git"], 128, "error: x: Read-only file system\nfatal: y"), StoreReadOnly)
    assert isinstance(command_line.failure(["git"], 128, ""), GitFailed)


BROKEN_CONFIGS = {
    "a bad line": "[core\n",
    "a bad value": "[core]\n\tbare = maybe\n",
    "a bad number": "[core]\n\tcompression = much\n",
    "an include that is broken": "[include]\n\tpath = broken\n",
    "an include of itself": "[include]\n\tpath = config\n",
    "a later version": "[core]\n\trepositoryformatversion = 99\n",
    "an extension": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tstrange = true\n",
}


@pytest.mark.parametrize("text", BROKEN_CONFIGS.values(), ids=BROKEN_CONFIGS)
def test_a_broken_configuration_is_the_repositorys_and_no_object_is_judged_by_it(world, begin, text):
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    file = world.root / ".git" / "config"
    was = file.read_text()
    (world.root / ".git" / "broken").write_text("[core\n")
    file.write_text(was + text)
    git = Repository(world.paths, "main")
    for asked in (git.main, lambda: git.tree(head), lambda: git.is_whole(head), lambda: git.fetch_work(it, 1)):
        with pytest.raises(GitUnusable, match="does not work in this repository: fatal: ") as met:
            asked()
    assert "git config --list --show-origin" in met.value.hint
    file.write_text(was)
    assert git.fetch_work(it, 1) == head and Place(str(world.root), "").trouble() == ""


def test_a_broken_configuration_of_the_account_is_told(world, tmp_path, monkeypatch):
    own = tmp_path / "own.gitconfig"
    own.write_text("[bad\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    assert "fatal: bad config line 1 in file" in Place(str(world.root), "").trouble()


def test_an_old_git_and_no_git_are_told_apart_from_failures(world, tmp_path, monkeypatch):
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "git").write_text("#!/bin/sh\necho git version 2.37.9\n")
    (fake / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(fake), prepend=os.pathsep)
    with pytest.raises(GitTooOld, match=r"2\.37\.9"):
        Repository(world.paths, "main").main()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitTooOld, match="not installed"):
        Repository(world.paths, "main").main()


@pytest.mark.parametrize(
    ("text", "found"),
    [("git version 2.39.5", (2, 39, 5)), ("git version 2.50.1 (Apple Git-155)", (2, 50, 1)), ("nonsense", ())],
)
def test_versions(text, found):
    assert command_line.parse_version(text) == found


def test_no_main_is_no_main(world):
    with pytest.raises(NoMain):
        Repository(world.paths, "trunk").main()


def test_a_packed_main_is_read(world):
    main = world.git.main()
    world.sh("git", "pack-refs", "--all")
    assert world.git.main() == main
    world.git.pin("tests/x", main)
    world.sh("git", "pack-refs", "--all")
    world.git.pin("tests/x", None)
    assert world.sh("git", "for-each-ref", "refs/nobrakes") == ""


@pytest.mark.parametrize("name", ["../heads/main", "a//b", "a/.b", "a.lock", "", "a b", "a\nb", "-x", "a..b"])
def test_a_pin_cannot_leave_our_refs(world, name):
    with pytest.raises(GitFailed):
        world.git.pin(name, world.git.main())
    with pytest.raises(GitFailed):
        world.git.pin(name, None)


def test_subjects_and_trailers_are_cleaned():
    text = compose(message(subject="a\nb\x1b[31m\tc" + "x" * 300, body="one\r\ntwo\x00\x1b]52;x\n", author="x"))
    subject, _, rest = text.partition("\n")
    assert subject.startswith("a b [31m cxxx")
    assert len(subject) == 200
    assert rest == "\none\ntwo]52;x\n\nBead: login\n"


def test_trailers_join_a_block_that_is_there_and_are_not_said_twice():
    trailers = (("Bead", "x"), ("Attempt", "2\n3"))
    assert with_trailers("s\n", trailers) == "s\n\nBead: x\nAttempt: 2 3\n"
    assert with_trailers("s\n\nb\n\nSigned-off-by: a\nBead: x\n", trailers).endswith("a\nBead: x\nAttempt: 2 3\n")
    assert with_trailers("s\n\nBead: x\nAttempt: 2 3\n", trailers) == "s\n\nBead: x\nAttempt: 2 3\n"
    assert with_trailers("fix: all\n", trailers).startswith("fix: all\n\nBead: x")


def test_what_others_say_in_nobrakes_name_is_left_out():
    said = "s\n\nSigned-off-by: a\nbead: victim\nBead: x\nReverts-Bead: victim\nEvidence: none\n"
    whole = with_trailers(said, (("Bead", "x"),))
    assert whole == "s\n\nSigned-off-by: a\nBead: x\n"
    assert with_trailers(whole, (("Bead", "x"),)) == whole
    assert with_trailers("s\n\nBead: y\n", ()) == "s\n"


@pytest.mark.parametrize(
    ("author", "name", "email"),
    [
        ("Ada", "Ada (nobrakes)", "ada@nobrakes.invalid"),
        ("Ada L <a@b.c>", "Ada L", "a@b.c"),
        ("<>\n", "worker (nobrakes)", "worker@nobrakes.invalid"),
        (" <a@b.c>", "worker", "a@b.c"),
        ("Łukasz", "Łukasz (nobrakes)", "ukasz@nobrakes.invalid"),
    ],
)
def test_people(author, name, email):
    assert (person(author).name, person(author).email) == (name, email)


def test_odd_authors_and_texts_survive_a_replay(world, begin):
    it = begin()
    clone = world.workspace_path(it)
    write(clone, {"a": "1\n"})
    sh(clone, "git", "add", "-A")
    odd = {**ME, "GIT_AUTHOR_NAME": "Jean d'Œuvre", "GIT_AUTHOR_DATE": "@12345 +0530"}
    sh(clone, "git", "-c", "i18n.commitEncoding=latin-1", "commit", "-qm", "odd", env=odd)
    head = world.git.fetch_work(it, 1)
    (step,) = world.git.replay(world.git.main(), head, message())
    assert world.sh("git", "log", "-1", "--format=%an|%ae|%ad", "--date=raw", step.commit).strip() == (
        "Jean d'Œuvre|human@example.org|12345 +0530"
    )


def test_a_message_longer_than_a_command_line_may_be(world):
    made = world.git.squash(world.git.main(), world.git.main(), message(body="x" * 500_000))
    assert len(world.log(made.commit, world.git.main())[0][2]) > 50_000


def test_a_sha256_repository(tmp_path):
    root = tmp_path / "r"
    sh(tmp_path, "git", "init", "-q", "-b", "main", "--object-format=sha256", str(root))
    write(root, {"a": "1\n", "d/b": "2\n"})
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-qm", "one", env=ME)
    git = Repository(Paths(str(root / ".nobrakes")), "main")
    old = git.main()
    for argv in git.workspace(bead(), old, "Ada").prologue:
        sh("/", *argv)
    clone = root / ".nobrakes" / "workspaces" / "login"
    write(clone, {"d/c": "3\n"})
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "two")
    write(clone, {"e": "4\n"})
    head = git.fetch_work(bead(), 1)
    made = git.squash(old, head, message())
    assert git.read(made.commit, "d/c") == b"3\n"
    assert git.land(made.commit, old).landing is Landing.MOVED
    git.retire(bead(), 1)
    assert len(git.archived()) == 2


def test_a_shallow_repository(tmp_path):
    origin = RealWorld(tmp_path)
    origin.commit_on_main({"x": "x\n"})
    shallow = tmp_path / "shallow"
    sh(tmp_path, "git", "clone", "-q", "--depth=1", "-b", "main", f"file://{origin.root}", str(shallow))
    git = Repository(Paths(str(shallow / ".nobrakes")), "main")
    old = git.main()
    for argv in git.workspace(bead(), old, "Ada").prologue:
        sh("/", *argv)
    clone = shallow / ".nobrakes" / "workspaces" / "login"
    assert sh(clone, "git", "log", "--format=%s").split("\n")[0] == "by a human"
    write(clone, {"c": "3\n"})
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "commit", "-qm", "two")
    made = git.squash(old, git.fetch_work(bead(), 1), message())
    assert git.land(made.commit, old).landing is Landing.MOVED
    git.retire(bead(), 1)


def test_paths_with_odd_names(tmp_path):
    folder = tmp_path / 'a "b": c\\d é'
    folder.mkdir()
    world = RealWorld(folder, checked_out=True)
    old = world.git.main()
    head = world.commit_in_workspace_of("login", {'o "d"\\ \té': "x\n", "src/app.py": "one = 2\n"})
    made = world.git.squash(old, head, message())
    assert world.git.land(made.commit, old).landing is Landing.MOVED
    assert read_all(world.root) == {**read_all(world.workspace_path(bead()))}
    path = os.path.join(world.scratch_folder, "run 1")
    world.prepare(world.git.scratch(made.commit, path))
    world.git.drop_scratch(path)
    world.git.retire(bead(), 1)


def test_the_reading_process_may_die(world):
    main = world.git.main()
    assert world.git.read(main, "README") == b"read me\n"
    process = world.git.objects._git.process
    process.kill()
    process.wait()
    assert world.git.read(main, "src/app.py") == b"one = 1\n"
    world.git.close()
    assert world.git.read(main, "src/app.py") == b"one = 1\n"


# --- discovery -----------------------------------------------------------------------------------


def test_discover_a_plain_repository(tmp_path):
    world = RealWorld(tmp_path, checked_out=True)
    world.sh("git", "branch", "other/one")
    found = discover(str(world.root / "src"))
    assert found.root == str(world.root)
    assert (found.bare, found.has_commits, found.head_branch, found.dirty) == (False, True, "main", False)
    assert found.branches == ("main", "other/one")
    assert not found.is_partial
    write(world.root, {"untracked": "u\n"})
    assert not discover(str(world.root)).dirty
    write(world.root, {"README": "edited\n"})
    assert discover(str(world.root)).dirty


def test_discover_an_unborn_a_detached_a_bare_and_a_linked_one(tmp_path):
    sh(tmp_path, "git", "init", "-q", "-b", "trunk", "unborn")
    found = discover(str(tmp_path / "unborn"))
    assert (found.has_commits, found.head_branch, found.branches) == (False, "trunk", ())
    world = RealWorld(tmp_path)
    assert discover(str(world.root)).head_branch is None
    world.sh("git", "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    linked = discover(str(tmp_path / "linked"))
    assert linked.root == str(tmp_path / "linked")
    sh(tmp_path, "git", "clone", "-q", "--bare", str(world.root), "bare.git")
    bare = discover(str(tmp_path / "bare.git"))
    assert (bare.bare, bare.root, bare.dirty) == (True, str(tmp_path / "bare.git"), False)


def test_discover_a_submodule_and_a_partial_clone(tmp_path):
    world = RealWorld(tmp_path, checked_out=True)
    sh(tmp_path, "git", "init", "-q", "outer")
    outer = tmp_path / "outer"
    sh(outer, "git", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(world.root), "lib")
    inner = discover(str(outer / "lib"))
    assert (inner.root, inner.bare, inner.has_commits) == (str(outer / "lib"), False, True)
    world.sh("git", "config", "uploadpack.allowFilter", "true")
    sh(tmp_path, "git", "clone", "-q", "--filter=blob:none", f"file://{world.root}", "partial")
    assert discover(str(tmp_path / "partial")).is_partial


def test_discover_no_repository(tmp_path):
    for folder in (tmp_path, tmp_path / "not there"):
        with pytest.raises(NotARepository):
            discover(str(folder))
    world = RealWorld(tmp_path)
    with pytest.raises(NotARepository):
        discover(str(world.root / ".git"))
    with pytest.raises(NotARepository):
        Repository(Paths(str(tmp_path / ".nobrakes")), "main").main()
    assert isinstance(tmp_path, Path)


def test_another_thread_may_change_the_environment(tmp_path):
    """GitPython's import sets and unsets variables, while other threads ask git."""
    ended = threading.Event()

    def changes() -> None:
        while not ended.is_set():
            os.environ["NOBRAKES_TEST_BLINK"] = "1"
            del os.environ["NOBRAKES_TEST_BLINK"]

    blinking = threading.Thread(target=changes)
    blinking.start()
    try:
        for _ in range(20_000):
            process_environment()
        assert command_line.run(["version"], cwd="/").code == 0
    finally:
        ended.set()
        blinking.join()
