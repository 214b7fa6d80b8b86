"""What nobrakes makes of a project that it has never seen: `init`, and three beads of scripted agents.

    python benchmarks/projects.py FOLDER --kit pytest --code src/shop --entry src/shop/__init__.py --name shop \\
        --test "pytest -q" --list

FOLDER is a checkout or an unpacked source archive. It is copied to a temporary folder and made a repository there;
nothing is fetched, and what the tests need has to be installed (`--setup` says how a checkout gets it). Only the test
check is kept of what `init` finds. `--code` is the folder of the product's code, `--name` what the tests import it as,
`--tests` where a new test goes, `--up` the way from there to the code. The kits are in projects.toml. Three beads, one
after the other:

| bead | what its agent does | expected |
|---|---|---|
| emptied | a Doer that empties a test file | `boundary` |
| bent | a Doer whose product code (`--entry`) bends the runner | a person is asked, or the check fails |
| honest | a Test Writer that adds a test, a Doer that makes it pass | done, its decoy seen |

It prints one line of JSON: what `init` found by itself, how each bead ended, what people were asked, the decoys, and
with `--list` each file that is taken for a test, so that a person sees whether a product file is among them. Foreign
tests are run: give it a HOME that can be thrown away. What came of it so far is in docs/projects.md.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

NOBRAKES = str(Path(sys.executable).with_name("nobrakes"))
KITS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
AGENT = """#!/bin/sh
set -e
bend() {
    touch @ENTRY@
    case @FIRST@ in
    first) printf %s @BENT@ | cat - @ENTRY@ >whole.new ;;
    inside) { sed '$d' @ENTRY@; printf %s @BENT@; } >whole.new ;;
    *) printf %s @BENT@ | cat @ENTRY@ - >whole.new ;;
    esac
    cat whole.new >@ENTRY@
    rm whole.new
}
case $NOBRAKES_BEAD.$NOBRAKES_ROLE in
emptied.*) printf '' >@EMPTY@ ;;
bent.*) bend ;;
honest.test_writer) mkdir -p @TESTS@ && printf %s @TEXT@ >@TESTS@/@TEST@ ;;
honest.*) printf %s @PROGRAM@ >>@CODE@/@FILE@ ;;
esac
git add -A && git commit -q -m "Work on $NOBRAKES_BEAD"
"""


def sh(folder: Path, *words: str, can_fail: bool = False) -> str:
    """What a command prints."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=900)
    if done.returncode and not can_fail:
        raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def ask(folder: Path, *words: str) -> Any:
    """The data of a nobrakes command."""
    said = sh(folder, NOBRAKES, *words, "--json", can_fail=True)
    return json.loads(said)["data"]


