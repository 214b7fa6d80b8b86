"""Merges that a person's commit took back without a word: found, with the commit, and nobody else is accused."""

from nobrakes.git.port import Made
from nobrakes.review.verify import lost_changes

Tree = dict[str, str]


class Line:
    """Main, from its first commit on: each commit is a whole tree."""

    def __init__(self) -> None:
        self.made: list[Made] = []
        self.moves: dict[str, list[tuple[str, str, str]]] = {}
        self.tree: Tree = {"app": "1", "lib": "1"}

    def put(self, tree: Tree, subject: str = "", **trailers: str) -> str:
        commit = f"{len(self.made):040d}"
        keys = sorted({*self.tree, *tree})
        self.moves[commit] = [
            (k, self.tree.get(k, ""), tree.get(k, "")) for k in keys if self.tree.get(k) != tree.get(k)
        ]
        said = tuple((key.replace("_", "-"), value) for key, value in trailers.items())
        self.made.append(Made(commit, "", (), subject, "Ada <a@example.org>", said))
        self.tree = dict(tree)
        return commit

    def bead(self, name: str, **changed: str) -> str:
        return self.put({**self.tree, **changed}, Bead=name, Evidence=name)

    def lost(self) -> list[tuple[str, str, bool]]:
        found = lost_changes(self.made[::-1], lambda commit: self.moves[commit])
        return [(one.bead, one.by.commit, one.is_unseen) for one in found]


def test_a_commit_of_an_index_from_before_the_merges_takes_them_back_unseen() -> None:
    line = Line()
    before = dict(line.tree)
    line.bead("a", app="2", new="n")
    line.bead("b", lib="2")
    by = line.put({**before, "mine": "m"}, "my own change")
    assert line.lost() == [("a", by, True), ("b", by, True)]


def test_a_path_that_was_edited_as_well_hides_nothing() -> None:
    line = Line()
    before = dict(line.tree)
    line.bead("a", app="2", new="n")
    by = line.put({**before, "app": "mine"})
    assert line.lost() == [("a", by, True)]


def test_what_came_back_was_done_again_or_was_meant_is_not_lost() -> None:
    line = Line()
    before = dict(line.tree)
    line.bead("a", app="2")
    line.put(before)
    line.put({**before, "app": "2"})
    assert line.lost() == []
    line = Line()
    line.bead("a", app="2")
    line.put(before)
    line.bead("a", app="3")
    assert line.lost() == []
    line = Line()
    line.bead("a", app="2")
    line.put(before, Reverts_Bead="a")
    assert line.lost() == []


def test_a_revert_that_says_so_and_a_later_removal_are_notes() -> None:
    line = Line()
    before = dict(line.tree)
    line.bead("a", app="2")
    by = line.put(before, 'Revert "a"')
    assert line.lost() == [("a", by, False)]
    line = Line()
    line.bead("a", new="n")
    line.bead("b", lib="2")
    by = line.put({**line.tree, "new": ""}, "clean up")
    assert line.lost() == [("a", by, False)]


def test_the_work_of_another_bead_and_a_persons_own_edit_take_nothing_back() -> None:
    line = Line()
    line.bead("a", new="n", app="2")
    line.bead("b", new="", app="3")
    line.put({**line.tree, "app": "4"})
    assert line.lost() == []
    line = Line()
    line.bead("a", new="n", app="2")
    line.put({**line.tree, "new": ""})
    assert line.lost() == [], "a part of it is still there"


def test_a_merge_of_several_commits_is_one() -> None:
    line = Line()
    before = dict(line.tree)
    line.bead("a", app="2")
    line.put({**line.tree, "app": "3"}, Bead="a", Evidence="a")
    by = line.put(before)
    assert line.lost() == [("a", by, True)]
