"""What a person is shown of one escalation. Every surface renders this, and offers these choices and no other.

1. It is the escalation itself, as it is stored, and what was found out about it for the person who decides.
2. Texts of agents and checks are cleaned and bounded here; what was left out is counted, with what to type for it all.
3. A sentence names commits by their first twelve digits; a field that is a commit has its whole id.
"""

import re
import shlex
from dataclasses import field

from ...agents.adapter import TranscriptLine
from ...agents.limits import Amount, Cap
from ...beads.model import Bead, Status
from ...beads.work_status import main_of
from ...daemon.model import Limits
from ...records import frozen
from ...text.cleaning import age, clean, count, first_of, redacted
from .. import forms, table
from ..model import MENDS, Escalation, is_told
from ..table import Effect, Way, Word


@frozen
class Choice:
    """One way to decide. `command`: what to type. `how`: `answer`, or a word of `nobrakes resolve`; `value`: of the
    answer, None: any text. `takes_note`: a note is possible. `is_recommended`: by the asking agent, or the default."""

    how: str
    label: str
    does: str
    costs: str = ""
    command: str = ""
    value: str | None = None
    takes_note: bool = False
    is_recommended: bool = False


@frozen
class Excerpt:
    """Lines of a text. `more`: omitted lines; `command` shows them."""

    lines: tuple[str, ...] = ()
    more: int = 0
    command: str = ""


@frozen
class Section:
    """A part of the evidence under its title."""

    title: str
    text: Excerpt


@frozen
class AboutBead:
    """The bead of the question. `waiting`: directly, at most twenty."""

    id: str
    title: str
    status: Status
    acceptance: Excerpt
    description: Excerpt
    failures: int = 0
    waiting: tuple[str, ...] = ()


@frozen
class Tried:
    """One attempt: worker, ending and its meaning, and its notes."""

    number: int
    role: str
    name: str
    agent: str
    outcome: str
    means: str
    detail: Excerpt
    summary: Excerpt
    blockers: Excerpt
    learnings: Excerpt
    minutes: float = 0.0
    cost_usd: float = 0.0
    tokens: int = 0


@frozen
class LastWords:
    """The last lines of the last agent. `command` shows all."""

    attempt: int
    name: str
    lines: tuple[TranscriptLine, ...]
    command: str


@frozen
class FileDifference:
    """One changed file. `added` and `removed` lines; None: not text. `how`: added, removed, changed, renamed."""

    path: str
    how: str
    added: int | None = None
    removed: int | None = None


@frozen
class BranchDifference:
    """The branch's changes since its fork. `missing`: why there are none; `more_files`: unlisted files; `ref`: of an
    archived branch."""

    base: str = ""
    head: str = ""
    ref: str = ""
    files: tuple[FileDifference, ...] = ()
    more_files: int = 0
    added: int = 0
    removed: int = 0
    text: Excerpt = Excerpt()
    missing: str = ""


@frozen
class ConflictHunk:
    """A place that both sides changed: main's lines and the branch's. `line`: in the merged file."""

    line: int
    main: Excerpt
    branch: Excerpt


@frozen
class ConflictFile:
    """A file in conflict; `how`: what each side did."""

    path: str
    how: str
    hunks: tuple[ConflictHunk, ...] = ()
    more_hunks: int = 0


@frozen
class OtherSide:
    """A change of main in conflict. Empty `bead`: `who`'s own commit."""

    bead: str
    title: str
    who: str
    commit: str
    at: float
    paths: tuple[str, ...]


@frozen
class ConflictView:
    """A conflict with main, or an epic's branch: `where`. `missing`: why hunks are unavailable; `more`: unlisted
    files."""

    main: str = ""
    files: tuple[ConflictFile, ...] = ()
    more: int = 0
    others: tuple[OtherSide, ...] = ()
    missing: str = ""
    where: str = "main"


@frozen
class Asked(Escalation):
    """A listed escalation: `cause`: why; `subject`: its bead's title."""

    cause: str = ""
    subject: str = ""


@frozen
class DecisionView(Escalation):
    """One escalation with everything for its decision. `cause`: why, in short; `means`: its type; `happened`: what was
    seen. `mend`: what to do first, if deciding alone does not help. `earlier`: attempts before `tried`. `others`: other
    open escalations of the bead. `choices`: empty once decided."""

    cause: str = ""
    means: str = ""
    happened: Excerpt = Excerpt()
    about: AboutBead | None = None
    choices: tuple[Choice, ...] = ()
    mend: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()
    earlier: int = 0
    last: LastWords | None = None
    sections: tuple[Section, ...] = ()
    difference: BranchDifference | None = None
    conflict: ConflictView | None = None
    others: tuple[int, ...] = ()


