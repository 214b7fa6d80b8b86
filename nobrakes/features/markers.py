"""Markers in an agent's output that replace a call of an operation, and the summary for a fresh agent.

1. A marker is a line of its own, outside code blocks, exactly: `[DECISION_NEEDED priority="1"]` to
   `[/DECISION_NEEDED]`, `[PLAN_STEP id="1" parent="null"]` to `[/PLAN_STEP]`, and `[PLAN_READY]` or
   `[PLAN_MODE_EXITED]`: the plan is complete. Markers may nest, as in a CHECKPOINT.
2. A marker without an end is none: its text is read as words, like text without markers.
3. Words are read without a model: a line ending in a question mark is a question if options follow or it is in the last
   paragraph; a numbered list under a line about a plan or steps is the steps. Unclear words are ignored, and none are
   ever "ready".
4. Results are validated by the operations. `[PLAN_APPROVED]` and other markers mean nothing: only a person approves.
5. Words that look like an error decide nothing: the adapter judges how a turn ended.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..decisions.forms import DEFAULT_PRIORITY, LEAST, MAX_OPTIONS
from ..records import frozen
from ..text.cleaning import clean, count
from .model import Feature, Finding, FindingState, Item, PlanVersion, Stage, changes

T = TypeVar("T")

MAX_QUESTIONS, MAX_STEPS = 10, 200
"""Limits for one turn's words; operations are not limited by these."""
MAX_TITLE = 300
"""Longer questions keep the rest as context."""

BLOCKS = frozenset({"DECISION_NEEDED", "PLAN_STEP", "CHECKPOINT", "REVIEW_CHECKPOINT", "IMPLEMENTATION_STATUS"})
READY = frozenset({"PLAN_READY", "PLAN_MODE_EXITED"})

_OPEN = re.compile(r' {0,3}\[([A-Z][A-Z_]*)((?:\s+[a-z_]+="[^"\n]*")*)\s*\]\s*\Z')
_CLOSE = re.compile(r" {0,3}\[/([A-Z][A-Z_]*)\]\s*\Z")
_ATTRIBUTE = re.compile(r'(?<![a-z_])([a-z_]++)="([^"\n]*)"')
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+(\S.*)\Z")
_NUMBERED = re.compile(r" {0,3}\d{1,3}[.)]\s+(\S.*)\Z")
_RECOMMENDED = re.compile(r"(?<!\s)\s*+[(\[]\s*+recommended\s*+[)\]]", re.IGNORECASE)
_HEADING = re.compile(r"(?:#{1,6}\s.*|.*:\s*|\*\*.*\*\*\s*)\Z")
_NAMES_A_PLAN = re.compile(r"\b(plan|steps)\b", re.IGNORECASE)
_URGENT = re.compile(r"\b(block(s|ed|er|ing)?|must|cannot (go on|continue|begin)|critical)\b", re.IGNORECASE)
_MINOR = re.compile(r"\b(optional|minor|nice to have|cosmetic|later)\b", re.IGNORECASE)


@frozen
class Question:
    """A question read from words; decisions.forms builds its form."""

    text: str
    options: tuple[str, ...] = ()
    recommended: tuple[str, ...] = ()
    priority: int = DEFAULT_PRIORITY
    context: str = ""


@frozen
class PlanStep:
    """A plan step read from words. `parent`: id of the step that contains it, or empty."""

    id: str
    title: str
    description: str = ""
    parent: str = ""


@frozen
class Reading:
    """What a turn's words say, questions most urgent first. `certain`: by markers."""

    questions: tuple[Question, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    ready: bool = False
    certain: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.questions or self.steps or self.ready)


