"""What a role may do, in words for a prompt and in tools for an agent CLI.

1. core.policy.boundaries is the law, checked on the tree afterwards; what is said here only advises, and says the same.
2. The Shaper reads and proposes; it gets no tool that edits.
"""

from collections.abc import Mapping, Sequence

from ..core.beads.bead import Role

TOOLS: Mapping[Role, tuple[str, ...]] = {
    Role.SHAPER: ("Bash", "Read", "Glob", "Grep"),
    Role.TEST_WRITER: ("Bash", "Read", "Edit", "Write", "Glob", "Grep"),
    Role.DOER: ("Bash", "Read", "Edit", "Write", "Glob", "Grep"),
    Role.REVIEWER: (),
    Role.PERSON: (),
}

MOST_TOLD = 80
"""So many globs are told; all of them are looked at."""


def allowed_tools(role: Role) -> tuple[str, ...]:
    """The tools that an agent in this role gets, by Claude Code's names; the Reviewer is a program and has none."""
    return TOOLS[role]


def globs_text(globs: Sequence[str]) -> str:
    """Globs for a sentence: `a`, `b`; "(none)" where there are none, and how many more where there are too many."""
    more = f" and {len(globs) - MOST_TOLD} more" if len(globs) > MOST_TOLD else ""
    return ", ".join(f"`{glob}`" for glob in globs[:MOST_TOLD]) + more or "(none)"


def may_change(role: Role, tests: Sequence[str], gates: Sequence[str], scaffolding: bool = False) -> str:
    """Which files the role may change, one sentence a line."""
    never = "- Never touch `.nobrakes/` or `.git/`, nor anything outside this folder."
    if role is Role.SHAPER:
        return "- You change no file of the project. You propose beads, and people approve them."
    if scaffolding:
        return (
            "- This is a scaffolding bead: you may change code, tests and the files that decide whether work is good "
            f"({globs_text(gates)}).\n"
            "- Where the project has no checks yet, add them as [[checks]] to `.nobrakes/config.toml` (name, command, "
            "kind, format, min_tests), and `boundaries.tests` where its tests have unusual names. A person approves "
            "them. Leave every other setting as it is there: work that changes one is rejected.\n"
            "- Never touch anything else in `.nobrakes/`, nor `.git/`, nor anything outside this folder."
        )
    if role is Role.TEST_WRITER:
        rule = f"- Change only tests: {globs_text(tests)}. Never change code, not even to make a test pass."
    else:
        rule = f"- Never change a test: {globs_text(tests)}. Work that changes one is rejected."
    return f"{rule}\n- Never change what decides whether work is good: {globs_text(gates)}.\n{never}"
