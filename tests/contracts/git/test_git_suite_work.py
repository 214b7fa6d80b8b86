"""The suite, first part: workspaces, taking in, looking. Written against ports.Git alone."""

import os
from dataclasses import replace

import pytest
from git_worlds import bead, message

from nobrakes.errors import NobrakesError
from nobrakes.git.port import Candidate, Change, Conflict


def test_main_is_where_the_branch_points(git_world):
    commit = git_world.commit_on_main({"a": "1\n"})
    assert git_world.git.main() == commit
    assert len(git_world.git.tree(commit)) == len(commit)


def test_a_workspace_does_not_exist_before_its_prologue_ran(git_world):
    made = git_world.git.workspace(bead(), git_world.git.main(), "Ada")
    assert made.branch == "feature/bead-login"
    assert made.prologue
    assert not git_world.git.has_workspace("login")
    git_world.prepare(made.prologue)
    assert git_world.git.has_workspace("login")
    assert git_world.checkout(made.path) == git_world.files(git_world.git.main())


def test_a_workspace_has_the_branch_that_its_bead_was_started_with(git_world):
    it = replace(bead(), branch="agents/login")
    made = git_world.git.workspace(it, git_world.git.main(), "Ada")
    git_world.prepare(made.prologue)
    head = git_world.commit_in_workspace(it, {"src/app.py": "one = 2\n"})
    assert made.branch == "agents/login" and git_world.git.fetch_work(it, 1) == head
    assert git_world.git.workspace(it, head, "Bea").branch == "agents/login"


def test_a_workspace_that_is_there_is_kept_with_its_work(git_world, begin):
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/app.py": "one = 2\n"})
    newer = git_world.commit_on_main({"b": "2\n"})
    kept = git_world.git.workspace(it, newer, "Bea")
    assert kept.is_kept
    git_world.prepare(kept.prologue)
    assert git_world.checkout(kept.path)["src/app.py"] == "one = 2\n"
    assert git_world.git.fetch_work(it, 1) == head


def test_a_workspace_starts_at_the_given_commit_though_main_moved(git_world):
    start = git_world.git.main()
    made = git_world.git.workspace(bead(), start, "Ada")
    git_world.commit_on_main({"late": "x\n"})
    git_world.prepare(made.prologue)
    assert git_world.checkout(made.path) == git_world.files(start)
    assert git_world.git.fetch_work(bead(), 1) == start


def test_fetching_work_without_a_clone_is_none(git_world):
    assert git_world.git.fetch_work(bead("nothing"), 1) is None


def test_fetching_work_brings_every_commit_and_again_gives_the_same(git_world, begin):
    it = begin()
    git_world.commit_in_workspace(it, {"src/a.py": "a\n"}, "one")
    head = git_world.commit_in_workspace(it, {"src/b.py": "b\n"}, "two")
    assert git_world.git.fetch_work(it, 3) == head
    assert git_world.git.fetch_work(it, 3) == head
    assert [text.strip() for _, _, text in git_world.log(head, git_world.git.main())] == ["one", "two"]


def test_fork_and_contains(git_world, begin):
    start = git_world.git.main()
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.git.fetch_work(it, 1)
    newer = git_world.commit_on_main({"b": "2\n"})
    assert git_world.git.fork(newer, head) == start
    assert git_world.git.fork(start, head) == start
    assert git_world.git.contains(start, head)
    assert git_world.git.contains(head, head)
    assert not git_world.git.contains(head, start)
    assert not git_world.git.contains(newer, head)


def test_changes_are_by_path_with_modes_and_renames_taken_apart(git_world, begin):
    it = begin()
    start = git_world.git.main()
    head = git_world.commit_in_workspace(it, {"README": None, "READ ME": "read me\n", "src/app.py": "one = 2\n"})
    git_world.git.fetch_work(it, 1)
    assert git_world.git.changes(start, head) == (
        Change("READ ME", "000000", "100644"),
        Change("README", "100644", "000000"),
        Change("src/app.py", "100644", "100644"),
    )
    assert git_world.git.changes(head, head) == ()


@pytest.mark.slow
def test_changes_name_the_gate_sections_of_shared_files(git_world, begin):
    base = git_world.commit_on_main({"pyproject.toml": '[project]\nname = "x"\n[tool.ruff]\nline-length = 100\n'})
    it = begin()
    head = git_world.commit_in_workspace(
        it, {"pyproject.toml": '[project]\nname = "y"\n[tool.ruff]\nline-length = 200\n'}
    )
    git_world.git.fetch_work(it, 1)
    (change,) = git_world.git.changes(base, head)
    assert change.sections == ("tool.ruff",)


