"""The Decision Desk: what waits for a person, the most urgent first."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..command_table import Field
from ..decisions import forms
from ..decisions.blockers import STOPS
from ..decisions.model import Escalation
from ..text.cleaning import age, count, cut, one_line, spoken
from .outcome import Output, TextLayout, UserPlace, opened_or_home
from .screen import Screen, paragraph, table
from .views import lines

if TYPE_CHECKING:
    from ..decisions.service.view import (
        Asked,
        BranchDifference,
        Choice,
        ConflictFile,
        ConflictView,
        DecisionView,
        Tried,
    )


_KINDS = {"short_text": "short text", "long_text": "text", "yes_no": "yes or no"}
_ASKS = {
    "radio": "one of these",
    "checkbox": "any of these",
    "short_text": "a text of one line",
    "long_text": "a text",
    "yes_no": "yes or no",
}


def forms_asks(found: "Escalation") -> str:
    if found.form is None:
        return ""
    name = str(found.form["kind"])
    return _KINDS.get(name, name)


def priority(found: "Escalation") -> str:
    """P1 to P3; empty: unknown."""
    return "" if found.form is None else f"P{forms.priority_of(found.form)}"


def asked(found: "Escalation") -> list[str]:
    """The form and its context, without options, which the page shows."""
    if found.form is None:
        return []
    form = forms.form(found.form)
    open_ = "" if form.required else "; or nothing, and the agent decides"
    out = ["", f"  P{form.priority}, {_ASKS[form.kind]}{open_}"]
    return [*out, "", paragraph(form.context)] if form.context else out


# First what is asked and why, then what can be done with its cost and what to type, then what it rests on. The last
# line says once more what to type: on a screen that scrolled it is the one that is seen. `--all` cuts nothing.
SHOWN = 3
DIFFERENCE = 14


def listed(found: "Sequence[Asked]", now: float, screen: Screen) -> str:
    """Each bead with its title, and the question below."""
    rows = [
        (
            *(str(one.id), priority(one), age(now - one.created_at), str(one.behind or "")),
            one_line(f"{one.bead}  {one.subject}" if one.bead else "not about one bead"),
        )
        for one in found
    ]
    if not (lines := table(("N", "P", "AGE", "BEHIND", "BEAD"), rows, screen).splitlines()):
        return "no escalation needs your decision"
    out = [lines[0]]
    for line, one in zip(lines[1:], found, strict=True):
        why = f"{'decided: ' if one.resolved_at is not None else ''}{kind(one)}: {one_line(one.title)}"
        out += [line, f"      {cut(why, screen.width - 6)}"]
    return "\n".join([*out, "", "to see an escalation and your choices: nobrakes escalation N"])


def kind(found: "Asked | DecisionView") -> str:
    asks = forms_asks(found)
    return f"{found.cause} ({asks})" if asks else found.cause


def shown(found: "DecisionView", now: float, screen: Screen, is_whole: bool) -> str:
    page = _Page(screen, is_whole)
    out = [
        *page.head(found, now),
        *page.what_happened(found),
        *page.decided(found),
        *page.to_do(found),
        *page.about(found),
        *page.conflict(found.conflict),
        *page.sections(found),
        *page.tried(found),
        *page.last(found),
        *page.difference(found.difference),
        *page.once_more(found),
    ]
    return "\n".join(out)


class _Page(TextLayout):
    """The parts of the page, in their order."""

    def head(self, found: "DecisionView", now: float) -> list[str]:
        subject = f": {found.about.id} {one_line(found.about.title)}" if found.about else ""
        title = cut(f"escalation {found.id}: {kind(found)}{subject}", self.width)
        waits = f"{count(found.behind, 'bead')} waiting for the decision" if found.about else "not about one bead"
        out = [self.screen.paint(title, "bold"), f"  asked {age(now - found.created_at)} ago, {waits}"]
        if found.others:
            numbers = ", ".join(map(str, found.others))
            out.append(f"  the bead also waits for escalation {numbers}; it continues after you decide all of them")
        return out

    def what_happened(self, found: "DecisionView") -> list[str]:
        from ..decisions.service.view import flat

        out = ["", *self.wrapped(flat(found.title), "  ")]
        if found.happened.lines:
            out += ["", *self.text(found.happened, "  ")]
        out += asked(found)
        if found.hypothesis:
            out += ["", *self.wrapped(f"likely cause: {flat(found.hypothesis)}", "  ")]
        return [*out, *self.wrapped(f"({one_line(found.means)})", "  ")]

    def decided(self, found: "DecisionView") -> list[str]:
        out: list[str] = []
        if found.answer is not None:
            read = "" if found.read_at is None else ", which an agent has read"
            out += ["", f"answer{read}:", *self.wrapped(one_line(found.answer), "  ")]
            if found.read_at is None and found.resolved_at is not None:
                out.append(f"To withdraw the answer, before an agent reads it: nobrakes answer {found.id} --take-back")
        if found.resolved_at is not None:
            out += ["", f"resolved {spoken(found.resolved_at)}: {one_line(found.resolution)}"]
        return out

    def to_do(self, found: "DecisionView") -> list[str]:
        out = ["", self.head_line("first:"), *self.each(found.mend, "  ")] if found.mend else []
        if found.choices:
            out += ["", self.head_line("what you can do:")]
        for choice in found.choices:
            out += self.choice(choice)
        if any(choice.is_recommended and choice.how == "answer" for choice in found.choices):
            out.append(f"  nobrakes answer {found.id} --recommended")
        return out

    def choice(self, choice: "Choice") -> list[str]:
        mark = " (recommended)" if choice.is_recommended and choice.how == "answer" else ""
        mark = " (default)" if choice.is_recommended and not mark else mark
        label = f"  {self.screen.paint(one_line(choice.command), 'cyan')}"
        out = [f"{label}  # {one_line(choice.label)}{mark}"]
        word = "means: " if choice.how == "answer" and choice.value else ""
        out += self.wrapped(f"{word}{one_line(choice.does)}", "      ") if choice.does else []
        return out + (self.wrapped(f"costs: {one_line(choice.costs)}", "      ") if choice.costs else [])

    def about(self, found: "DecisionView") -> list[str]:
        if (bead := found.about) is None:
            return []
        out = ["", self.head_line(f"the bead: {bead.id} {one_line(bead.title)} ({bead.status.value})")]
        out += self.text(bead.description, "  ")
        if bead.acceptance.lines:
            out += ["  done when:", *self.text(bead.acceptance, "    - ")]
        elif not bead.description.lines:
            out.append("  the bead has no description and no acceptance criteria")
        if bead.waiting:
            out += self.wrapped(f"beads that wait for this bead: {', '.join(bead.waiting)}", "  ")
        return out

    def conflict(self, found: "ConflictView | None") -> list[str]:
        if found is None:
            return []
        out = ["", self.head_line("the conflict:")]
        for other in found.others:
            whose = f"{other.bead} {other.title}" if other.bead else other.title
            by = f"by {other.who}, {other.commit[:12]}, {spoken(other.at)}" if other.at else f"by {other.who}"
            out += self.wrapped(f"{found.where} also has a change: {whose} ({by}) in {', '.join(other.paths)}", "  ")
        for file in found.files:
            out += self.conflict_file(file, found.where)
        if found.more:
            out.append(f"  and {count(found.more, 'file')} more")
        return out + (self.wrapped(found.missing, "  ") if found.missing else [])

    def conflict_file(self, file: "ConflictFile", where: str) -> list[str]:
        out = [f"  {one_line(file.path)}: {file.how}"]
        for hunk in file.hunks:
            out.append(f"    line {hunk.line}, on {where}:")
            out += self.code(hunk.main, "      ", "-")
            out.append("    on the branch:")
            out += self.code(hunk.branch, "      ", "+")
        return out + ([f"    and {count(file.more_hunks, 'more place')}"] if file.more_hunks else [])

    def sections(self, found: "DecisionView") -> list[str]:
        out: list[str] = []
        for section in found.sections:
            title = one_line(section.title)
            if len(section.text.lines) == 1 and not section.text.more:
                out += ["", *self.wrapped(f"{title}: {section.text.lines[0]}", "", 4)]
                continue
            out += ["", self.head_line(f"{title}:"), *self.painted(section.text, "  ")]
        return out

    def tried(self, found: "DecisionView") -> list[str]:
        if not found.tried:
            return []
        kept = found.tried if self.is_whole else found.tried[-SHOWN:]
        earlier = found.earlier + len(found.tried) - len(kept)
        more = f" ({earlier} earlier: nobrakes escalation {found.id} --all)" if earlier else ""
        out = ["", self.head_line(f"what was tried{more}:")]
        for one in kept:
            out += self.attempt(one)
        return out

    def attempt(self, one: "Tried") -> list[str]:
        cost = f", {one.cost_usd:.2f} USD" if one.cost_usd else ""
        took = f" after {age(one.minutes * 60)}{cost}" if one.minutes else ""
        who = f"  {one.number}. {one.role} {one.name} ({one.agent})"
        out = self.wrapped(f"{who.strip()}: {one.outcome}{took}. {one_line(one.means)}", "  ", 5)
        said = [("", one.detail), *((f"{word}: ", getattr(one, word)) for word in ("summary", "blockers", "learnings"))]
        for word, text in said:
            if text.lines:
                lines = text.lines if self.is_whole else text.lines[:2]
                left = text.more + len(text.lines) - len(lines)
                out += self.wrapped(f"{word}{' '.join(lines)}", "     ")
                out += [f"     … {count(left, 'line')} more"] if left else []
        return out

    def last(self, found: "DecisionView") -> list[str]:
        if found.last is None:
            return []
        said = [one_line(line.text) for line in found.last.lines if line.text.strip()]
        title = f"the last output of {found.last.name} in attempt {found.last.attempt}:"
        told = [f"  | {cut(line, self.width - 4)}" for line in said]
        return ["", self.head_line(title), *told, f"  the complete output: {found.last.command}"]

    def difference(self, found: "BranchDifference | None") -> list[str]:
        if found is None:
            return []
        if found.missing:
            return ["", *self.wrapped(f"changes in the branch: {found.missing}", "")]
        if not found.files:
            return ["", "changes in the branch: nothing is committed on it"]
        kept = f", archived at {one_line(found.ref)}" if found.ref else ""
        title = f"changes in the branch: {count(len(found.files) + found.more_files, 'file')}, "
        title += f"+{found.added} -{found.removed}, {found.base[:12]} to {found.head[:12]}{kept}"
        out = ["", *self.wrapped(title, "", 2)]
        for file in found.files:
            lines = f"+{file.added} -{file.removed}" if file.added is not None else "no text"
            out.append(f"  {cut(file.path, self.width - 30)}  {file.how}, {lines}")
        out += [f"  and {count(found.more_files, 'file')} more"] if found.more_files else []
        text, left = found.text.lines, found.text.more
        if not self.is_whole and len(text) > DIFFERENCE:
            left, text = left + len(text) - DIFFERENCE, text[:DIFFERENCE]
        out += ["", *(self.coloured(line, "  ") for line in text)] if text else []
        return out + ([f"  … {count(left, 'line')} more: {found.text.command}"] if left else [])

    def once_more(self, found: "DecisionView") -> list[str]:
        if not found.choices:
            return []
        flags = [f"--{choice.how}" for choice in found.choices if choice.how != "answer"]
        out = ["", f"To decide: nobrakes resolve {found.id} {' | '.join(flags)}"] if flags else [""]
        answer = any(choice.how == "answer" for choice in found.choices)
        return [*out, f"To answer: nobrakes answer {found.id} …"] if answer else out


Number = Annotated[int, Field("The escalation's number.", metavar="N")]


def escalations(
    all: Annotated[bool, Field("Include resolved escalations.", ("--all",))] = False, user: UserPlace = False
) -> Output:
    """List what waits for your decision: urgent escalations first, then those that block the most beads."""
    from ..app import blockers
    from ..decisions.service import page
    from ..decisions.service.all_blockers import Blockers, asks

    with opened_or_home(user, is_reading=True) as app:
        found = page.listed(app.store, all=all)
        now = app.store.now()
        stands = Blockers(asks(app.store, app.paths, app.config)) if user else blockers(app)
    kinds = {one.kind for one in stands.asks}
    rest = Blockers(stands.asks, tuple(one for one in stands.more if one[0] in kinds))

    def text(screen: Screen) -> str:
        heavy = lines(rest, now, screen, lambda kind: kind in STOPS)
        return "\n".join(
            [*heavy, listed(found, now, screen), *lines(rest, now, screen, lambda kind: kind not in STOPS)]
        )

    return Output(found, text, beside={"asks": stands.asks})


def escalation(
    number: Number,
    all: Annotated[bool, Field("Show all texts in full.", ("--all",))] = False,
    user: UserPlace = False,
) -> Output:
    """Show one escalation: what happened, your choices and their costs, what was tried, and the details."""
    from ..decisions.service import page

    with opened_or_home(user, is_reading=True) as app:
        found = page.decision(app.store, app.paths, lambda: app.git, lambda: app.config, number, is_whole=all)
        now = app.store.now()
    return Output(found, lambda screen: shown(found, now, screen, all))
