"""Projects and their sprints: what is kept, how far one is, documents, names, schedules. Pure.

1. A person's approval is a run: N sprints inside the brief, the roadmap, the checks and the caps as they were then
   (`terms`), for these roadmap items, up to a budget and an end date.
2. A sprint is a feature: its beads are ordinary beads. The documents about it are two beads whose work nobrakes makes
   itself from its records. All end in the same Reviewer.
3. One run of a repository goes on at a time, and one sprint of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum

from ..errors import NoProject, NotAllowed, UsageError
from ..records import frozen
from ..text.cleaning import count

# A document is text that agents and people edit: what is not there, or not as expected, reads as nothing. A section
# ends at the next heading of its own level or a higher one. Code blocks are examples: nothing in them counts.
STATES = ("planning", "executing", "blocked", "complete")
SPRINTS = "docs/sprints"
ROADMAP = "docs/ROADMAP.md"
ITEM = r"\s*(?:[-*+]|\d+[.)])\s+"
"""How a list item begins."""
_BOX = re.compile(rf"{ITEM}\[([ xX])\]\s+(.*\S)")
_HEADING = re.compile(r"(#{1,6})\s++(.*)\Z")
_FIELD = re.compile(r"\s*(?:[-*+]\s+)?\*\*([A-Za-z ]+?):?\*\*:?\s*(.*)")
_FENCE = re.compile(r"\s*(```|~~~)")


@frozen
class Box:
    """An item that can be ticked off. `line` counts from 1."""

    is_checked: bool
    text: str
    line: int


@frozen
class DocumentsSprint:
    """A sprint's folder: `name` is `s1-begin`, `number` 1. None: the document is missing."""

    name: str
    number: int
    plan: str | None
    review: str | None


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines outside of code blocks."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if (found := _FENCE.match(line)) and (not fence or found[1] == fence):
            fence = "" if fence else found[1]
        elif not fence:
            yield number, line


def bounds(text: str, *titles: str) -> tuple[int, int]:
    """Lines of the first heading with one of these titles (any case) and of its end, else last + 1; (0, 0): none."""
    wanted = {title.casefold() for title in titles}
    start = level = 0
    for number, line in lines(text):
        if (heading := _HEADING.match(line)) and start and len(heading[1]) <= level:
            return start, number
        if heading and not start and heading[2].rstrip().rstrip("#").rstrip().casefold() in wanted:
            start, level = number, len(heading[1])
    return start, len(text.splitlines()) + 1 if start else 0


def section(text: str, *titles: str) -> list[tuple[int, str]]:
    """Of the first section with one of these titles (any case); empty: there is none."""
    start, end = bounds(text, *titles)
    return [(number, line) for number, line in lines(text) if start < number < end]


def boxes(rows: list[tuple[int, str]]) -> list[Box]:
    found = ((number, _BOX.match(line)) for number, line in rows)
    return [Box(box[1] != " ", box[2].strip(), number) for number, box in found if box]


def objective(brief: str) -> str:
    return "\n".join(line for _, line in section(brief, "Objective")).strip()


def criteria(brief: str) -> list[Box]:
    return boxes(section(brief, "Success criteria"))


_ID = re.compile(r"[*_`\[(]*([A-Za-z]{1,5}-?\d+(?:[.-]\d+)*|#\d+)[*_`\])]*(?=[:.)\s]|\Z)")
"""How a roadmap item begins that has an id of its own: `R1: …`, `[M2-3] …`, `**PAY-7** …`."""


def items(roadmap: str) -> list[Box]:
    return boxes(list(lines(roadmap)))


def own_id(text: str) -> str:
    """The id that a roadmap item begins with; empty: it has none."""
    found = _ID.match(text)
    return found[1] if found else ""


def item_id(text: str) -> str:
    """What a roadmap item is called: the id that it begins with, else a short name made from its words."""
    return own_id(text) or slug(text)


def tasks(plan: str) -> list[Box]:
    """A plan's boxes below `Tasks`, or all if it has no such section."""
    own = section(plan, "Tasks", "What to do")
    return boxes(own) if own else boxes(list(lines(plan)))


def field(text: str, name: str) -> str:
    """The value of `**Name:** value`; empty: missing."""
    for _, line in lines(text):
        if (found := _FIELD.match(line)) and found[1].strip().casefold() == name.casefold():
            return found[2].strip()
    return ""


def status(task: str) -> str:
    """The status in task.md: a word of STATES, or empty."""
    word = field(task, "Status").strip("*_` ").casefold()
    return word if word in STATES else ""


def sprints(files: Mapping[str, str]) -> list[DocumentsSprint]:
    """The sprints in these documents (path -> text), by number and name."""
    found: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if path.startswith(f"{SPRINTS}/"):
            name, _, document = path[len(SPRINTS) + 1 :].partition("/")
            if document and _number(name):
                found.setdefault(name, {})[document] = text
    made = (
        DocumentsSprint(name, _number(name), own.get("plan.md"), own.get("review.md")) for name, own in found.items()
    )
    return sorted(made, key=lambda one: (one.number, one.name))


