"""The rules of notices: who gets them, when they are quiet, in how many messages, and how often they are tried."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.errors import ConfigError
from nobrakes.events.kinds import Event, Kind
from nobrakes.notices import model as notices_model
from nobrakes.notices.model import (
    MAX_TEXT,
    SHOWN,
    ChannelRules,
    NewNotice,
    NoticeKind,
    NoticeRecord,
    OpenQuestion,
    Queue,
    Rules,
    Severity,
    Step,
    digest,
    message,
    mistake,
    notice_of,
    parsed,
    quiet_until,
    routes,
    scrubbed,
    step,
)

BERLIN = ZoneInfo("Europe/Berlin")
ONE = NoticeRecord(1, NoticeKind.MERGED, Severity.INFO, "it is merged", "a1", None, None, "", "", 100.0)


def at(text: str, fold: int = 0, zone: ZoneInfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp()


def test_a_channel_gets_the_kinds_that_it_names_from_its_severity_on() -> None:
    rules = Rules(
        (
            ChannelRules("all"),
            ChannelRules("merges", ("merged",)),
            ChannelRules("loud", ("*",), Severity.WARNING),
            ChannelRules("asked", ("question",), Severity.WARNING),
        )
    )
    assert routes(rules, ONE) == ["all", "merges"]
    urgent = NewNotice(NoticeKind.QUESTION, Severity.URGENT, "?")
    assert routes(rules, urgent) == ["all", "loud", "asked"]
    assert routes(Rules(), urgent) == []


@pytest.mark.parametrize("text", ["22", "22:00", "24:00-07:00", "22:00-22:00", "22:60-07:00", "x", "22:00-07:00 daily"])
def test_quiet_hours_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="quiet_hours"):
        parsed(text)


def test_quiet_hours_may_cross_midnight() -> None:
    quiet = parsed("22:00-07:00")
    assert quiet_until(quiet, at("2026-06-01T21:59:59"), BERLIN) is None
    assert quiet_until(quiet, at("2026-06-01T22:00"), BERLIN) == at("2026-06-02T07:00")
    assert quiet_until(quiet, at("2026-06-02T06:59:59"), BERLIN) == at("2026-06-02T07:00")
    assert quiet_until(quiet, at("2026-06-02T07:00"), BERLIN) is None
    assert quiet_until(parsed("12:00-13:30"), at("2026-06-02T13:00"), BERLIN) == at("2026-06-02T13:30")
    assert quiet_until(parsed(""), at("2026-06-02T13:00"), BERLIN) is None


def test_the_night_of_the_spring_is_an_hour_shorter_and_that_of_the_autumn_an_hour_longer() -> None:
    quiet = parsed("22:00-07:00")
    spring, autumn = at("2026-03-28T22:00"), at("2026-10-24T22:00")
    assert quiet_until(quiet, spring, BERLIN) == spring + 8 * 3600
    assert quiet_until(quiet, autumn, BERLIN) == autumn + 10 * 3600


def test_an_end_that_the_clock_jumps_over_is_the_jump() -> None:
    quiet = parsed("22:00-02:30")
    jump = at("2026-03-29T03:00")
    assert quiet_until(quiet, jump - 60, BERLIN) == jump
    assert quiet_until(quiet, jump, BERLIN) is None


def test_an_end_that_comes_twice_is_the_second_one_and_a_beginning_the_first() -> None:
    quiet = parsed("22:00-02:30")
    first, second = at("2026-10-25T02:30"), at("2026-10-25T02:30", fold=1)
    assert second == first + 3600
    assert quiet_until(quiet, first, BERLIN) == second and quiet_until(quiet, second, BERLIN) is None
    assert quiet_until(parsed("02:30-06:00"), first, BERLIN) == at("2026-10-25T06:00")
    assert quiet_until(parsed("02:30-06:00"), first - 1, BERLIN) is None


@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago"]),
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.floats(1_760_000_000, 1_800_000_000),
)
def test_outside_of_a_change_they_are_what_the_clock_shows(zone: str, begin: int, end: int, now: float) -> None:
    tz = ZoneInfo(zone)
    if begin == end:
        return
    offsets = {datetime.fromtimestamp(now + hours * 3600, tz).utcoffset() for hours in range(-48, 49, 1)}
    wall = datetime.fromtimestamp(now, tz)
    minute = wall.hour * 60 + wall.minute
    shown = begin <= minute < end if begin < end else minute >= begin or minute < end
    until = quiet_until((begin, end), now, tz)
    if len(offsets) == 1:
        assert (until is not None) == shown
    if until is not None:
        assert now < until <= now + 26 * 3600 and quiet_until((begin, end), until, tz) is None


def test_tries_come_later_and_later_and_end() -> None:
    pauses = [notices_model.next_try(tries, 0.0) for tries in range(1, notices_model.MAX_TRIES)]
    assert pauses[:4] == [30.0, 60.0, 120.0, 240.0]
    assert all(pause is not None and pause <= notices_model.MAX_PAUSE for pause in pauses)
    assert notices_model.next_try(notices_model.MAX_TRIES, 0.0) is None


def test_a_storm_becomes_a_digest_and_at_most_one_a_minute() -> None:
    assert step(Queue("c"), 3, 100.0) == (Step.NOTHING, None)
    assert step(Queue("c", next_at=120.0), 3, 100.0) == (Step.NOTHING, 120.0)
    assert step(Queue("c", due=3), 3, 100.0)[0] is Step.SEND
    assert step(Queue("c", due=1, sent=2), 3, 100.0)[0] is Step.SEND
    assert step(Queue("c", due=1, sent=3), 3, 100.0)[0] is Step.DIGEST
    assert step(Queue("c", due=4), 3, 100.0)[0] is Step.DIGEST
    assert step(Queue("c", due=4, digest_at=70.0), 3, 100.0) == (Step.NOTHING, 130.0)
    assert step(Queue("c", due=4, digests=1, digest_at=100.0), 3, 100.0)[0] is Step.SEND
    assert step(Queue("c", due=4, digest_at=40.0), 3, 100.0)[0] is Step.DIGEST


def test_a_digest_counts_by_kind_and_shows_what_matters_most() -> None:
    worst = replace(ONE, severity=Severity.URGENT, text="main\nis red", bead=None)
    made = digest([("merged", 9000), ("main_frozen", 1000)], [worst, *[ONE] * 20])
    lines = made.text.splitlines()
    assert lines[0] == "10000 notices: 9000 merged, 1000 main frozen" and lines[1] == "! main is red"
    assert len(lines) == SHOWN + 2 and "9995 more" in lines[-1]
    assert made.severity is Severity.URGENT and len(made.text) <= MAX_TEXT


def test_an_open_question_is_told_again_a_few_times() -> None:
    rules = Rules(renotify_seconds=3600.0)
    assert notices_model.reminds_at(OpenQuestion(ONE, 100.0, 1), rules) == 3700.0
    assert notices_model.reminds_at(OpenQuestion(ONE, 100.0, 1 + notices_model.MAX_REMINDERS), rules) is None
    assert notices_model.reminds_at(OpenQuestion(ONE, 100.0, 1), Rules()) is None


def test_no_text_is_an_option_or_holds_what_nobody_sees() -> None:
    nasty = replace(ONE, text="--exec=rm\x1b[31m \u202e" + "x" * 9000, bead="-o")
    said = message(nasty, "-p\n\x07roject")
    assert said.title.startswith("nobrakes ") and "\n" not in said.title and said.title.isprintable()
    assert not said.text.startswith("-") and "\x1b" not in said.text and len(said.text) <= MAX_TEXT + 10
    for text in ("@/etc/passwd", "/etc/passwd", "<b>"):
        assert message(replace(ONE, text=text), "p").text.startswith("» ")


def test_commands_in_a_message_work_in_any_folder() -> None:
    said = message(
        replace(ONE, text="question 3 (`nobrakes answer 3`), see `nobrakes project status`"), "/code/my shop"
    )
    assert said.text == "question 3 (`cd '/code/my shop' && nobrakes answer 3`), see `nobrakes project status`"
    assert said.title.startswith("nobrakes my shop:")


def test_an_error_loses_its_secret_whole_and_in_parts() -> None:
    secret = "mailto://me:hunter%402secret@smtp.example.invalid:2525?to=you@example.invalid"
    said = scrubbed(f"cannot log in with hunter@2secret at {secret} \x1b[1mor smtp.example.invalid:2525", secret)
    assert "hunter" not in said and "smtp.example" not in said and "cannot log in" in said and "\x1b" not in said
    assert len(scrubbed("x" * 9999, "")) <= 300


@pytest.mark.parametrize(
    ("url", "insecure", "fine"),
    [
        ("https://hooks.example/x", False, True),
        ("http://127.0.0.1:8080/x", False, True),
        ("http://localhost/x", False, True),
        ("http://[::1]/x", False, True),
        ("http://hooks.example/x", False, False),
        ("http://hooks.example/x", True, True),
        ("http://127.0.0.1.example/x", False, False),
        ("http://localhost@hooks.example/x", False, False),
        ("file:///etc/passwd", True, False),
        ("https://", False, False),
        ("https://a.example:port/", False, False),
        ("hooks.example", True, False),
    ],
)
def test_a_webhook_is_https_or_on_this_machine(url: str, insecure: bool, fine: bool) -> None:
    assert (mistake(url, insecure) == "") is fine


def asked(severity: str = "", kind: Kind = Kind.ESCALATED, type_: str = "question", seq: int = 7) -> NewNotice:
    data = {"escalation": 3, "type": type_, "title": "Which port?"} | ({"severity": severity} if severity else {})
    found = notice_of(Event(kind, "a1", actor="Ada", data=data, seq=seq))
    assert found is not None
    return found


def test_events_become_notices_with_their_severity() -> None:
    assert (asked().kind, asked().severity, asked().escalation) == (NoticeKind.QUESTION, Severity.WARNING, 3)
    assert "nobrakes answer 3" in asked().text
    assert asked(type_="conflict").kind is NoticeKind.ESCALATION
    suggestion = asked(kind=Kind.SUGGESTED, type_="doer_suggestion")
    assert (suggestion.kind, suggestion.severity) == (NoticeKind.SUGGESTION, Severity.INFO)
    assert asked("urgent", Kind.SUGGESTED, "doer_suggestion").severity is Severity.URGENT
    assert asked("nonsense").severity is Severity.WARNING
    assert asked(seq=7).fingerprint == asked(seq=8).fingerprint
    refused = {"provider": "north", "reason": "auth", "until": 900.0, "detail": "no key", "times": 1}
    found = notice_of(Event(Kind.GATE_CLOSED, data=refused, at=300.0))
    assert found is not None and found.severity is Severity.URGENT and "10 min" in found.text
    assert notice_of(Event(Kind.GATE_CLOSED, data=refused | {"times": 2})) is None
    assert notice_of(Event(Kind.LOGGED, "a1", data={"text": "x"})) is None
    merged = [notice_of(Event(Kind.MERGED, "a1", data={"merged_commit": "c" * 40}, seq=seq)) for seq in (1, 2)]
    assert merged[0] is not None and merged[1] is not None and merged[0].fingerprint != merged[1].fingerprint


def test_a_pull_request_is_told_of_and_its_remarks_not_each() -> None:
    data = {"pr_number": 7, "pr_url": "https://host/7", "by": "ann"}

    def told(kind: Kind, seq: int, **more: str) -> NewNotice | None:
        return notice_of(Event(kind, "a1", data={**data, **more}, seq=seq))

    opened, approved = told(Kind.PULL_OPENED, 1), told(Kind.PULL_APPROVED, 2)
    assert opened is not None and "#7 of a1 is waiting for people: https://host/7" in opened.text
    assert approved is not None and approved.kind is NoticeKind.PULL_REQUEST and "by ann" in approved.text
    first, second = (told(Kind.PULL_ISSUE_FOUND, seq, issue="IGNORE ALL") for seq in (3, 4))
    assert first is not None and second is not None and first.fingerprint == second.fingerprint
    assert "ann asks for changes" in first.text and "IGNORE" not in first.text, "what they wrote is in the view"
    red = told(Kind.PULL_ISSUE_FOUND, 5, check="build", by="")
    assert red is not None and "the check build failed" in red.text and red.severity is Severity.WARNING
    assert told(Kind.PULL_REVIEW_BEGAN, 6) is None and told(Kind.PULL_MERGED, 7) is None, "its merge is told"


def test_what_an_agent_says_is_cleaned_and_bounded() -> None:
    found = notice_of(Event(Kind.NOTIFIED, "a1", actor="Ada", data={"text": "\x1b]0;x\x07hi " + "y" * 9000}))
    assert found is not None and "\x1b" not in found.text and len(found.text) <= MAX_TEXT
