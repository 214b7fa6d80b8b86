"""What an agent reads at its door: its own bead, what was tried before, what comes next. Nothing else is reachable.

1. The token decides which bead; no operation takes the name of one.
2. What other agents wrote comes fenced with a nonce, as in a prompt, and everything is bounded as there.
3. In a sandbox there is no database: the daemon makes the same answer by the same function (`CALLS`, store.door), and
   what only the agent's side can do, counting its clone's commits and waiting, stays there.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import NoneType
from typing import Any

from ..core import planreview
from ..core.attempt import Attempt
from ..core.bead import branch_of
from ..core.errors import NotAllowed
from ..core.escalations import Escalation, EscalationType, approaches
from ..core.transcript import shorten
from ..core.whatsnext import Facts, whats_next
from ..ports import NewEscalation, Store
from ..roles import prompts, quoting
from ..store import hot
from ..store.opening import open_store
from . import door
from .claims import claimed

PLAN_TITLE = 200


@contextmanager
def _own(path: str, token: str) -> Iterator[tuple[Store, Attempt]]:
    store = open_store(path)
    try:
        yield store, store.door(token)
    finally:
        store.close()


def _asked(name: str, *arguments: Any) -> Any:
    """What the call of this name gives for the attempt whose token this process has."""
    path, token = door.key()
    if door.is_confined():
        from . import spool

        return spool.call(token, name, *arguments)
    return CALLS[name][0](path, token, *arguments)


def bead() -> tuple[dict[str, Any], str]:
    """The agent's own bead with its answers and its plan, as (JSON values, text)."""
    data, text = _asked("bead")
    return data, text


def _bead(path: str, token: str) -> tuple[dict[str, Any], str]:
    with _own(path, token) as (store, attempt):
        found = store.bead(attempt.bead)
        filed = store.escalations(open_only=False, bead=found.id)
    nonce = secrets.token_hex(6)
    answers = prompts.answers_of(filed)
    plan = planreview.approved(filed)
    text = [f"You are {attempt.name}, {prompts.TITLES[attempt.role]}, in attempt {attempt.number}."]
    text.append(prompts.bead_text(found))
    if answers:
        text.append("# What the human answered\n\n" + quoting.answered(answers, nonce))
    if told := prompts.plan_text(found, attempt.role, filed, nonce):
        text.append(told)
    data = {
        "id": found.id,
        "title": found.title,
        "type": found.type.value,
        "description": found.description,
        "acceptance": list(found.acceptance),
        "notes": found.notes,
        "touches": list(found.touches),
        "branch": branch_of(found),
        "role": attempt.role.value,
        "name": attempt.name,
        "attempt": attempt.number,
        "answers": [{"question": question, "answer": answer} for question, answer in answers],
        "plan": None if plan is None else plan.detail,
    }
    return data, "\n\n".join(text)


def attempts() -> tuple[list[dict[str, Any]], str]:
    """The bead's earlier attempts with their logs, as (JSON values oldest first, text newest first)."""
    data, text = _asked("attempts")
    return data, text


def _attempts(path: str, token: str) -> tuple[list[dict[str, Any]], str]:
    with _own(path, token) as (store, attempt):
        earlier = [a for a in store.attempts(attempt.bead) if a.outcome is not None]
    if not earlier:
        return [], "this is the first attempt"
    told = prompts.earlier_text(attempt.bead, earlier[::-1], secrets.token_hex(6))
    return approaches(earlier), told


def next_steps() -> tuple[str, ...]:
    """What the agent does next, most urgent first."""
    since = float(door.store().agent_standing(*door.key()))
    return tuple(_asked("next_steps", door.own_commits(since)))


def _next_steps(path: str, token: str, commits: int | None) -> tuple[str, ...]:
    with _own(path, token) as (store, attempt):
        found = store.bead(attempt.bead)
        filed = store.escalations(open_only=False, bead=found.id)
        claim = claimed(store, attempt)
    waiting = planreview.waiting(filed)
    return whats_next(
        Facts(
            criteria=len(found.acceptance),
            needs_plan=planreview.needed(found, attempt.role) and planreview.approved(filed) is None,
            plan_waits=None if waiting is None else waiting.id,
            questions=_questions(filed, attempt),
            step=None if claim is None else claim.step,
            of=None if claim is None else claim.of,
            commits=commits,
            said=attempt.data.get("said"),
        )
    )


def _questions(filed: Sequence[Escalation], attempt: Attempt) -> tuple[int, ...]:
    mine = [e for e in filed if e.attempt == attempt.id and e.resolved_at is None]
    return tuple(sorted(e.id for e in mine if e.type is EscalationType.QUESTION))


def request_review(plan: str, wait: float) -> tuple[int, str | None]:
    """File the agent's plan for a person's approval, or find the open one that is the same; (number, decision).

    NotAllowed where the bead does not ask for it, or where a plan was approved already.
    """
    number = int(_asked("file_plan", door.cleaned(plan)))
    return number, door.wait_for(*door.key(), number, wait)


def _file_plan(path: str, token: str, plan: str) -> int:
    with _own(path, token) as (store, attempt):
        found = store.bead(attempt.bead)
        if not planreview.needed(found, attempt.role):
            raise NotAllowed(f"bead {found.id} asks for no approved plan", "Begin with the work.")
        done = planreview.approved(store.escalations(open_only=False, bead=found.id))
        if done is not None:
            raise NotAllowed(f"plan {done.id} was approved already", "Begin with the work, and follow it.")
        hot.agent_standing(path, token, asks=True)
        text = hot.bounded(plan).strip()
        title = f"Plan for {found.id}: {' '.join(text.split())}"
        new = NewEscalation(EscalationType.PLAN_REVIEW, shorten(title, PLAN_TITLE), text)
        return store.escalate(new, attempt.bead, attempt.id, attempt.name).id


CALLS: Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]] = {
    "bead": (_bead, ()),
    "attempts": (_attempts, ()),
    "next_steps": (_next_steps, ((int, NoneType),)),
    "file_plan": (_file_plan, ((str,),)),
}
"""What is done where the database is, and the types of its arguments beside (path, token)."""