def test_read_gives_files_only(git_world):
    main = git_world.git.main()
    assert git_world.git.read(main, "src/app.py") == b"one = 1\n"
    assert git_world.git.read(main, "src") is None
    assert git_world.git.read(main, "nowhere/at all") is None


def test_squash_on_an_unmoved_main(git_world, begin):
    it = begin()
    start = git_world.git.main()
    git_world.commit_in_workspace(it, {"src/a.py": "a\n"}, "one")
    head = git_world.commit_in_workspace(it, {"src/b.py": "b\n"}, "two")
    git_world.git.fetch_work(it, 1)
    made = git_world.git.squash(start, head, message(body="Why it is so."))
    assert isinstance(made, Candidate)
    assert made.tree == git_world.git.tree(head) == git_world.git.tree(made.commit)
    ((author, committer, text),) = git_world.log(made.commit, start)
    assert (author, committer) == ("Ada (nobrakes)", "nobrakes")
    assert text.strip() == "Work of login\n\nWhy it is so.\n\nBead: login"


@pytest.mark.slow
def test_squash_merges_with_a_main_that_moved_and_is_the_same_again(git_world, begin):
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.git.fetch_work(it, 1)
    main = git_world.commit_on_main({"b": "2\n"})
    made = git_world.git.squash(main, head, message())
    assert git_world.files(made.commit) == {**git_world.files(main), "src/a.py": "a\n"}
    assert git_world.git.squash(main, head, message()) == made
    assert git_world.git.squash(main, head, message(when=5.0)) != made


def test_a_squash_of_nothing_has_the_tree_of_main(git_world, begin):
    it = begin()
    main = git_world.git.main()
    head = git_world.git.fetch_work(it, 1)
    made = git_world.git.squash(main, head, message())
    assert made.tree == git_world.git.tree(main)
    assert made.commit != main


def test_a_conflict_names_its_files(git_world, begin):
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/app.py": "one = 2\n", "src/ok.py": "fine\n"})
    git_world.git.fetch_work(it, 1)
    main = git_world.commit_on_main({"src/app.py": "one = 3\n"})
    made = git_world.git.squash(main, head, message())
    assert isinstance(made, Conflict)
    assert made.files == ("src/app.py",)
    replayed = git_world.git.replay(main, head, message())
    assert isinstance(replayed, Conflict)
    assert replayed.files == ("src/app.py",)


@pytest.mark.slow
def test_replay_keeps_each_commit_and_adds_the_trailers(git_world, begin):
    it = begin()
    git_world.commit_in_workspace(it, {"src/a.py": "a\n"}, "one\n\nwhy one")
    git_world.commit_in_workspace(it, {"src/a.py": "aa\n"}, "two")
    head = git_world.commit_in_workspace(it, {"src/c.py": "c\n"}, "three")
    git_world.git.fetch_work(it, 1)
    main = git_world.commit_on_main({"b": "2\n"})
    steps = git_world.git.replay(main, head, message())
    assert [text.strip() for _, _, text in git_world.log(steps[-1].commit, main)] == [
        "one\n\nwhy one\n\nBead: login",
        "two\n\nBead: login",
        "three\n\nBead: login",
    ]
    assert git_world.files(steps[0].commit) == {**git_world.files(main), "src/a.py": "a\n"}
    assert git_world.files(steps[-1].commit) == {**git_world.files(main), "src/a.py": "aa\n", "src/c.py": "c\n"}
    assert [git_world.git.tree(step.commit) for step in steps] == [step.tree for step in steps]
    assert git_world.git.replay(main, head, message()) == steps


def test_replay_of_nothing_is_one_commit_with_the_tree_of_main(git_world, begin):
    it = begin()
    main = git_world.git.main()
    (step,) = git_world.git.replay(main, git_world.git.fetch_work(it, 1), message())
    assert step.tree == git_world.git.tree(main)


def test_replay_leaves_out_what_main_has_already(git_world, begin):
    it = begin()
    git_world.commit_in_workspace(it, {"b": "2\n"}, "the same as main")
    head = git_world.commit_in_workspace(it, {"c": "3\n"}, "more")
    git_world.git.fetch_work(it, 1)
    main = git_world.commit_on_main({"b": "2\n"})
    (step,) = git_world.git.replay(main, head, message())
    assert git_world.files(step.commit) == {**git_world.files(main), "c": "3\n"}