def read(words: str) -> Reading:
    """Parse cleaned text."""
    outside = _Block("", {})
    blocks = _blocks(_without_code(words), outside)
    questions = [_decision(one) for one in blocks if one.name == "DECISION_NEEDED" and one.closed]
    steps = [_step(one, place) for place, one in enumerate(blocks, 1) if one.name == "PLAN_STEP" and one.closed]
    certain = bool(questions or steps or outside.ready)
    left = [one for one in blocks if not one.closed and one.name not in ("CHECKPOINT", "REVIEW_CHECKPOINT")]
    for unclosed in left:
        questions += _questions(unclosed.lines, unclosed.priority)
    if not certain and not left:
        questions, steps = _questions(outside.lines, None), _steps(outside.lines)
    ordered = sorted(_first(questions, lambda one: one.text), key=lambda one: one.priority)
    kept = _first([one for one in steps if one.title], lambda one: one.id)
    return Reading(tuple(ordered[:MAX_QUESTIONS]), tuple(kept[:MAX_STEPS]), outside.ready, certain)


def _first(found: Iterable[T], name: Callable[[T], str]) -> list[T]:
    kept: dict[str, T] = {}
    for one in found:
        if name(one):
            kept.setdefault(name(one), one)
    return list(kept.values())


@dataclass(slots=True)
class _Block:
    name: str
    attributes: dict[str, str]
    lines: list[str] = field(default_factory=list)
    closed: bool = False
    ready: bool = False

    @property
    def priority(self) -> int:
        found = self.attributes.get("priority", "")
        return int(found) if found in ("1", "2", "3") else DEFAULT_PRIORITY


