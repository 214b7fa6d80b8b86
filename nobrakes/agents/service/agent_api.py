"""The table of what an agent may do over its channel; CLI, MCP server and docs are generated from it.

1. An operation takes JSON values by name and returns a Reply: `text` for people, `data` for programs.
2. Arguments are validated here: an unknown name, a missing one, a wrong type or an empty text is a UsageError.
3. No parameter has the name of a path or command, which an agent CLI's guard would check.
4. On the command line the first parameter is positional, the others are options.
5. Imports stay cheap, since agents call all night: no dataclass and no NamedTuple here.
"""

from ...beads.progress import CATEGORIES, WORK_TYPES
from ...decisions import forms
from ...decisions.forms import MAX_OPTIONS
from ...text.cleaning import unusable
from . import client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


class Reply:
    """JSON values, and the same as text."""

    def __init__(self, data: "Any", text: str) -> None:
        self.data, self.text = data, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reply) and (self.data, self.text) == (other.data, other.text)


class Parameter:
    """One argument. `kind`: str, int, float, bool or list. Texts may have `choices`, numbers have bounds, a list has at
    most `most` texts and a repeatable option."""

    def __init__(
        self,
        name: str,
        help: str,
        kind: type = str,
        default: "Any" = None,
        *,
        required: bool = False,
        choices: "tuple[str, ...]" = (),
        least: int = 0,
        most: int = 10**9,
    ) -> None:
        self.name, self.help, self.kind, self.default = name, help, kind, default
        self.required, self.choices, self.least, self.most = required, choices, least, most


class Operation:
    """`reads`: it changes nothing."""

    def __init__(
        self,
        name: str,
        help: str,
        perform: "Callable[..., Reply]",
        parameters: "tuple[Parameter, ...]" = (),
        *,
        reads: bool = False,
    ) -> None:
        self.name, self.help, self.perform, self.parameters, self.reads = name, help, perform, parameters, reads


def _bead() -> Reply:
    from . import own_work

    return Reply(*client.call("bead", calls=own_work.CALLS))


def _attempts() -> Reply:
    from . import own_work

    return Reply(*client.call("attempts", calls=own_work.CALLS))


def _whats_next() -> Reply:
    from . import own_work

    found = own_work.next_steps()
    return Reply({"next": list(found)}, "\n".join(found))


def _said(verb: str) -> "Callable[..., Reply]":
    def perform(text: str) -> Reply:
        client.say(verb, text)
        return Reply({"written": True}, client.WRITTEN)

    return perform


def _progress(text: str, step: "int | None", of: "int | None", percent: "int | None", work_type: "str | None") -> Reply:
    commits, doubt = client.progress(text, step, of, percent, work_type)
    data: dict[str, Any] = {"written": True}
    if step is not None:
        data |= {"step": step, "of": of, "commits": commits, "doubt": doubt}
    return Reply(data, client.WRITTEN + (f"; but {doubt}" if doubt else ""))


def _ask(question: str, wait: float, **said: "Any") -> Reply:
    """`said`: the arguments of _FORM."""
    form = None
    if any(said.values()):
        from .own_work import form_of

        form = form_of(**said)
    return _answered(*client.ask(question, wait, form))


def _answer(number: "int | None") -> Reply:
    return _answered(*client.answer(number))


def _answered(number: int, answer: "str | None") -> Reply:
    return Reply({"escalation": number, "answer": answer}, client.no_answer(number) if answer is None else answer)


def _request_review(plan: str, wait: float) -> Reply:
    from . import own_work

    number, decision = own_work.request_review(plan, wait)
    text = client.plan_waits(number) if decision is None else decision
    return Reply({"escalation": number, "decision": decision}, text)


def _blocked(what: str, option: "list[str]", recommend: "list[str]", tried: str) -> Reply:
    number = client.blocked(what, list(option), list(recommend), tried)
    return Reply({"escalation": number}, client.waits(number))


def _escalate(suggestion: str, detail: str, severity: str) -> Reply:
    number = client.escalate(suggestion, detail, severity)
    return Reply({"escalation": number}, client.suggested(number))


def _test(check: str) -> Reply:
    from . import own_work

    return Reply(*own_work.test(check))


def _done(outcome: str, summary: str, blockers: str, learnings: str, discard_branch: bool) -> Reply:
    said = client.OUTCOMES[outcome]
    client.done(said, summary, blockers, learnings, not discard_branch)
    return Reply({"outcome": said}, client.HANDED_IN)


def _forging(name: str) -> "Callable[..., Reply]":
    """Imports own_work only when it is called."""

    def perform(**given: "Any") -> Reply:
        from . import own_work

        return Reply(*getattr(own_work, name)(**given))

    return perform


