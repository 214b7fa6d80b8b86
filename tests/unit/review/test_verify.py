"""What `verify` finds, on a main and a chain that are made of values."""

import copy
from typing import Any

import pytest

from nobrakes import US
from nobrakes.git.port import Made
from nobrakes.review.evidence import Entry, date, message
from nobrakes.review.verify import NONE, Report, Repository, Word, verify

KEY = "k" * 16


class World:
    """Main and its evidence; trees and commits have short names."""

    def __init__(self) -> None:
        self.line = [Made("c0", "t0", (), "Begin", "You <you@x>")]
        self.entries: list[Entry] = []

    @property
    def tip(self) -> Made:
        return self.line[0]

    def on_main(self, *trailers: tuple[str, str], subject: str = "Work", parent: str | None = None) -> Made:
        number = len(self.line)
        parents = (parent or self.tip.commit,)
        self.line.insert(0, Made(f"c{number}", f"t{number}", parents, subject, "You <you@x>", trailers))
        return self.tip

    def keep(self, record: dict[str, Any], *, at: int = 0) -> None:
        """Put the record into the chain (at: so many places before its end), and link the chain anew."""
        moment = f"{US} {date(record)}"
        self.entries.insert(at, Entry("", (), message(record), (moment, moment)))
        self.link()

    def link(self) -> None:
        above: tuple[str, ...] = ()
        linked = []
        for one in reversed(self.entries):
            name = f"e{abs(hash((one.message, above)))}"
            linked.insert(0, Entry(name, above, one.message, one.people, one.whole))
            above = (name,)
        self.entries = linked

    def record(self, bead: str, base: Made, *made: Made, branch: str = "b") -> dict[str, Any]:
        tip = made[-1]
        merged = {"commit": tip.commit, "tree": tip.tree}

        def validation(of: str, commit: str, how: str) -> dict[str, Any]:
            return {
                "step": "validate",
                "of": of,
                "commit": commit,
                "tree": tip.tree,
                "contract": KEY,
                "how": how,
                "run": "r",
            }

        checks = [{"name": "test", "outcome": "pass", "code": 0, "seconds": 1.0, "counts": None, "excerpt": ""}]
        return {
            "version": 1,
            "kind": "merge",
            "at": 1000.0,
            "bead": {"id": bead, "title": bead, "type": "task"},
            "base": {"commit": base.commit, "tree": base.tree},
            "branch": {"commit": branch, "tree": tip.tree},
            "candidate": merged,
            "merged": merged,
            "commits": [{"commit": one.commit, "tree": one.tree} for one in made],
            "steps": [
                validation("branch", branch, "ran"),
                {"step": "rebase", "from": base.commit, "onto": base.commit, "commit": tip.commit},
                validation("candidate", tip.commit, "recorded"),
                {"step": "merge", "from": base.commit, "to": tip.commit},
                validation("main", tip.commit, "recorded"),
            ],
            "runs": {
                "r": {"bead": bead, "tree": tip.tree, "contract": KEY, "at": 1.0, "outcome": "pass", "checks": checks}
            },
            "contracts": {KEY: {"setup": "", "checks": [{"name": "test", "command": "true"}], "environment": "e"}},
        }

    def merge(self, bead: str, **change: Any) -> dict[str, Any]:
        """A bead comes to main with its evidence; the record."""
        base, anchor = self.tip, self.entries[0].commit if self.entries else NONE
        record = self.record(bead, base, self.on_main(("Bead", bead), ("Evidence", anchor)))
        self.keep({**record, **change})
        return record

    def revert(self, bead: str, *taken: Made) -> dict[str, Any]:
        base = self.tip
        made = self.on_main(("Reverts-Bead", bead), subject="Revert")
        record = {**self.record(bead, base, made), "kind": "revert", "steps": [], "takes_back": []}
        record["takes_back"] = [{"commit": one.commit, "tree": one.tree} for one in taken]
        self.keep(record)
        return record

    def verify(self, *asked: Made) -> Report:
        known = {made.commit: made for made in self.line}
        return verify(
            self.entries, self.line, asked or self.line, Repository(known.get, lambda base, merged: f"{base}..{merged}")
        )

    def words(self) -> str:
        return "\n".join(one.text for one in self.verify().wrong)


@pytest.fixture
def world() -> World:
    made = World()
    for bead in ("one", "two", "three"):
        made.merge(bead)
    return made


