"""What an agent may do over its channel: the command line of agents.service.agent_api, `nobrakes agent …`.

cli.hot answers the usual spellings faster. Texts are an argument, or stdin for '-'.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from ..agents.service import agent_api
from ..command_table import Field, Parameter
from ..errors import ChecksFailed, NotAnswered, UsageError
from ..text.cleaning import lines
from .main import typed
from .outcome import Output, text_or_stdin

WAITS = "With --wait: exit code 82 if no answer came in that time. The question stays open."


def __getattr__(name: str) -> Callable[..., Output]:
    found = next((one for one in agent_api.OPERATIONS if one.name == name.replace("_", "-")), None)
    if found is None:
        raise AttributeError(name)
    wanted = [_parameter(one, is_first=not place) for place, one in enumerate(found.parameters)]
    story = f"{found.help}\n\n{WAITS}" if any(one.name == "wait" for one in wanted) else found.help
    return typed(name, story, wanted, lambda **given: _do(found.name, **given))


def _parameter(one: agent_api.Parameter, is_first: bool) -> Parameter:
    options: tuple[str, ...] = () if is_first else ("--" + one.name.replace("_", "-"),)
    kind: Any = one.kind if one.kind is not list else tuple[str, ...] if one.most > 1 else tuple[str]
    default = () if one.kind is list else one.default
    field = Field(one.help, options, reads_stdin=one.kind is str and not one.choices, one_of=tuple(one.choices))
    return Parameter(one.name, kind, field, inspect.Parameter.empty if one.required else default)


def _do(operation: str, **given: Any) -> Output:
    """Run the operation; the exit code tells failed checks or a missing answer."""
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    reply = agent_api.perform(operation, given)
    error: ChecksFailed | NotAnswered | None = None
    if operation == "test" and not reply.data["passed"]:
        error = ChecksFailed("not every check passed")
    elif given.get("wait") and None in reply.data.values():
        error = NotAnswered("there was no answer in this time")
    return Output(reply.data, lambda screen: "\n".join(lines(reply.text)), error)


def done(
    ended: Annotated[str | None, Field("Another way to give --outcome.", metavar="OUTCOME")] = None,
    outcome: Annotated[
        str | None, Field("completed (default), gave_up_context, gave_up_tests, failed or blocked.", ("--outcome",))
    ] = None,
    summary: Annotated[str, Field("What you did; '-' reads stdin.", ("--summary",))] = "",
    blockers: Annotated[str, Field("What stopped you.", ("--blockers",))] = "",
    learnings: Annotated[str, Field("What the next agent should know.", ("--learnings",))] = "",
    discard_branch: Annotated[
        bool, Field("Whether the next attempt starts without your commits.", ("--discard-branch/--keep-branch",))
    ] = False,
) -> Output:
    """Hand in your work: how it ended, and what the next agent should know. Commit first; then end your session.

    A discarded branch is archived, not lost."""
    if ended is not None and outcome is not None and ended != outcome:
        raise UsageError("two outcomes were given", "Name one.")
    return _do(
        "done",
        outcome=(ended or outcome or "completed").lower(),
        summary=text_or_stdin("-", "summary") if summary == "-" else summary,
        blockers=blockers,
        learnings=learnings,
        discard_branch=discard_branch,
    )
