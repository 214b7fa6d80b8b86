"""A plan from the task lists of a Markdown text.

1. An unticked item is a bead, a heading above beads an epic, text below its description. A heading with criteria but no
   items is a bead.
2. An item waits for its sub-items and for what "after:", "depends on", "blocked by" or "waits for" name; an unknown or
   ambiguous name is an error if clearly meant as one.
3. Ids come from headings, items above and the title, so the same text gives the same beads. What is not said stays
   unchanged.
4. The result is validated like a plan file. Everything left out is reported.
"""

import re
from base64 import b32encode
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ..errors import PlanError
from ..records import grouped
from .nodes import (
    BOX,
    BULLET,
    CLOSING_FENCE,
    FENCE,
    HEADING,
    KEY,
    LABEL,
    MAX_TEXT,
    RULE,
    UNDERLINE,
    Plan,
    bounded,
    box_in,
    dedented,
    front,
    made_plan,
    normal,
    plain_title,
    refused,
)


# `- [ ]`, `* [ ]`, `+ [ ]`, `1. [ ]` are items. Code blocks and front matter are never looked into; an item in a
# comment or a quotation is told of, and is none. An item is within another where it is indented by two columns or more,
# or as far as the other's text. What stands under the words Acceptance or Done when are criteria. Nothing recurses.
@dataclass(eq=False)
class Part:
    """A heading or list entry. `line`: from 1; `parent`: its container. `kind`: "section", "open" and "done" (items),
    "bullet", "label" (names criteria), "criterion". `column`: where an entry's text begins; `level`: of a heading, 0:
    the full text. `texts`: the lines below it with their numbers, 0 for code."""

    line: int
    kind: str
    title: str
    parent: "Part | None"
    level: int = 0
    indent: int = 0
    column: int = 0
    texts: list[tuple[int, str]] = field(default_factory=list)
    criteria: list[list[str]] = field(default_factory=list)
    wants_criteria: bool = False
    holds_beads: bool = False
    owns: bool = True  # criteria may belong to it
    is_wanted: bool = False  # a heading that is a requirement
    is_optional: bool = False
    number: str = ""  # of an item of a numbered list

    @property
    def description(self) -> str:
        return dedented([text for _, text in self.texts])


@dataclass(frozen=True)
class TaskLists:
    """Headings and items in order, and what was left out, with lines."""

    parts: tuple[Part, ...]
    told: tuple[str, ...]
    has_boxes: bool = True


def task_lists(text: str, source: str, strict: bool = True) -> TaskLists:
    """The headings and items of a text. `strict`: PlanError for an unclosed block, and the text owns no criteria."""
    lines = text.split("\n")
    has_boxes = any(BOX.match(bullet[3] or "") for line in lines if (bullet := BULLET.fullmatch(line.strip(" \t"))))
    reader = _Reader(source, not strict, strict and not has_boxes)
    reader.wants_numbers = reader.wants and not has_requirement(text)
    if strict and (many := front(lines)):
        reader.told.append(f"not imported: lines 1 to {many}, the file's front matter")
    for number, line in enumerate(lines[front(lines) :], front(lines) + 1):
        reader.read(number, line)
    if reader.until and strict:
        what, begun, closing = reader.until
        raise PlanError(f"{source}:{begun}: the {what} that starts here is never closed", f"Close it with `{closing}`.")
    return TaskLists(tuple(reader.parts), tuple(reader.told), has_boxes)


def has_requirement(text: str) -> bool:
    texts = (line.lstrip("#*+- \t") for line in text.split("\n") if line.lstrip()[:1] in ("#", "*", "+", "-"))
    return any(map(REQUIREMENT.match, texts))


