"""What a test command prints, told from the command; and what people are told where nothing says it."""

import json
from pathlib import Path

import pytest

from nobrakes.config.sections import CheckSettings
from nobrakes.config.settings import load, parse
from nobrakes.config.setup import init
from nobrakes.config.setup.detect import what_to_write, with_format
from nobrakes.daemon.service.control import untold
from nobrakes.doctor import service as doctor_service
from nobrakes.doctor.health import WARNING
from nobrakes.errors import ConfigError
from nobrakes.paths import Paths
from nobrakes.store import open_memory

WHERE = "in the check's [[checks]] in .nobrakes/config.toml, set"


def check(command: str, **more: object) -> CheckSettings:
    return CheckSettings(name="test", command=command, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pytest -q", "pytest"),
        ("uv run pytest", "pytest"),
        ("python3 -m pytest -q 2>&1", "pytest"),
        ("python3 -m unittest -v", "unittest"),
        ("python manage.py test polls", "unittest"),
        ("go test -v ./...", "go"),
        ("cargo test --locked", "cargo"),
        ("node --import tsx --test", "tap"),
        ("npx vitest run", "vitest"),
        ("bundle exec rspec", "ruby"),
        ("mvn -q test", "maven"),
        ("pip install pytest && python3 -m unittest", "unittest"),
        ("npm run unit", "mocha"),
        ("yarn all", "jest"),
        ("make test", "pytest"),
        ("make -s everything", "auto"),
        ("npm run measured", "mocha"),
        ("npm run covered", "tap"),
        ("npm run every", "ava"),
        ("ava --tap", "tap"),
        ("npm run loop", "auto"),
        ("npm run spec", "auto"),
        ("cd web && npm run unit", "auto"),
        ("pytest -q > log", "auto"),
        ("pip install pytest && ./run", "auto"),
        ("pytest -q && cargo test", "auto"),
        ("./pytests.sh", "auto"),
        ("tox", "auto"),
    ],
)
def test_one_format_or_none(tmp_path: Path, command: str, found: str) -> None:
    scripts = {"unit": "mocha", "all": "npm run inner", "inner": "jest --ci", "loop": "npm run loop"}
    scripts["measured"] = "npm run style && nyc --reporter=lcov --reporter=text mocha --require test/support"
    scripts["covered"] = "nyc --lines 100 --check-coverage --reporter text tape test/a.js"
    scripts["every"] = "xo && c8 ava && tsd"
    scripts["spec"] = "mocha --reporter json"
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    (tmp_path / "Makefile").write_text(
        "lint:\n\truff check\ntest: build\n\n\t@python -m pytest -q\nother:\n\tcargo test\n"
    )
    assert with_format(str(tmp_path), check(command)).format == found


def test_what_a_check_says_itself_stays(tmp_path: Path) -> None:
    for one in (check("pytest", format="exit"), check("pytest", report="a.xml"), check("pytest .", kind="lint")):
        assert with_format(str(tmp_path), one) == one
        assert what_to_write(str(tmp_path), [one]) == {}


def test_scripts_are_read_where_the_check_runs(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "package.json").write_text('{"scripts": {"test": "vitest run"}}')
    assert with_format(str(tmp_path), check("npm test", directory="web")).format == "vitest"
    assert with_format(str(tmp_path), check("npm test")).format == "auto"


def test_a_new_config_has_the_format(repository: Path) -> None:
    report = init.init(str(repository), checks=[check("python3 -m pytest -q")])
    assert load(report.paths.config).checks[0].format == "pytest"
    assert not any("what it prints" in text for text in report.warnings)


def test_where_none_was_found_init_says_what_to_write(repository: Path) -> None:
    report = init.init(str(repository), checks=[check("./run-tests")])
    assert load(report.paths.config).checks[0].format == "auto"
    (said,) = [text for text in report.warnings if "format" in text]
    assert said.startswith(f"unknown output format of the check 'test': {WHERE} format = ")
    assert 'report = "…"' in said and 'format = "exit"' in said


def test_a_stored_config_is_told_once_with_the_line(tmp_path: Path) -> None:
    store, root = open_memory(), str(tmp_path)
    stored = [check("pytest -q"), CheckSettings(name="more", command="go test", format="go")]
    line = f"the check 'test' has no output format: {WHERE} format = \"pytest\""
    assert untold(store, root, stored) == [line]
    assert untold(store, root, stored) == []
    assert len(untold(store, root, [*stored, CheckSettings(name="new", command="tox")])) == 1
    assert untold(store, root, [check("pytest -q", format="pytest")]) == []
    assert untold(store, root, stored) == [line]


def test_doctor_tells_it_and_finds_nothing_broken(tmp_path: Path) -> None:
    config = parse('[[checks]]\nname = "test"\ncommand = "python3 -m unittest"\n', "x")
    found = [*doctor_service.examine_machine(config, Paths(str(tmp_path / ".nobrakes")), lambda: "", lambda: "")]
    said = [one for one in found if "format" in one.text]
    assert [one.text for one in said] == [f"the check 'test' has no output format: {WHERE} format = \"unittest\""]
    assert all(one.level == WARNING for one in said)


@pytest.mark.parametrize("more", ['format = "exit"\nmin_tests = 2', 'kind = "lint"\nmin_tests = 2'])
def test_a_number_of_tests_needs_a_count(more: str) -> None:
    with pytest.raises(ConfigError, match="min_tests above 1"):
        parse(f'[[checks]]\nname = "one"\ncommand = "x"\n{more}\n', "x")