def test_what_agrees_is_right(world: World) -> None:
    report = world.verify()
    assert report.wrong == () and report.records == 3 and report.tip == world.entries[0].commit
    assert [(seen.word, seen.bead) for seen in report.commits] == [
        (Word.MERGED, "three"),
        (Word.MERGED, "two"),
        (Word.MERGED, "one"),
        (Word.OWN, ""),
    ]
    assert report.commits[0].evidence == world.entries[0].commit


def test_nothing_at_all_is_right() -> None:
    assert World().verify().wrong == ()


def test_what_people_did_is_listed_and_no_fault(world: World) -> None:
    world.on_main(subject="Mine")
    world.on_main(("Reverts-Bead", "two"))
    world.merge("four")
    report = world.verify()
    assert report.wrong == ()
    assert [seen.word for seen in report.commits][:3] == [Word.MERGED, Word.OTHER_REVERT, Word.OWN]


def test_beads_from_before_evidence_was_kept_owe_none() -> None:
    world = World()
    world.on_main(("Bead", "old"))
    world.merge("one")
    report = world.verify()
    assert report.wrong == () and report.commits[1].word is Word.EARLIER


def test_a_commit_that_poses_as_a_merge_is_found(world: World) -> None:
    smuggled = world.on_main(("Bead", "two"))
    (wrong,) = world.verify().wrong
    assert "no record of it exists" in wrong.text and wrong.commit == smuggled.commit and wrong.bead == "two"
    assert world.verify().commits[0].word is Word.MISSING


def test_a_record_that_was_removed_is_found_twice(world: World) -> None:
    del world.entries[1]
    world.link()
    words = world.words()
    assert "no record of it exists" in words and "records were rewritten or removed" in words


def test_a_chain_that_was_removed_is_missed_since_main_speaks_of_it(world: World) -> None:
    world.entries = []
    words = world.words()
    assert words.count("no record of it exists") == 3 and words.count("records were rewritten or removed") == 2


def test_a_chain_that_was_written_again_is_not_the_one_that_main_names(world: World) -> None:
    other = world.record("one", world.line[3], world.line[2])
    other["runs"]["r"]["checks"][0]["seconds"] = 2.0
    first = world.entries.pop()
    world.keep(other, at=len(world.entries))
    assert first.message != world.entries[-1].message
    (wrong, another) = world.verify().wrong
    assert "records were rewritten or removed" in wrong.text and "records were rewritten" in another.text


def test_a_chain_that_breaks_off_is_told(world: World) -> None:
    end = world.entries.pop()
    assert f"the record {end.commit[:12]} is missing" in world.words()


def test_a_chain_that_is_not_one_line_is_told(world: World) -> None:
    first = world.entries[0]
    world.entries[0] = Entry(first.commit, (*first.parents, "x"), first.message, first.people)
    assert "chain of records branches" in world.words()


def test_two_records_of_one_commit_are_told(world: World) -> None:
    world.keep({**world.record("three", world.line[1], world.line[0]), "at": 5.0})
    assert "two records" in world.words()


def tampered(world: World, change: Any) -> str:
    """What is found when the last record says something else."""
    record = world.record("three", world.line[1], world.line[0])
    change(record)
    world.entries.pop(0)
    world.keep(record)
    return world.words()


def edit(*path: Any, value: Any) -> Any:
    def change(record: Any) -> None:
        for key in path[:-1]:
            record = record[key]
        if value is None:
            del record[path[-1]]
        else:
            record[path[-1]] = copy.deepcopy(value)

    return change


