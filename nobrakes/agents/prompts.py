"""Prompts: role, bead and history made into text. No model is asked: the same input gives the same text.

What a reviewer of work is told that passed its checks: the bead, the change, the results, what was found before.

1. What agents wrote (the change, earlier findings, what the Doer said of them) is data: cleaned, bounded, quoted in a
   fence with a nonce. The same facts give the same text.
2. It reads in a checkout of the very commit that would be merged, and sees nothing of the Doer's conversation.
"""

import hashlib
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..beads.branches import branch_of
from ..beads.model import Attempt, Bead, Outcome, Role
from ..checks.policy.boundaries import is_in_sprint
from ..decisions.model import Escalation
from ..errors import ConfigError
from ..paths import Paths, resource
from ..records import frozen
from ..sessions.model import Message
from ..sessions.prompts import joined, new
from ..text.cleaning import clean, count, first_of, only_seen
from .adapter import PREFIX, Marker
from .quoting import CRITERION, TITLES, answered, answers_of, bead_text, cut, earlier_text, fenced, plan_text, quoted

if TYPE_CHECKING:
    from ..config.sections import CheckSettings
    from ..config.settings import Config
    from ..store import Store

ROLE = "code_reviewer"
WHOLE, CHANGE, FOUND, SUMMARY, BEADS = 64_000, 22_000, 8_000, 2_000, 8_000
"""Characters of the full text, the change, earlier findings, the Doer's last words, an epic's beads."""
_FILES, _CHECKS, _BEAD = 200, 50, 600

PROTOCOL = f"""# How this session works

Nobody answers while you read. Your review is what you give by `nobrakes agent review -`, or by the tool `review` of the
MCP server `nobrakes`; your last message is only read by people. This folder is a checkout of the commit that would be
merged, made again for each turn: what you write in it is lost.

End your last message with exactly one line, plain and alone on its line: `{PREFIX}{Marker.COMPLETED.value}`."""


@frozen
class Read:
    """The review's input: commit `candidate` on `base`, its files and difference, the passed `checks` as rows.
    `earlier`: findings of earlier rounds (review.reading.Reading.as_values); `said`: the Doer's last words; `decided`:
    people's decisions about findings; `within`: an epic's beads."""

    base: str
    candidate: str
    files: Sequence[str]
    difference: str
    checks: Sequence[Mapping[str, Any]] = ()
    earlier: Sequence[Mapping[str, Any]] = ()
    said: str = ""
    decided: Sequence[str] = ()
    within: Sequence[Bead] = ()


def review_text(bead: Bead, read: Read, number: int, most: int) -> str:
    """The first message of a reviewer's session. `number` of `most`: the round."""
    nonce = hashlib.sha256(f"{bead.id}\0{read.candidate}\0{number}".encode()).hexdigest()[:12]
    what = f"epic {bead.id} as a whole" if read.within else f"bead {bead.id}"
    parts = [
        f"Read the work on {what}, in round {number} of at most {most}. It is commit {read.candidate} on "
        f"{read.base}: `git diff {read.base[:12]} HEAD` shows all of it. Every check passed on it.",
        "# The bead\n\n" + fenced(quoted(bead_text(bead)), nonce),
        *_within(read.within, nonce),
        "# What the checks said\n\n" + "\n".join(_check(row) for row in read.checks[:_CHECKS]),
        "# Files that it changes\n\n" + fenced(quoted("\n".join(read.files[:_FILES])), nonce),
        "# The change\n\n" + fenced(quoted(cut(read.difference, CHANGE)), nonce),
    ]
    if read.earlier:
        lines = [
            f"round {one['round']}, {found['priority']} {found['category']} {found['path']}: {cut(found['text'], 400)}"
            for one in read.earlier
            for found in one["findings"]
        ]
        parts.append(
            "# What was found before\n\nThe work was sent back for it, or a person decided. Check whether it was "
            "fixed. Report it again only if it was not, and only if the answer to it is wrong.\n\n"
            + fenced(quoted("\n".join(lines)[-FOUND:]), nonce)
        )
        if read.decided:
            words = "\n".join(cut(clean(one), 400) for one in read.decided[-10:])
            parts.append("# What people decided about it\n\n" + fenced(quoted(words), nonce))
        if read.said.strip():
            parts.append("# What the Doer said of it\n\n" + fenced(quoted(cut(clean(read.said), SUMMARY)), nonce))
    return "\n\n".join(parts) + "\n"


