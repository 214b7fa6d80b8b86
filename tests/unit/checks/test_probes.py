"""Which files a validation may alter, how often, and what becomes of what the runner said."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nobrakes.checks.contract import Check, CheckOutcome, CheckResult
from nobrakes.checks.worker.steps import NO_PLAN, MutationProbes, as_text, parse_planned
from nobrakes.git.port import ABSENT, Change
from nobrakes.host.port import Ending, StepEnd
from nobrakes.ports import Ports

TEST = "def test_a():\n    assert f() == 1\n"
FILES = {"tests/test_old.py": TEST, "tests/test_new.py": TEST, "tests/test_empty.py": "", "shop/cart.py": "x = 1\n"}
CHECK = Check("test", "python3 -m pytest -q", format="pytest")
PASSED = CheckResult("test", CheckOutcome.PASS, "it passed", 0, 1.0)


def probes(changed: tuple[str, ...] = (), said: str = "", kept: str = "", is_on: bool = True) -> MutationProbes:
    """Those of a repository whose main is `main`; `said`: the run's output, `kept`: the step's plan."""
    git = SimpleNamespace(
        main=lambda: "main",
        changes=lambda _, commit: [Change(path, ABSENT, "100644") for path in changed] if commit != "main" else [],
        paths=lambda _: frozenset(FILES),
        read=lambda _, path: FILES[path].encode(),
        lent=lambda: ("/repository/.git/objects",),
        content=lambda base, commit: f"what {commit} changes",
    )
    records: dict[tuple[str, str], Any] = {}
    store = SimpleNamespace(
        validation=lambda *key: records.get(key), save_validation=lambda *row: records.update({row[:2]: row[2]})
    )
    ports = SimpleNamespace(
        git=git,
        store=store,
        config=lambda: SimpleNamespace(review=SimpleNamespace(mutation_probes=is_on)),
        processes=SimpleNamespace(output=lambda path, _: kept if path.endswith(".plan") else said),
    )
    return MutationProbes(cast(Ports, ports))


def judged(found: MutationProbes, **how: Any) -> CheckResult:
    """What becomes of a check that passed, whose step with an altered test was started."""
    end = StepEnd("test@probe", True, 1, 2.0, "out")
    return found.judged(PASSED, CHECK, Ending((end,)), "top", "/runs/run", **how)


PLAN = json.dumps([["tests/test_new.py", "test_a"]])
FAILED = "FAILED tests/test_new.py::test_a - assert 1 == 2\n1 failed, 1 passed in 0.1s\n"


def test_own_tests_come_first_and_else_any_that_can_be_altered() -> None:
    assert probes(("tests/test_new.py", "shop/cart.py")).plan("work", [CHECK])[0] == {"test": ["tests/test_new.py"]}
    (drawn,) = probes(("shop/cart.py",)).plan("work", [CHECK])[0].values()
    assert sorted(drawn) == ["tests/test_new.py", "tests/test_old.py"]


def test_without_the_setting_or_a_count_nothing_is_altered() -> None:
    assert probes(is_on=False).plan("work", [CHECK]) == NO_PLAN
    assert probes().plan("work", [Check("test", "x", format="exit"), Check("lint", "x", kind="lint")]) == NO_PLAN


def test_a_bead_has_one_extra_run_of_a_check_until_its_change_is_another_one() -> None:
    found = probes(("tests/test_new.py",), FAILED, PLAN)
    plan, change = found.plan("work", [CHECK], "base", "contract")
    assert plan and change
    found.record(change, "contract", [judged(found)])
    known = MutationProbes(found.ports).recorded(change, "contract")
    assert known == {"test": "seen tests/test_new.py::test_a"}, "also by a process that was started later"
    assert found.plan("work", [CHECK], "base", "contract") == ({}, change)
    again = found.judged(PASSED, CHECK, Ending(()), "top", "/runs/run-2", known)
    assert again.decoy == "seen tests/test_new.py::test_a"
    assert (
        found.plan("work", [CHECK], "base", "other checks")[0] and found.plan("edited", [CHECK], "base", "contract")[0]
    )


@pytest.mark.parametrize(("base", "commit"), [("base", "main"), ("same", "same"), ("", "work")])
def test_of_main_and_of_what_a_review_stands_on_nothing_is_recorded(base: str, commit: str) -> None:
    plan, change = probes().plan(commit, [CHECK], base, "contract")
    assert plan and change == ""


def test_what_was_not_reported_is_not_recorded() -> None:
    found = probes(said="2 passed in 0.1s", kept=PLAN)
    found.record("change", "contract", [judged(found)])
    assert found.recorded("change", "contract") == {}


@pytest.mark.parametrize(
    ("said", "kept", "word"),
    [
        (FAILED, PLAN, "seen tests/test_new.py::test_a"),
        ("2 passed in 0.1s", PLAN, "unseen tests/test_new.py::test_a"),
        (FAILED.replace("1 failed", "FAILED tests/test_old.py::test_a2\n2 failed"), PLAN, "unseen tests/test_new.py::test_a"),
        ("", "", "unseen a test"),
        ("", "[]", ""),
    ],
)  # fmt: skip
def test_what_becomes_of_it(said: str, kept: str, word: str) -> None:
    assert judged(probes(said=said, kept=kept)).decoy == word


def test_a_test_that_a_person_lets_fail_is_no_objection() -> None:
    said = FAILED.replace("1 failed", "FAILED tests/test_old.py::test_b\n2 failed")
    assert judged(probes(said=said, kept=PLAN), exempt=["tests/test_old.py::test_b"]).decoy.startswith("seen")


def test_the_plan_that_lies_beside_a_run_tells_of_no_test() -> None:
    text = as_text(({"test": ["tests/test_new.py"]}, "change"))
    assert "test_new" not in text and parse_planned(text) == ({"test": ()}, "change") and parse_planned("") == ({}, "")
    assert parse_planned('["test"]') == ({"test": ()}, ""), "as it was written before"


def test_the_step_has_the_command_of_the_check() -> None:
    found = probes()
    (step,) = found.steps([CHECK], {"test": ["tests/test_new.py"]}, "work", "/runs/run", lambda argv: ("wall", *argv))
    words = json.loads(step.argv[-1])
    assert words["run"] == ["wall", "sh", "-c", CHECK.command] and step.when_passed == ("test",)