class _Reader:
    """The open containers at a line."""

    def __init__(self, source: str, owns: bool, wants: bool) -> None:
        self.wants = wants  # a bullet that names a requirement is an item
        self.wants_numbers = False  # each entry of a numbered list is one
        self.section = Part(0, "section", source, None, owns=owns)
        self.entries: list[Part] = []
        self.parts: list[Part] = [self.section]
        self.told: list[str] = []
        self.until: tuple[str, int, str] | None = None  # a block that is open: what, its line, what closes it
        self.blank = True
        self.paragraph = 0  # lines of text just before this one, outside of lists

    def read(self, number: int, line: str) -> None:
        body = line.strip(" \t")
        indent = len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
        if self.until:
            self._within(number, line, body)
        elif not body:
            self._text(number, "")
            self.blank, self.paragraph = True, 0
            return
        elif self.blank and indent >= (self.entries[-1].column if self.entries else 0) + 4:
            self.paragraph += bool(self.paragraph)
            self._text(0, line)
        else:
            self._line(number, line, body, indent)
        self.blank = False

    def _within(self, number: int, line: str, body: str) -> None:
        assert self.until
        what, _, closing = self.until
        if what == "comment":
            if box_in(body):
                self.told.append(f"line {number}: skipped an item inside a comment")
            self.until = None if "-->" in body else self.until
            return
        self._text(0, line)
        if (found := CLOSING_FENCE.fullmatch(body)) and found[1].startswith(closing):
            self.until = None

    def _line(self, number: int, line: str, body: str, indent: int) -> None:
        if (heading := HEADING.fullmatch(body)) and (not self.entries or indent < 2):
            self._heading(number, len(heading[1]), heading[2] or "")
        elif self.paragraph and not self.entries and UNDERLINE.fullmatch(body):
            lines = [self.section.texts.pop() for _ in range(self.paragraph)][::-1]
            self._heading(lines[0][0], 1 if body[0] == "=" else 2, " ".join(text.strip() for _, text in lines))
        elif RULE.fullmatch(body):
            self.entries, self.paragraph = [], 0
        elif body.startswith("<!--"):
            self.until, self.paragraph = None if "-->" in body else ("comment", number, "-->"), 0
            if not self.until and box_in(body[4:].lstrip()):
                self.told.append(f"line {number}: skipped an item inside a comment")
            elif self.parts[0].owns is False:
                self.told.append(f"not imported: line {number}, a comment: {body[:80]}")
        elif bullet := BULLET.fullmatch(body):
            self._entry(number, indent, bullet)
        else:
            self._words(number, line, body, indent)

    def _words(self, number: int, line: str, body: str, indent: int) -> None:
        fence = FENCE.match(body)
        if self.blank or fence or body.startswith(">"):
            self._leave(indent)
        if body.startswith(">") and box_in(body.lstrip("> \t")):
            self.told.append(f"line {number}: skipped an item inside a block quote")
        self._text(number, line)
        if fence:
            self.until, self.paragraph = ("code block", number, fence[1]), 0
            return
        self.paragraph = 0 if self.entries or body.startswith(">") else self.paragraph + 1
        holder = self.entries[-1] if self.entries else self.section
        if holder.kind in ("open", "section") and holder.owns:
            if (label := LABEL.fullmatch(body)) and not label[1]:
                self._take_back(holder)
                holder.wants_criteria = True
            elif label:
                self._take_back(holder)
                holder.criteria.append([label[1]])
            elif holder.kind != "section" or (holder.title and not self._is_label(holder)):
                holder.wants_criteria = False

    def _take_back(self, holder: Part) -> None:
        """A line that names criteria is not text itself."""
        holder.texts.pop()
        self.paragraph = 0

    @staticmethod
    def _is_label(section: Part) -> bool:
        return section.kind == "section" and bool(LABEL.fullmatch(section.title))

    def _text(self, number: int, line: str) -> None:
        holder = self.entries[-1] if self.entries else self.section
        if holder.kind == "criterion":
            if line.strip():
                holder.criteria[-1].append(line.strip())
            return
        while holder.kind in ("bullet", "label") and holder.parent:
            holder = holder.parent
        holder.texts.append((number, line))

    def _leave(self, indent: int) -> None:
        """Leave entries that a line of this indentation is not in."""
        while self.entries and indent < min(self.entries[-1].column, self.entries[-1].indent + 2):
            self.entries.pop()

    def _heading(self, number: int, level: int, title: str) -> None:
        self.entries, self.paragraph = [], 0
        above: Part | None = self.section
        while above and above.level >= level:
            above = above.parent
        self.section = Part(number, "section", title.strip(), above, level)
        self.section.wants_criteria = self._is_label(self.section) and bool(above and above.owns)
        self.parts.append(self.section)

    def _entry(self, number: int, indent: int, bullet: "re.Match[str]") -> None:
        self._leave(indent)
        self.paragraph = 0
        mark, gap, rest = bullet[1], bullet[2] or "", bullet[3] or ""  # a dash alone has neither
        above = self.entries[-1] if self.entries else self.section
        column = indent + len(mark) + (len(gap) if 1 <= len(gap) <= 4 and rest else 1)
        box = BOX.fullmatch(rest)
        kind = ("done" if box[1] in ("x", "X") else "open") if box else "bullet"
        if self.wants and above.kind == "section" and not above.wants_criteria:
            is_step = self.wants_numbers and mark[0].isdigit() and not _NO_STEPS.match(above.title)
            is_step = is_step and not _MUST.search(f"{above.title}\n{above.description}")
            kind = "open" if REQUIREMENT.match(rest) or is_step else kind
        title = (box[2] or "").strip() if box else rest.strip()
        if box and title.endswith("-->") and (bare := _COMMENT.sub("", title).strip()) != title:
            self.told.append(f"not imported: line {number}, a comment: {title[len(bare) :].strip()[:80]}")
            title = bare
        made = Part(number, kind, title, above, 0, indent, column)
        made.is_optional = bool(box) and rest[3:4] == "*"
        made.number = mark.rstrip(".)") if kind == "open" and not box else ""
        if box and box[1] not in " xX":
            self.told.append(f"line {number}: '[{box[1]}]' is not [x], so it counts as not done: {made.title[:80]}")
        self._judge(made, above, bullet[0])
        self.entries.append(made)
        if kind == "bullet" and (fence := FENCE.match(rest)):
            self.until = ("code block", number, fence[1])

    def _judge(self, made: Part, above: Part, line: str) -> None:
        owner, place = _owner(made), f"line {made.line}"
        label = LABEL.fullmatch(made.title)
        if above.wants_criteria or above.kind == "criterion":
            self._criterion(made, owner, place)
        elif label and owner and made.kind != "done":
            if made.kind == "open":
                self.told.append(f"{place}: '{made.title[:80]}' names criteria, so it does not become a bead")
            made.kind, made.wants_criteria = "label", True
            if label[1]:
                owner.criteria.append([label[1]])
        elif made.kind == "done":
            self.told.append(f"{place}: skipped, because the criterion is ticked: {made.title[:80]}")
        elif made.kind == "open" and not made.title:
            self.told.append(f"{place}: skipped, because the item has no title")
            made.kind = "bullet"
        elif made.kind == "bullet":
            self.entries.append(made)
            self._text(made.line, " " * made.indent + line)
            self.entries.pop()
        if made.kind in ("open", "done"):
            self.parts.append(made)

    def _criterion(self, made: Part, owner: Part | None, place: str) -> None:
        if made.kind == "done":
            self.told.append(f"{place}: skipped, because the criterion is ticked: {made.title[:80]}")
        elif owner is None:
            self.told.append(f"{place}: skipped, because its item is ticked: {made.title[:80]}")
        elif not made.title:
            self.told.append(f"{place}: skipped, because the criterion has no text")
        made.criteria = [[made.title]]
        if made.kind != "done" and owner and made.title:
            owner.criteria.append(made.criteria[0])
        made.kind = "criterion"


