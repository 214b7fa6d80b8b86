"""What an agent may do over its channel: the command line of agents.service.api, `nobrakes agent …`.

cli.hot answers the usual spellings faster. Texts are an argument, or stdin for '-'.
"""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import ChecksFailed, NotAnswered, UsageError
from ..text.cleaning import lines
from .repository import Output, text_or_stdin

if TYPE_CHECKING:
    from ..agents.service.api import Reply

Text = Annotated[str, Argument(help="The text; '-' reads it from stdin.")]


def _reply(operation: str, **arguments: Any) -> "Reply":
    """What the operation gives."""
    from ..agents.service import api

    return api.perform(operation, arguments)


def _do(operation: str, **arguments: Any) -> Output:
    reply = _reply(operation, **arguments)
    return Output(reply.data, lambda screen: "\n".join(lines(reply.text)))


def _asked(operation: str, wait: float, said: str, **arguments: Any) -> Output:
    """What was answered, under the key `said`. Where nobody did in the time, the exit code says so."""
    reply = _reply(operation, wait=float(wait), **arguments)
    error = NotAnswered("nobody answered in that time") if wait and reply.data[said] is None else None
    return Output(reply.data, lambda screen: "\n".join(lines(reply.text)), error)


def bead() -> Output:
    """Your bead: description, acceptance criteria, notes, what people answered, the plan that was approved."""
    return _do("bead")


def attempts() -> Output:
    """What earlier attempts on your bead left, newest first; quoted, since agents wrote it."""
    return _do("attempts")


def whats_next() -> Output:
    """What to do next, by the facts: plan, questions, claimed steps, commits. No model is asked."""
    return _do("whats-next")


def log(text: Text) -> Output:
    """Write a line into the bead's log, for those who work on it later."""
    return _do("log", text=text_or_stdin(text, "text"))


def progress(
    text: Text,
    step: Annotated[int | None, Option("--step", min=0, help="The step that you finished and committed.")] = None,
    of: Annotated[int | None, Option("--of", min=1, help="How many steps there are.")] = None,
    percent: Annotated[int | None, Option("--percent", min=0, max=100, help="How much of your bead is done.")] = None,
    work_type: Annotated[
        str | None, Option("--work-type", help="What you are at: implementation, testing or refactoring.")
    ] = None,
) -> Output:
    """Say how far you are. The person sees it beside the commits that you made."""
    return _do("progress", text=text_or_stdin(text, "text"), step=step, of=of, percent=percent, work_type=work_type)


def test(check: Annotated[str, Argument(help="One check alone, by its name.")] = "") -> Output:
    """Run the project's checks in your workspace. Each call is one test round, which a person sees.

    What passes here is not proven yet: the review runs the checks itself, on a fresh checkout.
    """
    reply = _reply("test", check=check)
    error = None if reply.data["passed"] else ChecksFailed("not every check passed")
    return Output(reply.data, lambda screen: "\n".join(lines(reply.text)), error)


def notify(text: Text) -> Output:
    """Tell the person something, without waiting for an answer."""
    return _do("notify", text=text_or_stdin(text, "text"))


Wait = Annotated[float, Option("--wait", min=0, help="Seconds to wait for the person, at most 3600.")]


def ask(
    question: Annotated[str, Argument(help="The question; '-' reads it from stdin.")],
    wait: Wait = 0,
    option: Annotated[
        list[str] | None, Option("--option", help="A choice: 'LABEL: what it means; costs …'; again for each.")
    ] = None,
    recommend: Annotated[list[str] | None, Option("--recommend", help="The label that you recommend.")] = None,
    checkbox: Annotated[bool, Option("--checkbox", help="Several options may be chosen.")] = False,
    yes_no: Annotated[bool, Option("--yes-no", help="The answer is yes or no.")] = False,
    long: Annotated[bool, Option("--long", help="The answer is a longer text.")] = False,
    optional: Annotated[bool, Option("--optional", help="The person may leave it open: you decide then.")] = False,
    priority: Annotated[
        int | None, Option("--priority", min=1, max=3, help="1 is the most urgent; 2 is usual.")
    ] = None,
    context: Annotated[str, Option("--context", help="What the person has to know to decide.")] = "",
) -> Output:
    """Ask the person a question. The same question is asked once; its answer comes with the next attempt.

    With --wait the exit code is 82 when nobody answered in that time; the question stays.
    With options the person chooses; without any of these, they answer with any text.
    """
    return _asked(
        "ask",
        wait,
        "answer",
        question=text_or_stdin(question, "question"),
        option=option or [],
        recommend=recommend or [],
        checkbox=checkbox,
        yes_no=yes_no,
        long=long,
        optional=optional,
        priority=priority,
        context=context,
    )


def blocked(
    what: Annotated[str, Argument(help="What stops you, in one line; '-' reads it from stdin.")],
    option: Annotated[
        list[str] | None, Option("--option", help="A way on: 'LABEL: what it means; costs …'; again for each.")
    ] = None,
    recommend: Annotated[list[str] | None, Option("--recommend", help="The label that you recommend.")] = None,
    tried: Annotated[str, Option("--tried", help="What you tried, and why it did not work.")] = "",
) -> Output:
    """Say that nothing of your bead goes on without the person, who is asked at once, before everything else.

    Commit first: your session is ended, the bead waits, and its place is given to others. The person takes an option
    of yours, gives guidance in their own words, or lets the bead rest; your session goes on with the answer.
    """
    return _do("blocked", what=text_or_stdin(what, "what"), option=option or [], recommend=recommend or [], tried=tried)


