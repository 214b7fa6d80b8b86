"""Role, bead and history made into a prompt. No model is asked: the same input gives the same text.

1. What earlier agents wrote is data: cleaned, quoted line by line inside a block whose fence holds a nonce that they
   cannot know, and never longer than HISTORY characters, newest attempt first.
2. What people wrote (bead, answers) is the task; it is cleaned and bounded too, and says so where it was cut.
3. What the project may add to a role is a file, .nobrakes/roles/<role>.md, which replaces ours.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Protocol

from ..core.beads.attempt import Attempt
from ..core.beads.bead import Bead, Role
from ..core.beads.branches import branch_of
from ..core.errors import ConfigError
from ..core.text.cleaning import clean
from ..paths import resource
from .beadtexts import CRITERION, TITLES, bead_text, earlier_text
from .permissions import may_change
from .protocol import protocol
from .quoting import answered, cut

ROLE_TEXT = 20_000


class CheckSection(Protocol):
    """One `checks` entry of the config."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def command(self) -> str:
        """What a shell runs."""
        ...

    @property
    def kind(self) -> str:
        """test, lint, types or build."""
        ...


class BoundarySection(Protocol):
    """The config's `boundaries`."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Globs of tests."""
        ...

    @property
    def gates(self) -> tuple[str, ...]:
        """Globs of gates."""
        ...


class Settings(Protocol):
    """The config, as far as a prompt tells of it (nobrakes.config.Config)."""

    @property
    def checks(self) -> Sequence[CheckSection]:
        """The project's contract."""
        ...

    @property
    def boundaries(self) -> BoundarySection:
        """What is a test and what is a protected file."""
        ...


def compile_prompt(
    role: Role,
    bead: Bead,
    config: Settings,
    attempts: Sequence[Attempt],
    answers: Sequence[tuple[str, str]],
    *,
    nonce: str,
    main: str,
    plan: str = "",
    instructions: str = "",
) -> str:
    """The prompt of one attempt. `attempts` are the bead's earlier ones in any order, `answers` (question, answer).

    `plan` is the section about the plan (see plan_text), `instructions` that of the repository. `nonce` must be new for
    each attempt: letters and digits, at least 8.
    """
    if len(nonce) < 8 or not nonce.isalnum():
        raise ValueError(f"{nonce!r} is no nonce")
    parts = [_task(role, bead, main), bead_text(bead)]
    if instructions:
        parts.append(instructions)
    if answers:
        parts.append("# What the human answered\n\n" + answered(answers, nonce))
    if plan:
        parts.append(plan)
    ended = sorted((a for a in attempts if a.outcome is not None), key=lambda a: a.number, reverse=True)
    if ended:
        parts.append(earlier_text(bead.id, ended, nonce))
    parts.append("# The checks that decide\n\n" + _checks(config.checks))
    rules = may_change(role, config.boundaries.tests, config.boundaries.gates, bead.scaffolding)
    parts.append(f"# What you may change\n\n{rules}")
    parts.append(protocol(role, bead.id))
    return "\n\n".join(parts) + "\n"


def system_prompt(role: Role, overrides_folder: str) -> str:
    """The role's persona: `<overrides_folder>/<role>.md` where it exists, else ours; ConfigError for a bad file."""
    return persona(role.value, overrides_folder)


def role_text(name: str, home: str) -> str:
    """The same for a role by its name, with what the repository of this .nobrakes folder says of it. ConfigError."""
    return persona(name, os.path.join(home, "roles"))


def persona(name: str, overrides_folder: str) -> str:
    """The persona of this name, as system_prompt; features have some that are no role of a bead."""
    own = os.path.join(overrides_folder, f"{name}.md")
    path = own if os.path.lexists(own) else resource(os.path.join("config", "roles", f"{name}.md"))
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(ROLE_TEXT + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the role file {path} cannot be read: {error}", "Mend or remove the file.") from None
    if not text or len(text) > ROLE_TEXT:
        what = "is empty" if not text else f"is longer than {ROLE_TEXT} characters"
        raise ConfigError(f"the role file {path} {what}", "Mend the file, or remove it to use the role's own text.")
    return text


def _task(role: Role, bead: Bead, main: str) -> str:
    work = {
        Role.TEST_WRITER: "Write the tests that prove this bead done, and see them fail for the right reason.",
        Role.DOER: "Do this bead: make its tests pass and fulfil every acceptance criterion."
        + (" Its tests are committed on your branch, and fail." if bead.needs_tests else ""),
    }.get(role, "Shape this bead with the human.")
    kept = " The branch holds what an earlier attempt committed: read it first (`git log`, `git diff`)."
    return (
        f"# Your task\n\nYou are the {TITLES[role]} of bead {bead.id}. {work}\n"
        f"You work in this folder, a private clone, on the branch `{branch_of(bead)}`, which started from `{main}`. "
        f"Stay on it.{kept if bead.branch_kept else ''}"
    )


def _checks(checks: Iterable[CheckSection]) -> str:
    lines = []
    for check in checks:
        command = cut(clean(check.command).strip(), CRITERION).replace("\n", "\n      ")
        lines.append(f"- {check.name} ({check.kind}):\n\n      {command}")
    if not lines:
        return "The project has none yet. Run what its documentation says."
    return "They run on your commit, in a fresh checkout. Run them before you stop.\n\n" + "\n".join(lines)