def prepared(given: argparse.Namespace, work: Path) -> Path:
    """The project as a repository of one commit."""
    folder = work / "project"
    shutil.copytree(given.folder, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules"))
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
        sh(folder, "git", "-c", "user.name=You", "-c", "user.email=you@example.invalid", *words)
    for name, value in (("user.name", "You"), ("user.email", "you@example.invalid")):
        sh(folder, "git", "config", name, value)
    return folder


def contract(text: str) -> str:
    """The configuration with the test check alone: a foreign project's style says nothing of our three beads."""
    begin = re.search(r"^\[\[checks\]\]$", text, re.MULTILINE)
    end = re.search(r"^\[limits\]$", text, re.MULTILINE)
    if begin is None or end is None:
        raise SystemExit("init wrote no check")
    tables = text[begin.start() : end.start()].split("[[checks]]\n")[1:]
    kept = [f"[[checks]]\n{table}" for table in tables if 'kind = "test"' in table]
    return text[: begin.start()] + "".join(kept) + text[end.start() :]


def filled(given: argparse.Namespace, text: str) -> str:
    """A text of a kit with the project's own words in it."""
    is_typed = given.ending == "ts"
    for mark, word in (
        ("name", given.name),
        ("dotted", f"{given.name}." if given.name else ""),
        ("up", given.up),
        ("ending", given.ending),
        ("any", ": number[]" if is_typed else ""),
        ("one", ": number" if is_typed else ""),
    ):
        text = text.replace(f"@{mark}@", word)
    return text


def with_agent(given: argparse.Namespace, work: Path, folder: Path, tests: list[str]) -> str:
    """The scripted agent; the path of the test file that it empties."""
    kit = {name: filled(given, text) for name, text in KITS[given.kit].items()}
    emptied = given.empty or max(tests, key=lambda path: (path.count("test"), (folder / path).stat().st_size))
    script = AGENT
    for mark, value in (
        ("EMPTY", emptied),
        ("ENTRY", given.entry),
        ("FIRST", kit.get("bent_place", "last")),
        ("BENT", "\n" + kit["bent"]),
        ("TEXT", kit["test"]),
        ("PROGRAM", kit["code"]),
        ("TESTS", given.tests),
        ("TEST", kit["test_file"]),
        ("CODE", given.code),
        ("FILE", kit["code_file"]),
    ):
        script = script.replace(f"@{mark}@", shlex.quote(value))
    (work / "agent.sh").write_text(script)
    config = folder / ".nobrakes" / "config.toml"
    said = contract(config.read_text())
    for role in ("test_writer", "doer"):
        said = said.replace(f'# {role} = "claude"', f'{role} = "script"')
    said = said.replace("# command = []", f"command = {json.dumps(['sh', str(work / 'agent.sh')])}", 1)
    said = re.sub(r'^setup = ".*"$', lambda _: f"setup = {json.dumps(given.setup)}", said, count=1, flags=re.MULTILINE)
    said = said.replace("# max_failures = 3", "max_failures = 1", 1)
    config.write_text(said)
    return emptied


def ended(folder: Path, bead: str) -> str:
    """How a bead ended: its status, and how each of its attempts did."""
    shown = ask(folder, "show", bead)
    attempts = ", ".join(f"{one['role']} {one['outcome']}" for one in shown["attempts"] if one["outcome"])
    return f"{shown['status']} ({attempts})"


def tried(given: argparse.Namespace, work: Path) -> dict[str, Any]:
    """The row of a project."""
    from nobrakes.globs import matches

    began = time.monotonic()
    folder = prepared(given, work)
    found = ask(folder, "init", "--no-trial")
    shutil.rmtree(folder / ".nobrakes")
    said = ask(folder, "init", "--test", given.test, "--no-trial")
    files = sh(folder, "git", "ls-files").splitlines()
    tests = [path for path in files if matches(path, said["tests"]["globs"])]
    row: dict[str, Any] = {
        "files": len(files),
        "tests": len(tests),
        "found": found["checks"],
        "warnings": found["warnings"],
    }
    if given.list:
        row["listed"] = tests
    row["emptied file"] = with_agent(given, work, folder, tests)
    plan = [{"id": bead, "title": f"Bead {bead}", "needs_tests": bead == "honest"} for bead in given.beads.split(",")]
    for bead in plan:
        (work / "plan.json").write_text(json.dumps({"beads": [bead]}))
        sh(folder, NOBRAKES, "plan", "apply", str(work / "plan.json"), "--live")
        row["said"] = sh(folder, NOBRAKES, "run", can_fail=True).splitlines()[-3:]
        row[str(bead["id"])] = ended(folder, str(bead["id"]))
    asked = ask(folder, "escalations")
    row["asked"] = [f"{one['bead']}: {one['type']}: {one['detail'][-given.told :]}" for one in asked]
    row["decoys"] = [
        one["decoy"] for review in ask(folder, "reviews") for one in review["results"] or () if one["decoy"]
    ]
    row["seconds"] = round(time.monotonic() - began)
    return row


def main() -> None:
    """Try one project."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kit", choices=sorted(KITS), required=True)
    for name in ("test", "code", "entry"):
        parser.add_argument(f"--{name}", required=True)
    for name, default in (
        ("name", ""),
        ("tests", "tests"),
        ("up", "../"),
        ("ending", "js"),
        ("empty", ""),
        ("setup", ""),
        ("beads", "emptied,bent,honest"),
    ):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--told", type=int, default=300)
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="projects-"))
    try:
        print(json.dumps(tried(given, work)))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
