"""Which modules a check's own interpreter has, without the checkout."""

import os
import sys
import venv
from pathlib import Path

import pytest

from nobrakes.decisions.service.all_blockers import Where, missing
from nobrakes.host.versions import Modules, lacks


def environment(folder: Path) -> Path:
    """An environment of its own with a package that no list of ours knows."""
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "stripelike").mkdir()
    (site / "stripelike" / "__init__.py").write_text("")
    return site


def test_the_checks_own_interpreter_is_asked_and_not_the_checkout(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv")
    (tmp_path / "shop.py").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "basket.py").write_text("")
    (site / "own.pth").write_text(f"{tmp_path / 'src'}\n")  # as an editable installation does it
    modules = Modules(str(tmp_path))
    found = modules.of([(".venv/bin/python", "")])
    assert {"stripelike", "json"} <= found
    assert not found & {"shop", "basket"}


def test_a_script_tells_its_interpreter_in_its_first_line(tmp_path: Path) -> None:
    environment(tmp_path / "env")
    script = tmp_path / "runner"
    script.write_text(f"#!{tmp_path / 'env' / 'bin' / 'python'}\nprint()\n")
    script.chmod(0o755)
    assert "stripelike" in Modules(str(tmp_path)).of([("./runner", "")])


def test_an_interpreter_is_read_again_when_it_changed(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv")
    modules = Modules(str(tmp_path))
    assert "late" not in modules.of([(".venv/bin/python", "")])
    (site / "late.py").write_text("")
    os.utime(site, (1, 1))
    assert "late" in modules.of([(".venv/bin/python", "")])


@pytest.mark.parametrize(
    "way", ["the file", "a link on the way", "the first line of a script", "a link in PATH's folder"]
)
def test_no_interpreter_is_started_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """An agent's work may have put it there."""
    started = tmp_path / "STARTED"
    place = tmp_path / "mine" / "bin" / "python"
    place.parent.mkdir(parents=True)
    place.write_text(f'#!/bin/sh\ntouch {started}\nexec {sys.executable} "$@"\n')
    place.chmod(0o755)
    (tmp_path / "py").symlink_to("mine")
    (tmp_path / "runner").write_text(f"#!{place}\n")
    (tmp_path / "runner").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("../py/bin/python")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    word = {"the file": "mine/bin/python", "a link on the way": "py/bin/python"}.get(way, "./runner")
    word = "python3" if way.endswith("folder") else word
    Modules(str(tmp_path)).of([(word, "")])
    where = Where(str(tmp_path), dict(os.environ))
    missing(f"{word} -m nosuchmodule", "", where)
    assert not started.exists()


def test_a_module_is_missing_only_where_that_is_certain(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv")
    python = str(tmp_path / ".venv" / "bin" / "python")
    assert (
        lacks(python, "nosuch", False) and not lacks(python, "stripelike", False) and not lacks(python, "json", False)
    )
    (site / "__editable__.shop-1.pth").write_text("import __editable___shop_1_finder; x.install()\n")
    assert not lacks(python, "nosuch", False)
    lost = tmp_path / "bin" / "python"
    lost.parent.mkdir()
    lost.write_text("")
    assert not lacks(str(lost), "nosuch", False)


def test_strange_files_beside_an_interpreter_keep_nobody_waiting(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv")
    os.mkfifo(site / "pipe.pth")
    (site / "dir.pth").mkdir()
    (site / "odd.pth").write_bytes(b"/a\0b\n" + b"\xff\n" * 100)
    (tmp_path / ".venv" / "pyvenv.cfg").write_bytes(b"home = /x\0y/bin\n")
    assert "stripelike" in Modules(str(tmp_path)).of([(".venv/bin/python", "")])


def test_what_is_no_python_adds_nothing_and_python3_is_read_in_its_place(tmp_path: Path) -> None:
    modules = Modules(str(tmp_path))
    assert modules.of([("nosuch", ""), ("sh", "")]) == modules.of([("python3", "")])
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    assert modules.of([("./python", "")]) == frozenset()
    assert "json" in modules.of([(sys.executable, "")])
