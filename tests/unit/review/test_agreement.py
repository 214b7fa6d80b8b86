"""What `status` and `doctor` say of main and the database: it costs the same questions with 10,000 done beads."""

from collections.abc import Collection, Iterator

import pytest

from nobrakes.beads.model import Bead, Status
from nobrakes.config.settings import Config
from nobrakes.daemon.model import COMPARED
from nobrakes.git.port import Made
from nobrakes.review.service.landed import off_main_message, unknown
from nobrakes.store import Store

MANY = 10_000


def commit_of(number: int) -> str:
    return f"{number:040x}"


class CountedGit:
    """A main that carries a merge of each bead; it counts what it is asked."""

    def __init__(self, carried: int) -> None:
        self.carried = carried
        self.asked: list[str] = []

    def main(self) -> str:
        return commit_of(self.carried)

    def has(self, commit: str) -> bool:
        return True

    def contains(self, commit: str, tip: str) -> bool:
        return int(commit, 16) <= int(tip, 16)

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        self.asked.append(f"off main: {len(commits)}")
        return frozenset(commit for commit in commits if int(commit, 16) > self.carried)

    def merged(self, since: str | None = None) -> dict[str, str]:
        self.asked.append("merged")
        return {f"b{number}": commit_of(number) for number in range(int(since or "0", 16) + 1, self.carried + 1)}

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        self.asked.append("line")
        first = int(since or "0", 16)
        return tuple(self.made(number) for number in range(self.carried, first, -1))

    def made(self, number: int) -> Made:
        trailers = (("Bead", f"b{number}"), ("Evidence", "none"))
        return Made(commit_of(number), "", (commit_of(number - 1),), "", "", trailers, at=float(2**40))

    def evidence(self) -> Iterator[object]:
        return iter(())


class Narrow(Store):
    """A store of which nobody may read all the done beads whole."""

    def beads(self, statuses=(), ids=()):  # type: ignore[no-untyped-def]
        found = super().beads(statuses, ids)
        assert len(found) < 100, "texts of done beads are not needed"
        return found


@pytest.fixture
def store() -> Iterator[Store]:
    made = Narrow(":memory:", create=True)
    with made.write():
        made.put(
            [
                Bead(f"b{number}", "done", status=Status.DONE, merged_commit=commit_of(number))
                for number in range(1, MANY + 1)
            ],
            [],
            "a test",
        )
    yield made
    made.close()


@pytest.mark.slow
def test_where_both_agree_git_is_asked_once_about_all_beads(store: Store) -> None:
    git = CountedGit(MANY)
    assert off_main_message(store, git, Config()) == "" and git.asked == [f"off main: {MANY}"]
    git.asked.clear()
    assert unknown(store, git) == [] and git.asked == ["merged"]


@pytest.mark.slow
def test_both_disagreements_are_told_and_bounded(store: Store) -> None:
    git = CountedGit(MANY - 2)
    text = off_main_message(store, git, Config())
    assert f"b{MANY} ({commit_of(MANY)[:12]})" in text and f"b{MANY - 1} (" in text and f"b{MANY - 2} (" not in text
    store.put([Bead(f"b{number}", "open", status=Status.NEEDS_DOER) for number in range(MANY + 1, MANY + 51)], [], "a")
    ahead = CountedGit(MANY + 50)
    told = unknown(store, ahead)
    assert len(told) == 21 and "b10001 is on main as" in told[0] and told[-1].startswith("and 30 more")
    store.set_setting(COMPARED, commit_of(MANY + 49))
    assert [text.split()[0] for text in unknown(store, ahead)] == ["b10050"], "what was compared is not read again"
    store.set_setting(COMPARED, ahead.main())
    assert unknown(store, ahead) == []
