"""The settings: looked at, and changed one by one."""

import json
import os
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..command_table import Field
from ..config.commands import change_lines, record, shown, since
from ..config.sections import CheckSettings
from ..daemon.service import control
from ..decisions.blockers import Kind as Trouble
from ..decisions.service.all_blockers import Here, agent_blocker, check_blockers
from ..errors import NoMain, UsageError
from ..machine import registry
from ..records import plain
from ..text.cleaning import one_line
from .outcome import AsJson, Output, actor, confirm, looked_at, opened, said
from .screen import Screen

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..config.setup.changing import Changed
    from ..config.setup.init import InitReport
    from ..paths import Paths


Key = Annotated[str, Field("The setting, such as limits.doers or checks.test.retry.", metavar="KEY")]


def config(
    check: Annotated[bool, Field("Only check whether the file is valid.", ("--check",))] = False,
    every: Annotated[bool, Field("Print a config.toml with every setting and its comment.", ("--all",))] = False,
) -> Output:
    """Show every setting in force: those in .nobrakes/config.toml and the defaults. `config get KEY` shows one, `config
    set KEY VALUE` changes it, and `config unset KEY` restores the default. Nothing else in the file changes."""
    if check and every:
        raise UsageError("--check and --all cannot be combined", "--check validates the file, and --all prints it.")
    with opened() as app:
        settings, path = app.config, app.paths.config
        if check:
            app.check_agents()
    if check:
        return said({"path": path, "valid": True}, f"{os.path.relpath(path)} is valid")
    values = plain(settings)
    if every:
        from ..config.setup.init import full_text

        return said(values, full_text(settings).rstrip())
    return said(values, "\n".join(_toml(values)))


def _toml(values: dict[str, Any], prefix: str = "") -> list[str]:
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


def get(key: Key) -> Output:
    """Show one setting, or a table of settings, with the values in force."""
    from ..config.setup import changing

    with looked_at() as app:
        found = changing.setting(app.config, key, changing.values(app.paths))
    value = plain(found)
    return Output({"key": key, "value": value}, lambda screen: "\n".join(_one(key, value)))


