"""Which events people should learn of, and in which words."""

from collections.abc import Callable, Mapping

from ..beads.escalations import EscalationType
from ..beads.events import Event, Kind
from ..beads.outcomes import Outcome
from ..checks.contract import SETUP_FAILED
from ..limits.machine import PREFIX, reached_text
from ..sessions.session import State
from .notice import NewNotice, NoticeKind, Severity
from .routing import bounded

FOR_PEOPLE = frozenset({Outcome.AUTH.value, Outcome.BILLING.value})
"""What a provider refuses until a person does something."""
_QUESTIONS = frozenset({EscalationType.QUESTION.value, EscalationType.PLAN_REVIEW.value})


def refusal(event: Event) -> str:
    """What a provider that refuses means for the work."""
    reason = str(event.data["reason"]).replace("_", " ")
    minutes = max(0.0, float(event.data["until"]) - event.at) / 60
    text = f"{event.data['provider']}: {reason}; nothing is started there for {minutes:.0f} min, then it is tried again"
    return f"{text}: {' '.join(str(event.data['detail']).split())[:200]}"


def cap_text(event: Event) -> str:
    """Which cap is reached, or which limit of the whole machine."""
    name, spent, limit = str(event.data["cap"]), float(event.data["spent"]), float(event.data["limit"])
    if name.startswith(PREFIX):
        return reached_text(name, spent, limit)
    return f"nothing new is started: caps.{name} is reached ({spent:g} of {limit:g})"


def notice_of(event: Event) -> NewNotice | None:
    """The notice of an event; None: nobody need learn of it."""
    make = _MAKES.get(event.kind)
    return None if make is None else make(event)


def _made(event: Event, kind: NoticeKind, severity: Severity, text: str, same: str = "", link: str = "") -> NewNotice:
    """`same`: what else is the same notice while it is recent; without it the event is a notice of its own."""
    escalation, session = event.data.get("escalation"), event.data.get("session")
    return NewNotice(
        kind,
        severity,
        bounded(text),
        event.bead,
        int(session) if session is not None else None,
        int(escalation) if escalation is not None else None,
        link,
        f"{kind.value}:{event.bead or ''}:{same}" if same else f"event:{event.seq}",
    )


def _severity(event: Event, usual: Severity) -> Severity:
    said = str(event.data.get("severity", ""))
    return Severity(said) if said in [one.value for one in Severity] else usual


def _asked(event: Event) -> NewNotice:
    number, title, type_ = event.data.get("escalation"), event.data.get("title", ""), event.data.get("type", "")
    is_question = type_ in _QUESTIONS
    kind = NoticeKind.QUESTION if is_question else NoticeKind.ESCALATION
    usual = Severity.WARNING
    if event.kind is Kind.SUGGESTED:
        kind, usual = NoticeKind.SUGGESTION, Severity.INFO
    verb = "answer" if is_question else "resolve"
    how = f"`nobrakes {verb} {number}`" if is_question else f"`nobrakes escalation {number}`"
    what = str(type_).replace("_", " ")
    return _made(
        event,
        kind,
        _severity(event, usual),
        f"{what} {number}: {title} ({how})",
        f"{number}:{title}",
        f"escalation/{number}",
    )


def _merged(event: Event) -> NewNotice:
    commit = str(event.data.get("merged_commit") or "")[:12]
    return _made(
        event, NoticeKind.MERGED, Severity.INFO, f"{event.bead} is merged" + (f" as {commit}" if commit else "")
    )


def _pull(event: Event) -> NewNotice:
    """Each is told once; of one request's remarks and red checks one notice at a time."""
    data = event.data
    name = f"pull request #{data['pr_number']}" if data.get("pr_number") else f"branch {data.get('branch', '')}"
    whose, link = f"{name} of {event.bead}", str(data.get("pr_url") or "")
    if event.kind is Kind.PULL_ISSUE_FOUND:
        what = f"check {data['check']} is red" if data.get("check") else f"{data.get('by')} asks for changes"
        text = f"{whose}: {what} (`nobrakes pr show {event.bead}`)"
        return _made(event, NoticeKind.PULL_REQUEST, Severity.WARNING, text, f"issue {data.get('pr_number')}")
    if event.kind is Kind.PULL_APPROVED:
        return _made(event, NoticeKind.PULL_REQUEST, Severity.INFO, f"{whose} is approved by {data.get('by')}: {link}")
    return _made(event, NoticeKind.PULL_REQUEST, Severity.INFO, f"{whose} waits for people: {link}")


def _epic(event: Event) -> NewNotice:
    return _made(event, NoticeKind.EPIC_COMPLETED, Severity.INFO, f"epic {event.bead} is complete")


def _frozen(event: Event) -> NewNotice:
    failed = any(str(row.get("reason")).startswith(SETUP_FAILED) for row in event.data.get("results") or ())
    why = SETUP_FAILED if failed else "main is red"
    return _made(event, NoticeKind.MAIN_FROZEN, Severity.URGENT, f"{why}: only repairs are merged")


