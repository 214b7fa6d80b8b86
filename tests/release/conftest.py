"""A release of the current commit, as `.ci/release` builds it, and the programs that install it (`.ci/tools`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".ci" / ".venv" / "bin"
PYTHON = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
"""A Python that knows nothing of this checkout."""


@pytest.fixture(scope="session")
def tools() -> Path:
    if not (TOOLS / "uv").exists():
        pytest.skip("the programs that install a release are missing; make them with .ci/tools")
    return TOOLS


@pytest.fixture(scope="session")
def release(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of wheel, SBOM and hashes."""
    folder = tmp_path_factory.mktemp("release")
    done = subprocess.run([ROOT / ".ci" / "release", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(release: Path) -> Path:
    (found,) = release.glob("*.whl")
    return found


def outside(home: Path, **more: str) -> dict[str, str]:
    """The environment of somebody who has no checkout: a home, git and Python's own PATH."""
    kept = ("LANG", "TMPDIR", "PIP_", "UV_", "SSL_CERT_FILE", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    env = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    env |= {"HOME": str(home), "PATH": f"{home}/bin:/usr/bin:/bin", "NO_PROXY": os.environ.get("NO_PROXY", "")}
    return env | {"PIPX_HOME": f"{home}/pipx", "PIPX_BIN_DIR": f"{home}/bin", "PIPX_MAN_DIR": f"{home}/man", **more}


@pytest.fixture(scope="session")
def pins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pinned versions, as constraints."""
    lines = (ROOT / ".ci" / "requirements.txt").read_text().splitlines()
    path = tmp_path_factory.mktemp("pins") / "constraints.txt"
    path.write_text("\n".join(line.rstrip(" \\") for line in lines if "==" in line) + "\n")
    return path