PLACES = [
    (edit("base", "tree", value="t9"), "base: the tree of c2 is t2, but the record says t9"),
    (edit("base", "commit", value="c1"), "builds on c1, but it does not"),
    (edit("candidate", value={"commit": "c2", "tree": "t2"}), "differs from the validated candidate"),
    (edit("merged", value={"commit": "c9", "tree": "t3"}), "is on main, but it is not"),
    (edit("commits", value=[{"commit": "c2", "tree": "t2"}]), "the record names is not the merge"),
    (edit("commits", value=[{"commit": "c8", "tree": "t8"}]), "c8 is not in this repository"),
    (edit("bead", "id", value="four"), "the record of this commit names another bead, four"),
    (edit("steps", 2, "tree", value="t9"), "the validation of the candidate belongs to another tree, t9"),
    (edit("steps", 0, "how", value="unknown"), "the branch: no run is recorded"),
    (edit("steps", 4, "run", value="q"), "main after the merge: no run is recorded"),
    (edit("steps", 4, value=None), "the recorded steps are validate, rebase, validate, merge, not"),
    (edit("runs", "r", "tree", value="t9"), "the recorded run checked the tree t9, not t3"),
    (edit("runs", "r", "contract", value="other"), "other checks than the record says"),
    (edit("contracts", value={}), "other checks than the record says"),
    (edit("runs", "r", "outcome", value="fail"), "the run did not pass (fail)"),
    (edit("runs", "r", "checks", 0, "outcome", value="not-run"), "the run did not pass (test: not-run)"),
    (edit("runs", "r", "checks", value=[]), "the run did not pass"),
    (edit("runs", value=None), "the record is incomplete"),
    (edit("base", value="c2"), "the record is incomplete"),
    (edit("runs", "r", value=7), "the record is incomplete"),
    (edit("runs", "r", "checks", 0, value={}), "the record is incomplete: 'outcome'"),
    (edit("steps", 2, value={"step": "validate"}), "the record is incomplete: "),
]


@pytest.mark.parametrize(("change", "words"), PLACES, ids=[words for _, words in PLACES])
def test_a_record_that_says_something_else_than_git_is_found(world: World, change: Any, words: str) -> None:
    assert words in tampered(world, change)


def test_a_branch_that_is_not_here_any_more_is_no_fault(world: World) -> None:
    assert tampered(world, edit("branch", "commit", value="gone")) == ""


def failed_afterwards(record: dict[str, Any]) -> None:
    run = copy.deepcopy(record["runs"]["r"])
    run["outcome"] = run["checks"][0]["outcome"] = "fail"
    record["runs"]["after"] = run
    record["steps"][4] |= {"how": "ran", "run": "after"}


def test_a_merge_that_failed_afterwards_is_right_when_it_was_taken_back(world: World) -> None:
    assert "main after the merge: the run did not pass (test: fail)" in tampered(world, failed_afterwards)
    world.revert("three", world.line[0])
    report = world.verify()
    assert report.wrong == () and [seen.word for seen in report.commits][:2] == [Word.REVERT, Word.TAKEN_BACK]


def test_what_failed_before_the_merge_is_not_made_right_by_a_revert(world: World) -> None:
    tampered(world, edit("runs", "r", "outcome", value="fail"))
    world.revert("three", world.line[0])
    assert "the candidate: the run did not pass" in world.words() and "after the merge" not in world.words()


def test_a_branch_may_fail_where_main_failed_too(world: World) -> None:
    def change(record: dict[str, Any]) -> None:
        run = copy.deepcopy(record["runs"]["r"])
        run["outcome"] = run["checks"][0]["outcome"] = "fail"
        record["runs"] |= {"branch": run, "fork": {**run, "tree": "t2"}}
        fork = {"of": "fork", "commit": "c2", "tree": "t2", "contract": KEY, "how": "ran", "run": "fork"}
        record["steps"][0] |= {"run": "branch", "main_was_red": fork}

    assert tampered(world, change) == ""
    record = world.entries[0].record
    record["runs"]["fork"]["outcome"] = "pass"
    world.entries.pop(0)
    world.keep(record)
    assert "the branch: the run did not pass (test: fail)" in world.words()


def test_a_run_of_the_batchs_tip_stands_for_those_before_it() -> None:
    world = World()
    base = world.tip
    one, two = world.on_main(("Bead", "one"), ("Evidence", NONE)), world.on_main(("Bead", "two"), ("Evidence", NONE))
    record = world.record("one", base, one)
    tip = {"commit": two.commit, "tree": two.tree}
    record["runs"]["tip"] = {**record["runs"]["r"], "tree": two.tree}
    for number in (2, 4):
        record["steps"][number] |= {"how": "stands_for", "run": "tip", "tip": tip}
    world.keep(record)
    world.keep(world.record("two", one, two))
    assert world.words() == ""
    record["steps"][2]["tip"] = {"commit": "elsewhere", "tree": two.tree}
    world.entries.pop()
    world.keep(record, at=1)
    assert "elsewhere" in world.words()


