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

What other programs read: `nobrakes events --public` prints these as JSON lines, `nobrakes events --export FILE` and the
setting `events.export` write them to a file that is only appended to. The [events](events.md) that the store has are
nobrakes' own, and may change with any release. These are version {language} of a language: names and fields are only
added in it, so a reader has to bear what it does not know; what changes its meaning is another version
(`metadata.language`).

Each line is an object of `ts` (UTC), `event`, `task_id` (the bead, or null), `agent` (who acts: an agent's name, the
Reviewer's, a person's, or `nobrakes`) and `metadata`. Its first keys are the same everywhere:

{about}

Together with the fields of the event's payload these are all of `metadata`. One event of the store may say several
things; they share a `seq` and are numbered by `part`. Every `test_writer_spawned`, `doer_spawned` and `review_started`
has exactly one end with the same `attempt`: `…_completed` or `…_failed`; `review_passed`, `review_failed` or
`review_interrupted`.

A file begins with `log.begun`. Another one in the middle says that the database is another one, or went back: what
follows comes after its event `after`. Within such a part no event is missing and none is there twice, whatever was
killed.
"""
_ABOUT = {
    "language": "the version of this language",
    "seq": "the number of the event in the store, which `--after` takes",
    "part": "from 1",
    "parts": "so many public events have this `seq`",
    "attempt_count": "attempts of every role on the bead, up to this event",
    "last_outcome": "how the last of them that had ended by then ended: see [outcomes](outcomes.md)",
    "escalated": "whether a question to a person stopped the bead then",
    "area": "`area` of the bead's metadata, or its epic",
    "semantic_id": "`semantic_id` of the bead's metadata",
}


OTHER_WORDS = {
    "questions.batch": (("question.asked",), "those of one `session_id` before its `session.turn_ended`"),
    "stage.pr_creation": (("pr.created",), "the first of a feature's beads, or of its epic"),
    "stage.pr_review": (("pr.review_started",), ""),
    "todo.blocker_encountered": (
        ("execution.paused_blocker", "todo.collected"),
        "the first at once, the second of the type `escalation` for the next checkpoint",
    ),
}
"""Words for what happens to a feature that are other names here: the events, and which of them."""
_OTHERS = (
    "What other tools call by another name; their `sessionId` and `planId` are the `task_id` here, a feature's epic:"
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
    out += [row("event", "what happened", "payload", "of the store's"), "|---|---|---|---|"]
    for name in Name:
        kinds = list(dict.fromkeys(kind.value for kind, rule in rules() if rule.name is name))
        shapes = {rule.payload for _, rule in rules() if rule.name is name} or {payloads.Begun}
        cut = [kind.value for kind in Kind if kind in words.TAKES_AWAY and name in words.CUT_OFF.values()]
        sources = ", ".join(f"`{kind}`" for kind in dict.fromkeys((*kinds, *cut)))
        shape = ", ".join(sorted(f"[{one.__name__}](#{one.__name__.lower()})" for one in shapes))
        out.append(row(f"`{name.value}`", name.meaning, shape, sources))
    out += ["", _OTHERS, "", row("there", "here", "which"), "|---|---|---|"]
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
    out += ["## Not public", "", row("the store's", "why"), "|---|---|"]
    out += [row(f"`{kind.value}`", one.inside) for kind, one in TABLE.items() if one.inside]
    out += ["", "## Examples", "", "One of each, made by the function that makes them all.", "", "```json"]
    seen: set[Name] = set()
    for kind in Kind:
        for one in examples(kind):
            if one.name not in seen:
                seen.add(one.name)
                out.append(dumps(one.as_values()))
    return "\n".join([*out, "```"]) + "\n"