def _number(name: str) -> int:
    """The number in `s3-name` or `m7-s3-name`; 0: no sprint's folder."""
    found = re.match(r"(?:m\d+-)?s([1-9]\d{0,5})(?:-|\Z)", name)
    return int(found[1]) if found else 0


class RunState(StrEnum):
    """State of a run."""

    GOING = "going"
    WAITS = "waits"  # only a person's new yes lets it go on; `why` says what happened
    CLAIMED = "claimed"  # its sprints are done, and agents claim criteria that a person has to tick
    COMPLETE = "complete"  # every success criterion is met, and whats-next is silent
    OVER = "over"  # all of its sprints are done, and the project is not complete


class Stage(StrEnum):
    """Stage of a sprint."""

    PLANNING = "planning"  # its feature is planned, and the plan reviewed
    OPENING = "opening"  # the plan goes to main
    EXECUTING = "executing"  # the beads of its feature are built
    CLOSING = "closing"  # its review goes to main
    DONE = "done"


class Kind(StrEnum):
    """Kinds of documents that agents hand in."""

    PLAN = "plan"  # only of sprints that began before a sprint was a feature
    REVIEW = "review"
    DECISION = "decision"
    DEVIATION = "deviation"
    WISH = "wish"


PATHS: Mapping[Kind, str] = {Kind.DECISION: "DECISIONS.md", Kind.DEVIATION: "DEVIATIONS.md", Kind.WISH: "WISHLIST.md"}
"""Files to which reports during a sprint are appended."""
MAX_DOCUMENT = 30_000
"""Characters of a document that is handed in."""
NAME = 40
"""Characters of a sprint's name."""
ASKED = 50
"""Sprints in one approval."""


@frozen
class SprintRun:
    """A yes for `asked` sprints. `terms`: by name, digests of what the brief, the roadmap, the checks and the caps were
    when it was given; beside them ITEMS, USD and UNTIL, which limit it."""

    id: int
    asked: int
    needs_tests: bool
    terms: Mapping[str, str]
    state: RunState
    why: str
    actor: str
    created_at: float
    updated_at: float

    @property
    def items(self) -> list[str]:
        """The ids of the roadmap items that it is for; empty: the brief alone limits it."""
        return self.terms.get(ITEMS, "").split()


ITEMS, USD, UNTIL = "items", "usd", "until"
"""In the terms of an approval: the ids of its roadmap items; what it may cost; its last day."""


@frozen
class Sprint:
    """A sprint. `bead`: its feature's epic; `opening`, `closing`: the beads of its documents. Of one that began before
    sprints were features, `bead` is the one bead of its work, and `session` planned it."""

    number: int
    run: int
    name: str
    stage: Stage
    session: int | None = None
    bead: str | None = None
    opening: str | None = None
    closing: str | None = None
    nudged: int = 0
    began_at: float = 0.0
    ended_at: float | None = None

    @property
    def title(self) -> str:
        return f"s{self.number}-{self.name}" if self.name else f"s{self.number}"

    @property
    def folder(self) -> str:
        return f"{SPRINTS}/{self.title}"


@frozen
class Document:
    """Something that was handed in for a sprint."""

    id: int
    sprint: int
    kind: Kind
    text: str
    actor: str
    at: float


@frozen
class Going:
    """The repository's last run, its current sprint (None: between two), and how many are done."""

    run: SprintRun
    sprint: Sprint | None = None
    done: int = 0
    last: int = 0  # the highest number of any sprint here
    documents: tuple[Document, ...] = ()


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the terms that are not as they were when the approval was given; an older approval names fewer."""
    return tuple(name for name in now if name in before and before[name] != now[name])


def going_already(run: SprintRun) -> NotAllowed:
    return NotAllowed(
        f"{count(run.asked, 'sprint is', 'sprints are')} already approved, and not all are done",
        "`nobrakes project status` shows the progress.",
    )


def slug(text: str) -> str:
    """A sprint's name for its folder: lower-case letters, digits and '-'."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in text.casefold()).split()
    return "-".join(words)[:NAME].strip("-") or "work"


def require(kind: Kind, text: str) -> str:
    """The stripped text. UsageError if it is invalid for this kind."""
    if not (plain := text.strip()):
        raise UsageError(f"the {kind.value} is empty", "Write some text.")
    if len(plain) > MAX_DOCUMENT:
        raise UsageError(f"a {kind.value} has at most {MAX_DOCUMENT} characters, not {len(plain)}", "Shorten it.")
    return plain


