"""The prompt of a session's turn: the messages, the interruption, and the way to answer.

1. What people say is the task; it is cleaned and bounded. What the agent itself said before is quoted, where its CLI
   no longer knows the session and it has to be told again.
2. A turn that its agent had begun is not told again what it was told: it goes on.
"""

from collections.abc import Mapping, Sequence

from ..agents.adapter import PREFIX, Marker
from ..agents.quoting import cut, fenced, quoted
from ..beads.model import Outcome
from ..text.cleaning import clean, only_seen
from .model import Message

MESSAGE = 32_000
EARLIER = 24_000

PROTOCOL = f"""# How this session works

You talk with a person who reads what you say later, perhaps on a phone. Your last message of each turn is what they
read: say in it what you found and what you propose. You change no file. This folder is a checkout of the project to
read, made again for each turn.

- `nobrakes agent ask "<question>" --option "<label>: <what it means; costs what>" … --recommend "<label>"` when only
  the person can decide (without options any text is an answer). Then end your turn: the answer comes with the next.
- `nobrakes agent notify "<text>"` to tell the person something at once.
- `nobrakes agent log "<text>"` for what should be kept.

End the last message of a turn with exactly one line, plain and alone on its line: `{PREFIX}{Marker.COMPLETED.value}`
when you have answered, `{PREFIX}{Marker.BLOCKED.value}` when you wait for an answer to a question that you asked."""

WORKING = f"""# How this session works

You work in this folder, a private clone on a branch of its own, for a person who reads what you say later, perhaps on a
phone. Commit what you do. Your last message of each turn is what they read: say in it what you did, what you did not,
and what the tests said.

- `nobrakes agent progress "<text>" --step N --of M` after each step's commit: they see it beside your commits.
- `nobrakes agent ask "<question>" --option "<label>: <what it means; costs what>" … --recommend "<label>"` when only
  the person can decide (without options any text is an answer). Then end your turn: the answer comes with the next.
- `nobrakes agent notify "<text>"` to tell the person something at once.

End the last message of a turn with exactly one line, plain and alone on its line: `{PREFIX}{Marker.COMPLETED.value}`
when you have done it, `{PREFIX}{Marker.BLOCKED.value}` when you wait for an answer to a question that you asked."""

PLANNING = f"""# How this session works

You plan what is to be done in this folder, and do not do it yet: you change no file, and what you change is not taken.
A person reads your plan, perhaps on a phone, and approves it or says what to change; then you go on in this session,
and work. Your last message is the plan: the steps in their order, the files of each, how it is shown that it works,
and what could go wrong.

- `nobrakes agent ask "<question>" --option "<label>: <what it means; costs what>" … --recommend "<label>"` when only
  the person can decide (without options any text is an answer). Then end your turn: the answer comes with the next.

End the last message of a turn with exactly one line, plain and alone on its line: `{PREFIX}{Marker.COMPLETED.value}`
when it is your plan, `{PREFIX}{Marker.BLOCKED.value}` when you wait for an answer to a question that you asked."""

_HAPPENED: Mapping[Outcome, str] = {
    Outcome.RATE_LIMITED: "the provider's usage limit was reached, and is over now",
    Outcome.PROVIDER_DOWN: "the provider had an outage",
    Outcome.NETWORK: "the provider could not be reached",
    Outcome.AUTH: "the provider did not accept the credentials for a while",
    Outcome.BILLING: "the provider wanted money for a while",
    Outcome.CAPPED: "a cap on what agents may cost was reached, and there is room again",
    Outcome.INTERRUPTED: "you were stopped with nobrakes",
    Outcome.COMPLETED: "something was said to you meanwhile",
    Outcome.BLOCKED: "something was said to you meanwhile",
}


def interrupted(cut_off: str) -> str:
    why = _HAPPENED.get(Outcome(cut_off), "your process ended before you were done")
    return f"You were interrupted: {why}. What you were doing last may be done by halves; go on from there."


def turn_prompt(
    told: Sequence[Message], earlier: Sequence[Message], cut_off: str, nonce: str, *, resumes: bool, protocol: str = ""
) -> str:
    """One turn's prompt. `told`: its messages; `earlier`: all before, for a fresh agent. `cut_off`: how the last turn
    was interrupted; empty: not. `protocol`: for an agent that does not know it."""
    parts = [protocol] if protocol else []
    if earlier and not resumes:
        said = "\n".join(f"{'You' if not one.author else 'The person'}: {clean(one.text)}" for one in earlier)
        parts.append(
            "# What was said before\n\nThe session has to start again. This is the end of what was said in it.\n"
            + fenced(quoted(said[-EARLIER:]), nonce)
        )
    return joined([*parts, *new(told, cut_off, resumes=resumes)])


def new(told: Sequence[Message], cut_off: str, *, resumes: bool, most: int = MESSAGE) -> list[str]:
    """What is new in a turn: the interruption, messages, and how to end."""
    parts = [interrupted(cut_off)] if cut_off else []
    parts += [cut(clean(one.text).strip(), most) for one in told]
    return [*parts, f"End your last message with exactly one line `{PREFIX}…`, as before."] if resumes else parts


def joined(parts: Sequence[str]) -> str:
    return only_seen("\n\n".join(parts) + "\n")
