"""What an agent reads of its own bead: the bead, earlier attempts, what comes next. Nothing else is reachable.

1. The token decides which bead; no operation takes a bead's id.
2. Other agents' text is fenced with a nonce and bounded, as in a prompt.
3. In a sandbox the daemon answers with the same function (`CALLS`, agents.db.channel_answers); only counting
   the clone's commits and waiting happen at the agent's side.
4. Imports stay cheap, since agents ask all night.
"""

import os

from ...beads.branches import branch_of
from ...beads.progress import approaches, whats_next
from ...checks.policy import ownership
from ...db.fast import ADDED
from ...lightjson import loads
from ...text.cleaning import shorten
from .. import quoting
from . import client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


CALLS: "client.Calls" = {
    "bead": (_bead, ()),
    "attempts": (_attempts, ()),
    "next_steps": (_next_steps, ((int, type(None)),)),
    "file_plan": (_file_plan, ((str,),)),
}
"""Functions on the database's side, and the types of their arguments beside (path, token)."""