def test_fold_keeps_only_the_given_steps(git_world, begin):
    it = begin()
    git_world.commit_in_workspace(it, {"a": "1\n"}, "one")
    git_world.commit_in_workspace(it, {"a": "2\n"}, "two")
    head = git_world.commit_in_workspace(it, {"a": "3\n"}, "three")
    git_world.git.fetch_work(it, 1)
    main = git_world.git.main()
    one, _, three = git_world.git.replay(main, head, message())
    last = git_world.git.fold(main, [one, three], message())
    assert last.tree == three.tree
    assert [text.split("\n")[0] for _, _, text in git_world.log(last.commit, main)] == ["one", "three"]
    assert git_world.git.fold(main, [one, three], message()) == last
    assert git_world.git.fold(main, [], message()) == Candidate(main, git_world.git.tree(main))


@pytest.mark.slow
def test_work_on_an_amended_main_is_what_it_changed_since_it_began(git_world, begin):
    first = git_world.git.main()
    began = git_world.commit_on_main({"person": "one\n", "gone": "x\n"})
    it = begin()
    git_world.commit_in_workspace(it, {"src/a.py": "a\n"}, "one")
    head = git_world.commit_in_workspace(it, {"src/a.py": "aa\n", "src/b.py": "b\n"}, "two")
    git_world.git.fetch_work(it, 1)
    main = git_world.amend_main({"person": "two\n", "gone": None})
    git = git_world.git
    assert git.fork(main, head) == first
    assert git.fork(main, head, began) == began
    made = git.squash(main, head, message(), began)
    assert git_world.files(made.commit) == {**git_world.files(main), "src/a.py": "aa\n", "src/b.py": "b\n"}
    assert git.squash(main, head, message(), began) == made
    steps = git.replay(main, head, message(), began)
    assert [text.split("\n")[0] for _, _, text in git_world.log(steps[-1].commit, main)] == ["one", "two"]
    assert git_world.files(steps[0].commit) == {**git_world.files(main), "src/a.py": "a\n"}
    assert steps[-1].tree == made.tree


@pytest.mark.slow
@pytest.mark.parametrize("is_new", [True, False])
def test_work_on_a_main_with_another_beginning_has_a_fork_where_it_began(git_world, begin, is_new):
    began = git_world.git.main()
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/app.py": "one = 2\n"})
    git_world.git.fetch_work(it, 1)
    main = git_world.amend_main({"src/app.py": "one = 1\n", "more": "1\n"} if is_new else {"src/app.py": "one = 3\n"})
    assert git_world.git.fork(main, head) is None
    assert git_world.git.fork(main, head, began) == began
    made = git_world.git.squash(main, head, message(), began)
    (step,) = git_world.git.replay(main, head, message(), began) if is_new else (None,)
    if is_new:
        assert git_world.files(made.commit) == {**git_world.files(main), "src/app.py": "one = 2\n"}
        assert step.tree == made.tree
    else:
        assert isinstance(made, Conflict) and made.files == ("src/app.py",)


@pytest.mark.slow
def test_where_work_began_is_its_fork_only_while_it_holds_it_and_main_does_not_hold_more(git_world, begin):
    first = git_world.git.main()
    began = git_world.commit_on_main({"person": "one\n"})
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.git.fetch_work(it, 1)
    main = git_world.commit_on_main({"person": "two\n"})
    assert git_world.git.fork(main, head, began) == began == git_world.git.fork(main, head)
    assert git_world.git.fork(main, head, first) == began, "main holds more of it"
    assert git_world.git.fork(main, head, main) == began, "it does not hold that"


@pytest.mark.slow
def test_what_was_taken_off_main_does_not_come_back_with_the_work(git_world, begin):
    git_world.commit_on_main({"kept": "1\n"})
    began = git_world.commit_on_main({"person": "one\n"})
    it = begin()
    head = git_world.commit_in_workspace(it, {"src/a.py": "a\n"})
    git_world.git.fetch_work(it, 1)
    main = git_world.amend_main({"person": None})
    made = git_world.git.squash(main, head, message(), began)
    assert git_world.files(made.commit) == {**git_world.files(main), "src/a.py": "a\n"}
    nothing = git_world.git.squash(main, began, message(), began)
    assert nothing.tree == git_world.git.tree(main), "work that adds nothing"