def _within(beads: Sequence[Bead], nonce: str) -> list[str]:
    if not beads:
        return []
    lines = cut("\n".join(_one(bead) for bead in beads), BEADS)
    told = "Each was checked by itself. Look above all at what is between them: whether they fit together, and whether "
    return [f"# Its beads\n\n{told}all of it is what the epic asks for.\n\n" + fenced(quoted(lines), nonce)]


def _one(bead: Bead) -> str:
    wanted = "; ".join(" ".join(clean(one).split()) for one in bead.acceptance)
    return cut(f"- {bead.id}: {clean(bead.title)}{f' (wanted: {wanted})' if wanted else ''}", _BEAD)


def _check(row: Mapping[str, Any]) -> str:
    counts = row.get("counts") or {}
    passed = (
        f", {count(counts['passed'], 'test')}" if isinstance(counts, dict) and counts.get("passed") is not None else ""
    )
    return f"- {clean(str(row.get('name', '')))[:100]}: {clean(str(row.get('outcome', '')))[:40]}{passed}"


def prompt(told: Sequence[Message], cut_off: str, *, resumes: bool) -> str:
    return joined([*([] if resumes else [PROTOCOL]), *new(told, cut_off, resumes=resumes, most=WHOLE)])


_COMMITS = """- Commit often, each commit one step, with the message `<subject>`, an empty line, `Bead: {bead}`.
  Only what is committed counts. Never push, merge, rebase, switch branches or touch git's configuration."""

_TALK = """The tools of an MCP server `nobrakes` do the same.

- `nobrakes agent progress "<where you are>" --step <n> --of <m>` after each committed step.
- `nobrakes agent ask "<question>" --wait 120` when only the human can decide. Unanswered, stop as BLOCKED.
  Choices: `--option "<label>: <meaning>; costs <what>"`, `--recommend <label>`, `--yes-no`.
- `nobrakes agent blocked "<why>" --option "<way on>"` when nothing goes on without: commit first, you are stopped.
- `nobrakes agent escalate "<suggestion>"` for work outside this bead; do not do it. Begin with `dependency:` for what
  it lacks, `scope:` for more than planned.
- `nobrakes agent notify "<text>"` tells the human something.
- `nobrakes agent log "<text>"` explains (say, failing tests).
- `nobrakes agent test` runs the checks: one test round.
- `nobrakes agent whats-next` when unsure what is left."""

_GIVE_UP = """Give up after three rounds of {what} that you cannot explain, or when your context runs low, before you
start guessing."""

_HAND_IN = """Hand in with one command, whether you are done or give up:

    nobrakes agent done <{outcomes}> --summary "<what you did>" \\
        --blockers "<what stopped you>" --learnings "<what the next one should know>" --keep-branch

Use `--discard-branch` instead when your commits would mislead the next attempt; they are archived.
If the command does not work, write the same into the file "$NOBRAKES_HANDOFF".

Then end your last message with exactly one of these, alone on its line:

{markers}"""

_MEANINGS = {
    Marker.COMPLETED: "every acceptance criterion is met, the checks ran, all is committed",
    Marker.CONTEXT_EXHAUSTED: "your context runs low",
    Marker.BLOCKED: "you wait for the human",
    Marker.FAILED: "you give up",
}


def protocol(role: Role, bead: str) -> str:
    """The work rules for a role on a bead; the Shaper's are in its persona."""
    what = "failures of the tests you wrote" if role is Role.TEST_WRITER else "test failures"
    markers = "\n".join(f"- `{PREFIX}{marker.value}`: {meaning}" for marker, meaning in _MEANINGS.items())
    return "\n\n".join(
        (
            "# How to work",
            _COMMITS.format(bead=bead),
            "## Talking back",
            _TALK,
            "## Giving up",
            _GIVE_UP.format(what=what),
            "## Ending",
            _HAND_IN.format(outcomes="|".join(marker.value.lower() for marker in Marker), markers=markers),
        )
    )


TOOLS: Mapping[Role, tuple[str, ...]] = {
    Role.SHAPER: ("Bash", "Read", "Glob", "Grep"),
    Role.TEST_WRITER: ("Bash", "Read", "Edit", "Write", "Glob", "Grep"),
    Role.DOER: ("Bash", "Read", "Edit", "Write", "Glob", "Grep"),
    Role.REVIEWER: (),
    Role.PERSON: (),
}