def _owner(made: Part) -> Part | None:
    above = made.parent
    while above and above.kind not in ("open", "done", "section"):
        above = above.parent
    if above and above.kind == "section" and LABEL.fullmatch(above.title) and above.parent and above.parent.owns:
        above = above.parent
    if above is None or above.kind == "done" or not above.owns:
        return None
    return above


_IN_TITLE = re.compile(rf"[(\[][ \t]*{KEY}([^()\[\]]+)[)\]]", re.IGNORECASE)
_AT_END = re.compile(rf"(?:^|[ \t,;.–—-])({KEY})[ \t]*(\S.*)$", re.IGNORECASE)
_LINE = re.compile(rf"[ \t]*(?:[-*+][ \t]+)?[*_]{{0,3}}({KEY})[*_]{{0,3}}([ \t]*:)?[ \t]*(\S.*)", re.IGNORECASE)
_WITHIN = re.compile(
    rf"\b{KEY}(?:(?:[*_]{{1,3}}|(?<=:))[ \t]*)?((?:(?<![\w/])#\d+(?:[ \t]*(?:,|and|&)?[ \t]*))+)", re.IGNORECASE
)
_BEFORE = [
    re.compile(one.pattern.replace("after|needs|requires", "after"), re.IGNORECASE) for one in (_IN_TITLE, _AT_END)
]
REQUIREMENT = re.compile(
    r"[\[(*_`]{0,3}(?:(?:R|FR|NFR|REQ|RQ|US|UC|BR|TR|SR)[-_ ]?\d|"
    r"(?:Requirement|User Story|Task|Step|Story|Ticket)[ \t]+\d)"
)
_COMMENT = re.compile(r"(?:<!--(?:(?!-->|<!--).)*-->[ \t]*)+$")
_MUST = re.compile(r"\b(?:must|shall|should|has to|have to)\b", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"(?:\d+[.)]?[ \t]+)?(?:non-?[ ]?goals?|out of scope|scope|background|context|overview|introduction|motivation|"
    r"goals?|summary|vision|problem(?: statement)?|assumptions?|glossary)\b.*",
    re.IGNORECASE,
)
_NO_STEPS = re.compile(
    _BACKGROUND.pattern.replace(
        "glossary", "glossary|(?:open )?questions?|risks?|references?|success|metrics|notes?|usage"
    ),
    re.IGNORECASE,
)
"""Above a numbered list that is not a list of tasks."""
PHASE = re.compile(r"phase[ \t]+(?:\d+|N\b|final\b)", re.IGNORECASE)
_CHECKLIST = re.compile(r".*\bchecklist\b.*", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?[ \t]")
_STORY = re.compile(r"\buser stor(?:y|ies)\b|\bUS\d", re.IGNORECASE)
_TASK = re.compile(r"T\d{3,}\b")
_PARALLEL = re.compile(r"T\d{3,}[ \t]+\[P\]")
_LEADING = re.compile(
    r"(T\d{2,}|[A-Z]{1,6}-?\d+|\d+(?:\.\d+)*|(?:phase|task|step|story|ticket)[ \t]+\d+(?:\.\d+)*)\b", re.IGNORECASE
)
NOTHING = frozenset(("none", "nothing", "n a", "na", "nil", "no", "no dependencies", "-", "–", "—"))
BETWEEN = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:[,;&]|\band\b|[ \t]/[ \t])[ \t]*")
_NUMBER = re.compile(r"#(\d{1,18})(?!\w)")


