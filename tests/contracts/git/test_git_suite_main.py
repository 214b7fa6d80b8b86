"""The suite, second part: what happens to main, and what is kept. Written against ports.Git alone."""

from git_worlds import bead, message

from nobrakes.ports import Landing


def candidate(git_world, begin, name="login", files=None):
    it = begin(name)
    head = git_world.commit_in_workspace(it, files or {f"src/{name}.py": "x\n"})
    git_world.git.take_in(it, 1)
    return it, git_world.git.squash(git_world.git.main(), head, message(name))


def test_land_moves_main_and_again_says_moved(git_world, begin):
    old = git_world.git.main()
    _, made = candidate(git_world, begin)
    assert git_world.git.land(made.commit, old).landing is Landing.MOVED
    assert git_world.git.main() == made.commit
    assert git_world.git.land(made.commit, old).landing is Landing.MOVED
    assert git_world.git.main() == made.commit


def test_land_after_main_went_further_is_still_moved(git_world, begin):
    old = git_world.git.main()
    _, made = candidate(git_world, begin)
    git_world.git.land(made.commit, old)
    newer = git_world.commit_on_main({"z": "z\n"})
    assert git_world.git.land(made.commit, old).landing is Landing.MOVED
    assert git_world.git.main() == newer


def test_land_on_a_main_that_moved_is_lost_and_changes_nothing(git_world, begin):
    old = git_world.git.main()
    _, made = candidate(git_world, begin)
    newer = git_world.commit_on_main({"z": "z\n"})
    assert git_world.git.land(made.commit, old).landing is Landing.LOST
    assert git_world.git.main() == newer


def test_merged_finds_beads_by_their_trailers(git_world, begin):
    assert git_world.git.merged() == {}
    commits = {}
    for name in ("one", "two.x"):
        old = git_world.git.main()
        _, made = candidate(git_world, begin, name)
        git_world.git.land(made.commit, old)
        commits[name] = made.commit
    git_world.commit_on_main({"q": "q\n"}, "talks about Bead: three in a line")
    assert git_world.git.merged() == commits


def test_archive_keeps_the_branch_and_what_was_not_committed(git_world, begin):
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.write_in_workspace(it, {"src/a.py": "aa\n", "new": "n\n", "README": None})
    refs = git_world.git.archive(it, 2)
    assert refs == ("refs/nobrakes/archive/login/2-branch", "refs/nobrakes/archive/login/2-wip")
    kept = dict(git_world.git.archived("login"))
    assert kept["refs/nobrakes/archive/login/2-branch"] == head
    files = git_world.files(kept["refs/nobrakes/archive/login/2-wip"])
    assert files == {"new": "n\n", "src/a.py": "aa\n", "src/app.py": "one = 1\n", "tests/test_app.py": "assert True\n"}
    assert git_world.git.archive(it, 2) == refs
    assert dict(git_world.git.archived("login")) == kept
    assert git_world.git.has_workspace("login")


def test_nothing_to_keep_makes_no_refs(git_world, begin):
    it = begin()
    assert git_world.git.archive(it, 1) == ()
    assert git_world.git.archive(bead("none"), 1) == ()
    assert git_world.git.archived() == []


def test_retire_removes_the_clone_and_keeps_its_work(git_world, begin):
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.git.take_in(it, 1)
    git_world.git.retire(it, 1)
    assert not git_world.git.has_workspace("login")
    assert git_world.git.archived() == [("refs/nobrakes/archive/login/1-branch", head)]
    assert git_world.git.take_in(it, 1) is None
    git_world.git.retire(it, 1)
    assert git_world.git.archived() == [("refs/nobrakes/archive/login/1-branch", head)]


def test_what_was_handed_in_and_then_replaced_is_kept_too(git_world, begin):
    it = begin()
    first = git_world.commit_in_workspace(it, {"src/a.py": "first\n"})
    git_world.git.take_in(it, 1)
    git_world.git.retire(it, 2)
    again = begin()
    second = git_world.commit_in_workspace(again, {"src/a.py": "second\n"})
    git_world.git.take_in(again, 3)
    git_world.git.retire(again, 4)
    assert {first, second} <= {commit for _, commit in git_world.git.archived("login")}


def test_an_archive_never_takes_the_place_of_another_one(git_world, begin):
    first = git_world.commit_in_workspace(begin(), {"src/a.py": "first\n"})
    git_world.git.retire(begin(), 1)
    second = git_world.commit_in_workspace(begin(), {"src/a.py": "second\n"})
    git_world.git.retire(begin(), 1)
    assert {first, second} == {commit for _, commit in git_world.git.archived("login")}


def test_the_archives_of_beads_are_apart(git_world, begin):
    heads = {}
    for name in ("a", "a.b", "a-b"):
        heads[name] = git_world.commit_in_workspace(begin(name), {name: name})
        git_world.git.retire(bead(name), 1)
    for name, head in heads.items():
        assert git_world.git.archived(name) == [(f"refs/nobrakes/archive/{name}/1-branch", head)]
    assert len(git_world.git.archived()) == 3


def test_a_new_attempt_after_retiring_starts_fresh(git_world, begin):
    it = begin()
    git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.git.retire(it, 1)
    begin()
    assert git_world.git.take_in(it, 2) == git_world.git.main()


def test_pins_can_be_set_moved_and_removed(git_world):
    main = git_world.git.main()
    git_world.git.pin("tests/login", main)
    git_world.git.pin("tests/login", main)
    git_world.git.pin("tests/login", git_world.commit_on_main({"x": "x\n"}))
    git_world.git.pin("tests/login", None)
    git_world.git.pin("tests/login", None)


def test_commit_files_commits_what_differs_and_nothing_else(git_world):
    before = git_world.files(git_world.git.main())
    files = {".nobrakes/beads.jsonl": b"{}\n", "README": None, "a b/\xe9": b"\x00\xff\n"}
    commit = git_world.git.commit_files(files, message("x", trailers=()))
    assert git_world.git.main() == commit
    assert git_world.git.read(commit, ".nobrakes/beads.jsonl") == b"{}\n"
    assert git_world.git.read(commit, "a b/\xe9") == b"\x00\xff\n"
    assert git_world.git.read(commit, "README") is None
    assert git_world.git.read(commit, "src/app.py") == before["src/app.py"].encode()
    assert git_world.git.commit_files(files, message("x", trailers=())) is None
    assert git_world.git.main() == commit
    ((author, committer, text),) = git_world.log(commit, commit + "~1")
    assert (author, committer, text.strip()) == ("Ada (nobrakes)", "nobrakes", "Work of x")


def test_clear_locks_does_no_harm_where_there_are_none(git_world):
    main = git_world.git.main()
    git_world.git.clear_locks()
    assert git_world.git.main() == main
