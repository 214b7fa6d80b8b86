"""The reference is printed from the commands and the errors themselves."""

import pytest

from docs.generate import reference
from nobrakes import errors
from nobrakes.cli import parsing
from nobrakes.command_table import COMMANDS


@pytest.fixture(scope="module")
def page():
    return reference.commands()


@pytest.mark.parametrize("entry", [e for e in COMMANDS if not e.hidden], ids=lambda e: e.words)
def test_every_command_has_a_section_with_its_options(page, entry):
    section = page.split(f"### nobrakes {entry.words}\n")[1].split("\n### ")[0]
    for parameter in parsing.load(entry).params:
        for option in parameter.opts:
            assert option.lstrip("-") in section or (parameter.metavar or "").replace("|", "\\|") in section, option
    assert ("people only" in section) is bool(entry.changes) and ("streams" in section) is entry.streams


def test_hidden_commands_are_not_in_it(page):
    assert "### nobrakes daemon run\n" not in page


def test_every_error_is_in_it_with_its_code_and_hint():
    page = reference.error_reference()
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.NobrakesError)]
    assert len(classes) > 20
    for one in classes:
        assert f"| {one.code} | {one.__name__} |" in page and one.hint in page


def test_a_code_has_one_meaning():
    codes = [c.code for c in reference.error_classes()]
    assert len(set(codes)) == len(codes) and not {0, 70, 130, 141} & set(codes)


def test_the_module_prints_a_page_and_refuses_what_it_does_not_know(capsys):
    assert reference.main(["errors"]) == 0 and capsys.readouterr().out == reference.error_reference()
    assert reference.main([]) == reference.main(["poems"]) == 2


def test_two_runs_print_the_same(page):
    assert page == reference.commands()
