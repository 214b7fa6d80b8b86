"""What is remembered of a run, so that evidence can name it."""

from types import SimpleNamespace

from nobrakes.checks.contract import CheckOutcome, CheckResult, TestCounts
from nobrakes.checks.worker.steps import KEPT, clean, row, with_proof, without_secrets

DOORS = SimpleNamespace(
    credentials={"OUR_API_KEY": "correct horse battery", "HOME": "/home/you"}, environment={"LANG": "C"}
)


def test_secrets_are_blacked_out_by_value_and_by_shape() -> None:
    text = "key correct horse battery\n" + "sk-" + "a" * 30 + "\n/home/you C \udc80"
    assert clean(DOORS, text) == "key [secret]\n[secret]\n/home/you C ?"


def test_a_secret_across_the_cut_is_blacked_out_whole() -> None:
    secret = "ghp_" + "a" * 40
    result = CheckResult("test", CheckOutcome.PASS, "it passed", 0, 1.0, TestCounts(1, 0, 0), secret + "x" * 980)
    result = without_secrets(DOORS, result)
    assert row(DOORS, result)["excerpt"].strip("x") in ("", "[secret]", "cret]")
    assert row(DOORS, result)["counts"] == {"passed": 1, "failed": 0, "skipped": 0}


def test_the_latest_runs_are_remembered_and_each_once() -> None:
    known: dict = {}
    for number in [*range(KEPT + 2), KEPT + 1]:
        known = {"runs": with_proof(known, {"run": f"7-check{number}"})}
    assert [one["run"] for one in known["runs"]] == [f"7-check{number}" for number in range(2, KEPT + 2)]
    assert with_proof({"results": []}, {"run": "1"}) == [{"run": "1"}], "what an earlier version saved names no run"
