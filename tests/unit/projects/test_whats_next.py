"""whats-next over a history of three sprints: silent as it is, and each contradiction named, singly and in pairs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import pytest

from nobrakes.projects.sprints import Contradiction as C
from nobrakes.projects.sprints import whats_next


@dataclass
class History:
    """A project whose three sprints are done and reviewed."""

    files: dict[str, str] = field(default_factory=dict)
    subjects: list[str] = field(default_factory=list)
    there: set[str] = field(default_factory=set)

    def found(self) -> list[C]:
        return [one.kind for one in whats_next(self.files, self.subjects, self.there.__contains__)]


@pytest.fixture
def history() -> History:
    made = History()
    made.files["CLAUDE.md"] = (
        "# Tea\n## Success Criteria\n- [x] Orders\n- [X] Docs\n```\n- [ ] an example\n```\n## More\n- [ ] no\n"
    )
    made.files["task.md"] = "# Task\n**Status:** complete\n"
    made.files["docs/ROADMAP.md"] = "- [x] Orders\n- [ ] Refunds for orders\n- [x] Docs\n"
    made.files["DECISIONS.md"] = "# Decisions\n## 2026-01-02: Keep orders in SQLite\nWhy\n### D2: One table\n"
    for number in (1, 2, 3):
        folder = f"docs/sprints/s{number}-work"
        tasks = f"## Tasks\n1. [x] Write `src/{number}.py`\n- [x] Talk about it\n- [ ] Later {number}\n## Criteria\n- [ ] green\n"
        made.files[f"{folder}/plan.md"] = f"# Plan\n{tasks}\nWe keep orders in SQLite. See D2.\n"
        made.files[f"{folder}/review.md"] = f"# Review\n## Not done\n- Later {number}\n"
        made.there.add(f"src/{number}.py")
    made.subjects = [
        "Done: Docs",
        'Revert "Done: Refunds for orders"',
        "Done: Refunds for orders",
        "done Orders",
        "Begin",
    ]
    return made


def tasks_left(it: History) -> None:
    it.there.discard("src/2.py")


def decision(it: History) -> None:
    it.files["DECISIONS.md"] += "## D3: Sell coffee, too\n"


def roadmap(it: History) -> None:
    it.subjects.insert(0, "Finished refunds for orders, with tests")


def review(it: History) -> None:
    path = "docs/sprints/s3-work/"
    del it.files[path + "review.md"]
    it.files[path + "plan.md"] = it.files[path + "plan.md"].replace("- [ ] Later 3\n", "")


def complete(it: History) -> None:
    it.files["CLAUDE.md"] = it.files["CLAUDE.md"].replace("[X] Docs", "[ ] Docs")


PLANTS: dict[C, Callable[[History], None]] = {
    C.TASKS_LEFT: tasks_left,
    C.DECISION_NOT_IN_PLAN: decision,
    C.ROADMAP_BEHIND: roadmap,
    C.REVIEW_MISSING: review,
    C.NOT_COMPLETE: complete,
}


def test_a_history_that_fits_together_is_silent(history: History) -> None:
    assert history.found() == []


@pytest.mark.parametrize("kinds", [*combinations(PLANTS, 1), *combinations(PLANTS, 2), tuple(PLANTS)])
def test_what_is_planted_is_named_and_nothing_else(history: History, kinds: tuple[C, ...]) -> None:
    for kind in kinds:
        PLANTS[kind](history)
    assert history.found() == list(kinds)


def test_a_sprint_under_way_has_tasks_left_and_needs_no_review_yet(history: History) -> None:
    history.files["task.md"] = "**Status:** executing\n"
    history.files["docs/sprints/s4-more/plan.md"] = "- [x] Made `src/1.py`\n- [ ] Then `src/4.py`\n- [ ] And talk\n"
    assert history.found() == [C.TASKS_LEFT]
    history.there.add("src/4.py")
    history.files["docs/sprints/s4-more/plan.md"] = "- [x] Made `src/1.py`\n- [ ] Then `src/4.py`\n"
    assert history.found() == [C.REVIEW_MISSING], "its tasks are there: it is to be closed"


@pytest.mark.parametrize(
    ("subjects", "is_behind"),
    [
        (['Revert "Revert "Done: Teapots""', 'Revert "Done: Teapots"', "Done: Teapots"], True),
        (['Reapply "Done: Teapots"', 'Revert "Done: Teapots"', "Done: Teapots"], True),
        (
            ['Revert "Reapply "Done: Teapots""', 'Reapply "Done: Teapots"', 'Revert "Done: Teapots"', "Done: Teapots"],
            False,
        ),
        (["Not done: teapots"], False),
        (["The cups: not yet finished, teapots"], False),
        (["It isn't done: teapots"], False),
        (["Done: cups. Not done: teapots"], False),
        (["Not done: cups. Done: teapots"], True),
        (["Done: finish the teapots"], True),
    ],
)
def test_what_a_commit_says_last_counts_and_what_it_says_is_not_done_does_not(
    history: History, subjects: list[str], is_behind: bool
) -> None:
    history.files["docs/ROADMAP.md"] += "- [ ] Teapots\n"
    history.subjects = subjects + history.subjects
    assert history.found() == ([C.ROADMAP_BEHIND] if is_behind else [])


def test_headings_inside_a_decision_are_none_and_words_are_compared_whole(history: History) -> None:
    history.files["DECISIONS.md"] += "### Why not\n#### In numbers\n### D2: One table\n"
    assert history.found() == []
    history.files["DECISIONS.md"] += "### D7: Two tables\n"
    assert history.found() == [C.DECISION_NOT_IN_PLAN], "one with a number is a decision on any level"
    history.files["docs/sprints/s3-work/plan.md"] += "See D7.\n"
    history.files["docs/sprints/s3-work/plan.md"] = history.files["docs/sprints/s3-work/plan.md"].replace(
        "## Criteria", "- [ ] at\n## Criteria"
    )
    assert history.found() == [C.TASKS_LEFT], "'at' is not told by the 'at' in 'Later'"


@pytest.mark.parametrize("text", ["", "\0\0", "# " * 10_000, "- [ ] " * 5000, "```\n" * 99, "**Status:** nonsense"])
def test_whatever_stands_in_the_documents_is_read(text: str) -> None:
    names = (
        "CLAUDE.md",
        "task.md",
        "DECISIONS.md",
        "docs/ROADMAP.md",
        "docs/sprints/s1-a/plan.md",
        "docs/sprints/x/plan.md",
    )
    whats_next(dict.fromkeys(names, text), [text], lambda path: False)
