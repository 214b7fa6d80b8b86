"""What a person is shown of one escalation. Every surface renders this, and offers these choices and no other.

1. It is the escalation itself, as it is stored, and what was found out about it for the person who decides.
2. Texts of agents and checks are cleaned and bounded here; what was left out is counted, with what to type for it all.
3. A sentence names commits by their first twelve digits; a field that is a commit has its whole id.
"""

from dataclasses import dataclass

from ...core.beads.bead import Status
from ...core.beads.escalations import Escalation
from ...core.transcript import Line


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to decide. `command` is what to type for it.

    `how` is `answer`, or one of the ways of `nobrakes resolve`; `value` is what `answer` is given, None where any text
    may be. `takes_note`: a note may be added. `is_recommended`: by the agent that asks, or as the usual way out.
    """

    how: str
    label: str
    does: str
    costs: str = ""
    command: str = ""
    value: str | None = None
    takes_note: bool = False
    is_recommended: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a text. `more`: so many were left out; `command` shows them all, where one does."""

    lines: tuple[str, ...] = ()
    more: int = 0
    command: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the evidence under its title."""

    title: str
    text: Excerpt


@dataclass(frozen=True, slots=True)
class AboutBead:
    """The bead that is asked about. `waiting`: those that wait for it directly, at most twenty of them."""

    id: str
    title: str
    status: Status
    acceptance: Excerpt
    description: Excerpt
    failures: int = 0
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt: who, how it ended and what that means, and what it left for the next one."""

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


@dataclass(frozen=True, slots=True)
class LastWords:
    """The last lines of the agent that worked last. `command` shows all of them."""

    attempt: int
    name: str
    lines: tuple[Line, ...]
    command: str


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One changed file. `added` and `removed` lines; None: it is no text. `how`: added, removed, changed, renamed."""

    path: str
    how: str
    added: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class BranchDifference:
    """What the branch changes against where it left main. `missing`: why nothing can be shown.

    `more_files`: so many files are not listed; `ref`: what keeps the branch, once it was archived.
    """

    base: str = ""
    head: str = ""
    ref: str = ""
    files: tuple[FileDifference, ...] = ()
    more_files: int = 0
    added: int = 0
    removed: int = 0
    text: Excerpt = Excerpt()
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ConflictHunk:
    """A place that both sides changed: main's lines and the branch's. `line` is where it begins in the merged file."""

    line: int
    main: Excerpt
    branch: Excerpt


@dataclass(frozen=True, slots=True)
class ConflictFile:
    """A file in conflict; `how` says in words what each side did to it."""

    path: str
    how: str
    hunks: tuple[ConflictHunk, ...] = ()
    more_hunks: int = 0


@dataclass(frozen=True, slots=True)
class OtherSide:
    """A change of main that the branch conflicts with. `bead` empty: no merge of a bead, but `who`'s own commit."""

    bead: str
    title: str
    who: str
    commit: str
    at: float
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A conflict with main, or with the branch of an epic: `where`.

    `missing`: why its hunks cannot be shown; `more`: so many files are not listed.
    """

    main: str = ""
    files: tuple[ConflictFile, ...] = ()
    more: int = 0
    others: tuple[OtherSide, ...] = ()
    missing: str = ""
    where: str = "main"


@dataclass(frozen=True, slots=True)
class Asked(Escalation):
    """One escalation of the list: `cause` is why it is asked, `subject` the title of its bead."""

    cause: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class DecisionView(Escalation):
    """One escalation with all that a person needs to decide it.

    `cause`: why it is asked, in a few words; `means`: what its type is; `happened`: what was seen, in words. `mend`:
    what to do first, where deciding alone does not help. `earlier`: so many attempts before those of `tried`. `others`:
    the other open escalations that stop the same bead. `choices` is empty once it is decided.
    """

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