def _one(key: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return _toml(value, f"{key}.")
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return _toml({key: value})
    return ["not set" if value is None else one_line(value) if isinstance(value, str) else shown(value)]


def set_value(
    key: Key,
    value: Annotated[str, Field('The value. A list: JSON ["a", "b"], or a,b; +a adds a.', metavar="VALUE")],
) -> Output:
    """Change one setting in .nobrakes/config.toml; all other lines and comments stay. A value that is not allowed is
    refused. Name a check by its name (checks.test.retry); to add one, set its command (checks.lint.command)."""
    return _change(key, value)


def unset(key: Key) -> Output:
    """Remove a setting from .nobrakes/config.toml, so that its default applies again."""
    return _change(key, None)


def _change(key: str, value: str | None) -> Output:
    from ..app import located
    from ..config.setup import changing

    changed = changing.change(located(), [(key, value)])
    if changed.written and not changed.wrong:
        with opened() as app:
            record(app.store, changed, actor())
    then = follows(changed)

    def shown(screen: Screen) -> str:
        wrong = [screen.paint("still wrong: ", "yellow") + one_line(line) for line in changed.wrong]
        return "\n".join([*change_lines(changed.changes), *wrong, *map(one_line, then)])

    return Output({**plain(changed), "next": then}, shown)


def follows(changed: "Changed") -> list[str]:
    """The effects of the change, and what to type."""
    if changed.wrong:
        return [f"the previous settings stay in force until {os.path.relpath(changed.path)} is valid"]
    if not changed.written:
        return ["nothing changed: the file already has this value"]
    keys = [one.key for one in changed.changes]
    with opened() as app:
        from ..app import here

        return [
            since(app.paths, *keys),
            *[
                f"but `nobrakes set` overrides it with {name} = {value}; "
                f"to use the file again: nobrakes set {name}=default"
                for name, value in control.overrides(app.store).items()
                if f"limits.{name}" in keys
            ],
            *(_agent_warnings(app.config, here(app)) if any(key.startswith("agents.") for key in keys) else ()),
            *(_CHECKS_CHANGE if any(key == "setup" or key.startswith("checks.") for key in keys) else ()),
            *_committed(app.paths),
        ]


_CHECKS_CHANGE = ("from now on every merge must pass this check; to try the check on main: nobrakes init --trial",)


def _agent_warnings(config: "Config", here: Here) -> list[str]:
    """Why named agents cannot start here, with the fix."""
    found = [agent_blocker(name, config, here) for name in config.agents.agent_choice().names()]
    return [f"{one.what}: {one.cure}" if one.cure else one.what for one in found if one is not None]


def _committed(paths: "Paths") -> list[str]:
    if not os.path.exists(os.path.join(paths.root, ".git")):
        return ["not committed yet: the next `nobrakes commit-strategy` commits it on main"]
    path = shlex.quote(os.path.relpath(paths.config))
    return [
        "not committed yet: the next `nobrakes commit-strategy` commits it on main, or type:",
        f"  git add {path} && git commit -m 'Change settings' {path}",
    ]


CheckKind = Literal["test", "lint", "types", "build"]
CHECK = "The command of this check (default: detected in the project)."


def demo(
    folder: Annotated[str | None, Field("A new folder (default: a temporary one).", metavar="FOLDER")] = None,
    as_json: AsJson = False,
) -> Output:
    """Build an example program in a new repository: scripts work as agents, and git and all processes are real. This
    needs no agent and no account, and takes up to two minutes."""
    import tempfile
    from pathlib import Path
    from runpy import run_path

    from ..paths import resource

    try:
        place = Path(folder or tempfile.mkdtemp(prefix="nobrakes-library-"))
        play = run_path(resource("examples/run.py"))["play"]
        example = play("library", place, sys.stderr if as_json else sys.stdout)
    except OSError as error:
        raise UsageError(f"the demo cannot use its folder: {error}", "Name a new one: nobrakes demo FOLDER") from None
    return said({"folder": str(example.folder), "merged": example.merged}, example.look())


def init(
    main: Annotated[str | None, Field("The branch that nobrakes merges work into.", ("--main",))] = None,
    test: Annotated[str | None, Field(CHECK, ("--test",))] = None,
    lint: Annotated[str | None, Field(CHECK, ("--lint",))] = None,
    types: Annotated[str | None, Field(CHECK, ("--types",))] = None,
    build: Annotated[str | None, Field(CHECK, ("--build",))] = None,
    trial: Annotated[bool | None, Field("Run the checks on main once (default: ask).", ("--trial/--no-trial",))] = None,
    collect: Annotated[bool, Field("Run pytest, jest and go so that they list their tests.", ("--collect",))] = False,
    agent: Annotated[
        str | None, Field("The agent for both roles: claude, codex, gemini, acp or script.", ("--agent",))
    ] = None,
    command: Annotated[str | None, Field("The command of the agent, if it is acp or script.", ("--command",))] = None,
    merge_driver: Annotated[
        bool | None, Field("Let git merge the graph by nobrakes' rules.", ("--merge-driver/--no-merge-driver",))
    ] = None,
) -> Output:
    """Set nobrakes up in this repository. You can run it again: it keeps everything that exists, except the agent if
    you name another one, and adds checks that you name. On a terminal it asks whether to run the checks on main once,
    and, if the repository has a remote, whether git merges the graph by nobrakes' rules; without one, add --trial and
    --merge-driver."""
    from ..config.setup import init as setup
    from ..config.setup.init import wanted_of

    given: dict[CheckKind, str | None] = {"test": test, "lint": lint, "types": types, "build": build}
    checks = [
        CheckSettings(name=kind, kind=kind, command=command, timeout_minutes=30.0, min_tests=1)
        for kind, command in given.items()
        if command
    ]
    settings = wanted_of(agent, command)
    report = setup.init(os.getcwd(), main=main, checks=checks, collect=collect, settings=settings)
    if unlisted := registry.register_here(report.paths.root):
        said = f"`nobrakes repositories` does not list this repository: {unlisted}"
        report = replace(report, warnings=(*report.warnings, said))
    if _wants_merge_driver(report.paths, merge_driver):
        report = replace(report, created=(*report.created, *setup.set_merge_driver(report.paths)))
    agents = {one.key: one.after for one in report.changes if one.key.startswith("agents.")}
    tried = _tried(report, trial)
    untried = bool(report.detected.checks) and tried is None
    report = replace(report, warnings=(*report.warnings, *_missing(report, bool(agents), untried)))
    data = {
        "folder": report.paths.folder,
        "created": report.created,
        "main": report.main,
        "setup": report.detected.setup,
        "checks": report.detected.checks,
        "tests": None if report.tests is None else {"files": report.tests.count, "globs": report.tests.globs},
        "agents": agents,
        "warnings": report.warnings,
        "next_steps": report.next_steps,
        "trial": None if tried is None else {"green": tried[0], "said": tried[1]},
    }
    return Output(data, lambda screen: _set_up(report, tried, screen))


def _wants_merge_driver(paths: "Paths", wanted: bool | None) -> bool:
    from ..config.setup.init import has_merge_driver, is_shared

    if (
        wanted is None
        and sys.stdin.isatty()
        and sys.stdout.isatty()
        and is_shared(paths)
        and not has_merge_driver(paths)
    ):
        return confirm("Let git merge .nobrakes/beads.jsonl field by field, when others change it too?")
    return bool(wanted)


def _missing(report: "InitReport", agents: bool, checks: bool) -> list[str]:
    """What agents and checks lack here, a line each."""
    if not (agents or checks):
        return []
    from ..app import here, open_app

    with open_app(report.paths.root, is_reading=True) as app:
        found = _agent_warnings(app.config, here(app)) if agents else []
        lacking = check_blockers(app.config, app.paths, here(app)) if checks else ()
        return [*found, *(f"{one.what}: {one.cure}" for one in lacking if one.kind is Trouble.NO_RUNNER)]


def _tried(report: "InitReport", wanted: bool | None) -> tuple[bool, list[str]] | None:
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
    done = "is set up" if report.created else "was already set up"
    out = [f"nobrakes {done} in {report.paths.folder}"]
    out += [f"  made    {', '.join(report.created)}"] if report.created else []
    out.append(f"  main    {one_line(report.main)} ({one_line(report.main_why)})")
    out += [f"  setup   {one_line(report.detected.setup)}"] if report.detected.setup else []
    for check in report.detected.checks:
        read_as = f"  (read as {check.format})" if check.format not in ("auto", "exit") else ""
        where = f"  (in {one_line(check.directory)})" if check.directory else ""
        out.append(f"  {check.kind:<7} {one_line(check.command)}{where}{read_as}")
    out += [f"  {one_line(report.tests.told())}"] if report.tests else []
    if report.changes:
        out += [f"  {line}" for line in change_lines(report.changes)]
    out += [screen.paint("warning: ", "yellow") + one_line(warning) for warning in report.warnings]
    if tried is not None:
        out += [("" if tried[0] else screen.paint("warning: ", "yellow")) + one_line(text) for text in tried[1]]
    elif report.detected.checks:
        out.append(
            "  the checks have not run on main yet: `nobrakes init --trial` runs them now, else the first run does"
        )
    return "\n".join([*out, "", "Next:", *(f"  {one_line(step)}" for step in report.next_steps)])
