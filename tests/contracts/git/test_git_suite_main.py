"""The suite, second part: what happens to main, and what is kept. Written against ports.Git alone."""

import pytest
from git_worlds import bead, message

from nobrakes.review.waits import Landing


def candidate(git_world, begin, name="login", files=None):
    it = begin(name)
    head = git_world.commit_in_workspace(it, files or {f"src/{name}.py": "x\n"})
    git_world.git.fetch_work(it, 1)
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


@pytest.mark.slow
def test_what_landed_is_kept_when_a_person_rewrites_main(git_world, begin):
    first = git_world.git.main()
    _, one = candidate(git_world, begin, "one")
    git_world.git.land(one.commit, first)
    _, two = candidate(git_world, begin, "two")
    git_world.git.land(two.commit, one.commit)
    git_world.git.land(one.commit, first)  # said again
    kept = git_world.git.kept()
    assert kept["landed/tip"] == two.commit and not [ref for ref in kept if ref.startswith("landed/before")]
    amended = git_world.amend_main({"z": "z\n"})
    assert git_world.git.off_main([one.commit, two.commit]) == {two.commit}
    assert git_world.git.kept()["landed/tip"] == two.commit
    _, three = candidate(git_world, begin, "three")
    if git_world.git.land(three.commit, amended).landing is not Landing.MOVED:
        assert git_world.git.is_shared()  # the remote has what was amended, and nothing lands beside it
        return
    kept = git_world.git.kept()
    assert kept["landed/tip"] == three.commit and kept["landed/before/1"] == two.commit


@pytest.mark.slow
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
    assert git_world.git.merged(commits["one"]) == {"two.x": commits["two.x"]}
    assert git_world.git.merged(git_world.git.main()) == {}


def test_what_a_revert_took_back_is_not_merged_until_it_lands_again(git_world, begin):
    git = git_world.git
    old = git.main()
    _, made = candidate(git_world, begin, "one")
    git.land(made.commit, old)
    taken = git.revert(made.commit, made.commit, message("one", trailers=(("Reverts-Bead", "one"),)))
    git.land(taken.commit, made.commit)
    assert git.merged() == {}
    again = git.revert(taken.commit, taken.commit, message("one"))
    git.land(again.commit, taken.commit)
    assert git.merged() == {"one": again.commit}


def test_kept_is_all_that_our_refs_hold(git_world, begin):
    it, made = candidate(git_world, begin)
    git_world.git.pin("tests/login", made.commit)
    kept = git_world.git.kept()
    assert kept["tests/login"] == made.commit
    assert f"incoming/{it.id}/1" in kept and len(kept) == 2


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
    git_world.git.fetch_work(it, 1)
    git_world.git.retire(it, 1)
    assert not git_world.git.has_workspace("login")
    assert git_world.git.archived() == [("refs/nobrakes/archive/login/1-branch", head)]
    assert git_world.git.fetch_work(it, 1) is None
    git_world.git.retire(it, 1)
    assert git_world.git.archived() == [("refs/nobrakes/archive/login/1-branch", head)]


def test_what_was_handed_in_and_then_replaced_is_kept_too(git_world, begin):
    it = begin()
    first = git_world.commit_in_workspace(it, {"src/a.py": "first\n"})
    git_world.git.fetch_work(it, 1)
    git_world.git.retire(it, 2)
    again = begin()
    second = git_world.commit_in_workspace(again, {"src/a.py": "second\n"})
    git_world.git.fetch_work(again, 3)
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
    assert git_world.git.fetch_work(it, 2) == git_world.git.main()


@pytest.mark.slow
def test_pins_can_be_set_moved_and_removed(git_world):
    git, first = git_world.git, git_world.git.main()
    second = git_world.commit_on_main({"x": "x\n"})
    for commit in (first, first, second):
        git.pin("tests/login", commit)
        assert git.kept()["tests/login"] == commit
    for _ in range(2):
        git.pin("tests/login", None)
        assert "tests/login" not in git.kept()


def test_commit_files_commits_large_files_byte_by_byte(git_world):
    large = bytes(range(256)) * 1000 + b"\r\n"
    files = {"large.bin": large, "small": b"s\n"}
    commit = git_world.git.commit_files(files, message("x", trailers=()))
    assert git_world.git.read(commit, "large.bin") == large and git_world.git.read(commit, "small") == b"s\n"
    assert git_world.git.commit_files(files, message("x", trailers=())) is None


