"""What kind of project this is, and the commands that check it. Files are read, nothing is run.

1. Several kinds of project at once are all detected, in the order python, javascript, rust, go, others.
2. What people wrote down as a command goes before what a tool's settings suggest: where a Makefile has a target for
   a kind of check, that target is the check of this kind and the tools' own are left out, with a note. What a person
   says goes before all.
3. A command must work in a fresh checkout: it needs nothing but tools on PATH and what `setup` brings in, and there
   is a setup only where a lock file says exactly what to bring in.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import cast

from ...config.checks import CheckSettings, Kind
from . import javascript, other_languages, python
from .detected import Found, exists, read

KINDS: tuple[Kind, ...] = ("test", "lint", "types", "build")
_TARGETS = {"test": ("test", "tests", "check"), "lint": ("lint",), "types": ("typecheck", "types"), "build": ("build",)}


@dataclass(frozen=True, slots=True)
class Detected:
    """What was found; `notes` are for a person."""

    setup: str = ""
    checks: tuple[CheckSettings, ...] = ()
    notes: tuple[str, ...] = field(default=())


def detect(root: str, given: Collection[str] = ()) -> Detected:
    """The setup and the checks of the project in the folder `root`; empty where nothing is known.

    `given`: the kinds of check that a person named a command for; nothing is looked for there.
    """
    found = [one for one in (python.detect(root), javascript.detect(root), _rust(root), _go(root)) if one]
    found += other_languages.detect(root)
    notes = [note for one in found for note in one.notes]
    checks = [check for check in _named(found) if check.kind not in given]
    targets = make_targets(read(root, "Makefile") or read(root, "makefile") or read(root, "GNUmakefile") or "")
    for kind in reversed(KINDS):
        target = next((name for name in _TARGETS[kind] if name in targets and kind not in given), None)
        if target is not None:
            dropped = [check for check in checks if check.kind == kind]
            checks = [check for check in checks if check.kind != kind]
            checks.insert(0, CheckSettings(name=kind, command=f"make {target}", kind=kind))
            if dropped:
                left_out = ", ".join(f"`{check.command}`" for check in dropped)
                notes.append(f"the Makefile's target {target} is the {kind} check; left out: {left_out}")
    checks.sort(key=lambda check: KINDS.index(check.kind))
    setup = " && ".join(one.setup for one in found if one.setup)
    return Detected(setup, tuple(checks), tuple(notes))


def _named(found: list[Found]) -> list[CheckSettings]:
    """The checks of every project, called by kind, with the project's word in front where there are several."""
    checks: list[CheckSettings] = []
    for one in found:
        for kind, command in one.checks:
            name = kind if len(found) == 1 else f"{one.word}-{kind}"
            check = CheckSettings(name=name, command=command, kind=cast(Kind, kind))
            taken = [other.name for other in checks]
            number = 2
            while check.name in taken:
                check = replace_name(check, f"{name}-{number}")
                number += 1
            checks.append(check)
    return checks


def replace_name(check: CheckSettings, name: str) -> CheckSettings:
    """The check under another name."""
    return replace(check, name=name)


def make_targets(text: str) -> frozenset[str]:
    """The names of a Makefile's explicit targets."""
    names: set[str] = set()
    for line in text.splitlines():
        found = re.match(r"([A-Za-z0-9_. -]+?)\s*::?(?!=)", line)
        if found and not line.startswith((" ", "\t")):
            names.update(name for name in found[1].split() if not name.startswith("."))
    return frozenset(names)


def _rust(root: str) -> Found | None:
    if not exists(root, "Cargo.toml"):
        return None
    checks = [("test", "cargo test --locked" if exists(root, "Cargo.lock") else "cargo test")]
    if exists(root, "clippy.toml") or exists(root, ".clippy.toml"):
        checks.append(("lint", "cargo clippy --all-targets -- -D warnings"))
    if exists(root, "rustfmt.toml") or exists(root, ".rustfmt.toml"):
        checks.append(("lint", "cargo fmt --check"))
    return Found("rust", tuple(checks))


def _go(root: str) -> Found | None:
    if not exists(root, "go.mod"):
        return None
    checks = [("test", "go test -v ./..."), ("lint", "go vet ./..."), ("build", "go build ./...")]
    if any(exists(root, name) for name in (".golangci.yml", ".golangci.yaml", ".golangci.toml")):
        checks.insert(2, ("lint", "golangci-lint run"))
    return Found("go", tuple(checks))


__all__ = ["KINDS", "Detected", "detect", "make_targets"]
