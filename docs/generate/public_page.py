"""The reference page of public events, from the table that makes them; every example is made by it, too."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from docs.generate.pages import row
from docs.generate.public_samples import examples
from nobrakes.cli.outcome import dumps
from nobrakes.events import payloads, words
from nobrakes.events.catalog import TABLE
from nobrakes.events.kinds import Kind
from nobrakes.events.payloads import Name, Rule
from nobrakes.records import schema, types_of

_INTRO = """# Public events

Public events are for other programs. `nobrakes events --public` prints them as JSON lines. `nobrakes events --export
FILE` and the setting `events.export` append them to a file. The stored [events](events.md) belong to nobrakes alone and
may change with any release. This page describes version {language} of the public events (`metadata.language`). Within
a version, nobrakes only adds names and fields, so a reader must ignore names and fields that it does not know. If the
meaning of a name or field changes, the version changes.

Each line is an object with `ts` (the time in UTC), `event`, `task_id` (the bead, or null), `agent` and `metadata`.
`agent` is the actor: the name of an agent or of a person, the Reviewer's name, or `nobrakes`. The first keys of
`metadata` are the same for all events:

{about}

`metadata` contains these keys and the fields of the event's payload. One stored event may become several public events.
They have the same `seq`, and `part` numbers them. Every `test_writer_spawned`, `doer_spawned` and `review_started` has
exactly one end with the same `attempt`: `…_completed` or `…_failed`; `review_passed`, `review_failed` or
`review_interrupted`.

A file begins with `log.begun`. Another `log.begun` in the middle of a file means that nobrakes uses another database,
or an older state of it: the following events come after the event in `after`. Between two `log.begun`, no event is
missing and no event occurs twice, even after a kill.
"""
_ABOUT = {
    "language": "the version of this language",
    "seq": "the number of the event in the store, which `--after` takes",
    "part": "the number of this public event among those with the same `seq`, from 1",
    "parts": "the number of public events with this `seq`",
    "attempt_count": "the number of attempts on the bead up to this event, over all roles",
    "last_outcome": "the outcome of the last attempt that had ended by then: see [outcomes](outcomes.md)",
    "escalated": "whether a question to a person had stopped the bead at that time",
    "area": "`area` of the bead's metadata, or its epic",
    "semantic_id": "`semantic_id` of the bead's metadata",
}


OTHER_WORDS = {
    "questions.batch": (("question.asked",), "the questions of one `session_id` before its `session.turn_ended`"),
    "stage.pr_creation": (("pr.created",), "the first pull request of a feature's beads, or of its epic"),
    "stage.pr_review": (("pr.review_started",), ""),
    "todo.blocker_encountered": (
        ("execution.paused_blocker", "todo.collected"),
        "the first immediately, the second with the type `escalation` at the next checkpoint",
    ),
}
"""Words for what happens to a feature that are other names here: the events, and which of them."""
_OTHERS = (
    "Other tools use other names for some events. Their `sessionId` and `planId` are the `task_id` here, which is a "
    "feature's epic:"
)


def shown(of: Any) -> str:
    """A JSON schema in words."""
    if "anyOf" in of:
        return " or ".join(shown(one) for one in of["anyOf"])
    if "enum" in of:
        return " or ".join(f"`{one}`" for one in of["enum"])
    if of.get("type") == "array":
        return f"list of {shown(of['items'])}" if "items" in of else "list"
    plain = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    return plain.get(of["type"], str(of["type"])) if "type" in of else "any value"


def _about() -> str:
    types = types_of(words.About)
    rows = [row(f"`{one.name}`", _ABOUT[one.name], shown(schema(types[one.name]))) for one in fields(words.About)]
    return "\n".join([row("key", "what it says", "type"), "|---|---|---|", *rows])


def rules() -> Iterator[tuple[Kind, Rule]]:
    """Every way in which a public event is made."""
    for kind, found in TABLE.items():
        yield from ((kind, rule) for rule in found.public)


def public_events_page() -> str:
    """docs/reference/events-public.md."""
    out = [_INTRO.format(language=words.LANGUAGE, about=_about()), "## Names", ""]
    out += [row("event", "what happened", "payload", "stored kinds"), "|---|---|---|---|"]
    for name in Name:
        kinds = list(dict.fromkeys(kind.value for kind, rule in rules() if rule.name is name))
        shapes = {rule.payload for _, rule in rules() if rule.name is name} or {payloads.Begun}
        cut = [kind.value for kind in Kind if kind in words.TAKES_AWAY and name in words.CUT_OFF.values()]
        sources = ", ".join(f"`{kind}`" for kind in dict.fromkeys((*kinds, *cut)))
        shape = ", ".join(sorted(f"[{one.__name__}](#{one.__name__.lower()})" for one in shapes))
        out.append(row(f"`{name.value}`", name.meaning, shape, sources))
    out += ["", _OTHERS, "", row("name in other tools", "public event", "which of them"), "|---|---|---|"]
    out += [
        row(f"`{word}`", ", ".join(f"`{one}`" for one in here), which) for word, (here, which) in OTHER_WORDS.items()
    ]
    out += ["", "## Payloads", ""]
    for payload in sorted(payloads.KINDS, key=lambda one: one.__name__):
        out += [f"### {payload.__name__}", "", " ".join((payload.__doc__ or "").split()), ""]
        types = types_of(payload)
        if types:
            out += [row("field", "type"), "|---|---|"]
            out += [*(row(f"`{name}`", shown(schema(type_))) for name, type_ in types.items()), ""]
    out += ["## Not public", "", row("stored kind", "why it is not public"), "|---|---|"]
    out += [row(f"`{kind.value}`", one.inside) for kind, one in TABLE.items() if one.inside]
    out += [
        "",
        "## Examples",
        "",
        "This is one example of each public event, made by the function that makes all public events.",
        "",
        "```json",
    ]
    seen: set[Name] = set()
    for kind in Kind:
        for one in examples(kind):
            if one.name not in seen:
                seen.add(one.name)
                out.append(dumps(one.as_values()))
    return "\n".join([*out, "```"]) + "\n"