class MarkdownTasks:
    """A text's items on their way to a plan. `known`: existing ids."""

    def __init__(self, text: str, source: str, known: Container[str]) -> None:
        self.source = source
        found = task_lists(text, source)
        self.told = list(found.told)
        self.problems: list[str] = []
        _find_beads(found)
        self.without = [part for part in found.parts if part.kind != "open" and not (part.level and _is_bead(part))]
        self.parts = [part for part in found.parts if part.level or part.kind != "section"]
        self.beads = [part for part in self.parts if _is_bead(part)]
        if not self.beads and all(line.startswith("not imported") for line in self.told):
            raise PlanError(
                f"{source}: found no task: no line like `- [ ] Title`, and no heading of a requirement (`R1`)",
                "Write each task in one of these ways, or let an agent plan: `nobrakes forge new TITLE -d - < FILE`.",
            )
        for part in self.without:
            self._place_text(part)
        self.ids: dict[Part, str] = {}
        self.names: defaultdict[str, list[Part]] = defaultdict(list)
        self._name(known)
        self.known, self.own = known, {self.ids[part] for part in self.beads}

    def _name(self, known: Container[str]) -> None:
        paths: dict[tuple[Part | None, bool], str] = {(None, False): "", (None, True): ""}
        again: Counter[tuple[bool, str]] = Counter()
        taken: set[str] = set()
        for part in self.parts:
            above = part.parent
            while above and (above, False) not in paths:
                above = above.parent
            ids = list[str]()
            for is_earlier in (True, False):
                title = _bare(part.title, is_earlier)
                kind = "heading" if part.kind == "section" else "item"
                text = "\0".join((paths[above, is_earlier], kind, normal(title)))
                path = sha256(text.encode()).hexdigest()
                again[is_earlier, path] += 1
                if again[is_earlier, path] > 1:
                    path = sha256(f"{path} {again[is_earlier, path]}".encode()).hexdigest()
                paths[part, is_earlier] = path
                ids = [f"t-{path[:10]}", short_id(path, taken), *ids]  # the first is one of earlier versions too
            self.ids[part] = next((id_ for id_ in ids if id_ in known and id_ not in taken), ids[1])
            taken.add(self.ids[part])
            if part.kind == "done" or _is_bead(part):
                self.names[normal(title)].append(part)
                for number in dict.fromkeys(_NUMBER.findall(title)):
                    self.names[f"#{number}"].append(part)
                for word in ("", "task ", "step ", "item ") if part.number else ():
                    self.names[f"{word}{part.number}"].append(part)
                if (leading := _LEADING.match(title)) and normal(leading[1]) != normal(title):
                    self.names[normal(leading[1])].append(part)

    def _place_text(self, part: Part) -> None:
        lines = [number for number, line in part.texts if number and line.strip()]
        is_heading, text = part.kind == "section" and part.level > 0, part.description
        is_label = LABEL.fullmatch(part.title) and part.parent and part.parent.criteria
        if not text and (is_label or not is_heading):
            return
        epic = _above(part, "section")
        if text and is_heading and epic and epic.level and _is_bead(epic) and _BACKGROUND.fullmatch(part.title):
            while epic.texts and not epic.texts[-1][1].strip():
                epic.texts.pop()
            epic.texts.append((0, f"\n{'#' * part.level} {part.title}\n\n{text}"))
            return
        where = runs(
            [part.line, *lines] if is_heading else lines or [part.line or 1], [bead.line for bead in self.beads]
        )
        what = f"'{part.title[:80]}'{' and the text below it' if text else ''}"
        if not is_heading:
            what = f"the text below '{part.title[:80]}'" if part.line else "the text before the first heading"
        self.told.append(f"not imported: {where}, {what}")

    def _in_order(self) -> dict[Part, list[str]]:
        """Implicit waits, in formats with sequential tasks or phases."""
        waits: defaultdict[Part, list[str]] = defaultdict(list)
        tasks = [part for part in self.beads if part.kind == "open" and _TASK.match(part.title)]
        for siblings in grouped((id(_phase_of(part)), part) for part in tasks if len(tasks) > 1).values():
            before, beside = list[Part](), list[Part]()
            for part in siblings:
                if _PARALLEL.match(part.title):
                    beside.append(part)
                else:
                    before, beside = beside or before, []
                waits[part] += [self.ids[one] for one in before]
                before = before if beside else [part]
        phases = (part for part in self.beads if part.kind == "section" and PHASE.match(part.title))
        for siblings in grouped((id(part.parent), part) for part in phases).values():
            before, stories = list[Part](), list[Part]()
            for part in siblings:
                if _STORY.search(part.title):
                    stories.append(part)
                else:
                    before, stories = stories or before, []
                waits[part] += [self.ids[one] for one in before]
                before = before if stories else [part]
        numbers: dict[tuple[Part | None, str], Part] = {}
        for part in self.beads:
            if part.kind == "open" and (number := _NUMBERED.match(part.title)):
                numbers[part.parent, number[1]] = part
                outer = numbers.get((part.parent, number[1].rpartition(".")[0]))
                if outer and not part.is_optional:
                    waits[outer].append(self.ids[part])
        return waits

    def plan(self) -> Plan:
        """PlanError names every bad line."""
        waits: defaultdict[Part, list[str]] = defaultdict(list)
        titles = {}
        for part, ids in self._in_order().items():
            waits[part] += ids
        for part in self.beads:
            above = _above(part, "open")
            if part.kind == "open" and above and not part.is_optional:
                waits[above].append(self.ids[part])
        for part in self.beads:
            found, titles[part] = self._needs(part)
            waits[part] += found
        nodes = [self._node(part, titles[part], list(dict.fromkeys(waits[part]))) for part in self.beads]
        if self.problems:
            error = refused(self.source, self.problems)
            error.hint = "Change these lines, then import the file again."
            raise error
        return made_plan(nodes, [f"line {part.line}" for part in self.beads], self.source, self.told)

    def _node(self, part: Part, title: str, needs: list[str]) -> dict[str, Any]:
        made = {"id": self.ids[part], **bounded(title, part.description, f"line {part.line}", self.told)}
        if part.kind == "section" and part.holds_beads:
            made["type"] = "epic"
        if part.criteria:
            made["acceptance"] = [" ".join(lines)[:MAX_TEXT] for lines in part.criteria]
        if (section := _above(part, "section")) and section.level:
            made["epic"] = self.ids[section]
        if part.is_optional:
            made["labels"] = ["optional"]
        return {**made, **({"needs": needs} if needs else {})}

    def _needs(self, part: Part) -> tuple[list[str], str]:
        """(what the part waits for, the rest of its title)."""
        needs: list[str] = []
        title = _IN_TITLE.sub("", part.title)
        for match in _IN_TITLE.finditer(part.title):
            needs += self._meant(part, part.line, match[1], True) or ()
        if (at_end := _AT_END.search(title)) and title[: at_end.start()].strip():
            is_meant = at_end[1].endswith(":") or at_end[2].startswith("#")
            found = self._meant(part, part.line, at_end[2], is_meant)
            needs += found or ()
            title = title if found is None else title[: at_end.start()].rstrip(" \t,;.–—-")
        for line, text in part.texts:
            for words, is_meant in _said(text) if line else ():
                needs += self._meant(part, line, words, is_meant) or ()
        return needs, title.strip() or part.title

    def _meant(self, part: Part, line: int, words: str, is_meant: bool) -> list[str] | None:
        """The ids of these names; None: unknown. Done items are known but not waited for."""
        if normal(words) in NOTHING:
            return []
        whole = self._one(part, words)
        names = [words] if whole else [name for name in BETWEEN.split(words) if name.strip()]
        found: list[str] = []
        for name in names:
            candidates = whole or self._one(part, name)
            shown = plain_title(name)[:80]
            if not candidates:
                if is_meant:
                    self.problems.append(f"line {line}: depends on '{shown}', but no task has this name")
                else:
                    self.told.append(f"line {line}: no task is called '{shown}', so it is not a dependency")
                    return None
            elif len(candidates) > 1:
                places = ", ".join(candidates.values())
                self.problems.append(f"line {line}: several tasks are called '{shown}': {places}; rename one")
            elif "" in candidates:
                self.told.append(f"line {line}: '{shown}' is ticked, so no dependency on it is needed")
            else:
                found += candidates
        return found

    def _one(self, part: Part, words: str) -> dict[str, str]:
        name = words.strip(" \t.:\"'`“”")
        number = _NUMBER.fullmatch(name)
        parts = self.names.get(f"#{number[1]}" if number else normal(name), [])
        others = [one for one in parts if one is not part]
        near = [one for one in others if one.parent is part.parent]
        if others:
            return {self.ids[one] if _is_bead(one) else "": f"line {one.line}" for one in (near or others)}
        id_ = f"gh-{number[1]}" if number else name
        return {id_: "the graph"} if id_ in self.own or id_ in self.known else {}


