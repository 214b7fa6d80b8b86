"""`nobrakes init`: the .nobrakes folder of a repository, made or completed.

1. Outside .nobrakes nothing of the repository changes; nothing is committed.
2. What is there stays: a second init only adds what is missing, and says so. Of a config.toml that is there only the
   settings are changed that somebody names (`--agent`), by operations.setup.changing.
3. One folder a repository: a linked worktree uses that of the main worktree, a bare repository has it inside itself.
4. A clone of a repository that tracks .nobrakes gets its database from the snapshot.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ...config.checks import CheckSettings
from ...config.settings import Config, load, parse
from ...core.errors import ConfigError, NotARepository
from ...git import commands, kept_settings
from ...git.discovery import Discovered, discover
from ...git.environment import CHECKOUT
from ...host.files import keep_private
from ...paths import FOLDER, Paths, repository_root
from ...replacing import replacing
from . import git_settings
from .agent import to_do
from .changing import SettingChange, Wanted, change, edited
from .config_text import config_text
from .detect import Detected, detect
from .formats import what_to_write, with_format
from .test_files import TestsFound, find_tests

IGNORED = """\
# Tracked by git: the settings, the graph, and what you change about roles and skills. Everything else stays here.
/*
!/.gitignore
!/config.toml
!/beads.jsonl
!/roles/
!/skills/
"""
_PRIVATE = ("runs", "wake", "workspaces", "scratch")


@dataclass(frozen=True, slots=True)
class InitReport:
    """What `init` did. `created` are paths below .nobrakes, none when all was there.

    `main` is the branch that work is merged into, `main_why` how it was found.
    """

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
    """Set nobrakes up in the repository around `start`; NotARepository, GitTooOld, ConfigError.

    `checks` replace the detected ones of their kinds. `force_detect` also looks at the project where a config exists,
    so that the report has what would be detected now; the config stays. `collect` lets runners list their tests.
    `settings` are set in the config, whether it is new or not.
    """
    root = repository_root(start)
    if root is None:
        raise NotARepository(f"{start} is not in a git repository")
    found = discover(root)
    paths = Paths(os.path.join(root, FOLDER))
    if os.path.lexists(paths.folder) and (os.path.islink(paths.folder) or not os.path.isdir(paths.folder)):
        raise ConfigError(f"{paths.folder} is there, and it is no folder", "Move it away, then run `nobrakes init`.")
    has_config = os.path.lexists(paths.config) or kept_settings.find(paths)  # main's are never written over
    if has_config:
        config = load(paths.config)
        branch, why = config.main, "as config.toml says"
        detected = detect(root) if force_detect and not found.bare else Detected(config.setup, config.checks)
    else:
        branch, why = (main, "as you said") if main else _main(root, found)
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
    warnings = [*_warnings(found, branch, detected), *([] if found.bare else git_settings.told(root, config))]
    warnings += what_to_write(root, detected.checks).values()
    if has_config and main not in (None, branch):
        warnings.insert(0, f"main stays '{branch}': change it in {_shown(paths.config)}")
    if has_config and checks:
        warnings.insert(0, f"the checks stay as they are: change them in {_shown(paths.config)}")
    tests = None
    if not found.bare:
        contract = tuple(check.check() for check in detected.checks)
        tests = find_tests(root, config if has_config else Config(), contract, collect)
        warnings += tests.warnings
    steps = (*to_do(config), *_next(detected, found.bare))
    return InitReport(paths, tuple(created), detected, tuple(warnings), steps, branch, why, tests, changes)


def _with(root: str, detected: Detected, given: Sequence[CheckSettings]) -> Detected:
    """What was detected, with the given checks before it, each with the format that its command tells."""
    names = {check.name for check in given}
    kept = tuple(check for check in detected.checks if check.name not in names)
    checks = tuple(with_format(root, check) for check in (*given, *kept))
    return Detected(detected.setup, checks, detected.notes)


def _main(root: str, found: Discovered) -> tuple[str, str]:
    """(the branch that work is merged into, how that was found out)."""
    asked = ["symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD"]
    answer = commands.run(asked, cwd=root, env=CHECKOUT, expect=(0, 1))
    remote = answer.text.partition("/")[2] if answer.code == 0 else ""
    if remote in found.branches:
        return remote, "it is the main branch of origin"
    usual = [name for name in ("main", "master") if name in found.branches]
    if found.head_branch and (found.head_branch in usual or not usual):
        return found.head_branch, "it is checked out"
    if usual:
        return usual[0], "there is a branch of this name"
    if len(found.branches) == 1:
        return found.branches[0], "it is the only branch"
    return "main", "no other name suggests itself"


def _make(paths: Paths, config: str | None, main: str) -> list[str]:
    """Make what is missing; what was made, relative to .nobrakes."""
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
    if not os.path.lexists(ignored) and (config is not None or os.path.lexists(paths.tracked_config)):
        _write(ignored, IGNORED)
        created.append(".gitignore")
    if not os.path.lexists(paths.database):
        _database(paths, main)
        created.append(os.path.basename(paths.database))
    if config is not None:  # last: it is what makes the folder count as set up
        _write(paths.config, config)
        created.append(os.path.basename(paths.config))
    return created


def _write(path: str, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


def _database(paths: Paths, main: str) -> None:
    """A new database; from what there is of one, where the repository tracks a snapshot or lost its database."""
    from ...git.repository import Repository
    from ...store.opening import create_store
    from ..snapshot.rebuild import rebuild

    if not os.path.lexists(paths.snapshot) and not os.path.lexists(paths.since):
        create_store(paths.database).close()
        return
    rebuild(paths, Repository(paths, main))


def _warnings(found: Discovered, main: str, detected: Detected) -> list[str]:
    warnings = list(detected.notes)
    if found.bare and not detected.checks:
        warnings.append("a bare repository has no files to look at: name the checks, as in `nobrakes init --test TEXT`")
    if not detected.checks:
        warnings.append(
            "there is no check yet: nothing can be merged before config.toml has one, or a scaffolding bead brings one"
        )
    elif not any(check.kind == "test" for check in detected.checks):
        warnings.append("no check runs tests: what agents write is never tried out")
    if not found.has_commits:
        warnings.append(f"there is no commit yet: {main} is born with your first one, and work starts then")
    elif main not in found.branches:
        warnings.append(f"there is no branch '{main}' yet: work starts when there is one")
    if found.dirty:
        warnings.append("you have uncommitted changes: they stay yours, and a merge that would overwrite them waits")
    if found.is_partial:
        warnings.append("this is a partial clone: objects that are missing here are missing in workspaces too")
    return warnings


def _shown(path: str) -> str:
    return os.path.join(FOLDER, os.path.basename(path))


def _next(detected: Detected, is_bare: bool) -> tuple[str, ...]:
    steps = [] if detected.checks else ["name your checks in .nobrakes/config.toml"]
    if not is_bare:  # there commit-strategy commits the settings: no checkout has them
        steps.append("commit .nobrakes (what is private there is ignored): git add .nobrakes")
    return (
        *steps,
        "plan some work: nobrakes shape, or nobrakes plan example > plan.yaml",
        "approve the plan, and let it be done: nobrakes commit-strategy, then nobrakes run",
    )
