"""The suite, third part: where main is decided at a remote. Written against ports.Git and a world with a remote."""

import pytest
from git_worlds import SharedWorld, message

from nobrakes.review.waits import Landing


@pytest.fixture
def git_world(tmp_path):
    return SharedWorld(tmp_path)


def candidate(git_world, begin, name="login"):
    head = git_world.commit_in_workspace(begin(name), {f"src/{name}.py": "x\n"})
    git_world.git.fetch_work(begin(name), 1)
    return git_world.git.squash(git_world.git.main(), head, message(name)).commit


def test_it_is_decided_at_the_remote(git_world):
    assert git_world.git.is_shared()


def test_what_lands_is_there_and_here(git_world, begin):
    old, new = git_world.git.main(), candidate(git_world, begin)
    for _ in range(2):
        assert git_world.git.land(new, old).landing is Landing.MOVED
        assert git_world.there() == git_world.git.main() == new


def test_who_pushed_first_wins_and_main_here_waits_to_be_brought_along(git_world, begin):
    old, new = git_world.git.main(), candidate(git_world, begin)
    theirs = git_world.commit_at_remote({"other": "o\n"})
    assert git_world.git.land(new, old).landing is Landing.LOST
    assert (git_world.there(), git_world.git.main()) == (theirs, old)
    assert git_world.git.catch_up().landing is Landing.MOVED
    assert git_world.git.main() == theirs


def test_what_others_push_on_top_comes_along(git_world, begin):
    old, new = git_world.git.main(), candidate(git_world, begin)
    assert git_world.git.land(new, old).landing is Landing.MOVED
    theirs = git_world.commit_at_remote({"other": "o\n"})
    assert git_world.git.land(new, old).landing is Landing.MOVED
    assert git_world.git.catch_up().landing is Landing.MOVED
    assert git_world.git.main() == theirs and git_world.git.contains(new, theirs)


def test_catching_up_with_nothing_new_is_nothing(git_world):
    before = git_world.git.main()
    for _ in range(2):
        assert git_world.git.catch_up().landing is Landing.MOVED
    assert git_world.git.main() == git_world.there() == before
