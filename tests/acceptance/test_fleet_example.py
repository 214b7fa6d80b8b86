"""The example `library`, which `nobrakes demo` plays: on three nodes, each run in the node's sandbox, main has the same
files as on one machine."""

import os
import subprocess
import sys
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.cluster import Cluster, cluster
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import until

pytestmark = [pytest.mark.slow, needs_sandbox]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def player() -> ModuleType:
    spec = util.spec_from_file_location("example_player", EXAMPLES / "run.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(folder: Path, told: Path, settings: str = "") -> Any:
    """The example, played to its stated end. `told`: where its agents look for one another's progress."""

    class Played(player().Example):  # type: ignore[misc]
        def with_agents(self, text: str) -> str:
            return f"{super().with_agents(text)}\n{settings}"

    folder.mkdir()
    log = folder.with_suffix(".log")
    example = Played("library", folder, log.open("w"))
    example.told.rmdir()
    example.told = told
    try:
        example.begin()
        example.play()
        example.compare()
    except SystemExit as error:
        raise AssertionError(f"{error}\n{log.read_text()[-6000:]}") from error
    return example


def files(example: Any) -> list[str]:
    """Main's files: each with its mode and content."""
    return [line for line in example.git("ls-tree", "-r", "main").splitlines() if "\t.nobrakes/" not in line]


def ran_on(nodes: Cluster) -> set[str]:
    return {path.parts[-2] for path in nodes.folder.glob("nodes/*/objects")}


def test_the_library_on_three_nodes_is_the_one_of_one_machine(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    with cluster(tmp_path / "cluster") as nodes:
        for name in ("n1", "n2", "n3"):
            # what lies on a node's PATH its sandbox lets in: there the agent and its files are installed
            nodes.add(name, PATH=os.pathsep.join((os.environ["PATH"], str(EXAMPLES), str(told))))
        there = play(tmp_path / "fleet", told, nodes.settings())
        assert ran_on(nodes) == {"n1", "n2", "n3"}
        until(lambda: not nodes.left() and not nodes.runs(), what=nodes.left)
        nobrakes = Path(sys.executable).parent / "nobrakes"
        subprocess.run([nobrakes, "verify"], cwd=tmp_path / "fleet", check=True, capture_output=True)
    here = play(tmp_path / "alone", told)
    assert files(there) == files(here) and len(files(here)) > 20