# A new project's documents are filled in in one pass: a value that has `{{…}}` in it is text. An empty list becomes a
# line that says what belongs there.
TYPE = "internal-project"
SOURCES = ("conversation", "scheduled task", "agent-initiated")
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@frozen
class Brief:
    """What is known of a new project; empty: not given yet."""

    name: str
    title: str = ""
    objective: str = ""
    context: str = ""
    constraints: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    source: str = SOURCES[0]
    type: str = TYPE


def values(brief: Brief, created: str) -> dict[str, str]:
    return {
        "title": brief.title or brief.name,
        "name": brief.name,
        "created": created,
        "type": brief.type,
        "source": brief.source,
        "objective": brief.objective or "(to be written: a clear, measurable goal)",
        "context": brief.context or "(to be written: why this project exists, and what has to be known)",
        "constraints": _listed("- ", brief.constraints, "(to be written: what must not be done, what must hold)"),
        "resources": _listed("- ", brief.resources, "Related code: (to be written: paths)"),
        "criteria": _listed("- [ ] ", brief.criteria, "(to be written: an outcome that can be measured)"),
    }


def filled(template: str, known: Mapping[str, str]) -> str:
    """Unknown names stay as they are."""
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), template)


def _listed(mark: str, given: tuple[str, ...], empty: str) -> str:
    return "\n".join(mark + " ".join(one.split()) for one in given if one.strip()) or mark + empty


# No client's name has a ':', and no word of a session that has no client has what joins the two: so a name is of one
# client and one word alone.
JOINED = ": "


def named(client: str, word: str) -> str:
    return f"{client}{JOINED}{word}" if client else word


def word_of(name: str) -> str:
    return name.partition(JOINED)[2] or name


# Where a coding tool may run. Both paths are resolved by the caller. Git's folder and nobrakes' own are not a place to
# work in; the folder of projects itself, what lies outside of it, and another project are refused alike.
REFUSED = (
    "No project has been confirmed for this session. Before using coding tools, you must select a project. "
    "Read the project-setup skill at SKILLS/project-setup.md and follow its instructions to confirm a project with the "
    "user, then call set_project."
)
NOT_HERE = "the working directory has to be inside the project that this session confirmed"


def set_message(name: str, is_new: bool) -> str:
    if is_new:
        return (
            f"New project '{name}' created and set as active project. "
            "Initialized git repo and copied CLAUDE.md template."
        )
    return f"Project set to '{name}' (existing project). All coding tools will now operate in this directory."


_NOT_FOR_WORK = frozenset((".git", ".nobrakes"))


def guard_require(projects: str, path: str, confirmed: str | None) -> None:
    """NoProject unless `path` is the confirmed project's folder in `projects`, or below it. Both are resolved."""
    if confirmed is None:
        raise NoProject(REFUSED, "")
    root = projects.rstrip("/") + "/"
    inside = path[len(root) :] if path.startswith(root) else ""
    if not inside or ".." in inside.split("/"):
        raise NoProject(REFUSED, f"{path} is not in {projects}: {NOT_HERE}")
    if any(part.lower() in _NOT_FOR_WORK for part in inside.split("/")):
        raise NoProject(REFUSED, f"{path} is git's or nobrakes' own: {NOT_HERE}")
    if inside.split("/")[0] != confirmed:
        raise NoProject(REFUSED, f"{path} is not in project '{confirmed}': {NOT_HERE}")


# A project's name is the name of its folder, so no name leads out of the folder. Two names that differ in capitals
# alone are one name for a new project: people and some disks take them for one.
MAX_NAME = 64
HINT = "Letters, digits, '-', '_' and '.', beginning with a letter or a digit: for example my-app."
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{x}{n}" for x in ("com", "lpt") for n in range(1, 10))})


def mistake(name: str) -> str:
    """What is wrong with the name; empty: nothing."""
    if not name:
        return "a project needs a name"
    if len(name) > MAX_NAME:
        return f"the name of a project has at most {MAX_NAME} characters"
    if not name.isascii() or not name[0].isalnum() or not all(c.isalnum() or c in "-_." for c in name):
        return f"'{name[:MAX_NAME]}' cannot be the name of a project"
    if name.endswith((".", ".git", ".lock")) or ".." in name or name.split(".")[0].lower() in _RESERVED:
        return f"'{name}' cannot be the name of a project: git or some system cannot have a folder of this name"
    return ""


def names_require(name: str) -> str:
    """The stripped name. UsageError."""
    plain = name.strip()
    if why := mistake(plain):
        raise UsageError(why, HINT)
    return plain


def clash(name: str, known: Sequence[str]) -> str:
    """The known name that differs at most in case; empty: none."""
    return next((one for one in known if one.casefold() == name.casefold()), "")


BY_SESSION = "the session has its name"


