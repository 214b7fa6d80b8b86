"""What an agent reads, asks and hands in: its own bead, a feature's plan, a review, a text. Nothing else is reachable.

1. The token decides which bead; no operation takes a bead's id.
2. Other agents' text is fenced with a nonce and bounded, as in a prompt.
3. In a sandbox the daemon answers with the same functions (`CALLS`, agents.db.channel_answers); only counting
   the clone's commits and waiting happen at the agent's side.
4. Imports stay cheap, since agents ask all night.
"""

import os

from ...beads.branches import branch_of
from ...beads.progress import approaches, whats_next
from ...checks.policy import ownership
from ...db.fast import ADDED, turn_of
from ...lightjson import dumps, loads
from ...text.cleaning import count, redacted, shorten, visible
from .. import quoting
from . import client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ...sessions.model import Session, Turn
    from ...store import Store

PLAN_TITLE = 200
_BEAD_FIELDS = ("id", "title", "type", "description", "acceptance", "notes", "touches")
"""Fields of its bead that an agent gets as they are, beside ADDED."""


class _Row:
    """A stored JSON object with its fields as attributes; lighter than a dataclass."""

    def __init__(self, fields: "dict[str, Any]") -> None:
        self.__dict__.update({name: _Row(value) if name == "log" else value for name, value in fields.items()})


class _Own:
    """All that one agent may read."""

    def __init__(self, path: str, token: str, reads_answers: bool = False) -> None:
        from ..db.edits import agent_own

        found = loads(agent_own(path, token, reads_answers))
        self.bead: Any = _Row(found["bead"])
        self.attempt: Any = _Row(found["attempt"])
        self.earlier: list[Any] = [_Row(one) for one in found["earlier"]]
        self.filed: list[Any] = [_Row(one) for one in found["filed"]]
        self.claim: dict[str, int] = found["claim"]


def new_nonce() -> str:
    """Unpredictable for earlier agents."""
    return os.urandom(6).hex()


def _bead(path: str, token: str) -> "tuple[dict[str, Any], str]":
    own = _Own(path, token, reads_answers=True)
    found, attempt, filed = own.bead, own.attempt, own.filed
    nonce = new_nonce()
    answers = quoting.answers_of(filed)
    plan = ownership.approved(filed)
    text = [f"You are {attempt.name}, {quoting.TITLES[attempt.role]}, in attempt {attempt.number}."]
    text.append(quoting.bead_text(found, nonce))
    if answers:
        text.append("# What the human answered\n\n" + quoting.answered(answers, nonce))
    if told := quoting.plan_text(found, attempt.role, filed, nonce):
        text.append(told)
    data = {
        **{name: getattr(found, name) for name in (*_BEAD_FIELDS, *ADDED)},
        "branch": branch_of(found),
        "role": attempt.role,
        "name": attempt.name,
        "attempt": attempt.number,
        "answers": [{"question": question, "answer": answer} for question, answer in answers],
        "plan": None if plan is None else plan.detail,
    }
    return data, "\n\n".join(text)


def _attempts(path: str, token: str) -> "tuple[list[dict[str, Any]], str]":
    """(JSON values oldest first, text newest first)."""
    own = _Own(path, token)
    if not own.earlier:
        return [], "this is the first attempt"
    return approaches(own.earlier), quoting.earlier_text(own.bead.id, own.earlier[::-1], new_nonce())


def next_steps() -> "tuple[str, ...]":
    return tuple(client.call("next_steps", client.own_commits(client.call("standing")), calls=CALLS))


def _next_steps(path: str, token: str, commits: "int | None") -> "tuple[str, ...]":
    own = _Own(path, token)
    waiting = ownership.waiting(own.filed)
    mine = [e for e in own.filed if e.attempt == own.attempt.id and e.resolved_at is None]
    return whats_next(
        criteria=len(own.bead.acceptance),
        needs_plan=ownership.needed(own.bead, own.attempt.role) and ownership.approved(own.filed) is None,
        plan_waits=None if waiting is None else waiting.id,
        questions=tuple(sorted(e.id for e in mine if e.type == "question")),
        step=own.claim.get("step"),
        of=own.claim.get("of"),
        commits=commits,
        said=own.attempt.said,
    )


