"""A CLI that tells of its account or service in plain words costs the bead no attempt."""

from typing import Any

import pytest

from nobrakes.agents.adapter import AgentEnd
from nobrakes.agents.known import adapter
from nobrakes.beads.model import TABLE, Outcome

from . import events as claude
from . import recorded as r
from .test_conformance import BEGINS, GUARDED, SAYS

O = Outcome  # noqa: E741

SAID: tuple[tuple[str, Outcome], ...] = (
    ("Failed to authenticate: OAuth session expired and could not be refreshed", O.AUTH),
    ("API Error: 529 Overloaded. This is a server-side issue, usually temporary", O.PROVIDER_DOWN),
    ("API Error: 401 Invalid authentication credentials", O.AUTH),
    ("HTTP 403 Forbidden", O.AUTH),
    ("Error: Incorrect API key provided", O.AUTH),
    ("Not signed in. Run `agent login`", O.AUTH),
    ("Request failed with status code 429", O.RATE_LIMITED),
    ("429 Too Many Requests", O.RATE_LIMITED),
    ("502 Bad Gateway", O.PROVIDER_DOWN),
    ("HTTP/1.1 503 Service Unavailable", O.PROVIDER_DOWN),
    ("429: insufficient_quota", O.BILLING),
    ("getaddrinfo EAI_AGAIN api.example.com", O.NETWORK),
    ("connect ECONNREFUSED 127.0.0.1:1", O.NETWORK),
)
WORK = "The test expects 529 and the server answers 'API Error: 529 Overloaded'"


@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text for text, _ in SAID])
def test_claude_says_so_in_its_result_alone(text: str, expected: Outcome) -> None:
    lines = [*claude.START, claude.said(text), claude.result(is_error=True, result=text)]
    assert adapter("claude").verdict(AgentEnd(1, lines)).outcome is expected


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text for text, _ in SAID])
def test_words_of_the_cli_at_a_failed_exit(name: str, text: str, expected: Outcome) -> None:
    said: Any = SAYS[name]("words")[:-1]
    begun = adapter(name).verdict(AgentEnd(1, [*BEGINS[name], *said], f"a warning\n{text}", r.READY))
    not_begun = adapter(name).verdict(AgentEnd(1, [], text))
    printed = adapter(name).verdict(AgentEnd(1, [text.encode()], ""))
    assert (begun.outcome, not_begun.outcome, printed.outcome) == (expected,) * 3
    assert not TABLE[expected].counts


@pytest.mark.parametrize("name", GUARDED)
def test_words_of_the_agent_about_its_work_are_no_trouble(name: str) -> None:
    said: Any = SAYS[name](WORK)
    assert adapter(name).verdict(AgentEnd(0, [*BEGINS[name], *said], "", r.READY)).outcome is O.COMPLETED
    cut = adapter(name).verdict(AgentEnd(1, [*BEGINS[name], *said[:-1]], "SyntaxError", r.READY))
    assert TABLE[cut.outcome].counts
    earlier = "\n".join((f"tool: {WORK}", "a", "b", "panic"))
    cut = adapter(name).verdict(AgentEnd(1, [*BEGINS[name], *said[:-1]], earlier, r.READY))
    assert TABLE[cut.outcome].counts