def _find_beads(found: TaskLists) -> None:
    has_numbers = any(part.kind == "open" and _TASK.match(part.title) for part in found.parts)
    for part in found.parts:
        section = _above(part, "section")
        if has_numbers and part.kind == "open" and section and _CHECKLIST.fullmatch(section.title):
            part.kind = "bullet"
            section.texts.append((part.line, f"- [ ] {part.title}"))
        if part.kind == "section" and part.level and not LABEL.fullmatch(part.title):
            part.is_wanted = bool(REQUIREMENT.match(part.title))
            if not (found.has_boxes or part.is_wanted or _BACKGROUND.fullmatch(part.title)):
                part.is_wanted = bool(_MUST.search(f"{part.title}\n{part.description}"))
        if part.kind == "open" or part.is_wanted:
            above = part.parent
            while above and not above.holds_beads:
                above.holds_beads = above.kind == "section"
                above = above.parent


def _is_bead(part: Part) -> bool:
    if part.kind == "section":
        return part.level > 0 and (part.holds_beads or part.is_wanted or bool(part.criteria))
    return part.kind == "open"


def runs(numbers: Sequence[int], breaks: Sequence[int]) -> str:
    """line 3; lines 3 to 5; lines 1, 3 to 5, where one of the sorted `breaks` is between."""
    found = grouped((bisect(breaks, number), number) for number in sorted(set(numbers))).values()
    words = (str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in found)
    return f"line{'s' if len(set(numbers)) > 1 else ''} {', '.join(words)}"