def request_review(plan: str, wait: float) -> "tuple[int, str | None]":
    """File the agent's plan, or find the same open one; (number, decision). NotAllowed: it needs none, or has one."""
    number = int(client.call("file_plan", client.cleaned(plan), calls=CALLS))
    return number, client.wait_for(number, wait)


def _file_plan(path: str, token: str, plan: str) -> int:
    from ..db.edits import agent_plan, bounded

    own = _Own(path, token)
    done = ownership.approved(own.filed)
    needed = ownership.needed(own.bead, own.attempt.role)
    if done is not None or not needed:
        from ...errors import NotAllowed

        if done is None or not needed:
            raise NotAllowed(f"bead {own.bead.id} does not need an approved plan", "Begin with the work.")
        raise NotAllowed(f"a person has already approved plan {done.id}", "Begin with the work, and follow the plan.")
    text = bounded(plan).strip()
    return agent_plan(path, token, shorten(f"Plan for {own.bead.id}: {' '.join(text.split())}", PLAN_TITLE), text)


# What the agent of a feature's session says: the Shaper its plan, a reviewer what it found; who reads work; and what an
# agent hands in for the documents of its sprint.
def forging_propose(plan: str) -> "tuple[dict[str, Any], str]":
    data = _asked("forge_propose", plan)
    return data, told(data)


def told(data: "Mapping[str, Any]") -> str:
    """A proposal's result as text."""
    kinds = (("new", "drafts"), ("changed", "changed drafts"), ("proposed", "wait for a person's approval"))
    lines = [f"{what}: {', '.join(data[name])}" for name, what in kinds if data[name]]
    lines += [f"note: {problem}" for problem in data["problems"]]
    return "\n".join(lines or ["the graph already matches this plan"])


def plan() -> "tuple[list[dict[str, Any]], str]":
    data = _asked("forge_plan")
    return data, visible("\n".join(dumps(one) for one in data)) or "no bead is proposed yet"


def forging_plan_ready() -> "tuple[dict[str, Any], str]":
    """Declare the plan complete; (JSON values, text)."""
    data = _asked("forge_ready")
    text = f"version {data['version']} of the plan, with {count(data['beads'], 'bead')}, goes to review: end your turn"
    return data, text


def review(findings: str) -> "tuple[dict[str, Any], str]":
    """Submit the review; (JSON values, text). Raises UsageError, and then stores nothing."""
    from ...review.reading import FINDINGS_ANSWER, FORM

    if len(findings) > FINDINGS_ANSWER:  # it does not travel
        from ...errors import UsageError

        raise UsageError(f"the review is {len(findings)} characters long; the limit is {FINDINGS_ANSWER}", FORM)
    data = _asked("code_review", findings)
    said = ", ".join(f"{number} {name}" for name, number in data.items() if number) or "nothing was found"
    return data, f"kept: {said}. End your turn; if you hand in another review first, it replaces this review."


def finding(
    issue: str, impact: str, option: "list[str]", category: str, priority: int, about: str
) -> "tuple[dict[str, Any], str]":
    number = _asked("forge_finding", issue, impact, list(option), category, priority, about)
    return {"finding": number}, f"finding {number} is stored: a person decides about it"


def document(text: str, kind: str) -> "tuple[dict[str, Any], str]":
    """Hand in a text for the documents of the agent's sprint; (JSON values, text)."""
    number = _asked("sprint_document", client.cleaned(text), kind)
    return {"sprint": number, "kind": kind}, f"the {kind} is stored for sprint {number}: nobrakes commits it to main"


def _asked(name: str, *arguments: "Any") -> "Any":
    return client.call(name, *arguments, calls=CALLS)


def _spoken(path: str, token: str, work: "Callable[[Store, Turn, Session], Any]") -> "Any":
    """What `work` makes of the session in whose turn the agent speaks."""
    from ...store import open_store

    if turn_of(token) is None:
        from ...errors import NotAllowed
        from ..db.edits import agent_standing

        agent_standing(path, token)  # who has no door is told so first
        raise NotAllowed(
            "only a session that plans a feature, or reviews a plan or work, can use this",
            "To suggest work outside your bead: `nobrakes agent escalate`.",
        )
    store = open_store(path)
    try:
        return work(store, *store.turn_of_token(token))
    finally:
        store.close()


