"""Setting a repository up, and the settings."""

import os
from typing import Annotated, Any

import typer

from .opened import opened
from .output import Output, Screen, plain, said
from .text import one_line

Check = Annotated[str | None, typer.Option(help="The command; detected from the project unless given.")]


def init(
    main: Annotated[str | None, typer.Option("--main", help="The branch that work is merged into.")] = None,
    test: Check = None,
    lint: Check = None,
    types: Check = None,
    build: Check = None,
) -> Output:
    """Set nobrakes up in this repository. Safe to run again: what is there stays.

    Example: nobrakes init --test "pytest -q" --lint "ruff check ."
    """
    from ..operations import setup

    given = {"test": test, "lint": lint, "types": types, "build": build}
    checks = {kind: command for kind, command in given.items() if command}
    report = setup.init(os.getcwd(), main=main, checks=checks)

    def text(screen: Screen) -> str:
        out = [f"nobrakes is set up in {report.places.folder}"]
        out += [f"  made      {one_line(str(path))}" for path in report.created]
        out += [f"  detected  {one_line(str(found))}" for found in report.detected]
        out += [screen.paint("warning: ", "yellow") + one_line(str(warning)) for warning in report.warnings]
        if report.next_steps:
            out += ["", "Next:", *(f"  {one_line(str(step))}" for step in report.next_steps)]
        return "\n".join(out)

    data = {
        "folder": report.places.folder,
        "created": report.created,
        "detected": report.detected,
        "warnings": report.warnings,
        "next_steps": report.next_steps,
    }
    return Output(plain(data), text)


def config(
    check: Annotated[bool, typer.Option("--check", help="Only say whether the file is right.")] = False,
) -> Output:
    """Show every setting in force, those of .nobrakes/config.toml and the defaults."""
    with opened() as app:
        settings, path = app.config, app.places.config
    if check:
        return said({"path": path, "valid": True}, f"{os.path.relpath(path)} is right")
    values = settings.model_dump(mode="json")
    return said(values, "\n".join(_toml(values)))


def _toml(values: dict[str, Any], prefix: str = "") -> list[str]:
    """Nested settings as dotted lines, one a setting: `limits.doers = 4`."""
    import json

    out: list[str] = []
    for name, value in values.items():
        if isinstance(value, dict):
            out += _toml(value, f"{prefix}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, item in enumerate(value):
                out += _toml(item, f"{prefix}{name}[{number}].")
        else:
            out.append(f"{prefix}{name} = {json.dumps(value, ensure_ascii=False)}")
    return out
