"""Which modules a check's own interpreter has, without the checkout."""

import os
import sys
import venv
from pathlib import Path

from nobrakes.host.modules import Modules


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


def test_an_interpreter_is_asked_once_and_again_when_it_changed(tmp_path: Path) -> None:
    site = environment(tmp_path / ".venv")
    modules = Modules(str(tmp_path))
    assert "late" not in modules.of([(".venv/bin/python", "")])
    (site / "late.py").write_text("")
    os.utime(site, (1, 1))
    assert "late" in modules.of([(".venv/bin/python", "")])


def test_what_is_no_python_adds_nothing_and_python3_is_asked_in_its_place(tmp_path: Path) -> None:
    modules = Modules(str(tmp_path))
    assert modules.of([("nosuch", ""), ("sh", "")]) == modules.of([("python3", "")])
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    assert modules.of([("./python", "")]) == frozenset()
    assert "json" in modules.of([(sys.executable, "")])