MAX_LISTED = 80
"""How many globs a prompt lists; all are enforced."""


def globs_text(globs: Sequence[str]) -> str:
    return first_of([f"`{glob}`" for glob in globs], MAX_LISTED) or "(none)"


# checks.policy.boundaries is the law, checked on the tree afterwards; what is said here advises.
def may_change(role: Role, tests: Sequence[str], gates: Sequence[str], scaffolding: bool = False) -> str:
    """Which files the role may change, one sentence a line."""
    never = "- Never touch `.nobrakes/` or `.git/`, nor anything outside this folder."
    if role is Role.SHAPER:
        return "- You change no file of the project. You propose beads, and people approve them."
    if scaffolding:
        return (
            "- This is a scaffolding bead: you may change code, tests and the files that decide whether work is good "
            f"({globs_text(gates)}).\n"
            "- Where the project has no checks yet, add them as [[checks]] to `.nobrakes/config.toml` (name, command, "
            "kind, format, min_tests), and `boundaries.tests` where its tests have unusual names. A person approves "
            "them. Leave every other setting as it is there: work that changes one is rejected.\n"
            "- Never touch anything else in `.nobrakes/`, nor `.git/`, nor anything outside this folder."
        )
    if role is Role.TEST_WRITER:
        rule = f"- Change only tests: {globs_text(tests)}. Never change code, not even to make a test pass."
    else:
        rule = f"- Never change a test: {globs_text(tests)}. Work that changes one is rejected."
    return f"{rule}\n- Never change what decides whether work is good: {globs_text(gates)}.\n{never}"


SPRINT_TEXT = """# The documents of your sprint

nobrakes writes task.md, docs/sprints/, docs/ROADMAP.md, DECISIONS.md, DEVIATIONS.md and WISHLIST.md: work that changes
one is rejected. Say what belongs there as you go; `-` reads the text from stdin:

- `nobrakes agent document "<title, then why>" --kind decision`: a choice that is not obvious
- `nobrakes agent document "<what, then why>" --kind deviation`: where you left the plan
- `nobrakes agent document "<what is missing>" --kind wish`: a capability that you lack
- `nobrakes agent document - --kind review`: a ticked box `- [x] …` for each success criterion of CLAUDE.md that your
  work meets, in its own words. It is your claim: the check that the criterion names proves it, or a person decides."""


ROLE_TEXT = 20_000


# What earlier agents wrote is data: quoted inside a fence with a nonce that they cannot know, never longer than
# HISTORY. What people wrote is the task: bounded too, and it says where it was cut. `.nobrakes/roles/<role>.md`
# replaces a role's text.
def compile_prompt(
    role: Role,
    bead: Bead,
    config: "Config",
    attempts: Sequence[Attempt],
    answers: Sequence[tuple[str, str]],
    *,
    nonce: str,
    main: str,
    plan: str = "",
    instructions: str = "",
    in_sprint: bool = False,
) -> str:
    """The prompt of one attempt. `attempts`: the bead's earlier ones; `answers`: (question, answer); `plan`: see
    plan_text; `instructions`: the repository's. `nonce` must be new: at least 8 letters and digits."""
    if len(nonce) < 8 or not nonce.isalnum():
        raise ValueError(f"{nonce!r} is not a nonce")
    parts = [_task(role, bead, main), bead_text(bead, nonce)]
    if instructions:
        parts.append(instructions)
    if answers:
        parts.append("# What the human answered\n\n" + answered(answers, nonce))
    if plan:
        parts.append(plan)
    ended = sorted((a for a in attempts if a.outcome is not None), key=lambda a: a.number, reverse=True)
    if ended:
        parts.append(earlier_text(bead.id, ended, nonce))
    parts.append("# The checks that decide\n\n" + _checks(config.checks))
    rules = may_change(role, config.boundaries.tests, config.boundaries.gates, bead.scaffolding)
    parts.append(f"# What you may change\n\n{rules}")
    if in_sprint:
        parts.append(SPRINT_TEXT)
    parts.append(protocol(role, bead.id))
    return "\n\n".join(parts) + "\n"