def request_review(
    plan: Annotated[str, Argument(help="The plan; '-' reads it from stdin.")],
    wait: Wait = 0,
) -> Output:
    """Have your plan approved before you begin, where the bead asks for it (label `plan-review`).

    With --wait the exit code is 82 when nobody decided in that time.
    Then end as blocked: the next attempt begins with the plan, when it was approved.
    """
    return _asked("request-review", wait, "decision", plan=text_or_stdin(plan, "plan"))


def escalate(
    suggestion: Annotated[str, Argument(help="What should be done, in one line; '-' reads stdin.")],
    detail: Annotated[str, Option("--detail", help="More about it; '-' reads stdin.")] = "",
    severity: Annotated[str, Option("--severity", help="info, warning or urgent: urgent passes quiet hours.")] = "info",
) -> Output:
    """Suggest work that is outside your bead. You go on with your own; a person decides about it."""
    detail = text_or_stdin(detail, "detail") if detail else ""
    return _do("escalate", suggestion=text_or_stdin(suggestion, "suggestion"), detail=detail, severity=severity)


def document(
    text: Annotated[str, Argument(help="The document, as Markdown; '-' reads it from stdin.")],
    kind: Annotated[str, Option("--kind", help="decision, deviation, wish, review or plan.")] = "decision",
    title: Annotated[str, Option("--title", help="Of a plan: what the sprint is called.")] = "",
) -> Output:
    """Hand in for the documents of your project's sprint; nobrakes writes them to main when it begins and ends."""
    return _do("document", text=text_or_stdin(text, "text"), kind=kind, title=title)


def propose(plan: Annotated[str, Argument(help="The plan as YAML or JSON; '-' reads it from stdin.")]) -> Output:
    """Propose the beads of your feature's plan: they become drafts under its epic, and nothing is worked on yet.

    What a plan names again is changed; what it wants of a live bead waits for a person's yes. `nobrakes plan example`
    prints the format. Only for the session that plans a feature.
    """
    return _do("propose", plan=text_or_stdin(plan, "plan"))


def plan() -> Output:
    """The plan of your feature as it lies now: one bead a line, as JSON."""
    return _do("plan")


def plan_ready() -> Output:
    """Say that your feature's plan is whole: a version of it is kept, and goes to review. Then end your turn.

    Refused while the plan is empty, while a bead of it could never start, and while questions of yours are open.
    """
    return _do("plan-ready")


def finding(
    issue: Annotated[str, Argument(help="What is wrong; '-' reads it from stdin.")],
    impact: Annotated[str, Option("--impact", help="What comes of it if it stays so.")],
    category: Annotated[
        str, Option("--category", help="code_quality, architecture, security or performance.")
    ] = "code_quality",
    option: Annotated[list[str] | None, Option("--option", help="A way to mend it, the best one first.")] = None,
    priority: Annotated[int, Option("--priority", min=1, max=3, help="1 must be mended, 3 may be.")] = 2,
    about: Annotated[str, Option("--about", help="The bead of the plan that it is about.")] = "",
) -> Output:
    """Say what is wrong with the plan that you review; a person decides. Only for a reviewer's session."""
    return _do(
        "finding",
        issue=text_or_stdin(issue, "issue"),
        impact=impact,
        option=option or [],
        category=category,
        priority=priority,
        about=about,
    )


def review(
    findings: Annotated[str, Argument(help="The findings as JSON; '-' reads them from stdin.")],
) -> Output:
    """Give your review of the work that you read. Only for a reviewer's session."""
    return _do("review", findings=text_or_stdin(findings, "findings"))


def answer(
    number: Annotated[int | None, Argument(metavar="N", help="The question's number; the last one.")] = None,
) -> Output:
    """Read the answer to a question of yours, or what was decided about your plan."""
    return _do("answer", number=number)


def done(
    ended: Annotated[str | None, Argument(metavar="OUTCOME", help="As --outcome.")] = None,
    outcome: Annotated[
        str | None,
        Option("--outcome", help="completed (if not given), gave_up_context, gave_up_tests, failed or blocked."),
    ] = None,
    summary: Annotated[str, Option("--summary", help="What you did; '-' reads stdin.")] = "",
    blockers: Annotated[str, Option("--blockers", help="What stopped you.")] = "",
    learnings: Annotated[str, Option("--learnings", help="What the next one should know.")] = "",
    discard_branch: Annotated[
        bool, Option("--discard-branch/--keep-branch", help="Whether the next attempt starts without it.")
    ] = False,
) -> Output:
    """Hand in: how it ended, and what the next one should know. Commit first; then end your session.

    A discarded branch is archived, not lost.
    """
    if ended is not None and outcome is not None and ended != outcome:
        raise UsageError("two outcomes were given", "Name one.")
    return _do(
        "done",
        outcome=(ended or outcome or "completed").lower(),
        summary=text_or_stdin("-", "summary") if summary == "-" else summary,
        blockers=blockers,
        learnings=learnings,
        discard_branch=discard_branch,
    )