def _propose(path: str, token: str, plan: str) -> "dict[str, Any]":
    from ...features.service.shaping import propose

    made = _spoken(path, token, lambda store, turn, session: propose(store, session.id, plan, turn))
    names = ("new", "changed", "unchanged", "proposed", "ready", "problems")
    return {name: list(getattr(made, name)) for name in names}


def _plan(path: str, token: str) -> "list[dict[str, Any]]":
    from ...features.reviewed_plan import nodes_of

    def work(store: "Store", _: "Turn", session: "Session") -> "list[dict[str, Any]]":
        found = store.feature_of_session(session.id)
        if found is None:
            from ...errors import NotAllowed

            raise NotAllowed("this session is not for a feature, so it has no plan")
        return nodes_of(store, found[0].id)

    return list(_spoken(path, token, work))


def _ready(path: str, token: str) -> "dict[str, Any]":
    from ...features.service.shaping import plan_ready

    version = _spoken(path, token, lambda store, turn, session: plan_ready(store, session.id, turn))
    return {"version": version.number, "beads": len(version.beads)}


def _finding(
    path: str, token: str, issue: str, impact: str, options: "list[str]", category: str, priority: int, bead: str
) -> int:
    if not all(isinstance(one, str) for one in options):
        from ...errors import UsageError

        raise UsageError("the options of a finding are texts", "Use `nobrakes agent finding`.")
    from ...features.service.shaping import find

    made = _spoken(
        path,
        token,
        lambda store, turn, session: find(store, session.id, issue, impact, options, category, priority, bead, turn),
    )
    return int(made.id)


def _forging_review(path: str, token: str, answer: str) -> "dict[str, Any]":
    from ...decisions.service import desk

    return dict(_spoken(path, token, lambda store, _, session: desk.give(store, session, answer)))


def _document(path: str, token: str, text: str, kind: str) -> int:
    from ...errors import NotAllowed, UsageError
    from ...events.kinds import session_actor
    from ...projects.model import Kind, require
    from ...store import open_store

    if kind not in client.DOCUMENTS:
        raise UsageError(f"'{kind[:40]}' is not a kind of document", f"Use one of: {', '.join(client.DOCUMENTS)}.")
    found = Kind(kind)
    plain = redacted(require(found, text))
    store = open_store(path)
    try:
        if turn_of(token) is None:
            attempt = store.attempt_of_token(token)
            sprint, who = store.sprint_of(attempt.bead), attempt.name
        else:
            session = store.turn_of_token(token)[1].id
            feature = store.feature_of_session(session)
            sprint = None if feature is None else store.sprint_of(feature[0].id)
            who = session_actor(session)
        if sprint is None:
            raise NotAllowed(
                "your work is not part of a sprint, so there are no sprint documents",
                "To tell other agents: `nobrakes agent log`, or the summary of `nobrakes agent done`.",
            )
        return store.hand_in_document(sprint.number, found, plain, who).sprint
    finally:
        store.close()


# What the guard does about a command that a person says yes to first: it asks once, and lets it through once.
def why_not(command: str, pattern: str) -> "str | None":
    """Why the command may not run now; None: a person approved it, and this uses up the approval."""
    from ..db.channel_answers import NO, YES

    number, said = client.call("permit", command, calls=CALLS)
    if said == YES:
        return None
    if said == NO:
        return f"a person refused this command (question {number}): continue without the command"
    return (
        f"a person must approve `{pattern}` first; question {number} asks for it. Try no other way: commit, and end "
        "with NOBRAKES: BLOCKED. After the approval, call exactly the same command again: the command then runs once."
    )


def _permit(path: str, token: str, command: str) -> "tuple[int, str]":
    from ..db.channel_answers import agent_permit

    return agent_permit(path, token, command)


