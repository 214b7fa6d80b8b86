"""The command that agents find runs this nobrakes, from any folder and with any interpreter's path."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes import __version__
from nobrakes.host import command
from nobrakes.paths import Paths
from nobrakes.store import create_store

ROOT = Path(command.__file__).resolve().parents[2]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    (tmp_path / ".nobrakes").mkdir()
    return Paths(str(tmp_path / ".nobrakes"))


def said(path: Path, folder: Path) -> str:
    return subprocess.run([path, "--version"], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_it_runs_and_takes_nothing_from_the_folders_around_it(paths: Paths, tmp_path: Path) -> None:
    command.install(paths)
    made = tmp_path / ".nobrakes" / "bin" / "nobrakes"
    for folder in (tmp_path, made.parent):
        (folder / "nobrakes.py").write_text("raise SystemExit('a stranger')\n")
        (folder / "typer.py").write_text("raise SystemExit('a stranger')\n")
    assert said(made, tmp_path).startswith(f"nobrakes {__version__} (")


def test_it_is_written_once_and_takes_the_place_of_a_link(paths: Paths, tmp_path: Path) -> None:
    made = tmp_path / ".nobrakes" / "bin" / "nobrakes"
    made.parent.mkdir()
    foreign = tmp_path / "foreign"
    foreign.write_text("not ours\n")
    made.symlink_to(foreign)
    command.install(paths)
    before = made.stat()
    command.install(paths)
    assert not made.is_symlink() and made.stat().st_ino == before.st_ino
    assert foreign.read_text() == "not ours\n"


def test_what_agents_call_starts_without_site_and_the_rest_finds_its_packages(paths: Paths, tmp_path: Path) -> None:
    command.install(paths)
    made = tmp_path / ".nobrakes" / "bin" / "nobrakes"
    more = "; import os; os.write(2, b' site' if 'site' in sys.modules else b' none')"
    made.write_text(made.read_text().replace("sys.exit(main())", f"code = main(){more}; sys.exit(code)"))
    for argv, site in ((["agent", "log", "hi"], " site"), (["agent", "--help"], " site"), (["ready"], " none")):
        if argv == ["ready"]:
            create_store(str(tmp_path / ".nobrakes" / "nobrakes.db")).close()
            environment = {"NOBRAKES_HOME": str(tmp_path / ".nobrakes"), "NOBRAKES_TOKEN": "1.x"}
        else:
            environment = {"NOBRAKES_HOME": str(tmp_path)}
        done = subprocess.run([made, *argv], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stderr.endswith(site), (argv, done)
        assert "Traceback" not in done.stderr and "itself failed" not in done.stderr


@pytest.mark.parametrize("name", ["a b", "it's", "x" * 140], ids=["space", "quote", "long"])
def test_an_interpreter_anywhere(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    python = tmp_path / name / "python of mine"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    made = tmp_path / "nobrakes"
    made.write_bytes(command.script(str(python), str(ROOT)))
    made.chmod(0o755)
    assert said(made, tmp_path).startswith(f"nobrakes {__version__} (")


def test_nothing_is_imported_before_it_knows_the_command(tmp_path: Path) -> None:
    program = command.script(sys.executable, str(ROOT)).decode().split("\n", 1)[1].split("sys.exit")[0]
    told = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"{program}\nprint([m for m in ('re', 'typing', 'enum') if m in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "[]"


def test_what_agents_call_in_a_sandbox_is_compiled_before(tmp_path: Path) -> None:
    package = tmp_path / "nobrakes"
    shutil.copytree(ROOT / "nobrakes", package, ignore=shutil.ignore_patterns("__pycache__"))
    assert command.compile_for_agents(str(package)) > 50
    assert command.compile_for_agents(str(package)) == 0, "once"
    program = f"import sys; sys.path.append({str(tmp_path)!r}); from nobrakes.cli.entry import main; sys.exit(main())"
    calls = subprocess.run(
        [sys.executable, "-PS", "-X", "importtime", "-c", program, "agent", "log", "half of it"],
        cwd=tmp_path,
        env={"NOBRAKES_TOKEN": "1.1.x", "NOBRAKES_DOOR": str(tmp_path / "none"), "NOBRAKES_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    imported = [line.rpartition("|")[2].strip() for line in calls.stderr.splitlines() if "import time:" in line]
    ours = [name for name in imported if name.startswith("nobrakes.") and not (package / path_of(name)).is_dir()]
    assert "nobrakes.lightjson" in ours, "nothing was written to the channel"
    folders = {str(Path(path).parent) for path in command._sources(str(package))}
    assert [name for name in ours if str((package / path_of(name)).parent) not in folders] == []


def path_of(module: str) -> str:
    """Where a module lies in the package, without its ending."""
    return module.removeprefix("nobrakes.").replace(".", "/")


def test_a_package_that_cannot_be_written_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    shutil.copytree(ROOT / "nobrakes", tmp_path / "nobrakes", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("py_compile.compile", refuses)
    assert command.compile_for_agents(str(tmp_path / "nobrakes")) == 0
