"""The Decision Desk: what waits for a person, costliest first."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.beads.bead import Status
from ..core.errors import UsageError
from ..wording.text import age, count, cut, one_line
from . import forms
from .output import Output, dumps, plain, said
from .repository import UserPlace, actor, opened_or_home
from .screen import Screen, paragraph, table

if TYPE_CHECKING:
    from ..core.beads.escalations import Escalation
    from ..ports import Store

LEFT = ("summary", "blockers", "learnings")
Number = Annotated[int, Argument(metavar="N", help="The escalation's number.")]


def escalations(
    all: Annotated[bool, Option("--all", help="The resolved ones too.")] = False,
    user: UserPlace = False,
) -> Output:
    """What waits for a decision: the urgent first, then that for which most beads wait."""
    from ..operations import desk

    with opened_or_home(user, is_reading=True) as app:
        found = desk.escalations(app.store, all=all)
        now = app.store.now()

    def text(screen: Screen) -> str:
        rows = [
            (
                *(str(e.id), forms.priority(e), forms.kind(e), e.bead or "", str(e.behind or "")),
                *(age(now - e.created_at), _state(e), e.title),
            )
            for e in found
        ]
        head = ("N", "P", "TYPE", "BEAD", "BEHIND", "AGE", "", "TITLE")
        return table(head, rows, screen) or "nothing waits for you"

    return Output(plain(found), text)


def _state(escalation: object) -> str:
    return "" if getattr(escalation, "resolved_at", None) is None else "resolved"


def escalation(number: Number, user: UserPlace = False) -> Output:
    """One escalation: what happened, what was tried, and what is behind it."""
    from ..operations import desk

    with opened_or_home(user, is_reading=True) as app:
        found = desk.show(app.store, number)

    def text(screen: Screen) -> str:
        out = [f"escalation {found.id}: {found.type.value}: {screen.paint(one_line(found.title), 'bold')}"]
        out.append(
            f"  bead {found.bead}, {count(found.behind, 'bead')} behind it" if found.bead else "  no single bead"
        )
        if found.detail:
            out += ["", paragraph(found.detail)]
        out += forms.shown(found)
        if found.hypothesis:
            out += ["", f"likely cause: {one_line(found.hypothesis)}"]
        for name, value in found.evidence.items():
            out += ["", f"{one_line(str(name))}:", *_evidence(value)]
        if found.answer is not None:
            read = "" if found.read_at is None else ", and an agent acts by it"
            out += ["", f"answer{read}:", paragraph(found.answer)]
            if found.read_at is None and found.type in desk.ANSWERED:
                out += [f"Take it back, until an agent reads it: nobrakes answer {found.id} --take-back"]
        if found.resolved_at is not None:
            out += ["", f"resolved: {one_line(found.resolution)}"]
        elif found.type.value == "plan_review":
            out += ["", f"Approve it: nobrakes resolve {found.id} --approve"]
            out += [f'Have it changed: nobrakes answer {found.id} "…"']
        elif found.type.value in ("checks_changed", "unusual_content"):
            what = (
                "the contract, byte for byte as it is here"
                if "contract" in found.evidence
                else "the change, for this commit only"
            )
            out += ["", f"Accept {what}: nobrakes resolve {found.id} --approve"]
            out += [f'Send the work back: nobrakes resolve {found.id} --retry --note "…"']
        elif found.type.value == "question":
            out += ["", *forms.commands(found)]
        else:
            out += ["", desk.decisions(found)]
        return "\n".join(out)

    return Output(plain(found), text)


def _evidence(value: object) -> list[str]:
    """A piece of evidence: texts as they are, lists an entry a line, an attempt with what it left."""
    if isinstance(value, str):
        return [paragraph(value)]
    if not isinstance(value, list | tuple):
        return [paragraph(dumps(value))]
    out = []
    for entry in value:
        if not (isinstance(entry, dict) and "attempt" in entry):
            out.append(paragraph(entry if isinstance(entry, str) else dumps(entry)))
            continue
        who = f"{entry['attempt']}  {entry.get('role')} {entry.get('name')} ({entry.get('agent')})"
        ended = f"{entry.get('outcome')}: {entry.get('detail')}"
        out.append("  " + one_line(f"{who}: {ended}"))
        out += [paragraph(f"{word}: {entry[word]}", "     ") for word in LEFT if entry.get(word)]
    return out


def answer(
    number: Number,
    text: Annotated[
        str | None, Argument(help="The answer: an option's number or label, or a text; '-' reads it from stdin.")
    ] = None,
    recommended: Annotated[bool, Option("--recommended", help="What the agent recommends.")] = False,
    take_back: Annotated[bool, Option("--take-back", help="Take the answer back that no agent has read.")] = False,
    user: UserPlace = False,
) -> Output:
    """Answer a question. Its bead goes on, and the answer is in the next prompt.

    Of several options that may be chosen, give the numbers or labels with a comma between them.

    Example: nobrakes answer 4 "Use UTC everywhere"
    """
    from ..operations import desk

    if (text is not None) + recommended + take_back != 1:
        raise UsageError(
            f"say how to answer escalation {number}, in one way",
            f"Give the answer, --recommended or --take-back; `nobrakes escalation {number}` shows the question.",
        )
    with opened_or_home(user) as app:
        if take_back:
            found = desk.take_back(app.store, number, actor=actor(), paths=app.paths)
            done = "is open again: its answer was taken back"
        else:
            words = sys.stdin.read() if text == "-" else text or ""
            found = desk.answer(app.store, number, words, actor(), app.paths, recommended)
            done = f"is answered: {cut(one_line(found.answer or ''), 200)}" if found.form else "is answered"
        then = _then(app.store, found)
    return said(plain(found), f"escalation {number} {done}{then}")


def _then(store: "Store", decided: "Escalation") -> str:
    """What became of the bead: one that several escalations stop waits for the last of them."""
    if decided.bead is None:
        return ""
    others = [str(e.id) for e in store.escalations(bead=decided.bead)]
    if others and store.bead(decided.bead).status is Status.ESCALATED:
        return f"; {decided.bead} still waits for {', '.join(others)}"
    return f"; {decided.bead} is {store.bead(decided.bead).status.value}"


def resolve(
    number: Number,
    approve: Annotated[
        bool, Option("--approve", help="The agent's plan, or the change of the checks, is good.")
    ] = False,
    retry: Annotated[bool, Option("--retry", help="Let an agent try again, with a clean count.")] = False,
    cancel: Annotated[bool, Option("--cancel", help="Give the bead up.")] = False,
    done: Annotated[bool, Option("--done", help="The bead was done by hand.")] = False,
    dismiss: Annotated[bool, Option("--dismiss", help="Nothing is to be done about it.")] = False,
    note: Annotated[str, Option("--note", "-m", help="Why; the next attempt reads it.")] = "",
    user: UserPlace = False,
) -> Output:
    """Decide an escalation, in one way.

    Example: nobrakes resolve 4 --retry --note "The fixture was wrong, it is mended"
    """
    from ..operations import desk

    given = {"approve": approve, "retry": retry, "cancel": cancel, "done": done, "dismiss": dismiss}
    chosen = [word for word, wanted in given.items() if wanted]
    if len(chosen) != 1:
        raise UsageError(
            "say how to resolve it, in one way", "Use one of --approve, --retry, --cancel, --done, --dismiss."
        )
    with opened_or_home(user) as app:
        found = desk.resolve(app.store, number, chosen[0], note=note, actor=actor(), paths=app.paths)
        then = _then(app.store, found)
    return said(plain(found), f"escalation {number} is resolved: {chosen[0]}{then}")
