"""`nobrakes init`: the .nobrakes folder of a repository, made or completed.

1. Nothing outside .nobrakes changes but a merge driver of git, on request; nothing is committed.
2. Existing files stay: a second init adds and reports what is missing. In an existing config.toml only named settings
   change (`--agent`, config.setup.changing).
3. One folder a repository: linked worktrees use the main worktree's, a bare repository has it inside.
4. A clone of a repository that tracks .nobrakes gets its database from the snapshot.
"""

import os
import shlex
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, fields, replace
from typing import Any

from ...abilities import CODED
from ...agents.known import ADAPTERS
from ...errors import ConfigError, NobrakesError, NotARepository, UsageError
from ...files import ATTRIBUTES, IGNORED, IGNORED_BEFORE, KEEPER, for_git, keep_private, write_atomic
from ...git import command_line, lfs, persons
from ...git.command_line import CHECKOUT
from ...git.commits import Signer
from ...git.filters import Filters, allowing
from ...git.location import Discovered, Place, discover
from ...git.objects import Objects
from ...git.port import Signing
from ...git.workspaces import make
from ...paths import FOLDER, Paths, repository_root, which
from ...records import frozen
from ...text.cleaning import count
from ..editing import EXAMPLES, Setting, settings, toml
from ..sections import CheckSettings
from ..settings import Config, load, parse
from .changing import SettingChange, Wanted, change, edited
from .detect import Detected, TestsFound, detect, find_tests, what_to_write, with_format

# A new config.toml has the settings that matter first, each with its comment. Defaults are commented out, so that a
# later nobrakes may improve them; what is set is what somebody decided.
FIRST = (
    "main",
    "setup",
    "checks",
    "limits.doers",
    "limits.max_failures",
    "review.merge",
    "agents.test_writer",
    "agents.doer",
    "agents.script.command",
    "caps.day.usd",
    "sandbox.mode",
    "sandbox.read",
)
_HEAD = """\
# The most important settings of nobrakes. A line that is commented out shows the default. To see all settings:
# nobrakes config --all. To change one, edit this file, or type: nobrakes config set limits.doers 2
"""
_HEAD_OF_ALL = """\
# Every setting of nobrakes with its current value. A line that is commented out has its default, or is not set.
"""
_WIDTH = 118


def config_text(main: str, setup: str, checks: Iterable[CheckSettings]) -> str:
    config = Config(main=main, setup=setup, checks=tuple(checks))
    wanted = [one for one in settings() if _key(one) in FIRST and (one.name != "setup" or setup)]
    return _HEAD + _tables(wanted, config, always=("main",))


def full_text(config: Config) -> str:
    return _HEAD_OF_ALL + _tables(list(settings()), config)


def _key(one: Setting) -> str:
    return f"{one.section}.{one.name}".lstrip(".")


def _tables(wanted: list[Setting], config: Config, always: tuple[str, ...] = ()) -> str:
    out: list[str] = []
    section = ""
    for one in wanted:
        if one.section != section:
            section = one.section
            out += ["", _example(section) if section in EXAMPLES else f"[{section}]"]
        out += [] if section else [""]
        out += [f"# {line}" for line in textwrap.wrap(one.comment, _WIDTH, break_on_hyphens=False)]
        value, default = (_at(found, _key(one)) for found in (config, Config()))
        if section in EXAMPLES or (value == default and one.name not in always):
            out.append(f"# {one.name} = {one.default}")
        elif one.name == "checks":
            out += _checks(config.checks)
        else:
            out.append(f"{one.name} = {toml(_plain(value))}")
    return "\n".join(out) + "\n"


def _example(section: str) -> str:
    return f"# [[{section}]]" if section == "checks" else f"# [{section}]"


def _at(config: Any, key: str) -> Any:
    for name in key.split("."):
        config = getattr(config, name, None)
    return config


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _differing(one) if hasattr(one, "__dataclass_fields__") else one for key, one in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value


def _differing(one: Any) -> dict[str, Any]:
    values = asdict(one)
    return {field.name: values[field.name] for field in fields(one) if values[field.name] != field.default}


def _checks(checks: Iterable[CheckSettings]) -> list[str]:
    out: list[str] = []
    for check in checks:
        values = _differing(check)
        values = {"name": check.name, "command": check.command, "kind": check.kind, **values}
        values = {name: value for name, value in values.items() if value != {}}
        out += ["", "[[checks]]", *(f"{name} = {toml(value)}" for name, value in values.items())]
    return out[1:]


_BY_COMMAND = ("acp", "script")


