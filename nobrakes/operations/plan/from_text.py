"""A plan out of what people have already: the task lists of a Markdown text, or issues (operations.plan.from_issues).

1. An unticked item is a bead, a heading above beads is an epic, the text below either is its description. A heading
   with criteria and no items is a bead.
2. An item with items in it waits for them. What is named by "after:", "depends on", "blocked by" or "waits for" is
   waited for too; a name that means nothing, or two things, is an error where it was clearly meant as one.
3. An id is made from the headings and items above and the title: the same text again is the same beads. What the text
   does not say is left as it is.
4. What comes out is judged as a plan file is. All that was left out is told.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import Any

from ...core.errors import PlanError
from . import files
from .markdown_lines import normal, plain_title
from .nodes import Plan, refused
from .task_lists import Part, task_lists
from .text_nodes import KEY, bounded, made_plan, tidy
from .values import MAX_TEXT

_IN_TITLE = re.compile(rf"[(\[][ \t]*{KEY}[ \t]*([^()\[\]]+)[)\]]", re.IGNORECASE)
_AT_END = re.compile(rf"(?:^|[ \t,;.–—-])({KEY})[ \t]*(\S.*)$", re.IGNORECASE)
_LINE = re.compile(rf"[ \t]*(?:[-*+][ \t]+)?[*_]{{0,3}}({KEY})[*_]{{0,3}}([ \t]*:)?[ \t]*(\S.*)", re.IGNORECASE)
_WITHIN = re.compile(rf"\b{KEY}[ \t]*((?:#\d+(?:[ \t]*(?:,|and|&)[ \t]*)?)+)", re.IGNORECASE)
_BETWEEN = re.compile(r"[ \t]*(?:[,;&]|\band\b|[ \t]/[ \t])[ \t]*")
_NUMBER = re.compile(r"#(\d{1,18})(?!\w)")
LOOKS_LIKE_ISSUES = re.compile(r"\s*(?:\[\s*[{\]]|\{\s*[\"}])")


def read_tasks(path: str, known: Collection[str] = ()) -> Plan:
    """The plan in a file of tasks or issues, "-" for standard input; `known`: the ids of the beads that there are.

    PlanError names every problem with its line.
    """
    return plan_of_tasks(files.read_text(path), path, known)


def plan_of_tasks(text: str, path: str, known: Collection[str] = ()) -> Plan:
    """As read_tasks, of the file's text. JSON is known by the file's name, or by how the text begins."""
    source, small = files.shown(path), path.lower()
    is_markdown = small.endswith((".md", ".markdown", ".mdown"))
    if small.endswith(".json") or (not is_markdown and LOOKS_LIKE_ISSUES.match(text)):
        from .from_issues import plan_of_issues

        return plan_of_issues(files.load("-" if path == "-" else source, text), source, known)
    return _Tasks(tidy(text), source, known).plan()


class _Tasks:
    """A text's items on their way to a plan."""

    def __init__(self, text: str, source: str, known: Collection[str]) -> None:
        self.source = source
        found = task_lists(text, source)
        self.told = list(found.told)
        self.problems: list[str] = []
        for part in found.parts:
            if part.kind == "open":
                above = part.parent
                while above and not above.holds_beads:
                    above.holds_beads = above.kind == "section"
                    above = above.parent
        self.parts = [part for part in found.parts if part.level or part.kind != "section"]
        self.beads = [part for part in self.parts if _is_bead(part)]
        if not self.beads and not self.told:
            raise PlanError(
                f"{source}: there is no task in it, no line like `- [ ] Title`",
                "Write each task so. A plan file (YAML, JSON, JSONL) is proposed without --from.",
            )
        self.ids: dict[Part, str] = {}
        self.names: defaultdict[str, list[Part]] = defaultdict(list)
        self._name()
        self.known = {*known, *(self.ids[part] for part in self.beads)}

    def _name(self) -> None:
        """Give each part its id, and remember what it can be called."""
        paths: dict[Part, str] = {}
        again: Counter[str] = Counter()
        for part in self.parts:
            above = part.parent
            while above and above not in paths:
                above = above.parent
            title = _bare(part.title)
            kind = "heading" if part.kind == "section" else "item"
            path = sha256("\0".join((paths[above] if above else "", kind, normal(title))).encode()).hexdigest()
            again[path] += 1
            if again[path] > 1:
                path = sha256(f"{path} {again[path]}".encode()).hexdigest()
            paths[part] = path
            self.ids[part] = f"t-{path[:10]}"
            if part.kind == "done" or _is_bead(part):
                self.names[normal(title)].append(part)
                for number in dict.fromkeys(_NUMBER.findall(title)):
                    self.names[f"#{number}"].append(part)

    def plan(self) -> Plan:
        """All of it; PlanError."""
        waits: defaultdict[Part, list[str]] = defaultdict(list)
        titles = {}
        for part in self.beads:
            above = _above(part, "open")
            if part.kind == "open" and above:
                waits[above].append(self.ids[part])
        for part in self.beads:
            found, titles[part] = self._needs(part)
            waits[part] += found
        nodes = [self._node(part, titles[part], list(dict.fromkeys(waits[part]))) for part in self.beads]
        if self.problems:
            raise refused(self.source, self.problems)
        return made_plan(nodes, [f"line {part.line}" for part in self.beads], self.source, self.told)

    def _node(self, part: Part, title: str, needs: list[str]) -> dict[str, Any]:
        made = {"id": self.ids[part], **bounded(title, part.description, f"line {part.line}", self.told)}
        if part.kind == "section" and part.holds_beads:
            made["type"] = "epic"
        if part.criteria:
            made["acceptance"] = [" ".join(lines)[:MAX_TEXT] for lines in part.criteria]
        section = _above(part, "section")
        if section and section.level:
            made["epic"] = self.ids[section]
        return {**made, **({"needs": needs} if needs else {})}

    def _needs(self, part: Part) -> tuple[list[str], str]:
        """(what the part says that it waits for, its title without what says so)."""
        needs: list[str] = []
        title = _IN_TITLE.sub("", part.title)
        for match in _IN_TITLE.finditer(part.title):
            needs += self._meant(part, part.line, match[1], True) or ()
        at_end = _AT_END.search(title)
        if at_end and title[: at_end.start()].strip():
            is_meant = at_end[1].endswith(":") or at_end[2].startswith("#")
            found = self._meant(part, part.line, at_end[2], is_meant)
            needs += found or ()
            title = title if found is None else title[: at_end.start()].rstrip(" \t,;.–—-")
        for line, text in part.texts:
            for words, is_meant in _said(text) if line else ():
                needs += self._meant(part, line, words, is_meant) or ()
        return needs, title.strip() or part.title

    def _meant(self, part: Part, line: int, words: str, is_meant: bool) -> list[str] | None:
        """The ids that the words name; None: nothing is named so. What is done is named, and not waited for."""
        whole = self._one(part, words)
        names = [words] if whole else [name for name in _BETWEEN.split(words) if name.strip()]
        found: list[str] = []
        for name in names:
            candidates = whole or self._one(part, name)
            shown = plain_title(name)[:80]
            if not candidates:
                if is_meant:
                    self.problems.append(f"line {line}: '{shown}' is waited for, and nothing is called so")
                else:
                    self.told.append(f"line {line}: '{shown}' names nothing here: not taken for a dependency")
                    return None
            elif len(candidates) > 1:
                places = ", ".join(candidates.values())
                self.problems.append(f"line {line}: '{shown}' is the name of several: {places}; give one another name")
            elif "" in candidates:
                self.told.append(f"line {line}: '{shown}' is ticked: it is not waited for")
            else:
                found += candidates
        return found

    def _one(self, part: Part, words: str) -> dict[str, str]:
        """What may be meant: id -> where; the id is empty for what is ticked."""
        name = words.strip(" \t.:\"'`“”")
        number = _NUMBER.fullmatch(name)
        parts = self.names.get(f"#{number[1]}" if number else normal(name), [])
        others = [one for one in parts if one is not part]
        near = [one for one in others if one.parent is part.parent]
        if others:
            return {self._id_if_open(one): f"line {one.line}" for one in (near or others)}
        id_ = f"gh-{number[1]}" if number else name
        return {id_: "the graph"} if id_ in self.known else {}

    def _id_if_open(self, part: Part) -> str:
        return self.ids[part] if _is_bead(part) else ""


def _is_bead(part: Part) -> bool:
    if part.kind == "section":
        return part.level > 0 and (part.holds_beads or bool(part.criteria))
    return part.kind == "open"


def _above(part: Part, kind: str) -> Part | None:
    """The nearest thing of this kind around it."""
    above = part.parent
    while above and above.kind != kind:
        above = above.parent
    return above


def _bare(title: str) -> str:
    """The title without what it says about waiting."""
    bare = _IN_TITLE.sub("", title)
    match = _AT_END.search(bare)
    return (bare[: match.start()] if match else bare).strip() or title


def _said(text: str) -> Iterator[tuple[str, bool]]:
    """What a line of text says is waited for, and whether it is clearly meant so."""
    match = _LINE.fullmatch(text)
    if match:
        yield match[3], bool(match[2]) or match[1].endswith(":") or match[3].startswith("#")
        return
    for found in _WITHIN.finditer(text):
        for number in _NUMBER.findall(found[1]):
            yield f"#{number}", False
