"""What is in the repository says nothing about the machine it was written on, and its docs say what the code says."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from nobrakes.review import machine
from tests.world import moves

ROOT = Path(__file__).resolve().parents[2]
HOMES = (b"ho" + b"me", b"Us" + b"ers")
HOME_OF_SOMEBODY = re.compile(
    rb"(?<![\w.$~}])/(?:" + b"|".join(HOMES) + rb")/(?!you\b|me\b|user\b)[a-z][\w.-]*|(?<![\w.])/ro" + rb"ot/"
)
ADDRESS = re.compile(r"https?://|^\s*-[-\w]*(?:index|find-links|trusted-host)|^\s*-[fi] |@ *(?:file|git)", re.MULTILINE)
REQUIREMENTS = sorted((ROOT / ".ci").glob("requirements*.txt"))
PIN = re.compile(r"^[a-z0-9][a-z0-9-]*==[^\s;]+(?: ; [^\\]+)? \\$")


def tracked() -> list[str]:
    """What git has, and what it would take: a file is looked at before it is added."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    found = []
    for name in tracked():
        for number, line in enumerate((ROOT / name).read_bytes().splitlines(), start=1):
            if HOME_OF_SOMEBODY.search(line):
                found.append(f"{name}:{number}: {line[:100].decode(errors='replace')}")
    assert found == []


def test_the_search_for_such_folders_finds_them() -> None:
    for home in HOMES:
        assert HOME_OF_SOMEBODY.search(b"cd /" + home + b"/jane/shop")
        assert not HOME_OF_SOMEBODY.search(b"https://x.org/" + home + b"/jane")
        assert not HOME_OF_SOMEBODY.search(b"cd /" + home + b"/you/shop")
    assert HOME_OF_SOMEBODY.search(b'"/ro' + b'ot/.cache"')


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_exact_hashed_and_tied_to_no_index(path: Path) -> None:
    text = path.read_text()
    assert not ADDRESS.search(text)
    entries = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert entries and [line for line in entries if not PIN.match(line)] == []
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", text)) >= len(entries)


def test_agent_clis_are_exact_hashed_and_tied_to_no_registry() -> None:
    folder = ROOT / ".ci" / "agents"
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert wanted and all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    lock = json.loads((folder / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    told = [{key: value for key, value in package.items() if key != "funding"} for package in packages.values()]
    assert "://" not in json.dumps(told) and not any("resolved" in package for package in told)
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted


def test_what_nobrakes_runs_on_is_what_it_is_tested_with() -> None:
    def pins(name: str) -> set[str]:
        return {line.split(" ")[0] for line in (ROOT / ".ci" / name).read_text().splitlines() if "==" in line}

    assert pins("requirements.txt") < pins("requirements-dev.txt")


def test_the_state_diagrams_in_the_docs_are_printed_from_the_tables() -> None:
    page = ROOT / "docs" / "design.md"
    diagrams = re.findall(r"^```mermaid\n(stateDiagram-v2\n.*?)\n```$", page.read_text(), re.MULTILINE | re.DOTALL)
    printed = [moves.mermaid(), machine.mermaid()]
    assert diagrams == printed, "Put this into docs/design.md:" + "".join(
        f"\n\n```mermaid\n{one}\n```" for one in printed
    )