def wanted_of(agent: str | None, command: str | None) -> tuple[Wanted, ...]:
    """The settings that use this agent in both roles. UsageError: unknown, or it takes no command."""
    if agent is None:
        if command is not None:
            raise UsageError("--command needs --agent", f"Add --agent {' or --agent '.join(_BY_COMMAND)}.")
        return ()
    if agent not in ADAPTERS:
        from difflib import get_close_matches

        like = get_close_matches(agent[:40], list(ADAPTERS), n=1)
        meant = f"Did you mean {like[0]}? " if like else ""
        raise UsageError(f"unknown agent '{agent[:40]}'", f"{meant}Use one of: {', '.join(ADAPTERS)}.")
    roles: tuple[Wanted, ...] = (("agents.test_writer", agent), ("agents.doer", agent))
    if command is None:
        return roles
    if agent not in _BY_COMMAND:
        own = agent if agent in CODED else f"profiles.{agent}"
        raise UsageError(
            f"--command cannot be used with the agent {agent}",
            f"To set the agent's path: nobrakes config set agents.{own}.executable PATH. --command works only with "
            f"{' or '.join(_BY_COMMAND)}.",
        )
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command cannot be split into words: {error}", "Quote it as for a shell.") from None
    if not words:
        raise UsageError("--command is empty", "For example: --command 'python3 agent.py'")
    return (*roles, (f"agents.{agent}.command", command))


def to_do(config: Config) -> list[str]:
    """Steps to name missing commands."""
    names = config.agents.agent_choice().names()
    return [
        f"set the agent's command: nobrakes config set agents.{name}.command 'my-agent --its-options'"
        for name in names
        if name in _BY_COMMAND and not config.agents.command(name)
    ]


def told(root: str, config: "Config") -> Iterator[str]:
    """Git settings of the person that nobrakes does not follow, with advice."""
    if (hooks := persons.hooks(root)) is not None:
        yield (
            f"your git hooks {', '.join(hooks.names)} in {hooks.folder} do not run when nobrakes commits, merges or "
            "pushes: add what they test as a check in .nobrakes/config.toml"
        )
    if persons.is_outside_the_cone(root):
        if persons.is_left_in_place(root):
            yield (
                "the sparse checkout leaves out .nobrakes, so nobrakes reads the settings from main. The file "
                f"{KEEPER} in .nobrakes (seen in git status) keeps git from removing the database, the workspaces and "
                "agents' work. To get .nobrakes back: `git sparse-checkout add .nobrakes`"
            )
        else:
            yield (
                "the sparse checkout leaves out .nobrakes, and main has an older .nobrakes/.gitignore: `git "
                "sparse-checkout set` can remove the database and agents' work. Type `git sparse-checkout add "
                ".nobrakes`, then `nobrakes init`, and commit .nobrakes/.gitignore and .gitattributes"
            )
    for path, commit in make.links(root):
        if trouble := make.why_not(path, commit, root):
            yield f"checks and agents do not get all files of main: {trouble}"
    signer = Signer(Place(root, "HEAD"), Signing(config.git.sign, config.git.committer))
    if trouble := signer.unsigned(config.review.land):
        yield trouble
    yield from _filters(root, config)


def _filters(root: str, config: "Config") -> Iterator[str]:
    place = Place(root, "HEAD")
    with closing(Objects(place)) as objects:
        filters = Filters(place, objects)
        try:
            head = place.head()
        except NobrakesError:
            return  # nothing is committed, so nothing is under a filter
        if not filters.names(head):
            return
        under = filters.under((head,), place.run(["ls-tree", "-r", "-z", "--name-only", head]).records)
        for name, many in sorted(Counter(under.values()).items()):
            files = count(many, "file")
            if name == lfs.NAME:
                yield _lfs(filters, head, [path for path in under if under[path] == name], files)
            else:
                yield _filter(filters, name, files, config)


def _lfs(filters: Filters, head: str, paths: list[str], files: str) -> str:
    text = f"Git LFS stores {files} of main: agents and checks see their content"
    if not which("git-lfs"):
        text += "; git-lfs is not installed, so nobrakes cannot fetch or push their content"
    folder, entries = lfs.store(filters.place), (filters.objects.entry(head, path) for path in paths)
    pointers = [lfs.parse(filters.objects.content(one.id) or b"") for one in entries if one is not None]
    missing = sum(1 for one in pointers if one is not None and not lfs.has(folder, one))
    return text + (f"; the content of {missing} is missing here: type `git lfs fetch`" if missing else "")


def _filter(filters: Filters, name: str, files: str, config: "Config") -> str:
    text = f"git stores {files} of main through the filter '{name}'"
    if not filters.configured(name, "clean"):
        return f"{text}, and your git settings have no filter.{name}.clean: beads cannot change these files"
    if name not in config.git.filters:
        return f"{text}, which nobrakes does not run: beads cannot change them. To allow: `{allowing('filters', name)}`"
    if name not in config.git.clear_text:
        return (
            f"{text}: nobrakes runs it for new files, and agents and checks do not see the decrypted text of existing "
            f"files. To allow: `{allowing('clear_text', name)}`"
        )
    return f"{text}: nobrakes runs it in the sandbox, and agents and checks see the decrypted text"


