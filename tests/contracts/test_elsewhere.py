"""nobrakes on a system that is not Linux, as far as Linux can play it: no /proc, and none of Linux' own calls.

It was never run on macOS; this shows what can be shown without one.
"""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.elsewhere import LINUX_ONLY, command

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = """
import importlib, pkgutil, sys
from tests.support.elsewhere import forget_linux
import asyncio, multiprocessing.util, psutil, subprocess, urllib.request, uvicorn, watchdog.observers, zoneinfo
forget_linux()
sys.platform = "darwin"
import nobrakes
found = [one.name for one in pkgutil.walk_packages(nobrakes.__path__, "nobrakes.")]
for name in found:
    if name not in ("nobrakes.__main__", "nobrakes.sandbox.landlock"):
        importlib.import_module(name)
print(len(found))
"""
has_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap hides /proc")


def test_every_module_but_the_sandbox_of_linux_is_imported_without_linux() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


@has_bwrap
@pytest.mark.ci
@pytest.mark.parametrize(
    "suite",
    [
        "tests/contracts/processes/test_processes_contract.py",
        "tests/contracts/owners",
        "tests/contracts/machine",
    ],
)
def test_the_portable_way_keeps_the_contract_with_proc_hidden(suite: str, tmp_path: Path) -> None:
    folder = tmp_path / "proc"
    folder.mkdir()
    tried = command(str(folder), "-q", "-m", "not slow and not night", "-p", "no:cacheprovider", suite)
    done = subprocess.run(tried, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stdout[-4000:]


GUARDED = {
    "fleet/on_node.py": {"/proc"},  # a node is a Linux
    "fleet/parcel.py": {"/proc"},
    "git/command_line.py": {"memfd_create", "pidfd_open", "/proc"},  # it has another way, and tries this one first
    "programs.py": {"/proc", "ctypes"},  # of a fork of the fork server, which is Linux's
    "walking.py": {"/proc"},  # where there is O_PATH
}
NAMES = {name for names in LINUX_ONLY.values() for name in names} | {"ctypes", "/proc"}


def test_what_only_linux_has_is_named_in_host_and_sandbox_alone() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "nobrakes").rglob("*.py")):
        place = path.relative_to(ROOT / "nobrakes").as_posix()
        if place.startswith(("host/", "sandbox/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            words = {node.attr} if isinstance(node, ast.Attribute) else set()
            words |= {one.name for one in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc/"):
                words.add("/proc")
            if words & NAMES:
                found.setdefault(place, set()).update(words & NAMES)
    assert found == GUARDED