def test_commits_of_a_rebased_merge_have_a_record_together() -> None:
    world = World()
    base = world.tip
    made = [world.on_main(("Bead", "one"), ("Evidence", NONE)) for _ in range(3)]
    record = world.record("one", base, *made)
    world.keep(record)
    assert world.words() == "" and {seen.word for seen in world.verify().commits[:3]} == {Word.MERGED}
    record["commits"][0]["proof"] = {**record["steps"][2], "of": "commit", "tree": "t1", "how": "unknown"}
    world.entries.pop()
    world.keep(record)
    assert "a commit: no run is recorded" in world.words()


def test_only_what_was_asked_about_is_compared(world: World) -> None:
    tampered(world, edit("runs", "r", "outcome", value="fail"))
    assert world.verify(world.line[1]).wrong == () and world.verify(world.line[0]).wrong != ()


def test_a_record_that_came_after_that_of_a_later_merge_is_a_note_and_no_fault(world: World) -> None:
    """A kill between a merge and its record: a chain of before has them so, and is never written anew."""
    base, anchor = world.tip, world.entries[0].commit
    first = world.on_main(("Bead", "four"), ("Evidence", anchor))
    second = world.on_main(("Bead", "five"), ("Evidence", anchor))
    world.keep(world.record("five", first, second))
    world.keep(world.record("four", base, first))
    report = world.verify()
    assert report.wrong == ()
    (note,) = report.notes
    assert (note.commit, note.bead, note.evidence) == (first.commit, "four", world.entries[0].commit)
    assert f"later than that of {second.commit[:12]}" in note.text


def test_the_first_record_may_be_of_a_later_merge() -> None:
    world = World()
    base = world.tip
    first = world.on_main(("Bead", "one"), ("Evidence", NONE))
    second = world.on_main(("Bead", "two"), ("Evidence", NONE))
    world.keep(world.record("two", first, second))
    assert "no record of it exists" in world.words(), "one whose record is still missing is found"
    world.keep(world.record("one", base, first))
    report = world.verify()
    assert report.wrong == () and [note.bead for note in report.notes] == ["one"]
    smuggled = world.on_main(("Bead", "two"))
    assert [one.commit for one in world.verify().wrong] == [smuggled.commit]


def unknown_of(record: dict[str, Any]) -> dict[str, Any]:
    """The record as it is when nobody knows its runs."""
    steps = [{**one, "how": "unknown"} if one["step"] == "validate" else one for one in record["steps"]]
    for step in steps:
        step.pop("run", None)
    return {**record, "steps": steps, "runs": {}, "contracts": {}}


def test_a_record_that_was_added_later_says_what_is_unknown(world: World) -> None:
    base, anchor = world.tip, world.entries[0].commit
    made = world.on_main(("Bead", "four"), ("Evidence", anchor))
    record = unknown_of(world.record("four", base, made))
    world.keep({**record, "added_later": "the database was lost"})
    report = world.verify()
    assert report.wrong == ()
    (note,) = report.notes
    assert "added later: the database was lost" in note.text and "the validation of the candidate" in note.text
    world.entries.pop(0)
    world.keep(record)
    assert "no run is recorded" in world.words(), "a record of its own time may not say so"


def test_a_record_that_was_added_later_hides_no_failure(world: World) -> None:
    base, anchor = world.tip, world.entries[0].commit
    made = world.on_main(("Bead", "four"), ("Evidence", anchor))
    record = world.record("four", base, made)
    record["runs"]["r"]["outcome"] = record["runs"]["r"]["checks"][0]["outcome"] = "fail"
    world.keep({**record, "added_later": "the database was lost"})
    assert "the run did not pass" in world.words()


@pytest.mark.parametrize(
    ("approval", "wrong"),
    [
        ({"by": "You", "words": "approve: good", "content": "c0..c1"}, ""),
        ({"by": "You", "words": "approve", "content": "c0..c2"}, "the merge differs from what You approved"),
        (
            {"why": "the bead has the label merge-review"},
            "needed a person's approval (the bead has the label merge-review)",
        ),
        ({"by": "You", "words": "retry", "content": "c0..c1", "why": "w"}, "but none is recorded"),
    ],
)
def test_a_merge_that_a_person_had_to_approve_has_their_yes(approval: dict[str, str], wrong: str) -> None:
    world = World()
    base, made = world.tip, world.on_main(("Bead", "one"), ("Evidence", NONE))
    world.keep({**world.record("one", base, made), "approval": approval})
    assert (wrong in world.words()) if wrong else world.words() == ""