_PRIVATE = ("runs", "wake", "workspaces", "scratch")


@frozen
class InitReport:
    """What `init` did. `created`: paths below .nobrakes. `main`: the target branch, `main_why`: how it was found."""

    paths: Paths
    created: tuple[str, ...]
    detected: Detected
    warnings: tuple[str, ...]
    next_steps: tuple[str, ...]
    main: str = "main"
    main_why: str = ""
    tests: TestsFound | None = None
    changes: tuple[SettingChange, ...] = ()


def init(
    start: str,
    *,
    main: str | None = None,
    checks: Sequence[CheckSettings] = (),
    force_detect: bool = False,
    collect: bool = False,
    settings: Sequence[Wanted] = (),
) -> InitReport:
    """Set nobrakes up in the repository around `start`. Raises NotARepository, GitTooOld, ConfigError. `checks` replace
    detected ones of their kinds. `force_detect` also reports what an existing config would get now. `collect` lets
    runners list tests. `settings` are set in a new or existing config."""
    if (root := repository_root(start)) is None:
        raise NotARepository(f"{start} is not in a git repository")
    found = discover(root)
    paths = Paths(os.path.join(root, FOLDER))
    if os.path.lexists(paths.folder) and (os.path.islink(paths.folder) or not os.path.isdir(paths.folder)):
        raise ConfigError(f"{paths.folder} exists but is not a folder", "Move the file away, then run `nobrakes init`.")
    has_config = os.path.lexists(paths.config) or persons.find(paths)  # main's are never written over
    if has_config:
        config = load(paths.config)
        branch, why = config.main, "set in config.toml"
        detected = detect(root) if force_detect and not found.bare else Detected(config.setup, config.checks)
        known = {check.name: check.command for check in config.checks}
        added = [with_format(root, check) for check in checks if check.name not in known]
        detected = replace(detected, checks=(*detected.checks, *added))
        settings = (*settings, *_adding(added))
    else:
        branch, why = (main, "your choice") if main else _main(root, found)
        given = {check.kind for check in checks}
        detected = _with(root, Detected() if found.bare else detect(root, given), checks)
    text: str | None = None
    changes: tuple[SettingChange, ...] = ()
    if not has_config:
        text, changes = edited(config_text(branch, detected.setup, detected.checks), settings, _shown(paths.config))
        parse(text, _shown(paths.config))
    created = _make(paths, text, branch)
    if has_config and settings:
        changes = change(paths, settings).changes
    config = load(paths.config)  # it is remembered as right, so that hot commands need not look
    warnings = [*_warnings(found, branch, detected), *([] if found.bare else told(root, config))]
    warnings += what_to_write(root, detected.checks).values()
    if has_config and main not in (None, branch):
        warnings.insert(0, f"main is still '{branch}': change it in {_shown(paths.config)}")
    for check in checks if has_config else ():
        if check.command != known.get(check.name, check.command):
            command = f"nobrakes config set checks.{check.name}.command {shlex.quote(check.command)}"
            warnings.insert(0, f"the check '{check.name}' still runs `{known[check.name]}`: to change, type {command}")
    tests = None
    if not found.bare:
        contract = tuple(check.check() for check in detected.checks)
        tests = find_tests(root, config if has_config else Config(), contract, collect)
        warnings += tests.warnings
    steps = (*to_do(config), *_next(detected, found.bare))
    return InitReport(paths, tuple(created), detected, tuple(warnings), steps, branch, why, tests, changes)


_DRIVER = "merge.nobrakes.driver"
_MERGE = f"{shlex.quote(sys.executable)} -P -m nobrakes merge-snapshot %O %A %B %P"  # -P: no code of the repository
_MERGED = b"beads.jsonl merge=nobrakes\n"


def has_merge_driver(paths: Paths) -> bool | None:
    """Whether git merges the snapshot with nobrakes here; None: .gitattributes does not name it."""
    if _MERGED not in for_git(paths.folder).get(".gitattributes", b""):
        return None
    return command_line.run(["config", "--get", _DRIVER], cwd=paths.root, env=CHECKOUT, expect=(0, 1)).text == _MERGE


def is_shared(paths: Paths) -> bool:
    """Whether the repository has a remote, so that others may change the graph too."""
    return bool(command_line.run(["remote"], cwd=paths.root, env=CHECKOUT).text)