# Each way to decide an escalation, with what it does, what it costs, and what to type.
#
# 1. Which ways there are, and their words, says decisions.table alone; here the names in its texts are filled in.
# 2. What is said of the branch, of the attempts to come and of who waits is read off the bead and the limits in force.

_WORKERS = {Status.NEEDS_TESTS: "A Test Writer", Status.NEEDS_DOER: "A Doer"}


@frozen
class Stakes:
    """The context of the decision. `spent`: on the bead; `ref`: of an archived branch. `by_person`: a person's work."""

    bead: Bead | None = None
    limits: Limits | None = None
    spent: Amount = field(default_factory=Amount)
    waiting: tuple[str, ...] = ()
    ref: str = ""
    by_person: str = ""


def choices(found: Escalation, stakes: Stakes) -> tuple[Choice, ...]:
    """Possible decisions, the default first; empty once decided."""
    made: list[Choice] = []
    for word, way in table.ways(found, stakes.bead).items():
        made += answers(found, way) if word == "answer" else [_choice(found, stakes, word, way)]
    return tuple(made)


def _choice(found: Escalation, stakes: Stakes, word: Word, way: Way) -> Choice:
    takes_note = word != "retry" or found.form is None or forms.form(found.form).rest() is not None
    note = ' --note "…"' if word == "retry" and takes_note else ""
    command = f"nobrakes resolve {found.id} --{word}{note}"
    does, costs = _does(found, stakes, way)
    return Choice(word, way.label, does, costs, command, takes_note=takes_note, is_recommended=way.is_default)


# --- answers ---------------------------------------------------------------------------------------------------------


def answers(found: Escalation, way: Way) -> list[Choice]:
    """A choice for each option, and free text if allowed."""
    if found.form is None:
        return [_answer(found, way.label, way.does, None)]
    form = forms.form(found.form)
    made = []
    for option in form.options:
        is_recommended = option.label in form.recommended
        typed = None if option.rest else forms.typed_as(form, option.label) + (": REASON" if option.why else "")
        made.append(_answer(found, option.label, option.means, typed, option.costs, is_recommended))
    if form.kind == "yes_no":
        made += [_answer(found, one, "", one, is_recommended=one in form.recommended) for one in form.labels()]
    if not made:
        made.append(_answer(found, "Answer", "The agent continues and reads your words.", None))
    if form.kind == "checkbox" and len(form.options) > 1:
        both = ",".join(forms.typed_as(form, label) for label in form.labels()[:2])
        made.append(_answer(found, "Several of them", "Separate them with commas.", both))
    if not form.required:
        if form.kind == "checkbox":
            made.append(_answer(found, "None of them", "", forms.NONE_OF_THEM))
        made.append(_answer(found, "Leave it open", "The agent decides without your answer.", ""))
    return made


def _answer(
    found: Escalation, label: str, does: str, value: str | None, costs: str = "", is_recommended: bool = False
) -> Choice:
    typed = '"…"' if value is None else ("-- " if value.startswith("-") else "") + shlex.quote(value)
    command = f"nobrakes answer {found.id} {typed}"
    return Choice("answer", label, does, costs, command, value, is_recommended=is_recommended)


# --- ways of `nobrakes resolve` --------------------------------------------------------------------------------------


def _base(found: Escalation) -> str:
    return main_of(str(found.evidence.get("epic") or ""))


def _does(found: Escalation, stakes: Stakes, way: Way) -> tuple[str, str]:
    bead, back, costs = stakes.bead, "", ""
    if bead is not None and way.effect in _BACKS:
        to = found.return_to or bead.return_to or Status.NEEDS_DOER
        to = Status.NEEDS_TESTS if way.effect is Effect.TO_TESTS else to
        if to is Status.NEEDS_REVIEW:
            return "The review of the work starts again. No agent starts.", _forgiven(stakes)
        back, costs = _back(found, stakes, way, to)
    values = {
        "onto": _base(found),
        "back": back,
        "back_costs": costs,
        "mend": _mend(found),
        "next_attempt": _next_attempt(stakes),
        "may_start": _waiting(stakes, "may start"),
        "stay_blocked": _waiting(stakes, "stay blocked"),
    }
    return way.does.format(**values), way.costs.format(**values)