def _without_code(words: str) -> list[str]:
    """The lines outside code blocks; an unclosed block extends to the end."""
    kept: list[str] = []
    fence = ""
    for line in words.replace("\r\n", "\n").split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found[1][0] == fence[0] and len(found[1]) >= len(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            fence = found[1]
        else:
            kept.append(line)
    return kept


def _blocks(lines: list[str], outside: _Block) -> list[_Block]:
    """All blocks in the order of their beginnings; `outside` gets the rest."""
    found: list[_Block] = []
    open_: list[_Block] = []
    for line in lines:
        begins, ends = _OPEN.match(line), _CLOSE.match(line)
        if begins and begins[1] in BLOCKS:
            open_.append(_Block(begins[1], dict(_ATTRIBUTE.findall(begins[2]))))
            found.append(open_[-1])
        elif begins and begins[1] in READY and not begins[2]:
            outside.ready = True
        elif ends and any(one.name == ends[1] for one in open_):
            while open_[-1].name != ends[1]:  # what stands in it and has no end of its own
                open_.pop()
            open_.pop().closed = True
        elif not begins and not ends:
            (open_[-1] if open_ else outside).lines.append(line)
    if open_:  # behind a marker without an end nothing is certain
        outside.ready = False
    return found


def _decision(block: _Block) -> Question:
    words = [line for line in block.lines if line.strip() and not _ITEM.match(line)]
    return _made(words, [line for line in block.lines if _ITEM.match(line)], block.priority)


def _made(words: list[str], items: list[str], priority: int) -> Question:
    text = " ".join(" ".join(words).split())
    options, recommended = _options(items)
    context = ""
    if len(text) > MAX_TITLE:
        asking = [line.strip() for line in words if line.rstrip().endswith("?")]
        context = "\n".join(line.strip() for line in words)
        text = (asking[-1] if asking else " ".join(words[0].split()))[:MAX_TITLE]
    if not LEAST["radio"] <= len(options) <= MAX_OPTIONS:
        context = "\n".join(filter(None, (context, *(item.strip() for item in items))))
        options = recommended = ()
    return Question(text, options, recommended, priority, context)


def _options(items: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(options, labels of the recommended ones)."""
    options: list[str] = []
    recommended: list[str] = []
    for item in items:
        found = _ITEM.match(item)
        text = " ".join((found[1] if found else item).replace("**", "").replace("`", "").split())
        plain = _RECOMMENDED.sub("", text).strip()
        if _RECOMMENDED.search(text):
            recommended.append(plain.partition(": ")[0].strip())
        options.append(plain)
    return tuple(options), tuple(recommended[:1])


def _step(block: _Block, place: int) -> PlanStep:
    lines = [line.rstrip() for line in block.lines]
    while lines and not lines[0].strip():
        lines.pop(0)
    title = lines.pop(0).strip(" #*") if lines else ""
    parent = block.attributes.get("parent", "").strip()
    name = block.attributes.get("id", "").strip() or str(place)
    return PlanStep(name, title, "\n".join(lines).strip(), "" if parent in ("null", "none", "-", name) else parent)


def _questions(lines: list[str], priority: int | None) -> list[Question]:
    """Questions with options, or in the last paragraph. `priority` None: from their words."""
    found: list[Question] = []
    last = len(lines)
    while last and not lines[last - 1].strip():
        last -= 1
    while last and lines[last - 1].strip():
        last -= 1
    for place, line in enumerate(lines):
        asks = line.strip().strip("*_ ")
        if not asks.endswith("?") or line.lstrip().startswith(">"):
            continue
        items = _items_behind(lines, place)
        if len(items) >= LEAST["radio"] or place >= last:
            item = _ITEM.match(asks)
            words = item[1] if item else asks
            found.append(_made([words], items, _urgency(words) if priority is None else priority))
    return found


def _items_behind(lines: list[str], place: int) -> list[str]:
    """The items of the list after the line; one empty line may separate them."""
    items: list[str] = []
    for line in lines[place + 1 :]:
        if _ITEM.match(line) and not line.rstrip().endswith("?"):
            items.append(line)
        elif items or line.strip():
            break
    return items


def _urgency(words: str) -> int:
    if _URGENT.search(words):
        return 1
    return 3 if _MINOR.search(words) else DEFAULT_PRIORITY


def _steps(lines: list[str]) -> list[PlanStep]:
    """The numbered list under a line about a plan or steps; indented text belongs to its item."""
    found: list[PlanStep] = []
    under = False
    for line in lines:
        if (item := _NUMBERED.match(line)) and under:
            title = item[1].replace("**", "").strip()
            if title.endswith("?"):
                continue
            found.append(PlanStep(str(len(found) + 1), title))
        elif found and under and line.startswith(("  ", "\t")) and line.strip():
            last = found.pop()
            found.append(PlanStep(last.id, last.title, f"{last.description}\n{line.strip()}".strip()))
        elif line.strip():
            under = bool(_HEADING.match(line.strip()) and _NAMES_A_PLAN.search(line)) and not found
    return found if len(found) > 1 else []


# What a person wrote is said as it is; what agents, tools and files wrote is `untrusted`: whoever prints it quotes it.
# Each section has its bound, and says what it left out. What is newest is kept.
TEXT, NOTES, LINE = 16_000, 8_000, 400
PLAN, DIFFERENCE, OPEN_POINTS, FINDINGS, ANSWERS, RESULTS = 24_000, 4_000, 6_000, 8_000, 12_000, 8_000
WHOLE = 90_000
"""Characters of all sections together."""


@frozen
class Section:
    """A section of a turn's prompt. `untrusted`: written by agents, tools or files."""

    title: str
    text: str
    untrusted: bool = False


@frozen
class Answered:
    """A question that was answered, and the answer."""

    question: str
    answer: str


@frozen
class Result:
    """The state of a bead of the plan, and what happened to it last."""

    bead: str
    status: str
    detail: str = ""


@frozen
class Facts:
    """All that a turn may be told. `plan`: the beads in plan file format."""

    feature: Feature
    plan: Sequence[Mapping[str, Any]] = ()
    versions: Sequence[PlanVersion] = ()
    items: Sequence[Item] = ()
    findings: Sequence[Finding] = ()
    answers: Sequence[Answered] = ()  # oldest first
    results: Sequence[Result] = ()
    rounds: int = 10  # iterations of reviews at most


def compiled(facts: Facts) -> tuple[Section, ...]:
    """The non-empty sections in order."""
    ordered = sorted(facts.items, key=lambda one: (not one.blocks, one.file, one.line, one.id))
    lines = (f"- {one.bead}: {one.status}{f'; {line(one.detail)}' if one.detail else ''}" for one in facts.results)
    found = (
        Section(f"The feature: {line(facts.feature.title)}", _feature(facts.feature)),
        Section("Where it is", _where(facts)),
        Section("Open points", _kept((_point(one) for one in ordered), OPEN_POINTS), untrusted=True),
        Section("The plan as it lies", _plan(facts.plan), untrusted=True),
        Section("What changed since the version before", _difference(facts.versions), untrusted=True),
        Section("What reviewers found", _findings(facts.findings), untrusted=True),
        Section("How far the beads are", _kept(lines, RESULTS), untrusted=True),
        Section("What was asked, and what the person decided", _answers(facts.answers), untrusted=True),
    )
    return tuple(section for section in found if section.text)


def line(text: str, most: int = LINE) -> str:
    words = " ".join(clean(text).split())
    return words if len(words) <= most else words[: most - 2].rstrip() + " …"


def _cut(text: str, most: int) -> str:
    text = clean(text).strip()
    return text if len(text) <= most else f"{text[:most].rstrip()}\n[… {count(len(text) - most, 'character')} left out]"


def _kept(lines: Iterable[str], most: int, *, newest: bool = False) -> str:
    all_, kept, room = list(lines), list[str](), most
    for line in reversed(all_) if newest else all_:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if left := len(all_) - len(kept):
        kept.append(f"[… {left} {'older ones' if newest else 'more'} left out]")
    return "\n".join(reversed(kept) if newest else kept)


def _feature(feature: Feature) -> str:
    parts = [f"Its id is {feature.id}. It began from main's commit {feature.base or '(none yet)'}."]
    parts.append(_cut(feature.description, TEXT))
    if feature.criteria:
        parts.append("It is done when:\n" + _kept((f"- {line(c.text)} ({c.how})" for c in feature.criteria), NOTES))
    if feature.files:
        parts.append("Files that it probably affects:\n" + _kept((f"- {line(p)}" for p in feature.files), NOTES))
    if feature.notes.strip():
        parts.append("Notes:\n" + _cut(feature.notes, NOTES))
    return "\n\n".join(part for part in parts if part)


def _where(facts: Facts) -> str:
    feature = facts.feature
    lines = [f"Stage: {feature.stage.value}. Version of the plan: {feature.plan or 'none yet'}."]
    if feature.replannings:
        lines.append(f"It is planned again, for the {feature.replannings}. time.")
    if feature.stage is Stage.REVIEW:
        lines.append(f"Iteration of reviews: {feature.round} of {facts.rounds}; {feature.clean} clean ones in a row.")
    return "\n".join(lines)


def _point(one: Item) -> str:
    place = f" {one.file}:{one.line}" if one.file else ""
    where = f" (bead {one.bead})" if one.bead else ""
    return f"- {one.kind.value}{place}{where}: {line(one.text)}{' [in an affected file]' if one.blocks else ''}"


def _plan(plan: Iterable[Mapping[str, Any]]) -> str:
    return _kept((clean(json.dumps(dict(one), ensure_ascii=False, sort_keys=True)) for one in plan), PLAN)


def _difference(versions: Sequence[PlanVersion]) -> str:
    if len(versions) < 2:
        return ""
    before, after = versions[-2:]
    found = changes(before.beads, after.beads)
    lines = [f"+ {one['id']}: {line(str(one.get('title', '')))}" for one in found.added]
    lines += [f"- {one['id']}: {line(str(one.get('title', '')))}" for one in found.gone]
    lines += [f"~ {one.id}: {', '.join(one.fields)}" for one in found.changed]
    return _kept(lines, DIFFERENCE)


def _findings(findings: Iterable[Finding]) -> str:
    """Open ones first, then the decided ones, newest first."""
    ordered = sorted(findings, key=lambda one: (one.state is not FindingState.OPEN, -one.round, one.priority, one.id))
    return _kept((_finding(one) for one in ordered), FINDINGS)


def _finding(one: Finding) -> str:
    state = {
        FindingState.OPEN: "open",
        FindingState.ANSWERED: f"answered: {line(one.answer)}",
        FindingState.RISK_ACCEPTED: f"the risk is accepted: {line(one.answer)}",
    }[one.state]
    where = f", bead {one.bead}" if one.bead else ""
    return f"- P{one.priority} {one.category} ({one.domain}, round {one.round}{where}): {line(one.issue)} -> {state}"


def _answers(answers: Iterable[Answered]) -> str:
    told = (f"- {line(one.question, 1000)}\n  -> {_cut(one.answer, 2000)}" for one in answers)
    return _kept(told, ANSWERS, newest=True)