def _bare(text: str, is_earlier: bool) -> str:
    """The title without what it says about waiting; in earlier versions `needs:` and `requires:` said nothing."""
    in_title, at_end = _BEFORE if is_earlier else (_IN_TITLE, _AT_END)
    bare = in_title.sub("", text)
    match = at_end.search(bare)
    return (bare[: match.start()] if match else bare).strip() or text


def _phase_of(part: Part) -> Part | None:
    """The phase of a task, also below a heading in it; else what it stands in."""
    above = part.parent
    while above and not (above.kind == "section" and PHASE.match(above.title)):
        above = above.parent if above.kind == "section" else None
    return above or part.parent


def _above(part: Part, kind: str) -> Part | None:
    above = part.parent
    while above and above.kind != kind:
        above = above.parent
    return above


def _said(text: str) -> Iterator[tuple[str, bool]]:
    if match := _LINE.fullmatch(text):
        yield match[3], bool(match[2]) or match[1].endswith(":") or match[3].startswith("#")
        return
    for found in _WITHIN.finditer(text):
        for number in _NUMBER.findall(found[1]):
            yield f"#{number}", False


def short_id(digest: str, taken: Collection[str]) -> str:
    """An id made of a digest, as long as those of `add`; longer where two digests begin alike."""
    letters = b32encode(bytes.fromhex(digest)).decode().lower()
    return next(made for length in range(7, 52) if (made := f"t-{letters[:length]}") not in taken)