@pytest.mark.slow
def test_lines_that_both_changed_are_merged_from_where_the_work_began(git_world, begin):
    text = "".join(f"{number}\n" for number in range(20))
    git_world.commit_on_main({"long": text})
    began = git_world.commit_on_main({"person": "one\n"})
    it = begin()
    head = git_world.commit_in_workspace(it, {"long": text + "work\n"})
    git_world.git.fetch_work(it, 1)
    main = git_world.amend_main({"long": "person\n" + text})
    made = git_world.git.squash(main, head, message(), began)
    assert git_world.files(made.commit)["long"] == "person\n" + text + "work\n"
    assert git_world.git.replay(main, head, message(), began)[-1].tree == made.tree


@pytest.mark.slow
def test_revert_takes_one_commit_back_and_leaves_later_work(git_world):
    before = git_world.files(git_world.git.main())
    bad = git_world.commit_on_main({"src/app.py": "one = bad\n", "bad": "x\n"})
    main = git_world.commit_on_main({"later": "y\n"})
    made = git_world.git.revert(bad, main, message())
    assert git_world.files(made.commit) == {**before, "later": "y\n"}


@pytest.mark.slow
def test_several_commits_are_taken_back_whole_after_main_went_on(git_world):
    base = git_world.git.main()
    before = git_world.files(base)
    git_world.commit_on_main({"src/app.py": "one = bad\n"})
    last = git_world.commit_on_main({"bad": "x\n"})
    main = git_world.commit_on_main({"later": "y\n"})
    whole = git_world.git.squash(base, last, message())
    made = git_world.git.revert(whole.commit, main, message())
    assert git_world.files(made.commit) == {**before, "later": "y\n"}


@pytest.mark.slow
def test_revert_of_what_was_changed_again_is_a_conflict(git_world):
    bad = git_world.commit_on_main({"src/app.py": "one = bad\n"})
    main = git_world.commit_on_main({"src/app.py": "one = worse\n"})
    made = git_world.git.revert(bad, main, message())
    assert isinstance(made, Conflict)
    assert made.files == ("src/app.py",)


def test_scratch_is_a_fresh_checkout_and_goes_away(git_world):
    main = git_world.git.main()
    path = os.path.join(git_world.scratch_folder, "run-1")
    for _ in range(2):
        git_world.prepare(git_world.git.scratch(main, path))
        assert git_world.checkout(path) == git_world.files(main)
    assert git_world.git.scratches() == (path,)
    git_world.git.drop_scratch(path)
    git_world.git.drop_scratch(path)
    assert git_world.git.scratches() == ()
    assert not os.path.lexists(path)


def test_drop_scratch_refuses_every_other_place(git_world, tmp_path):
    (tmp_path / "precious").mkdir()
    for path in (str(tmp_path / "precious"), git_world.scratch_folder, git_world.scratch_folder + "/../../x"):
        with pytest.raises(NobrakesError):
            git_world.git.drop_scratch(path)
    assert (tmp_path / "precious").is_dir()


@pytest.mark.slow
def test_what_main_does_not_contain_any_more(git_world):
    first = git_world.git.main()
    second = git_world.commit_on_main({"more": "1\n"})
    assert git_world.git.off_main([first, second]) == frozenset()
    assert git_world.git.off_main([]) == frozenset()
    git_world.amend_main({"more": "2\n"})
    gone = "0123456789" * 4
    assert git_world.git.off_main([first, second, gone]) == {second, gone}


def test_what_a_branch_changes_is_told_while_it_is_worked_on(git_world, begin):
    it = begin("login")
    assert git_world.git.tip(bead("nobody")) is None
    main = git_world.git.main()
    assert git_world.git.tip(it) == main
    head = git_world.commit_in_workspace(it, {"src/new.py": "x\ny\n"})
    before = git_world.git.kept()
    assert git_world.git.tip(it) == head and git_world.git.kept() == before
    assert [one.path for one in git_world.git.patch(main, head, 1000).files] == ["src/new.py"]


def test_touched_counts_what_differs_from_the_beginning_committed_or_not(git_world, begin):
    it = begin()
    assert git_world.git.touched(it.id) == 0
    git_world.commit_in_workspace(it, {"src/app.py": "one = 2\n", "new": "x\n"})
    assert git_world.git.touched(it.id) == 2
    assert git_world.git.touched("nothing") is None
