"""The wheel, installed by pip, pipx and uv where nothing of this checkout can be reached, and the demo built with it."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.release.conftest import PYTHON, ROOT, outside

PACKAGES = 49
"""Of the base install, nobrakes included; docs/design/libraries.md says what each is for. It only falls."""
WHEEL_BYTES = 2_000_000
"""More would be files that do not belong to it."""


HIDDEN = ("bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", ROOT)
"""This checkout is an empty folder."""


def run(*words: object, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def installed(way: str, wheel: Path, tools: Path, pins: Path, home: Path) -> Path:
    """The Python of the new environment, which has `nobrakes` beside it."""
    env = outside(home, PIP_CONSTRAINT=str(pins), UV_CONSTRAINT=str(pins), UV_TOOL_DIR=f"{home}/uv")
    env |= {"UV_TOOL_BIN_DIR": f"{home}/bin", "UV_PYTHON": PYTHON, "UV_CACHE_DIR": f"{home}/cache"}
    if way == "pip":
        run(PYTHON, "-m", "venv", home / "venv", cwd=home, env=env)
        run(home / "venv/bin/pip", "install", "--quiet", "--no-compile", wheel, cwd=home, env=env)
        return home / "venv/bin/python"
    if way == "pipx":
        run(tools / "pipx", "install", "--python", PYTHON, wheel, cwd=home, env=env)
        assert (home / "man/man1/nobrakes.1").is_file()
        return home / "pipx/venvs/nobrakes/bin/python"
    run(tools / "uv", "tool", "install", "--no-config", wheel, cwd=home, env=env)
    return home / "uv/nobrakes/bin/python"


@pytest.mark.parametrize("way", ["pip", "pipx", "uv"])
def test_it_is_small_says_its_commit_and_reaches_nothing_of_the_checkout(
    way: str, wheel: Path, tools: Path, pins: Path, tmp_path: Path
) -> None:
    python = installed(way, wheel, tools, pins, tmp_path)
    commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=ROOT, env=outside(tmp_path)).strip()
    version = json.loads(
        run(*HIDDEN, python.parent / "nobrakes", "version", "--json", cwd=tmp_path, env=outside(tmp_path))
    )
    assert version["data"]["commit"] == commit
    told = run(*HIDDEN, python.parent / "nobrakes", "--version", cwd=tmp_path, env=outside(tmp_path))
    assert told == f"nobrakes {version['data']['nobrakes']} ({commit})\n"
    seen = "import sys, nobrakes.app; print(*sys.path, *(getattr(m, '__file__', '') for m in sys.modules.values()))"
    assert str(ROOT) not in run(*HIDDEN, python, "-c", seen, cwd=tmp_path, env=outside(tmp_path))
    site = python.parent.parent / "lib"
    naming = [path for path in site.rglob("*") if path.is_file() and bytes(ROOT) + b"/" in path.read_bytes()]
    assert naming == [], "an installed file names the checkout"
    packages = {re.split(r"-\d", path.name)[0] for path in site.glob("*/site-packages/*.dist-info")}
    assert len(packages - {"pip", "setuptools"}) == PACKAGES, sorted(packages)  # those are of any new environment


@pytest.mark.parametrize("way", ["uv", *(pytest.param(one, marks=pytest.mark.night) for one in ("pip", "pipx"))])
def test_the_demo_needs_no_checkout(way: str, wheel: Path, tools: Path, pins: Path, tmp_path: Path) -> None:
    python = installed(way, wheel, tools, pins, tmp_path)
    env = outside(tmp_path, NOBRAKES_USER_HOME=str(tmp_path / "user"))
    data = json.loads(run(*HIDDEN, python.parent / "nobrakes", "demo", "made", "--json", cwd=tmp_path, env=env))["data"]
    assert data["folder"] == str(tmp_path / "made") and len(data["merged"]) == 13
    assert "done" in run(*HIDDEN, python.parent / "nobrakes", "status", cwd=tmp_path / "made", env=env)


def test_the_same_commit_gives_the_same_bytes(release: Path, tmp_path: Path) -> None:
    again = ["sh", "-c", 'umask 077; exec "$@"', "sh", ROOT / ".ci/release", tmp_path / "again"]
    subprocess.run(again, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "again/SHA256SUMS").read_bytes() == (release / "SHA256SUMS").read_bytes()


def test_the_release_is_complete_and_its_hashes_hold(release: Path, wheel: Path) -> None:
    lines = (release / "SHA256SUMS").read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sorted([*told, "SHA256SUMS"]) == sorted(path.name for path in release.iterdir())
    assert told == {name: hashlib.sha256((release / name).read_bytes()).hexdigest() for name in told}
    assert wheel.stat().st_size <= WHEEL_BYTES
    bom = json.loads(next(release.glob("*.cdx.json")).read_text())
    assert bom["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": told[wheel.name]}]
    pinned = re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / ".ci/requirements.txt").read_text(), re.MULTILINE)
    assert [(one["name"], one["version"]) for one in bom["components"]] == pinned
    assert all(one["hashes"] and one["purl"] for one in bom["components"])
    assert 1 + [one["scope"] for one in bom["components"]].count("required") == PACKAGES, "of Linux"
    wanted = re.findall(r'^    "([a-z0-9-]+)>=', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    (own,) = bom["dependencies"]
    assert {one.split("/")[1].split("@")[0] for one in own["dependsOn"]} == set(wanted)