def test_write_files_makes_a_commit_that_is_kept_and_leaves_main(git_world):
    git, main = git_world.git, git_world.git.main()
    files = {"docs/a b.md": b"one\n", "src/app.py": b"two\n"}
    for text in (b"one\n", b"again\n"):  # done again, the ref is the last one's
        made = git.write_files(main, {**files, "docs/a b.md": text}, message("x", trailers=()), "incoming/b1/1")
        assert git.kept()["incoming/b1/1"] == made and git.main() == main
        assert git.read(made, "docs/a b.md") == text and git.read(made, "src/app.py") == b"two\n"
        assert git.fork(main, made) == main and len(git.changes(main, made)) == 2
    assert git.write_files(made, {"src/app.py": b"two\n"}, message("x", trailers=()), "incoming/b1/2") is None
    assert "incoming/b1/2" not in git.kept()


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


@pytest.mark.slow
def test_no_checkout_is_behind_a_main_that_moved_in_order(git_world, begin):
    head = git_world.commit_in_workspace(begin(), {"src/app.py": "one = 2\n"})
    git_world.git.fetch_work(begin(), 1)
    old = git_world.git.main()
    git_world.git.land(git_world.git.squash(old, head, message()).commit, old)
    git_world.git.commit_files({"by-us": b"x\n"}, message("x", trailers=()))
    assert git_world.git.behind() == ()


def test_what_is_on_main_is_there(git_world):
    assert git_world.git.has(git_world.git.main())


# --- evidence


def record(name: str = "one", commit: str = "a" * 40, **fields: object) -> dict[str, object]:
    bead = {"id": name, "title": f"The bead {name}", "type": "task"}
    return {"version": 1, "kind": "merge", "at": 1_700_000_000.25, "bead": bead, "merged": {"commit": commit}, **fields}


def test_the_chain_of_evidence_grows_by_one_commit_a_record(git_world):
    git = git_world.git
    assert git.evidence_tip() is None and list(git.evidence()) == []
    first = git.keep_evidence(record("one"))
    second = git.keep_evidence(record("two", "b" * 40, text="says “more”\nin \U0001f9ea lines\x00\ud800"))
    assert git.evidence_tip() == second
    found = list(git.evidence())
    assert [(entry.commit, entry.parents) for entry in found] == [(second, (first,)), (first, ())]
    assert [entry.problem() for entry in found] == ["", ""]
    assert found[1].record == record("one") and (found[1].bead, found[1].about) == ("one", f"Merged: {'a' * 40}")
    assert found[0].record["text"] == "says “more”\nin \U0001f9ea lines\x00?"


def test_a_record_is_kept_once_whoever_asks_again(git_world):
    git = git_world.git
    first = git.keep_evidence(record("one"))
    second = git.keep_evidence(record("two", "b" * 40))
    assert git.keep_evidence(record("one", at=2_000_000_000.0)) == first
    assert git.keep_evidence(record("two", "b" * 40)) == second
    third = git.keep_evidence(record("three", "c" * 40, anchor=first))
    assert git.keep_evidence(record("three", "c" * 40, anchor=first)) == third
    assert git.keep_evidence(record("two", "b" * 40, anchor=first)) == second
    assert git.evidence_tip() == third


def test_a_merge_and_its_end_are_two_records(git_world):
    git = git_world.git
    kept = [git.keep_evidence(record("one"))]
    kept.append(git.keep_evidence(record("one", "c" * 40, kind="revert")))
    found = list(git.evidence())
    assert [entry.commit for entry in found] == kept[::-1] and {entry.bead for entry in found} == {"one"}
    assert [entry.problem() for entry in found] == [""] * 2


def test_a_commit_is_found_by_its_name_and_says_what_it_is(git_world, begin):
    old = git_world.git.main()
    _, made = candidate(git_world, begin, "one")
    git_world.git.land(made.commit, old)
    found = git_world.git.made("main")
    assert found == git_world.git.made(made.commit)
    assert (found.commit, found.tree, found.parents, found.subject) == (made.commit, made.tree, (old,), "Work of one")
    assert found.trailers == (("Bead", "one"),) and found.trailer("bead") == "one" and found.trailer("Doer") == ""
    assert git_world.git.made("no-such-name") is None and git_world.git.made("f" * 40) is None


@pytest.mark.slow
def test_the_line_of_main_is_its_first_parents_newest_first(git_world, begin):
    begun = git_world.git.main()
    commits = []
    for name in ("one", "two"):
        _, made = candidate(git_world, begin, name)
        git_world.git.land(made.commit, git_world.git.main())
        commits.append(made.commit)
    line = git_world.git.line(git_world.git.main())
    assert [made.commit for made in line] == [*commits[::-1], begun]
    assert line[0] == git_world.git.made(commits[1]) and line[0].trailer("Bead") == "two"
    assert [made.commit for made in git_world.git.line(commits[1], commits[0])] == [commits[1]]
    assert git_world.git.line(begun, commits[0]) == ()
