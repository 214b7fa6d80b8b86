"""What the agent of a feature's session says: the Shaper its plan, a reviewer what it found; who reads work;
and what an agent hands in for the documents of its sprint.

As in own_bead: in a sandbox the daemon does it, by the same functions (`CALLS`).
"""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...db.fast import turn_of
from ...lightjson import dumps
from ...text.cleaning import count, redacted, visible
from . import client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...sessions.model import Session, Turn
    from ...store import Store


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


@contextmanager
def _spoken(path: str, token: str) -> "Iterator[tuple[Store, Turn, Session]]":
    from ...store import open_store

    if turn_of(token) is None:
        from ...agents.db.edits import agent_standing
        from ...errors import NotAllowed

        agent_standing(path, token)  # who has no door is told so first
        raise NotAllowed(
            "only a session that plans a feature, or reviews a plan or work, can use this",
            "To suggest work outside your bead: `nobrakes agent escalate`.",
        )
    store = open_store(path)
    try:
        turn, session = store.turn_of_token(token)
        yield store, turn, session
    finally:
        store.close()


def _propose(path: str, token: str, plan: str) -> "dict[str, Any]":
    from ...features.service.shaping import propose

    with _spoken(path, token) as (store, turn, session):
        made = propose(store, session.id, plan, turn)
        names = ("new", "changed", "unchanged", "proposed", "ready", "problems")
        return {name: list(getattr(made, name)) for name in names}


def _plan(path: str, token: str) -> "list[dict[str, Any]]":
    from ...features.reviewed_plan import nodes_of

    with _spoken(path, token) as (store, _, session):
        found = store.feature_of_session(session.id)
        if found is None:
            from ...errors import NotAllowed

            raise NotAllowed("this session is not for a feature, so it has no plan")
        return nodes_of(store, found[0].id)


def _ready(path: str, token: str) -> "dict[str, Any]":
    from ...features.service.shaping import plan_ready

    with _spoken(path, token) as (store, turn, session):
        version = plan_ready(store, session.id, turn)
        return {"version": version.number, "beads": len(version.beads)}


def _finding(
    path: str, token: str, issue: str, impact: str, options: "list[str]", category: str, priority: int, bead: str
) -> int:
    if not all(isinstance(one, str) for one in options):
        from ...errors import UsageError

        raise UsageError("the options of a finding are texts", "Use `nobrakes agent finding`.")
    from ...features.service.shaping import find

    with _spoken(path, token) as (store, turn, session):
        return find(store, session.id, issue, impact, options, category, priority, bead, turn).id


def _forging_review(path: str, token: str, answer: str) -> "dict[str, Any]":
    from ...decisions.service import desk

    with _spoken(path, token) as (store, _, session):
        return dict(desk.give(store, session, answer))


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


CALLS: "Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]]" = {
    "forge_propose": (_propose, ((str,),)),
    "forge_plan": (_plan, ()),
    "forge_ready": (_ready, ()),
    "code_review": (_forging_review, ((str,),)),
    "sprint_document": (_document, ((str,), (str,))),
    "forge_finding": (_finding, ((str,), (str,), (list,), (str,), (int,), (str,))),
}
"""Functions on the database's side, and the types of their arguments beside (path, token)."""
