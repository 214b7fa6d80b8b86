"""How an agent works and talks back: the part of every prompt that is the same for each bead."""

from ..core.beads.bead import Role
from ..core.transcript import PREFIX, Marker

_COMMITS = """- Commit often, each commit one step, with the message `<subject>`, an empty line, `Bead: {bead}`.
  Only what is committed counts. Never push, merge, rebase, switch branches or touch git's configuration."""

_TALK = """The tools of an MCP server `nobrakes` do the same.

- `nobrakes agent progress "<where you are>" --step <n> --of <m>` after each committed step.
- `nobrakes agent ask "<question>" --wait 120` when only the human can decide. Unanswered, stop as BLOCKED.
  Choices: `--option "<label>: <meaning>; costs <what>"`, `--recommend <label>`, `--yes-no`.
- `nobrakes agent blocked "<why>" --option "<way on>"` when nothing goes on without: commit first, you are stopped.
- `nobrakes agent escalate "<suggestion>"` for work outside this bead; do not do it. Begin with `dependency:` for what
  it lacks, `scope:` for more than planned.
- `nobrakes agent notify "<text>"` tells the human something.
- `nobrakes agent log "<text>"` explains (say, failing tests).
- `nobrakes agent test` runs the checks: one test round.
- `nobrakes agent whats-next` when unsure what is left."""

_GIVE_UP = """Give up after three rounds of {what} that you cannot explain, or when your context runs low, before you
start guessing."""

_HAND_IN = """Hand in with one command, whether you are done or give up:

    nobrakes agent done <{outcomes}> --summary "<what you did>" \\
        --blockers "<what stopped you>" --learnings "<what the next one should know>" --keep-branch

Use `--discard-branch` instead when your commits would mislead the next attempt; they are archived.
If the command does not work, write the same into the file "$NOBRAKES_HANDOFF".

Then end your last message with exactly one of these, alone on its line:

{markers}"""

_MEANINGS = {
    Marker.COMPLETED: "every acceptance criterion is met, the checks ran, all is committed",
    Marker.CONTEXT_EXHAUSTED: "your context runs low",
    Marker.BLOCKED: "you wait for the human",
    Marker.FAILED: "you give up",
}


def protocol(role: Role, bead: str) -> str:
    """The rules of work for a role on a bead; the Shaper, who talks with a person, has its own in its persona."""
    what = "failures of the tests you wrote" if role is Role.TEST_WRITER else "test failures"
    markers = "\n".join(f"- `{PREFIX}{marker.value}`: {meaning}" for marker, meaning in _MEANINGS.items())
    outcomes = "|".join(marker.value.lower() for marker in Marker)
    return "\n\n".join(
        (
            "# How to work",
            _COMMITS.format(bead=bead),
            "## Talking back",
            _TALK,
            "## Giving up",
            _GIVE_UP.format(what=what),
            "## Ending",
            _HAND_IN.format(outcomes=outcomes, markers=markers),
        )
    )