def system_prompt(role: Role, overrides_folder: str) -> str:
    """`<overrides_folder>/<role>.md` if it exists, else ours. Raises ConfigError."""
    return persona(role.value, overrides_folder)


def role_text(name: str, home: str) -> str:
    return persona(name, os.path.join(home, "roles"))


def persona(name: str, overrides_folder: str) -> str:
    """As system_prompt, by name; features have personas that are not roles of a bead."""
    own = os.path.join(overrides_folder, f"{name}.md")
    path = own if os.path.lexists(own) else resource(os.path.join("config", "roles", f"{name}.md"))
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(ROLE_TEXT + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the role file {path} cannot be read: {error}", "Mend or remove the file.") from None
    if not text or len(text) > ROLE_TEXT:
        what = "is empty" if not text else f"is longer than {ROLE_TEXT} characters"
        raise ConfigError(f"the role file {path} {what}", "Mend the file, or remove it to use the role's own text.")
    return text


def _task(role: Role, bead: Bead, main: str) -> str:
    work = {
        Role.TEST_WRITER: "Write the tests that prove this bead done, and see them fail for the right reason.",
        Role.DOER: "Do this bead: make its tests pass and fulfil every acceptance criterion."
        + (" Its tests are committed on your branch, and fail." if bead.needs_tests else ""),
    }.get(role, "Shape this bead with the human.")
    kept = " The branch holds what an earlier attempt committed: read it first (`git log`, `git diff`)."
    return (
        f"# Your task\n\nYou are the {TITLES[role]} of bead {bead.id}. {work}\n"
        f"You work in this folder, a private clone, on the branch `{branch_of(bead)}`, which started from `{main}`. "
        f"Stay on it.{kept if bead.branch_kept else ''}"
    )


def _checks(checks: Iterable["CheckSettings"]) -> str:
    lines = []
    for check in checks:
        command = cut(clean(check.command).strip(), CRITERION).replace("\n", "\n      ")
        lines.append(f"- {check.name} ({check.kind}):\n\n      {command}")
    if not lines:
        return "The project has none yet. Run what its documentation says."
    return "They run on your commit, in a fresh checkout. Run them before you stop.\n\n" + "\n".join(lines)


TOLD = "told"
"""In an attempt's data: the digest of the bead as its session knows it."""


@frozen
class Briefing:
    """An agent's input: `system` beside its own instructions, then `prompt`, with the `answers` by question number."""

    system: str
    prompt: str
    answers: Mapping[int, str] = field(default_factory=dict)


def brief(
    store: "Store",
    paths: Paths,
    config: "Config",
    main: str,
    bead: Bead,
    role: Role,
    nonce: str,
    attempt: int = 0,
    resumes: Attempt | None = None,
    instructions: str = "",
) -> Briefing:
    """The briefing of `attempt` (0: not open yet). Raises ConfigError. `resumes`: the attempt whose session continues,
    so only news are told. `instructions`: the repository's own."""
    earlier = [a for a in store.attempts(bead.id) if a.id != attempt]
    filed = store.escalations(open_only=False, bead=bead.id)
    plan = plan_text(bead, role, filed, nonce)
    system = system_prompt(role, os.path.join(paths.folder, "roles"))
    if resumes is not None:
        changed = "" if resumes.data.get(TOLD) == digest(bead) else bead_text(bead, nonce)
        new = new_since(resumes, filed)
        prompt = resume_prompt(bead, resumes, filed, changed, plan if new else "", nonce)
        return Briefing(only_seen(system), only_seen(prompt), _given(new))
    prompt = compile_prompt(
        role,
        bead,
        config,
        earlier,
        answers_of(filed),
        nonce=nonce,
        main=main,
        plan=plan,
        instructions=instructions,
        in_sprint=is_in_sprint(store, bead),
    )
    return Briefing(only_seen(system), only_seen(prompt), _given(filed))


def _given(filed: Iterable[Escalation]) -> dict[int, str]:
    return {one.id: one.answer for one in filed if one.answer}


def digest(bead: Bead) -> str:
    return sha256(bead_text(bead).encode(errors="replace")).hexdigest()[:16]


NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
MAX_TEXT = 12_000
"""Characters of one file."""
MAX_TOTAL = 30_000
"""Characters of all files."""
FOLDERS = 40
"""How many folders are searched."""

_HEADING = (
    "# The repository's own instructions\n\nFrom main. They were written for everybody who works here: follow them. "
    "Where they say something else than this prompt, this prompt counts."
)
_REFERENCES = re.compile(r"(?:@[\w./-]+\s*)+\Z")


# Whatever CLI works, it is given all of these files of main once, in its prompt; its own reading of them is off where
# it can be. So an agent's change of one tells nobody anything before a person accepted it.
def instructions(read: Callable[[str], bytes | None], touches: Sequence[str], already: str = "") -> str:
    """The prompt's section; empty: none. `read`: a file of main. `already`: text in the prompt, not to be repeated."""
    parts, seen, room = [], {already}, MAX_TOTAL
    for folder in _folders(touches):
        for name in NAMES:
            path = posixpath.join(folder, name)
            text = clean((read(path) or b"").decode("utf-8", "replace")).strip()
            if not text or _REFERENCES.match(text) or text in seen:
                continue
            seen.add(text)
            told = cut(text, min(MAX_TEXT, room))
            room -= len(told)
            parts.append(f"## {clean(path)}\n\n{told}")
            if room <= 0:
                parts.append("[… more of them left out; read them in the repository]")
                return "\n\n".join([_HEADING, *parts])
    return "\n\n".join([_HEADING, *parts]) if parts else ""


def _folders(touches: Sequence[str]) -> Iterator[str]:
    found = {"": None}
    for touched in touches:
        parts = [part for part in posixpath.dirname(re.split(r"[*?\[]", touched, maxsplit=1)[0]).split("/") if part]
        if ".." in parts or touched.startswith("/"):
            continue
        found |= dict.fromkeys("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    yield from list(found)[:FOLDERS]


_HAPPENED: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "You handed in, and the bead came back to you",
    Outcome.MERGE_REVIEW: "A person looked at what you handed in before the merge, and sent it back",
    Outcome.BLOCKED: "You stopped to wait for the human",
    Outcome.KILLED: "Your process was killed from outside",
    Outcome.LOST: "Your process or the machine went down",
    Outcome.TURN_LIMIT: "You had used up what one run may use",
    Outcome.AUTH: "The provider did not accept the credentials for a while",
    Outcome.BILLING: "The provider wanted money for a while",
    Outcome.RATE_LIMITED: "The provider's usage limit was reached, and is over now",
    Outcome.PROVIDER_DOWN: "The provider had an outage",
    Outcome.NETWORK: "The provider could not be reached for a while",
    Outcome.INTERRUPTED: "You were stopped, by the human or with nobrakes itself",
    Outcome.CAPPED: "You were stopped because a cap on what agents may cost was reached; there is room again",
    Outcome.CANCELLED: "The bead was taken away from you, and given back",
}


def resume_prompt(bead: Bead, last: Attempt, filed: Sequence[Escalation], changed: str, plan: str, nonce: str) -> str:
    """The prompt for resuming `last`. `changed`: the bead if the session knows another; `plan`: see plan_text."""
    happened = _HAPPENED.get(last.outcome or Outcome.LOST, "You were stopped")
    parts = [
        f"# You go on with bead {bead.id}\n\n{happened}. This is the same session, in a new process: your branch "
        f"`{branch_of(bead)}` and your files are as they were, what you had started is gone, and what you were doing "
        "last may be done by halves. Look (`git status`, `git log`), then go on where you stopped."
    ]
    if answers := answers_of(new_since(last, filed)):
        parts.append("# What the human answered\n\n" + answered(answers, nonce))
    if plan:
        parts.append(plan)
    if changed:
        parts.append("The bead was changed meanwhile. It now reads:\n\n" + changed)
    parts.append(
        "All of your first prompt holds: commit, hand in with `nobrakes agent done`, and end your last "
        f"message with exactly one line `{PREFIX}…`."
    )
    return "\n\n".join(parts) + "\n"


def new_since(last: Attempt, filed: Sequence[Escalation]) -> list[Escalation]:
    """Decisions since the session of `last` stopped or gave up waiting, and unread answers."""
    ended = last.ended_at or last.started_at
    begin = last.started_at if last.outcome is Outcome.BLOCKED else ended
    decided = (one for one in filed if one.resolved_at is not None)
    return [
        one
        for one in decided
        if (one.resolved_at or 0.0) >= begin
        or (one.answer is not None and (one.read_at is None or one.read_at >= ended))
    ]