def set_merge_driver(paths: Paths) -> list[str]:
    """Let git merge the snapshot with nobrakes; returns what is new."""
    if has_merge_driver(paths):
        return []
    attributes = for_git(paths.folder).get(".gitattributes", b"")
    if _MERGED not in attributes:
        write_atomic(os.path.join(paths.folder, ".gitattributes"), attributes + _MERGED, None)
    command_line.run(["config", "--local", _DRIVER, _MERGE], cwd=paths.root, env=CHECKOUT)
    return [".gitattributes", "merge.nobrakes in git's settings"]


def _adding(checks: Iterable[CheckSettings]) -> Iterator[Wanted]:
    for check in checks:
        yield f"checks.{check.name}.command", check.command
        if check.format != "auto":
            yield f"checks.{check.name}.format", check.format


def _with(root: str, detected: Detected, given: Sequence[CheckSettings]) -> Detected:
    names = {check.name for check in given}
    kept = tuple(check for check in detected.checks if check.name not in names)
    return Detected(detected.setup, tuple(with_format(root, check) for check in (*given, *kept)), detected.notes)


def _main(root: str, found: Discovered) -> tuple[str, str]:
    asked = ["symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD"]
    answer = command_line.run(asked, cwd=root, env=CHECKOUT, expect=(0, 1))
    remote = answer.text.partition("/")[2] if answer.code == 0 else ""
    if remote in found.branches:
        return remote, "the main branch of the remote origin"
    usual = [name for name in ("main", "master") if name in found.branches]
    if found.head_branch and (found.head_branch in usual or not usual):
        return found.head_branch, "named by HEAD" if found.bare else "checked out"
    if usual:
        return usual[0], "the repository has a branch with this name"
    if len(found.branches) == 1:
        return found.branches[0], "the only branch"
    return "main", "default"


def _make(paths: Paths, config: str | None, main: str) -> list[str]:
    created = []
    os.makedirs(paths.folder, mode=0o700, exist_ok=True)
    keep_private(paths.folder)
    for name in _PRIVATE:
        path = os.path.join(paths.folder, name)
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
            created.append(name + "/")
    ignored = os.path.join(paths.folder, ".gitignore")
    # where main has one it comes with a checkout of main, and would be in its way
    is_missing = not os.path.lexists(ignored) and (config is not None or os.path.lexists(paths.tracked_config))
    if is_missing or for_git(paths.folder).get(".gitignore") == IGNORED_BEFORE:
        for name, content in ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORED)):
            write_atomic(os.path.join(paths.folder, name), content, None)
            created.append(name)
    if not os.path.lexists(paths.database):
        _database(paths, main)
        created.append(os.path.basename(paths.database))
    if config is not None:  # last: it is what makes the folder count as set up
        write_atomic(paths.config, config.encode(), None)
        created.append(os.path.basename(paths.config))
    return created


def _database(paths: Paths, main: str) -> None:
    from ...git.repository import Repository
    from ...snapshot.service import rebuild
    from ...store import create_store

    if not os.path.lexists(paths.snapshot) and not os.path.lexists(paths.since):
        create_store(paths.database).close()
        return
    rebuild(paths, Repository(paths, main))


def _warnings(found: Discovered, main: str, detected: Detected) -> list[str]:
    warnings = list(detected.notes)
    if found.bare and not detected.checks:
        warnings.append("a bare repository has no files to detect checks from: use `nobrakes init --test COMMAND`")
    if not detected.checks:
        warnings.append("there is no check yet: nobrakes merges nothing until you or a scaffolding bead add a check")
    elif not any(check.kind == "test" for check in detected.checks):
        warnings.append("no check runs tests, so nothing tests the agents' work")
    if not found.has_commits:
        warnings.append(f"there is no commit yet: agents start after your first commit on {main}")
    elif main not in found.branches:
        warnings.append(f"there is no branch '{main}' yet: agents start after you create it")
    if found.dirty:
        warnings.append("nobrakes does not touch your uncommitted changes; a merge that would overwrite them waits")
    if found.is_partial:
        warnings.append("this is a partial clone, so nobrakes needs the remote whenever it creates a workspace")
    return warnings


def _shown(path: str) -> str:
    return os.path.join(FOLDER, os.path.basename(path))


def _next(detected: Detected, is_bare: bool) -> tuple[str, ...]:
    steps = [] if detected.checks else ["add the commands of your checks to .nobrakes/config.toml"]
    if not is_bare:  # there commit-strategy commits the settings: no checkout has them
        steps.append("commit .nobrakes (git ignores its private files): git add .nobrakes")
    return (
        *steps,
        "plan work: nobrakes shape, or nobrakes plan example > plan.yaml",
        "approve the plan and start: nobrakes approve, then nobrakes run",
    )
