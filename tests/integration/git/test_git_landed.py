"""What landed and was taken off main by a person outlives a gc, and of old ones a bounded number is kept."""

from git_worlds import ME, sh

from nobrakes.git import objects
from nobrakes.git.history import History
from nobrakes.git.landing import local
from nobrakes.git.location import Place
from nobrakes.git.objects import Objects


def test_what_was_reset_away_outlives_a_gc_that_keeps_nothing(world, begin):
    first, made = world.git.main(), begin("login")
    head = world.commit_in_workspace(made, {"src/login.py": "x\n"})
    world.git.fetch_work(made, 1)
    world.git.land(head, first)
    world.git.pin("incoming/login/1", None)
    world.sh("git", "update-ref", "refs/heads/main", first)
    world.sh("git", "reflog", "expire", "--expire=now", "--all")
    world.sh("git", "gc", "-q", "--prune=now")
    assert world.git.off_main([head]) == {head} and world.git.has(head)
    assert world.sh("git", "show", f"{head}:src/login.py") == "x\n"


def test_only_so_many_of_what_was_rewritten_are_kept(world, monkeypatch):
    monkeypatch.setattr(local, "MAX_REWRITTEN", 3)
    place = Place(str(world.root), "main")
    history = History(place, Objects(place))
    tree = world.sh("git", "write-tree").strip()
    made = [sh(world.root, "git", "commit-tree", "-m", f"{n}", tree, env=ME).strip() for n in range(7)]
    for commit in made:
        local.keep(place, history, commit)
    kept = dict(objects.below(place, f"{local.BEFORE}/"))
    assert {ref.rpartition("/")[2]: commit for ref, commit in kept.items()} == {
        "4": made[3],
        "5": made[4],
        "6": made[5],
    }
    assert objects.read(place, local.TIP) == made[6]
