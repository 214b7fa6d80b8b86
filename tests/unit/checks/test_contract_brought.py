"""What a scaffolding bead may establish, and what a person is shown of it."""

from dataclasses import asdict
from typing import Any

import pytest

from nobrakes.beads.model import Role
from nobrakes.checks.policy.boundaries import MAX_COMMAND, Boundary, beyond, faults, may_write, tell
from nobrakes.config.settings import parse

CHECK = '[[checks]]\nname = "test"\ncommand = "pytest -q"\n'
PATHS = ("README", "pack.py", "tests/test_pack.py", ".nobrakes/config.toml")
TESTS = ("tests/**",)


def settings(text: str) -> dict[str, Any]:
    return asdict(parse(text, "config.toml"))


def refused(text: str, before: str = "", will_be: tuple[str, ...] = TESTS) -> list[str]:
    return faults(settings(before), settings(text), PATHS, TESTS, will_be)


@pytest.mark.parametrize(
    "text",
    [
        CHECK,
        CHECK + '[boundaries]\ntests = ["tests/**"]\n',
        '# a comment\nmain = "main"\n' + CHECK + "[limits]\ndoers = 4\n",
    ],
)
def test_checks_and_globs_of_tests_are_established(text: str) -> None:
    assert refused(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('setup = "curl x | sh"', "setup"),
        ('main = "other"', "main"),
        ('names = ["x"]', "names"),
        ('[sandbox]\nmode = "none"', "sandbox.mode"),
        ('[sandbox]\nwall = "none"', "sandbox.wall"),
        ('[sandbox]\nhome = "own"', "sandbox.home"),
        ('[sandbox]\nwrite = ["/srv"]', "sandbox.write"),
        ('[agents.claude]\npermissions = "bypass"', "agents.claude.permissions"),
        ('[agents.claude]\nexecutable = "./evil"', "agents.claude.executable"),
        ('[agents.script]\ncommand = ["./evil"]', "agents.script.command"),
        ('[agents.by_type.fix]\ndoer = "script"', "agents.by_type.fix"),
        ('[agents.models.claude]\ndoer = "x"', "agents.models.claude"),
        ("[boundaries]\ngates = []", "boundaries.gates"),
        ('[boundaries]\ndependencies = "asked"', "boundaries.dependencies"),
        ('[review]\ntest_strength = "red"', "review.test_strength"),
        ("[review]\nmutation_probes = false", "review.mutation_probes"),
        ("[caps.day]\nusd = 1000", "caps.day.usd"),
        ("[limits]\ndoers = 256", "limits.doers"),
    ],
)
def test_every_other_setting_is_refused_by_its_name_set_or_taken_away(text: str, name: str) -> None:
    own, rest = (text, "") if not text.startswith("[") else ("", text)
    whole = f"{own}\n{CHECK}{rest}"
    assert [line for line in refused(whole) if f"config.toml: {name} = " in line] == refused(whole) != []
    assert beyond(settings(whole), settings(CHECK)) == beyond(settings(CHECK), settings(whole)) != []


def test_no_glob_lets_go_of_a_test_or_takes_all() -> None:
    assert "let a Doer change tests: tests/test_pack.py" in refused(CHECK, will_be=("nothing/**",))[0]
    assert "a Doer could change none" in refused(CHECK, will_be=("**",))[0]


def test_what_nobody_reads_is_not_asked_about() -> None:
    assert "no [[checks]]" in refused("")[0]
    assert "too long" in refused(f'[[checks]]\nname = "a"\ncommand = "{"x" * (MAX_COMMAND + 1)}"')[0]
    many = "".join(f'[[checks]]\nname = "c{n}"\ncommand = "true"\n' for n in range(31))
    assert "more than 30" in refused(many)[0]
    assert "control, text-direction or invisible" in refused('[[checks]]\nname = "a"\ncommand = "true \\u202e x"\n')[0]
    assert (
        "control, text-direction or invisible" in refused('[[checks]]\nname = "a"\ncommand = "true \\u001b[2K x"\n')[0]
    )


def test_a_person_is_told_what_is_new_other_gone_and_weak() -> None:
    before = settings(CHECK + '[[checks]]\nname = "lint"\nkind = "lint"\ncommand = "ruff"\n')
    weak = '[[checks]]\nname = "test"\ncommand = "true"\nformat = "exit"\nmin_tests = 0\n'
    told = "\n".join(tell(before, settings(weak), PATHS, TESTS))
    assert "check test (test, changed): true" in told and "the check's command was: pytest -q" in told
    assert (
        "only the check's exit code decides" in told
        and "passes even without a test" in told
        and "min_tests was 1" in told
    )
    assert "check lint is removed: ruff" in told and "tests/test_pack.py" in told


@pytest.mark.parametrize(
    ("role", "path", "scaffolding", "allowed"),
    [
        (Role.DOER, ".nobrakes/config.toml", True, True),
        (Role.DOER, ".nobrakes/config.toml", False, False),
        (Role.TEST_WRITER, ".nobrakes/config.toml", True, False),
        (Role.DOER, ".NOBRAKES/config.toml", True, False),
        (Role.DOER, ".nobrakes/Config.toml", True, False),
        (Role.DOER, "sub/.nobrakes/config.toml", True, False),
        (Role.DOER, ".nobrakes/roles/doer.md", True, False),
        (Role.DOER, ".nobrakes/beads.jsonl", True, False),
    ],
)
def test_only_the_doer_of_a_scaffolding_bead_brings_one(
    role: Role, path: str, scaffolding: bool, allowed: bool
) -> None:
    assert (may_write(role, path, Boundary(()), scaffolding) is None) is allowed
