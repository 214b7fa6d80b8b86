"""What of a pull request becomes an event, and what of it is shown."""

from dataclasses import replace

from nobrakes.events.kinds import Kind
from nobrakes.requests.model import (
    MAX_NEW_EVENTS,
    CheckState,
    HostCheck,
    PullRequest,
    PullState,
    ReviewComment,
    Seen,
    Told,
    auto_merge_key,
    happened,
    kept,
    merged,
    view,
)

PULL = PullRequest("one", PullState.OPEN, 7, "https://host/7", "Bead one", "task/bead-one", "a" * 40)
TOLD = Told(7, "https://host/7", PullState.OPEN, "a" * 40)
RED = HostCheck("build", CheckState.FAILED, says="no symbol")
LINE = ReviewComment("line 1", "ann", "Name it:\n```suggestion\nbetter\n```", "src/one", 3)
YES = ReviewComment("review 2", "bob", "", approves=True)


def kinds(pull: PullRequest, seen: Seen) -> tuple[PullRequest, list[Kind]]:
    now, found = happened(pull, seen)
    return now, [kind for kind, _ in found]


def test_each_thing_is_told_once_in_its_order() -> None:
    assert kinds(PULL, Seen(None)) == (PULL, [])
    now, found = kinds(PULL, Seen(TOLD))
    assert found == [Kind.PULL_OPENED] and kinds(now, Seen(TOLD))[1] == []
    seen = Seen(TOLD, (RED,), (), (LINE, YES))
    now, found = kinds(now, seen)
    assert found == [Kind.PULL_REVIEW_BEGAN, Kind.PULL_ISSUE_FOUND, Kind.PULL_ISSUE_FOUND, Kind.PULL_APPROVED]
    assert kinds(now, seen)[1] == []
    again = replace(now, head="b" * 40)  # the same check is red on new work
    assert kinds(again, Seen(replace(TOLD, head="b" * 40), (RED,)))[1] == [Kind.PULL_ISSUE_FOUND]
    over, found = merged(replace(now, merged_as="c" * 40))
    assert [kind for kind, _ in found] == [Kind.PULL_MERGED] and found[0][1]["merged_commit"] == "c" * 40
    assert merged(over)[1] == []
    _, found = merged(replace(PULL, merged_as="c" * 40))
    assert [kind for kind, _ in found] == [Kind.PULL_OPENED, Kind.PULL_MERGED], "nobody had looked before"


def test_an_issue_has_its_place_and_what_it_wants() -> None:
    _, found = happened(PULL, Seen(TOLD, (RED,), (), (LINE,)))
    check, remark = (dict(data) for kind, data in found if kind is Kind.PULL_ISSUE_FOUND)
    assert (check["check"], check["issue"], check["severity"], check["pr_number"]) == ("build", "no symbol", "error", 7)
    assert (remark["by"], remark["file"], remark["line"], remark["suggestion"]) == ("ann", "src/one", 3, "better")


def test_what_others_wrote_is_cleaned_and_bounded() -> None:
    evil = "IGNORE ALL \x1b[2J\u202e <script>" + "x" * 1_000_000
    many = tuple(ReviewComment(f"line {n}", evil, evil, evil, 1) for n in range(200))
    seen = Seen(TOLD, (replace(RED, name=evil, says=evil, url=evil),), (), many)
    now, found = happened(kept(PULL, seen), seen)
    assert len(found) == MAX_NEW_EVENTS and len(happened(now, seen)[1]) == MAX_NEW_EVENTS, (
        "the rest comes with the next look"
    )
    whole = repr((now.checks, now.remarks, now.approved_by, found))
    assert "\x1b" not in whole and "\\x1b" not in whole and "\\u202e" not in whole and len(whole) < 500_000


def test_a_page_is_an_address_of_the_web_alone() -> None:
    for url in (
        "javascript:alert(1)",
        "../remote.git",
        "file:///etc/passwd",
        " https://x",
        "HTTPS:x",
        "data:text/html,x",
    ):
        assert view(replace(PULL, url=url)).page == "" and view(replace(PULL, url=url)).url == url
    assert view(PULL).page == "https://host/7" and view(PULL).name == "#7"


def test_that_the_host_merges_it_by_itself_is_kept_for_each_commit() -> None:
    pull = PullRequest("one", head="a" * 40)
    now = kept(pull, Seen(replace(TOLD, auto_merge=True)))
    assert auto_merge_key(pull.head) in now.told
    assert kept(now, Seen(replace(TOLD, auto_merge=True))).told == now.told
    assert (
        kept(pull, Seen(TOLD)).told
        == ()
        == kept(replace(pull, head="b" * 40), Seen(replace(TOLD, auto_merge=True))).told
    )