_BACKS = (Effect.BACK, Effect.HAND_BACK, Effect.TO_TESTS, Effect.MEND)


def _back(found: Escalation, stakes: Stakes, way: Way, to: Status) -> tuple[str, str]:
    if way.effect is Effect.HAND_BACK and stakes.by_person:
        return f"The bead goes back to {stakes.by_person} with your note. No agent works on the bead.", ""
    who = _WORKERS.get(to, "An agent")
    if stakes.bead is not None and stakes.bead.branch_kept:
        does, lost = f"{who} continues on the bead's branch.", ""
    else:
        does = f"{who} starts again from the newest commit of {_base(found)}."
        kept = f"the work stays at {stakes.ref}" if stakes.ref else "nobrakes archives the work"
        lost = f"The attempt does not use the work on the branch; {kept}."
    told = " The prompt contains your note." if found.form is None else ""
    return f"{does}{told}", " ".join(filter(None, (_next_attempt(stakes), lost, _forgiven(stakes))))


def _mend(found: Escalation) -> str:
    """For an epic that merges as a whole, which has no workers of its own."""
    again = "then the review of the epic starts again"
    if is_told(found):
        return f"A new bead of the epic {MENDS[found.type].does} and reads your note; {again}."
    return f"With a note, the epic gets a bead for the note; {again}. Without a note, the review starts again."


def _waiting(stakes: Stakes, what: str) -> str:
    if not stakes.waiting:
        return "No other bead waits for this bead."
    return f"Of the beads that wait for this bead, {first_of(stakes.waiting, 3)} {what}."


def _next_attempt(stakes: Stakes) -> str:
    if stakes.limits is None:
        return ""
    caps = stakes.limits.caps
    parts = [f"at most {age(stakes.limits.agent_seconds)}", *_amounts(caps.attempt)]
    text = f"One more attempt: {', '.join(parts)}."
    if caps.bead.is_set:
        text += f" The bead has cost {_spent(stakes.spent)} so far; its cap is {', '.join(_amounts(caps.bead))}."
    elif stakes.spent.usd:
        text += f" The bead has cost {stakes.spent.usd:.2f} USD so far."
    return text


def _amounts(cap: Cap) -> list[str]:
    found = [f"{cap.usd:g} USD"] if cap.usd is not None else []
    found += [f"{cap.tokens:,.0f} tokens"] if cap.tokens is not None else []
    return found + ([f"{cap.minutes:g} min"] if cap.minutes is not None else [])


def _spent(amount: Amount) -> str:
    return f"{amount.usd:.2f} USD, {amount.tokens:,.0f} tokens, {amount.minutes:.0f} min"


def _forgiven(stakes: Stakes) -> str:
    if stakes.bead is None or not stakes.bead.failures or stakes.limits is None:
        return ""
    forgiven = count(stakes.bead.failures, "failure")
    counts = "counts" if stakes.bead.failures == 1 else "count"
    return f"The bead's {forgiven} no longer {counts}: nobrakes asks you after {stakes.limits.max_failures} more."


# Texts of agents and checks, made harmless and short; what is left out is counted.
#
# What looks like a secret is blacked out, in code too: the page is copied, sent by mail and read out.

WIDE = 400
WHOLE = 10**6
_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def short(commit: object) -> str:
    return str(commit)[:12]


def readable(text: str) -> str:
    return _ID.sub(lambda found: short(found[0]), redacted(clean(text)))


def flat(text: object) -> str:
    return " ".join(readable(str(text)).split())


def line(text: object) -> str:
    return _cut(flat(text))


def excerpt(text: str, most: int, command: str = "", is_end: bool = False, is_code: bool = False) -> Excerpt:
    """At most `most` lines: the first, or with `is_end` the last. `is_code`: ids stay complete."""
    cleaned = (redacted(clean(text)) if is_code else readable(text)).expandtabs(4).strip("\n")
    found = [one.rstrip() for one in cleaned.split("\n")] if cleaned.strip() else []
    kept = found[-most:] if is_end else found[:most]
    kept = kept if most >= WHOLE else [_cut(one) for one in kept]
    more = len(found) - len(kept)
    return Excerpt(tuple(kept), more, command if more else "")


def first_lines(lines: "tuple[str, ...] | list[str]", most: int, command: str = "", is_code: bool = False) -> Excerpt:
    return excerpt("\n".join(lines), most, command, is_code=is_code)


def _cut(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[: WIDE - 1]}…"