def body_parts(parts: tuple[Part, ...]) -> tuple[list[str], str, list[int]]:
    """(criteria, remaining text, awaited issues) of a body."""
    criteria: list[str] = []
    named: list[str] = []
    needs: list[int] = []
    texts: list[tuple[int, str]] = []
    for part in parts:
        if part.kind == "open":
            if number := _NUMBER.fullmatch(part.title):
                needs.append(int(number[1]))
                texts += part.texts
            else:
                below = part.description
                criteria.append(f"{plain_title(part.title) or part.title}\n{below}".strip())
        elif part.kind == "section" and part.level and not (part.wants_criteria and LABEL.fullmatch(part.title)):
            texts.append((part.line, "#" * part.level + " " + part.title))
        if part.kind != "open":
            texts += part.texts
        named += [" ".join(lines) for lines in part.criteria]
        for line, text in part.texts:
            needs += [int(n) for m in _WITHIN.finditer(text) for n in _NUMBER.findall(m[1])] if line else []
    return criteria + named, "\n".join(text for _, text in texts).strip(), needs


_BAR = re.compile(r"(?<!\\)\|")
_RULER = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-+:?[ \t]*+(?:\|[ \t]*:?-+:?[ \t]*+)*\|?[ \t]*")


def tables(text: str, source: str) -> Iterator[tuple[int, str, list[dict[str, str]]]]:
    """The tables of a text: (line of the head, the heading above it; rows, cell by column)."""
    heading = source
    for part in task_lists(text, source, strict=False).parts:
        heading = part.title if part.kind == "section" else heading
        lines, at = [*part.texts, (0, "")], 0
        while at + 1 < len(lines):
            (first, head), (_, ruler) = lines[at : at + 2]
            at += 1
            if first and "|" in head and "|" in ruler and _RULER.fullmatch(ruler):
                names, rows = _cells(head, 0), list[dict[str, str]]()
                while lines[at + 1][0] == first + len(rows) + 2 and "|" in lines[at + 1][1]:
                    rows.append(row := {})
                    for place, cell in enumerate(_cells(lines[at + 1][1], len(names)), 1):
                        is_named = place <= len(names) and names[place - 1] not in row
                        row[names[place - 1] if is_named else f"column {place}"] = cell
                    at += 1
                yield first, heading, rows


def _cells(line: str, many: int) -> list[str]:
    """A bar in code is text, where that makes the right number of cells."""
    bare = line.strip().removeprefix("|")
    bare = bare.removesuffix("|") if not bare.endswith("\\|") else bare
    found = _BAR.split(re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "\0"), bare))
    found = found if len(found) == many or not many else _BAR.split(bare)
    return [re.sub(r"<br ?/?>", "\n", one.strip().replace("\\|", "|").replace("\0", "|")) for one in found]