_TEXT = Parameter("text", "The text.", required=True)
_WAIT = Parameter("wait", f"Seconds to wait, at most {client.MAX_SECONDS:g}.", float, 0.0, most=int(client.MAX_SECONDS))
_FORM = (
    Parameter(
        "option", 'A choice, as "LABEL: what it means; costs what it costs"; from 2 to 12.', list, (), most=MAX_OPTIONS
    ),
    Parameter("recommend", "The label of the option that you recommend.", list, (), most=MAX_OPTIONS),
    Parameter("checkbox", "Let the person choose several options.", bool, False),
    Parameter("yes_no", "Ask for yes or no as the answer.", bool, False),
    Parameter("long", "Ask for a long text as the answer.", bool, False),
    Parameter("optional", "Let the person skip the question: then you decide.", bool, False),
    Parameter("priority", "How urgent the question is, from 1 (most urgent) to 3; default 2.", int, least=1, most=3),
    Parameter("context", "What the person must know to decide.", default=""),
)

OPERATIONS: "tuple[Operation, ...]" = (
    Operation(
        "bead", "Your bead: description, criteria, notes, what people answered, the approved plan.", _bead, reads=True
    ),
    Operation("attempts", "What earlier attempts on your bead left, newest first.", _attempts, reads=True),
    Operation("whats-next", "What to do next, computed from plan, questions and commits.", _whats_next, reads=True),
    Operation("log", "Write a line into the bead's log, for later agents.", _said("log"), (_TEXT,)),
    Operation(
        "progress",
        "Report your progress. The person sees the report next to your commits.",
        _progress,
        (
            _TEXT,
            Parameter("step", "The step that you finished and committed, from 0 on.", int),
            Parameter("of", "How many steps there are, from 1 on.", int, least=1),
            Parameter("percent", "How much of your bead is done, from 0 to 100.", int, most=100),
            Parameter("work_type", "The kind of work that you are doing.", choices=WORK_TYPES),
        ),
    ),
    Operation(
        "test",
        "Run the project's checks in your workspace. A person sees each run as one test round. A pass does not "
        "replace the review, which runs the checks again in a fresh checkout.",
        _test,
        (Parameter("check", "The name of one check.", default=""),),
    ),
    Operation("notify", "Tell the person something, without waiting for an answer.", _said("notify"), (_TEXT,)),
    Operation(
        "ask",
        "Ask the person what only they can decide, with options if you can. The same question twice counts once. "
        "If no answer comes in time, end as blocked: the next attempt gets the answer.",
        _ask,
        (Parameter("question", "The question.", required=True), _WAIT, *_FORM),
    ),
    Operation(
        "blocked",
        "Report that you cannot continue without the person. The person sees it first. Commit before: your session "
        "ends, the bead waits, and this session gets the answer.",
        _blocked,
        (
            Parameter("what", "Your problem, in one line.", required=True),
            Parameter(
                "option",
                'A way to continue, as "LABEL: what it means; costs what it costs".',
                list,
                (),
                most=forms.MAX_BLOCKER_OPTIONS,
            ),
            Parameter("recommend", "The label of the option that you recommend.", list, (), most=1),
            Parameter("tried", "What you tried, and why it did not work.", default=""),
        ),
    ),
    Operation(
        "answer",
        "Read the answer to a question of your bead, or the decision about its plan.",
        _answer,
        (Parameter("number", "The question's number; default: your latest.", int),),
        reads=True,
    ),
    Operation(
        "request-review",
        "Ask for approval of your plan before you begin, if the bead requires it (label `plan-review`). Then end as "
        "blocked: after the approval the next attempt begins with the plan.",
        _request_review,
        (Parameter("plan", "What you will change, in which steps, and how you will prove it.", required=True), _WAIT),
    ),
    Operation(
        "escalate",
        "Suggest work that is outside your bead. Continue with your own bead; a person decides.",
        _escalate,
        (
            Parameter("suggestion", "What should be done, in one line.", required=True),
            Parameter("detail", "More about the suggestion.", default=""),
            Parameter(
                "severity",
                "How important the suggestion is. `urgent` notices are sent in quiet hours too.",
                default="info",
                choices=client.SEVERITIES,
            ),
        ),
    ),
    Operation(
        "document",
        "Hand in text for a document of your sprint: `decision`, `deviation`, `wish` or `review`.",
        _forging("document"),
        (
            Parameter("text", "The document, as Markdown.", required=True),
            Parameter("kind", "The kind of document.", default="decision", choices=client.DOCUMENTS),
        ),
    ),
    Operation(
        "propose",
        "Propose the beads of your feature's plan, in the format of a plan file: they become drafts under its epic. "
        "Beads named again are changed; changes of live beads wait for a person's approval. Only for Shapers.",
        _forging("forging_propose"),
        (Parameter("plan", "The plan as YAML or JSON: {beads: [{id, title, …}]}.", required=True),),
    ),
    Operation("plan", "The current plan of your feature: its beads as JSON.", _forging("plan"), reads=True),
    Operation(
        "plan-ready",
        "Report that your feature's plan is complete: nobrakes saves a version and reviews it. Then end your turn. "
        "nobrakes refuses while the plan is empty, a bead of it can never start, or you have open questions.",
        _forging("forging_plan_ready"),
    ),
    Operation(
        "review",
        "Hand in your code review: all findings in one call. Only code reviewers can use this.",
        _forging("review"),
        (
            Parameter(
                "findings",
                'JSON: {"findings": [{"category", "priority": "P1" | "P2" | "P3", "path", "line", "text"}]}.',
                required=True,
            ),
        ),
    ),
    Operation(
        "finding",
        "Report a problem in the plan that you review; a person decides. Only plan reviewers can use this.",
        _forging("finding"),
        (
            Parameter("issue", "What is wrong.", required=True),
            Parameter("impact", "The effect if the problem is not fixed.", required=True),
            Parameter("option", "A way to fix the problem, the best way first; at most 6.", list, (), most=6),
            Parameter("category", "The kind of problem.", default=CATEGORIES[0], choices=CATEGORIES),
            Parameter("priority", "1: must be fixed, 2: should be fixed, 3: may be fixed.", int, 2, least=1, most=3),
            Parameter("about", "The planned bead that has the problem.", default=""),
        ),
    ),
    Operation(
        "done",
        "Hand in your work: how it ended, and what the next agent should know. Commit first; then end your session.",
        _done,
        (
            Parameter("outcome", "How your work ended.", default="completed", choices=tuple(client.OUTCOMES)),
            Parameter("summary", "What you did.", default=""),
            Parameter("blockers", "What stopped you.", default=""),
            Parameter("learnings", "What the next agent should know.", default=""),
            Parameter("discard_branch", "The next attempt starts without your commits.", bool, False),
        ),
    ),
)