def suggested(known: Sequence[str], session: str, message: str) -> tuple[str, str]:
    """(the suggested project, why) by the session's name, else if the message names exactly one; else empty."""
    for one in known:
        if session and one.casefold() == session.casefold():
            return one, BY_SESSION
    words = _words(message)
    found = [one for one in known if _words(one) in words]
    # `my-app` stands in `my-app-2`, too: a name inside of another one that stands there is not meant by it
    best = [one for one in found if not any(_words(one) in _words(other) for other in found if other != one)]
    return (best[0], "the message names it") if len(best) == 1 else ("", "")


def _words(text: str) -> str:
    """Words surrounded by spaces, without punctuation: `my-app` is in "my app, please"."""
    return " " + " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split()) + " "


# Sprints that begin at a time of a wall clock in a zone: one that the clock leaps over is as much later as the leap,
# one that comes twice is due once. Missed by less than `late_hours` it still begins, once; by more it is told. It is a
# yes like any other: for the brief, the checks and the caps of when it was given.
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MAX_LATE = 24.0 * 7
MAX_DAYS = 400
"""A schedule missed for longer starts from there."""


class DueEnd(StrEnum):
    """The result of a due time."""

    STARTED = "started"
    MISSED = "missed"
    REFUSED = "refused"


@frozen
class Schedule:
    """`days`: names of DAYS, empty: every day. `zone`: e.g. Europe/Berlin; empty: the machine's."""

    id: int
    at: str
    days: tuple[str, ...]
    zone: str
    sprints: int
    late_hours: float
    needs_tests: bool
    terms: Mapping[str, str]
    actor: str
    created_at: float
    last_due: float = 0.0  # the last due time of which something came


@frozen
class Due:
    """Result of a due time. `why`: in words, if it did not begin or others were missed before."""

    schedule: int
    at: float
    came: DueEnd
    why: str = ""


def clock_time(text: str) -> time:
    """`03:00` as a time. UsageError."""
    hour, _, minute = text.strip().partition(":")
    if not (hour.isdigit() and minute.isdigit() and len(hour) <= 2 and len(minute) == 2) or not hour.isascii():
        raise UsageError(f"'{text[:20]}' is not a time of day", "Use a 24-hour clock: --at 03:00.")
    if int(hour) > 23 or int(minute) > 59:
        raise UsageError(f"'{text[:20]}' is not a time of day", "Use a 24-hour clock: --at 03:00.")
    return time(int(hour), int(minute))


def named_days(text: str) -> tuple[str, ...]:
    """`mon,thu` as day names in order; empty: every day. UsageError."""
    given = {one.strip().casefold()[:3] for one in text.split(",") if one.strip()}
    wrong = given - set(DAYS)
    if wrong:
        raise UsageError(f"'{min(wrong)[:20]}' is not a day of the week", f"Use: {','.join(DAYS)}.")
    return tuple(day for day in DAYS if day in given)


def due_times(one: Schedule, zone: tzinfo, after: float, until: float) -> list[float]:
    """The due times after `after` up to `until`, in seconds since 1970."""
    start = max(after, until - MAX_DAYS * 86_400)
    day, last = _day(start, zone) - timedelta(days=1), _day(until, zone) + timedelta(days=1)
    found = []
    while day <= last:
        if not one.days or DAYS[day.weekday()] in one.days:
            moment = datetime.combine(day, clock_time(one.at), zone).timestamp()
            if start < moment <= until:
                found.append(moment)
        day += timedelta(days=1)
    return found


def next_due(one: Schedule, zone: tzinfo, now: float) -> float:
    return due_times(one, zone, now, now + 9 * 86_400)[0]


def comes(one: Schedule, zone: tzinfo, now: float, hindered: bool, refused: str) -> Due | None:
    """What is due now; None: nothing, or the obstacle may pass (`hindered`). `refused`: why it may never start."""
    if not (dues := due_times(one, zone, max(one.last_due, one.created_at), now)):
        return None
    before = (
        f"; {count(len(dues) - 1, 'earlier start was', 'earlier starts were')} missed, too" if len(dues) > 1 else ""
    )
    if now - dues[-1] >= one.late_hours * 3600:
        return Due(one.id, dues[-1], DueEnd.MISSED, f"nothing could start them within {one.late_hours:g} h{before}")
    if hindered:
        return None
    if refused:
        return Due(one.id, dues[-1], DueEnd.REFUSED, refused + before)
    return Due(one.id, dues[-1], DueEnd.STARTED, before.removeprefix("; "))


def wakes(one: Schedule, zone: tzinfo, now: float) -> list[float]:
    """When it needs a look without an event."""
    dues = due_times(one, zone, max(one.last_due, one.created_at), now)
    return [next_due(one, zone, now), *(due + one.late_hours * 3600 for due in dues[-1:])]


def _day(moment: float, zone: tzinfo) -> date:
    return datetime.fromtimestamp(moment, UTC).astimezone(zone).date()
