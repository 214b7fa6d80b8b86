"""Claims beside commits, and what an agent does next: the same facts, the same words."""

import pytest

from nobrakes.beads.progress import doubt, whats_next
from nobrakes.daemon.service.status import Claim, spoken
from nobrakes.walking import commits_since


@pytest.mark.parametrize(("step", "commits"), [(3, 2), (5, 5), (2, 0), (1, 9), (None, 0), (9, None)])
def test_a_claim_that_the_commits_bear_out_is_not_doubted(step, commits):
    assert doubt(step, commits) == ""


@pytest.mark.parametrize(("step", "commits"), [(5, 1), (3, 0), (9, 2)])
def test_a_claim_far_before_the_commits_is_doubted(step, commits):
    assert f"step {step} is reported with only {commits} commit" in doubt(step, commits)


def test_both_tracks_are_told_on_one_line():
    assert spoken(Claim("parses", 2, 5), 1) == "step 2 of 5, 1 commit, parses"
    assert spoken(Claim("parses"), None) == "parses"


@pytest.mark.parametrize(
    ("facts", "first"),
    [
        ({"criteria": 3, "commits": 0}, "Take the first step, of 3 acceptance criteria"),
        ({"needs_plan": True, "commits": 0}, "The bead asks for an approved plan"),
        ({"needs_plan": True, "plan_waits": 4, "commits": 0}, "Plan 4 waits"),
        ({"questions": (2, 3), "commits": 1}, "Question 2, 3 is open"),
        ({"step": 5, "of": 6, "commits": 1}, "Commit what you have"),
        ({"step": 2, "of": 6, "commits": 2}, "Go on with step 3 of 6"),
        ({"step": 6, "of": 6, "commits": 5}, "Compare each acceptance criterion"),
        ({"commits": 4}, "Compare each acceptance criterion"),
        ({"said": "completed", "commits": 2}, "You reported the work as completed: end"),
        ({"said": "blocked", "questions": (1,), "commits": 0}, "You reported the work as blocked: end"),
        ({"said": "completed", "step": 2, "of": 5, "commits": 2}, "You reported the work as completed at step 2 of 5"),
        ({"said": "completed", "commits": 0}, "You reported the work as completed, but there is no commit"),
    ],
)
def test_the_first_thing_to_do(facts, first):
    assert whats_next(**facts)[0].startswith(first)
    assert whats_next(**facts) == whats_next(**facts)


def log_of(clone, *lines):
    (clone / ".git" / "logs").mkdir(parents=True)
    (clone / ".git" / "logs" / "HEAD").write_text(
        "".join(f"{'0' * 40} {'1' * 40} Ada <a@b> {line}\n" for line in lines)
    )


def test_commits_are_counted_from_the_clones_own_log(tmp_path):
    log_of(
        tmp_path,
        "50 +0000\tcommit: of an earlier attempt",
        "100 +0000\tcheckout: moving from a to b",
        "101 +0000\tcommit: one",
        "102 +0000\tcommit (amend): one",
        "103 +0000\tcommit (merge): two",
        "+0000\tcommit: with no time",
        "x +0000\tcommit: at no time",
    )
    assert commits_since(str(tmp_path), 100.5) == 2


def test_a_log_that_is_none_counts_nothing(tmp_path):
    assert commits_since(str(tmp_path), 0) is None
    (tmp_path / ".git" / "logs").mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("1 1 A <a> 5 +0000\tcommit: x\n")
    (tmp_path / ".git" / "logs" / "HEAD").symlink_to(tmp_path / "elsewhere")
    assert commits_since(str(tmp_path), 0) is None
