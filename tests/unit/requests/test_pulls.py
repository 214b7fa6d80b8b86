"""What follows from what a code host says, and the text of a request."""

from dataclasses import replace

from nobrakes.beads.model import Bead
from nobrakes.requests import model
from nobrakes.requests.model import CheckState, HostCheck, PullRequest, PullState, ReviewComment, Seen, Told, Turn, turn

PULL = PullRequest("one", PullState.OPEN, 7, "https://host/7", "Bead one", "task/bead-one", "a" * 40)
GREEN, RED, RUNS = (HostCheck(state.value, state) for state in CheckState)


def told(state: PullState = PullState.OPEN, head: str = "a" * 40, conflicts: bool = False) -> Told:
    return Told(7, "https://host/7", state, head, "m" * 40, conflicts)


def test_what_the_host_says_is_merged_or_closed_goes_before_all_else() -> None:
    red, said = (RED,), (ReviewComment("1", "ann", "no"),)
    assert turn(Seen(told(PullState.MERGED, head="b" * 40), red, (), said), PULL) is Turn.MERGED
    assert turn(Seen(told(PullState.CLOSED, conflicts=True), red, (), said), PULL) is Turn.CLOSED
    assert turn(Seen(None), PULL) is Turn.WAIT


def test_a_red_check_counts_once_nothing_runs_any_more_and_on_our_own_commit() -> None:
    assert turn(Seen(told(), (GREEN, RED)), PULL) is Turn.RED
    assert turn(Seen(told(), (RED, RUNS)), PULL) is Turn.WAIT
    assert turn(Seen(told(head="b" * 40), (RED,)), PULL) is Turn.WAIT
    assert turn(Seen(told(conflicts=True), (GREEN,)), PULL) is Turn.CONFLICTS


def test_a_review_comment_is_told_once_with_its_place_and_cleaned() -> None:
    remark = ReviewComment("line 1", "ann", "rename\x1b[2J it", "src/one", 3)
    assert turn(Seen(told(), remarks=(remark,)), PULL) is Turn.REMARKS
    log = model.log_of_comments(Seen(told(), remarks=(remark,)), PULL)
    assert "ann, src/one:3: rename" in log and "\x1b" not in log
    heard = PullRequest("one", PullState.OPEN, 7, head="a" * 40, heard=("line 1",))
    assert turn(Seen(told(), remarks=(remark,)), heard) is Turn.WAIT
    many = tuple(ReviewComment(f"line {n}", "ann", "x" * 1_000_000) for n in range(100))
    assert len(model.log_of_comments(Seen(told(), remarks=many), PULL)) < 150_000


def test_what_it_waits_for_is_said() -> None:
    assert model.waits_for(Seen(told()), PULL) == "pull request #7 (https://host/7) is waiting for people to merge it"
    assert "is waiting for its checks: running" in model.waits_for(Seen(told(), (RUNS,)), PULL)
    assert "commits that nobrakes did not push" in model.waits_for(Seen(told(head="b" * 40)), PULL)
    assert model.waits_for(Seen(told(), trouble="no"), PULL) == "no"


def test_the_text_is_the_same_for_the_same_records_and_mentions_nobody() -> None:
    bead = Bead(
        "one", "Say\nhello", description="Ask @ann.\n<!-- nobrakes request: two -->", acceptance=("it says so",)
    )
    line = model.mark("one")
    own = (("Tests pass", "automated"), ("it says so", "review"), ("Try it", "manual"))
    facts = model.Facts(
        bead, "b" * 40, "main", "a" * 40, checks=({"name": "test", "command": "sh `x`"},), before=1, after=2,
        attempts=3, criteria=own, epic=("e", "Epic"), needs=(("zero", "Zero"),), files=("src/one",),
        template="## Checklist\n<!-- nobrakes request: three -->",
    )  # fmt: skip
    body = model.body(facts, line)
    assert body == model.body(facts, line) and model.title(bead) == "Say hello"
    assert [one for one in body.splitlines() if one.startswith("<!-- nobrakes")] == [line]
    assert (
        "@ann" not in body
        and "- [ ] Try it (for a person to try)" in body
        and "1 before, 2 after" in body
        and "## Checklist" in body
    )
    assert "- [x] Tests pass (checked)" in body and "- [ ] it says so (for a person to read)" in body
    assert [body.count(text) for text, _ in own] == [1, 1, 1], "each is listed once"
    read = model.body(replace(facts, read=({"findings": (), "outcome": "done", "round": 1, "cost_usd": 0},)), line)
    assert "- [x] it says so (read by an agent)" in read
    assert "Done by" not in body and "Cost" not in body and "- after zero: Zero" in body and "- in e: Epic" in body


def test_a_long_text_is_bounded_and_keeps_its_mark() -> None:
    bead = Bead("one", "t" * 500, description="d" * 1_000_000)
    body = model.body(model.Facts(bead, "b" * 40, "main", "a" * 40, template="x" * 1_000_000), model.mark("one"))
    assert len(body) < 61_000 and body.rstrip().endswith(model.mark("one")) and len(model.title(bead)) <= 200
