"""Setting a repository up, and the settings."""

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option, confirm

from ..core.errors import NoMain
from ..core.public.values import plain
from ..wording.text import one_line
from .output import Output
from .screen import Screen

if TYPE_CHECKING:
    from ..operations.setup.init import InitReport

Kind = Literal["test", "lint", "types", "build"]
Check = Annotated[str | None, Option(help="The command; detected from the project unless given.")]


def init(
    main: Annotated[str | None, Option("--main", help="The branch that work is merged into.")] = None,
    test: Check = None,
    lint: Check = None,
    types: Check = None,
    build: Check = None,
    trial: Annotated[bool | None, Option("--trial/--no-trial", help="Run the checks on main now; asked.")] = None,
    collect: Annotated[bool, Option("--collect", help="Let pytest, jest and go list their tests: runs them.")] = False,
    agent: Annotated[
        str | None, Option("--agent", help="Who works in both roles: claude, codex, gemini, acp or script.")
    ] = None,
    command: Annotated[str | None, Option("--command", help="The command that is the agent acp or script.")] = None,
) -> Output:
    """Set nobrakes up in this repository. Safe to run again: what is there stays, but for the agent where one is named.

    On a terminal it asks whether to run the checks on main once (--trial); without one it does so only with --trial.

    Example: nobrakes init --agent codex --test "pytest -q" --lint "ruff check ."
    """
    from ..config.checks import CheckSettings
    from ..operations.machine_wide import registry
    from ..operations.setup import init as operations_setup_init
    from ..operations.setup.agent import wanted_of

    given: dict[Kind, str | None] = {"test": test, "lint": lint, "types": types, "build": build}
    checks = [
        CheckSettings(name=kind, kind=kind, command=command, timeout_minutes=30.0, min_tests=1)
        for kind, command in given.items()
        if command
    ]
    settings = wanted_of(agent, command)
    report = operations_setup_init.init(os.getcwd(), main=main, checks=checks, collect=collect, settings=settings)
    unlisted = registry.register_here(report.paths.root)
    if unlisted:
        said = f"`nobrakes repositories` does not list this repository: {unlisted}"
        report = replace(report, warnings=(*report.warnings, said))
    if report.changes:
        report = replace(report, warnings=(*report.warnings, *_agents(report)))
    tried = _tried(report, trial)
    data = {
        "folder": report.paths.folder,
        "created": report.created,
        "main": report.main,
        "setup": report.detected.setup,
        "checks": report.detected.checks,
        "tests": None if report.tests is None else {"files": report.tests.count, "globs": report.tests.globs},
        "agents": {one.key: one.after for one in report.changes},
        "warnings": report.warnings,
        "next_steps": report.next_steps,
        "trial": None if tried is None else {"green": tried[0], "said": tried[1]},
    }
    return Output(plain(data), lambda screen: _set_up(report, tried, screen))


def _agents(report: "InitReport") -> list[str]:
    """Why the agents cannot be started from here, with what to do."""
    from ..app import here, open_app
    from ..operations.following import of_agents

    with open_app(report.paths.root, is_reading=True) as app:
        return of_agents(app.config, here(app))


def _tried(report: "InitReport", wanted: bool | None) -> tuple[bool, list[str]] | None:
    """What the checks say of main, where somebody wants to know; None: they were not run."""
    if not report.detected.checks or wanted is False:
        return None
    if wanted is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return None
        if not confirm("Run the checks on main once, to see whether they work?"):
            return None
    from ..app import open_app, try_main

    with open_app(report.paths.root) as app:
        try:
            return try_main(app, lambda text: print(text, file=sys.stderr))
        except NoMain as error:
            return False, [f"the checks were not run: {error}"]


def _set_up(report: "InitReport", tried: tuple[bool, list[str]] | None, screen: Screen) -> str:
    done = "is set up" if report.created else "was set up already"
    out = [f"nobrakes {done} in {report.paths.folder}"]
    out += [f"  made    {', '.join(report.created)}"] if report.created else []
    out.append(f"  main    {one_line(report.main)} ({one_line(report.main_why)})")
    out += [f"  setup   {one_line(report.detected.setup)}"] if report.detected.setup else []
    for check in report.detected.checks:
        read_as = f"  (read as {check.format})" if check.format not in ("auto", "exit") else ""
        out.append(f"  {check.kind:<7} {one_line(check.command)}{read_as}")
    out += [f"  {one_line(report.tests.told())}"] if report.tests else []
    if report.changes:
        from .configuring import change_lines

        out += [f"  {line}" for line in change_lines(report.changes)]
    out += [screen.paint("warning: ", "yellow") + one_line(warning) for warning in report.warnings]
    if tried is not None:
        out += [("" if tried[0] else screen.paint("warning: ", "yellow")) + one_line(text) for text in tried[1]]
    elif report.detected.checks:
        out.append("  the checks were not tried on main: `nobrakes init --trial` does, and so does the first run")
    return "\n".join([*out, "", "Next:", *(f"  {one_line(step)}" for step in report.next_steps)])
