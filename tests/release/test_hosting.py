"""The recipes for a container and for hosted CI: nothing here runs them, so their form is checked, and what they name."""

import re
import subprocess
from pathlib import Path

from tests.release.conftest import ROOT

HOSTING = ROOT / "examples" / "hosting"
LINTERS = {
    "Dockerfile": ["hadolint", "--failure-threshold", "info"],
    "gates.yml": ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
}


def linted(tools: Path, name: str, text: str, folder: Path) -> int:
    (folder / name).write_text(text)
    program, *options = LINTERS[name]
    return subprocess.run([tools / program, *options, folder / name], capture_output=True).returncode


def test_the_recipes_are_well_formed_and_say_that_they_were_never_run(tools: Path, tmp_path: Path) -> None:
    assert sorted(LINTERS) == sorted(path.name for path in HOSTING.iterdir())
    for name in LINTERS:
        text = (HOSTING / name).read_text()
        assert "Never run" in text and linted(tools, name, text, tmp_path) == 0


def test_the_linters_find_what_is_wrong(tools: Path, tmp_path: Path) -> None:
    docker, workflow = ((HOSTING / name).read_text() for name in LINTERS)
    assert linted(tools, "Dockerfile", docker.replace("WORKDIR /repository", "WORKDIR repository"), tmp_path) != 0
    assert linted(tools, "gates.yml", workflow.replace("runs-on", "runs-at"), tmp_path) != 0


def test_the_recipes_use_what_is_there(release: Path) -> None:
    docker, workflow = ((HOSTING / name).read_text() for name in LINTERS)
    used = {name for name in re.findall(r"(?:-c|-r|--no-deps) (\S+)", docker) if name != "CMD"}
    assert used == {"SHA256SUMS", "requirements.txt", "nobrakes-*.whl"}
    assert [pattern for pattern in used if not list(release.glob(pattern))] == []
    commands = re.findall(r"run: (\.ci/\w+)", workflow)
    assert commands == [".ci/run", ".ci/release"] and all((ROOT / one).is_file() for one in commands)
    actions = re.findall(r"uses: (\S+)", workflow)
    assert actions and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in actions), "pinned by commit"