def _unfrozen(event: Event) -> NewNotice:
    return _made(event, NoticeKind.MAIN_GREEN, Severity.INFO, "main is green again")


def _rewritten(event: Event) -> NewNotice:
    return _made(event, NoticeKind.MAIN_REWRITTEN, Severity.URGENT, str(event.data["text"]))


def _cap(event: Event) -> NewNotice:
    return _made(event, NoticeKind.CAP_REACHED, Severity.WARNING, cap_text(event), str(event.data["cap"]))


def _refuses(event: Event) -> NewNotice | None:
    if event.data["times"] != 1:  # it closes again as long as it lasts, and that is no news
        return None
    severity = Severity.URGENT if event.data["reason"] in FOR_PEOPLE else Severity.INFO
    return _made(event, NoticeKind.PROVIDER_REFUSES, severity, refusal(event), str(event.data["provider"]))


def _notified(event: Event) -> NewNotice:
    text = str(event.data.get("text", ""))
    return _made(event, NoticeKind.AGENT_NOTIFY, Severity.INFO, f"{event.actor}: {text}", f"{event.actor}:{text}")


def _talked(event: Event) -> NewNotice | None:
    """Its question is an escalation of its own, and a session that goes on by itself is no news."""
    session = event.data["session"]
    show = f"`nobrakes session show {session}`"
    if event.data.get("state") == State.IDLE.value:
        return _made(event, NoticeKind.SESSION, Severity.INFO, f"session {session}: its agent has answered ({show})")
    if event.data.get("state") == State.STUCK.value:
        why = str(event.data["outcome"]).replace("_", " ")
        return _made(event, NoticeKind.SESSION, Severity.WARNING, f"session {session} does not go on: {why} ({show})")
    if event.data.get("outcome") == Outcome.TIMED_OUT.value:
        text = f"session {session}: its turn took too long and was ended; it is tried again ({show})"
        return _made(event, NoticeKind.SESSION, Severity.WARNING, text)
    return None


def _of_feature(event: Event) -> NewNotice:
    text = f"feature {event.bead}: {event.data['text']} (`nobrakes forge show {event.bead}`)"
    return _made(event, NoticeKind.SESSION, _severity(event, Severity.INFO), text, f"{event.bead}:{text}")


def _of_sprint(event: Event) -> NewNotice | None:
    """How a sprint and its run ended, and what the run waits for."""
    state, number = str(event.data.get("state", "")), event.data.get("sprint")
    if number is not None:
        over = f"sprint {number} is over, and its review is on main"
        return _made(event, NoticeKind.SESSION, Severity.INFO, over) if state == "done" else None
    text = f"the sprints are {state}: {event.data.get('reason', '')} (`nobrakes project status`)"
    if state in ("missed", "refused"):
        return _made(
            event, NoticeKind.SESSION, Severity.WARNING, f"sprints did not begin: {event.data.get('reason', '')}"
        )
    if state == "waits":
        text = f"the sprints wait for your yes: {event.data.get('reason', '')} (`nobrakes project run`)"
        return _made(event, NoticeKind.SESSION, Severity.URGENT, text)
    return _made(event, NoticeKind.SESSION, Severity.INFO, text) if state in ("complete", "over") else None


def _unconfined(event: Event) -> NewNotice:
    return _made(event, NoticeKind.DAEMON_TROUBLE, Severity.WARNING, str(event.data.get("why", "")), "unconfined")


def _danger(event: Event) -> NewNotice:
    session = event.data.get("session")
    look = f"`nobrakes watch {event.bead or f'session~{session}'}`"
    text = f"{event.actor} may do harm: {event.data['why']} ({look}): {event.data['text']}"
    return _made(event, NoticeKind.DANGER, Severity.URGENT, text)


_MAKES: Mapping[Kind, Callable[[Event], NewNotice | None]] = {
    Kind.ESCALATED: _asked,
    Kind.SUGGESTED: _asked,
    Kind.MERGED: _merged,
    Kind.FOUND_MERGED: _merged,
    Kind.PULL_OPENED: _pull,
    Kind.PULL_ISSUE_FOUND: _pull,
    Kind.PULL_APPROVED: _pull,
    Kind.EPIC_COMPLETED: _epic,
    Kind.MAIN_FROZEN: _frozen,
    Kind.MAIN_UNFROZEN: _unfrozen,
    Kind.MAIN_REWRITTEN: _rewritten,
    Kind.CAP_REACHED: _cap,
    Kind.GATE_CLOSED: _refuses,
    Kind.NOTIFIED: _notified,
    Kind.TURN_ENDED: _talked,
    Kind.FEATURE_TOLD: _of_feature,
    Kind.SPRINT_MOVED: _of_sprint,
    Kind.UNCONFINED: _unconfined,
    Kind.DANGER_SEEN: _danger,
}