INSTRUCTIONS = (
    "Your channel to nobrakes: your own bead and nothing else. The tools do what `nobrakes agent …` does. Report "
    "progress with each commit, ask only what the person alone can decide, and hand in with done."
)


def choose(operations: "Sequence[Operation]", name: str, arguments: "Mapping[str, Any]") -> Reply:
    """Raises UsageError."""
    found = next((one for one in operations if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in operations)
        raise _refused(f"there is no operation '{client.cleaned(name)[:40]}'", f"Use one of: {known}.")
    if unknown := sorted(set(arguments) - {parameter.name for parameter in found.parameters}):
        known = ", ".join(parameter.name for parameter in found.parameters) or "nothing"
        raise _refused(f"{name} does not know '{client.cleaned(str(unknown[0]))[:40]}'", f"It takes: {known}.")
    return found.perform(**{p.name: _value(p, arguments.get(p.name)) for p in found.parameters})


def perform(name: str, arguments: "Mapping[str, Any]") -> Reply:
    """Run it for the attempt of this process' token. Raises NotAllowed, Stale, UsageError."""
    return choose(OPERATIONS, name, arguments)


def _refused(why: str, hint: str = "") -> Exception:
    from ...errors import UsageError

    return UsageError(why, hint)


def _value(parameter: Parameter, given: "Any") -> "Any":
    name, kind = parameter.name, parameter.kind
    if given is None and not parameter.required:
        return parameter.default
    if kind is float and type(given) is int:
        given = float(given)
    value: Any = given
    fits = type(value) is kind
    if not fits:
        what = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list of texts"}
        raise _refused(f"{name} has to be {what[kind]}")
    if kind is list and not all(type(one) is str for one in value):
        raise _refused(f"{name} has to be a list of texts")
    if kind is list and len(value) > parameter.most:
        raise _refused(f"{name} has at most {parameter.most} texts, and here are {len(value)}")
    for text in value if kind is list else (value,) if kind is str else ():
        if why := unusable(text):
            raise _refused(f"{name} {why}")
    if kind is str and parameter.required and not value.strip():
        raise _refused(f"the {name} is empty", f"Say something in {name}.")
    if parameter.choices and value not in parameter.choices:
        raise _refused(f"unknown {name} '{client.cleaned(value)[:40]}'", f"Use one of: {', '.join(parameter.choices)}.")
    if kind in (int, float) and not parameter.least <= value <= parameter.most:
        raise _refused(f"{name} has to be from {parameter.least} to {parameter.most}")
    return value


def schema(found: Operation) -> "dict[str, Any]":
    """The arguments as JSON Schema."""
    words = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array"}
    properties: dict[str, Any] = {}
    for parameter in found.parameters:
        one: dict[str, Any] = {"type": words[parameter.kind], "description": parameter.help}
        if parameter.choices:
            one["enum"] = list(parameter.choices)
        if parameter.kind in (int, float):
            one |= {"minimum": parameter.least, "maximum": parameter.most}
        if parameter.kind is list:
            one |= {"items": {"type": "string"}, "maxItems": parameter.most}
        if parameter.default not in (None, "", False, ()):
            one["default"] = parameter.default
        properties[parameter.name] = one
    required = [parameter.name for parameter in found.parameters if parameter.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