def form_of(
    option: "Sequence[str]",
    recommend: "Sequence[str]",
    checkbox: bool,
    yes_no: bool,
    long: bool,
    optional: bool,
    priority: "int | None",
    context: str,
) -> "dict[str, Any] | None":
    """The form as JSON values. Raises UsageError."""
    from ...decisions.forms import DEFAULT_PRIORITY, as_values, made
    from ...errors import UsageError

    kinds = [name for name, wanted in (("yes-no", yes_no), ("long", long), ("options", bool(option))) if wanted]
    if len(kinds) > 1 or (checkbox and not option):
        if checkbox and not option:
            raise UsageError("a checkbox needs options", 'Repeat --option "LABEL: what it means; costs …".')
        raise UsageError(f"a question has one kind, not {' and '.join(kinds)}", "Use one of options, yes-no and long.")
    if not (kinds or recommend or optional or priority is not None or context):
        return None
    kind = "yes_no" if yes_no else "long_text" if long else "short_text"
    if option:
        kind = "checkbox" if checkbox else "radio"
    urgent = DEFAULT_PRIORITY if priority is None else priority
    return as_values(made(kind, option, recommend, required=not optional, priority=urgent, context=context))


_MARKS = ("NOBRAKES_RUN", "NOBRAKES_WAKE")
_LINES = 40


# What passes here proves nothing: the Reviewer runs the checks itself. The contract comes with the agent's start, since
# config.toml is not in its reach. Each call is one test round (checks.proof).
def test(name: str) -> "tuple[dict[str, Any], str]":
    """Run one check or all; (JSON values, text)."""
    client.call("standing")  # who has no door runs nothing
    workspace, known = os.environ.get("NOBRAKES_WORKSPACE", ""), loads(os.environ.get("NOBRAKES_CHECKS") or "[]")
    wanted = [check for check in known if name in ("", check["name"])]
    if not wanted or not os.path.isabs(workspace):
        from ...errors import UsageError

        names = ", ".join(check["name"] for check in known) or "none"
        raise UsageError(
            f"there is no check '{client.cleaned(name)[:40]}'" if name else "no check is configured", names
        )
    ended = [_run(check, workspace) for check in wanted]
    client.say("test", "; ".join(f"{one['name']}: {one['outcome']}" for one in ended))
    text = "\n\n".join(f"{one['name']}: {one['outcome']}\n{one['output']}".strip() for one in ended)
    return {"passed": all(one["code"] == 0 for one in ended), "checks": ended}, text


def _run(check: "dict[str, Any]", workspace: str) -> "dict[str, Any]":
    from ...host.runs import probing
    from ...paths import process_environment

    # the door is the agent's, and not its tests'; what marks its processes stays
    environment = {n: v for n, v in process_environment().items() if not n.startswith("NOBRAKES_") or n in _MARKS}
    folder = os.path.join(workspace, check["directory"])
    if not os.path.isdir(folder):
        return {"name": check["name"], "code": None, "outcome": "fail: the check's directory is missing", "output": ""}
    code, output = probing.run(check["command"], folder, check["timeout"], environment)
    outcome = "pass" if code == 0 else f"fail: exit code {code}"
    if code is None:
        outcome = f"fail: stopped after {count(check['timeout'], 'second')}"
    tail = "\n".join(client.cleaned(output).strip().splitlines()[-_LINES:])
    return {"name": check["name"], "code": code, "outcome": outcome, "output": "" if code == 0 else tail}


CALLS: "client.Calls" = {
    "bead": (_bead, ()),
    "attempts": (_attempts, ()),
    "next_steps": (_next_steps, ((int, type(None)),)),
    "file_plan": (_file_plan, ((str,),)),
    "permit": (_permit, ((str,),)),
    "forge_propose": (_propose, ((str,),)),
    "forge_plan": (_plan, ()),
    "forge_ready": (_ready, ()),
    "code_review": (_forging_review, ((str,),)),
    "sprint_document": (_document, ((str,), (str,))),
    "forge_finding": (_finding, ((str,), (str,), (list,), (str,), (int,), (str,))),
}
"""Functions on the database's side, and the types of their arguments beside (path, token)."""
