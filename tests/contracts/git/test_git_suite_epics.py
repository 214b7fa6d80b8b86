"""The suite, the branches of epics: main is elsewhere there, and nothing else is. Written against ports.Git alone."""

from git_worlds import message

from nobrakes.git.port import Conflict
from nobrakes.review.waits import Landing


def landed(git_world, begin, name, path=None):
    git = git_world.git.with_epic_branch("shop")
    old = git.main()
    it = begin(name, old)
    head = git_world.commit_in_workspace(it, {path or f"src/{name}.py": f"{name}\n"})
    git_world.git.fetch_work(it, 1)
    made = git.squash(old, head, message(name))
    assert git.land(made.commit, old).landing is Landing.MOVED
    return old, made.commit


def test_it_is_main_until_something_lands_and_main_stays(git_world, begin):
    main = git_world.git.main()
    git = git_world.git.with_epic_branch("shop")
    assert git.main() == main and not git.is_shared()
    assert git.catch_up().landing is Landing.MOVED
    _, one = landed(git_world, begin, "one")
    assert (git.main(), git_world.git.main()) == (one, main)
    assert git_world.git.with_epic_branch("other").main() == main
    assert git_world.git.kept()["epics/shop"] == one
    assert git.merged() == {"one": one} and git_world.git.merged() == {}
    assert git.off_main([one]) == frozenset() and git_world.git.off_main([one]) == {one}


def test_it_goes_on_from_there_and_is_moved_by_nobody_who_does_not_know_it(git_world, begin):
    main, one = landed(git_world, begin, "one")
    _, two = landed(git_world, begin, "two")
    git = git_world.git.with_epic_branch("shop")
    assert git.between(main, git.main()) == (one, two)
    assert git.land(one, main).landing is Landing.MOVED, "said again, after more has landed"
    lost = git.squash(main, git_world.commit_on_main({"z": "z\n"}), message("three"))
    assert git.land(lost.commit, main).landing is Landing.LOST
    assert git.main() == two


def test_main_may_move_meanwhile_and_when_the_branch_is_gone_it_is_main_again(git_world, begin):
    _, one = landed(git_world, begin, "one")
    git = git_world.git.with_epic_branch("shop")
    moved = git_world.commit_on_main({"z": "z\n"})
    assert git.main() == one
    git_world.git.pin("epics/shop", None)
    assert git.main() == git_world.git.main()
    if not git_world.git.is_shared():
        assert git.main() == moved


def test_main_joins_it(git_world, begin):
    main, one = landed(git_world, begin, "one")
    moved = git_world.commit_on_main({"z": "z\n"})
    git = git_world.git.with_epic_branch("shop")
    made = git.join(moved, one, message("both"))
    assert git.contains(one, made.commit) and git.contains(moved, made.commit)
    assert git.read(made.commit, "z") == b"z\n" and git.read(made.commit, "src/one.py") == b"one\n"
    assert git.join(moved, one, message("both")) == made
    assert git.fork(moved, made.commit) == moved
    assert git.land(made.commit, one).landing is Landing.MOVED and git.main() == made.commit
    assert git.contains(main, made.commit)


def test_what_main_changed_too_conflicts(git_world, begin):
    _, one = landed(git_world, begin, "one", "src/app.py")
    moved = git_world.commit_on_main({"src/app.py": "theirs\n"})
    assert isinstance(git_world.git.with_epic_branch("shop").join(moved, one, message("both")), Conflict)
