"""Which files a validation may alter, how often, and what becomes of what the runner said."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nobrakes.checks.contract import Check, CheckOutcome, CheckResult
from nobrakes.checks.worker.steps import NO_PLAN, Group, MutationProbes, as_text, parse_planned, unnoticed
from nobrakes.checks.worker.validation import as_json
from nobrakes.git.port import ABSENT, Change
from nobrakes.host.port import Ending, StepEnd
from nobrakes.ports import Ports

TEST = "def test_a():\n    assert f() == 1\n"
FILES = {"tests/test_old.py": TEST, "tests/test_new.py": TEST, "tests/test_empty.py": "", "shop/cart.py": "x = 1\n"}
CHECK = Check("test", "python3 -m pytest -q", format="pytest")
PASSED = CheckResult("test", CheckOutcome.PASS, "it passed", 0, 1.0)


def probes(
    changed: tuple[str, ...] = (), said: str = "", kept: str = "", is_on: bool = True, **others: tuple[str, ...]
) -> MutationProbes:
    """Those of a repository whose main is `main`; `said`: the run's output, `kept`: the step's plan, `others`: what other
    commits change."""
    git = SimpleNamespace(
        main=lambda: "main",
        changes=lambda _, commit: [
            Change(path, ABSENT, "100644") for path in (others.get(commit, changed) if commit != "main" else ())
        ],
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
    plan = probes(("tests/test_new.py", "shop/cart.py")).plan("work", [CHECK])[0]
    assert plan == {"test": [Group((("work", ""),), ("tests/test_new.py",))]}
    (((drawn),),) = probes(("shop/cart.py",)).plan("work", [CHECK])[0].values()
    assert sorted(drawn.paths) == ["tests/test_new.py", "tests/test_old.py"]


def test_each_change_of_a_batch_has_tests_of_its_own_altered_and_the_others_share_any() -> None:
    found = probes(one=("tests/test_new.py",), two=("shop/cart.py",), three=("shop/cart.py",))
    plan, change = found.plan("three", [CHECK], ["two", "one", "main"], "contract")
    pairs = {commit: (commit, f"what {commit} changes") for commit in ("one", "two", "three")}
    own, rest = Group((pairs["one"],), ("tests/test_new.py",)), (pairs["two"], pairs["three"])
    assert plan == {"test": [own, Group(rest, ("tests/test_old.py",))]} and change == "what three changes"
    found.record({"test": [own]}, "contract", [replace(PASSED, decoy="seen x")])
    (left,) = found.plan("three", [CHECK], ["two", "one", "main"], "contract")[0]["test"]
    assert left.changes == rest, "what was seen of a change is not repeated with others"
    assert found.plan("one", [CHECK], ["one", "main"], "contract")[0] == {}, "also where others stand on it"


def test_a_file_is_the_last_ones_that_changed_it_and_without_others_its_tests_speak_for_all() -> None:
    every = tuple(FILES)
    found = probes(one=("tests/test_new.py",), two=every)
    (group,) = found.plan("two", [CHECK], ["one", "main"])[0]["test"]
    assert [commit for commit, _ in group.changes] == ["two", "one"]


GROUPS = [Group((("one", "1"),)), Group((("two", "2"), ("three", "3")))]


@pytest.mark.parametrize(
    ("said", "word", "missed"),
    [
        ("FAILED t.py::test_a\nFAILED t.py::test_c\n2 failed", "seen t.py::test_a, t.py::test_b, t.py::test_c", ()),
        ("FAILED t.py::test_b\n1 failed", "unseen t.py::test_c", ("two", "three")),
        ("FAILED t.py::test_c\n1 failed", "unseen t.py::test_a, t.py::test_b", ("one",)),
        ("FAILED t.py::test_b\nFAILED t.py::test_c\nFAILED t.py::test_d\n3 failed", "unseen t.py::test_a, t.py::test_b, t.py::test_c", ("one", "two", "three")),
        ("3 passed", "unseen t.py::test_a, t.py::test_b, t.py::test_c", ("one", "two", "three")),
    ],
)  # fmt: skip
def test_of_each_change_an_altered_test_has_to_be_seen(said: str, word: str, missed: tuple[str, ...]) -> None:
    rows = [["t.py", "test_a", 0], ["t.py", "test_b", 0], ["t.py", "test_c", 1]]
    found = probes(said=f"{said}, 1 passed in 0.1s", kept=json.dumps(rows))
    result = judged(found, groups=GROUPS, recorded={"test": "seen before"})
    assert (result.decoy, result.missed) == (word, missed)
    found.record({"test": GROUPS}, "contract", [result])
    seen = [commit for group in GROUPS for commit, change in group.changes if found.recorded(change, "contract")]
    assert seen == [commit for commit in ("one", "two", "three") if commit not in missed]
    assert unnoticed({"results": as_json([result])}) == (
        [("test", word.removeprefix("unseen "), frozenset(missed))] if missed else []
    )


def test_a_group_of_which_nothing_was_altered_is_not_seen() -> None:
    found = probes(said=FAILED, kept=json.dumps([["tests/test_new.py", "test_a", 0]]))
    assert judged(found, groups=GROUPS).missed == ("two", "three")
    never = found.judged(PASSED, CHECK, Ending(()), "top", "/runs/run", {"test": "seen before"}, (), GROUPS)
    assert never.decoy == "", "what was seen of the last change says nothing of the others"


def test_without_the_setting_or_a_count_nothing_is_altered() -> None:
    assert probes(is_on=False).plan("work", [CHECK]) == NO_PLAN
    assert probes().plan("work", [Check("test", "x", format="exit"), Check("lint", "x", kind="lint")]) == NO_PLAN


def test_a_bead_has_one_extra_run_of_a_check_until_its_change_is_another_one() -> None:
    found = probes(("tests/test_new.py",), FAILED, PLAN)
    plan, change = found.plan("work", [CHECK], ["base"], "contract")
    assert plan and change
    found.record(plan, "contract", [judged(found)])
    known = MutationProbes(found.ports).recorded(change, "contract")
    assert known == {"test": "seen tests/test_new.py::test_a"}, "also by a process that was started later"
    assert found.plan("work", [CHECK], ["base"], "contract") == ({}, change)
    again = found.judged(PASSED, CHECK, Ending(()), "top", "/runs/run-2", known)
    assert again.decoy == "seen tests/test_new.py::test_a"
    assert (
        found.plan("work", [CHECK], ["base"], "other checks")[0]
        and found.plan("edited", [CHECK], ["base"], "contract")[0]
    )


@pytest.mark.parametrize(("base", "commit"), [("base", "main"), ("same", "same"), ("", "work")])
def test_of_main_and_of_what_a_review_stands_on_nothing_is_recorded(base: str, commit: str) -> None:
    plan, change = probes().plan(commit, [CHECK], [base] if base else (), "contract")
    assert plan and change == ""


def test_what_was_not_reported_is_not_recorded() -> None:
    found = probes(said="2 passed in 0.1s", kept=PLAN)
    found.record({"test": [Group((("work", "change"),))]}, "contract", [judged(found)])
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
    text = as_text(({"test": [Group((("work", "change"),), ("tests/test_new.py",))]}, "change"))
    assert "test_new" not in text and parse_planned("") == ({}, "")
    assert parse_planned(text) == ({"test": (Group((("work", "change"),)),)}, "change")
    assert parse_planned('["test"]') == ({"test": (Group(),)}, ""), "as it was written before"
    assert parse_planned('[["test"], "change"]') == ({"test": (Group((("", "change"),)),)}, "change")


def test_the_step_has_the_command_of_the_check() -> None:
    found = probes()
    (step,) = found.steps(
        [CHECK], {"test": [Group((), ("tests/test_new.py",))]}, "work", "/runs/run", lambda argv: ("wall", *argv)
    )
    words = json.loads(step.argv[-1])
    assert words["groups"] == [["tests/test_new.py"]]
    assert words["run"] == ["wall", "sh", "-c", CHECK.command] and step.when_passed == ("test",)
