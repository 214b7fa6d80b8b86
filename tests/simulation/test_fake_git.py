"""The fake git's own corners, which the suite for every ports.Git (tests/contracts/git) does not know."""

import pytest

from nobrakes.beads.model import Bead
from nobrakes.errors import GitFailed
from nobrakes.git.port import Candidate, Conflict, Message
from nobrakes.review.waits import Landing
from tests.world.fake_git import FakeGit

BEAD = Bead("b1", "One")
WORDS = Message("one", "", "me <me@example.invalid>", 5.0, (("Bead", "b1"),))


@pytest.fixture
def git() -> FakeGit:
    return FakeGit()


def clone(git: FakeGit, bead: Bead = BEAD) -> None:
    for argv in git.workspace(bead, git.main(), "Ada").prologue:
        assert git.clones.execute(argv) is None


def work(git: FakeGit, bead: Bead = BEAD, **files: str) -> str:
    clone(git, bead)
    git.clones.edit(bead.id, dict(files))
    return git.clones.commit(bead.id, "work", 1.0)


def squashed(git: FakeGit, head: str, words: Message = WORDS) -> Candidate:
    made = git.squash(git.main(), head, words)
    assert isinstance(made, Candidate)
    return made


def test_the_same_input_gives_the_same_candidate(git: FakeGit) -> None:
    head = work(git, a="1")
    assert squashed(git, head) == squashed(git, head)
    assert git.tree(squashed(git, head).commit) == git.tree(head)


def test_both_sides_changing_a_path_is_a_conflict(git: FakeGit) -> None:
    other = Bead("b2", "Two")
    one, two = work(git, a="1"), work(git, other, a="2")
    assert git.land(squashed(git, one).commit, git.main()).landing is Landing.MOVED
    assert git.squash(git.main(), two, WORDS) == Conflict(("a",), "both changed it")


def test_main_moves_by_compare_and_swap_and_twice_is_once(git: FakeGit) -> None:
    before = git.main()
    made = squashed(git, work(git, a="1"))
    assert git.land(made.commit, before).landing is Landing.MOVED
    assert git.land(made.commit, before).landing is Landing.MOVED
    other = squashed(git, work(git, Bead("b2", "Two"), b="1"))
    assert git.land(other.commit, before).landing is Landing.LOST
    assert git.landed == [made.commit]
    assert git.merged() == {"b1": made.commit}


def test_edits_in_the_way_block(git: FakeGit) -> None:
    made = squashed(git, work(git, a="1"))
    git.edited.add("a")
    assert git.land(made.commit, git.main()).landing is Landing.BLOCKED
    git.edited = {"b"}
    assert git.land(made.commit, git.main()).landing is Landing.MOVED


def test_retiring_keeps_commits_edits_and_what_was_taken_in(git: FakeGit) -> None:
    first = work(git, a="1")
    assert git.fetch_work(BEAD, 1) == first
    git.clones.rewrite("b1", 2.0)
    second = git.clones.clone("b1").head
    git.clones.edit("b1", {"b": "2"})
    git.retire(BEAD, 2)
    git.retire(BEAD, 2)
    kept = {commit for _, commit in git.archived("b1")}
    assert {first, second} < kept
    assert any(git.read(commit, "b") == b"2" for commit in kept)
    assert not git.has_workspace("b1")
    assert not [ref for ref in git.refs if ref.startswith("refs/nobrakes/incoming/")]


def test_a_lock_left_by_a_crash_stops_main_until_it_is_cleared(git: FakeGit) -> None:
    made = squashed(git, work(git, a="1"))
    git.locked = True
    with pytest.raises(GitFailed):
        git.land(made.commit, git.main())
    git.clear_locks()
    assert git.land(made.commit, git.main()).landing is Landing.MOVED


def test_a_revert_takes_one_commit_back(git: FakeGit) -> None:
    before = git.main()
    made = squashed(git, work(git, a="1"))
    git.land(made.commit, before)
    back = git.revert(made.commit, git.main(), WORDS)
    assert isinstance(back, Candidate)
    assert back.tree == git.tree(before)


def test_a_replay_keeps_the_commits_and_a_fold_only_the_named_ones(git: FakeGit) -> None:
    work(git, a="1")
    git.clones.edit("b1", {"a": "2"})
    head = git.clones.commit("b1", "more", 2.0)
    chain = git.replay(git.main(), head, WORDS)
    assert isinstance(chain, tuple)
    assert [git.read(step.commit, "a") for step in chain] == [b"1", b"2"]
    folded = git.fold(git.main(), [chain[1]], WORDS)
    assert git.contains(git.main(), folded.commit)
    assert not git.contains(chain[0].commit, folded.commit)
    assert folded.tree == chain[1].tree
