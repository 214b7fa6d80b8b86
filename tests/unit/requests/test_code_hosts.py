"""Addresses of repositories, which host they are at, and how one call of `gh api` or `glab api` is read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from nobrakes.errors import ConfigError, HostRefused, HostUnavailable
from nobrakes.requests.hosts.calls import CALLS_A_MINUTE, Address, Calls, named, parse_remote_url, parsed
from nobrakes.requests.hosts.github import Gh, GitHub
from nobrakes.requests.hosts.gitlab import GitLab, Glab
from nobrakes.requests.hosts.port import PlainGit
from nobrakes.requests.service import code_host


@dataclass
class Said:
    code: int | None
    out: str = ""
    error: str = ""


class Asked:
    """A gh that says what it is told to."""

    def __init__(self, *said: Said) -> None:
        self.said = list(said)
        self.calls: list[list[str]] = []

    def __call__(self, argv: Sequence[str], given: bytes) -> Said:
        self.calls.append(list(argv))
        return self.said.pop(0) if len(self.said) > 1 else self.said[0]


def http(status: int, body: object = None, **headers: str) -> Said:
    lines = [f"HTTP/2.0 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return Said(0 if status < 300 else 1, "\r\n".join(lines) + "\r\n\r\n" + json.dumps(body))


def gh(*said: Said, now: float = 1000.0) -> tuple[Gh, Asked]:
    asked = Asked(*said)
    return Gh("github.com", asked, lambda: now), asked


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:team/thing.git",
        "https://github.com/team/thing",
        "https://user:secret@github.com/team/thing.git",
        "ssh://git@github.com:22/team/thing.git",
    ],
)
def test_a_remotes_address_names_its_repository(url: str) -> None:
    assert parse_remote_url(url) == Address("github.com", "team", "thing")


@pytest.mark.parametrize(
    "url", ["../remote.git", "/srv/git/thing.git", "file:///srv/x/y", "https://github.com/a", "", "x"]
)
def test_a_path_is_no_repository_of_a_host(url: str) -> None:
    assert parse_remote_url(url) is None


def test_settings_name_a_server_of_ones_own_and_nothing_odd() -> None:
    assert named("localhost:8443/team/thing") == Address("localhost:8443", "team", "thing")
    assert named("github.com/../x") is None and named("thing") is None and named("h/a/../c") is None
    assert named("gitlab.com/group/deeper/thing") == Address("gitlab.com", "group/deeper", "thing")
    with pytest.raises(ConfigError, match="names no repository"):
        code_host("github", "github.com/a/b/c", "", "", lambda host: Asked(Said(0)), lambda: 0.0)
    with pytest.raises(ConfigError, match="not a repository"):
        code_host("auto", "thing", "", "", lambda host: Asked(Said(0)), lambda: 0.0)
    with pytest.raises(ConfigError, match="names no repository"):
        code_host("github", "", "../x.git", "../x.git", lambda host: Asked(Said(0)), lambda: 0.0)
    assert not code_host(
        "auto", "", "../x.git", "../x.git", lambda host: Asked(Said(0)), lambda: 0.0
    ).supports_pull_requests
    assert code_host(
        "auto", "", "git@github.com:a/b.git", "", lambda host: Asked(Said(0)), lambda: 0.0
    ).supports_pull_requests


def test_what_was_read_is_asked_for_by_its_tag() -> None:
    host, asked = gh(http(200, [1], etag='"x"'), http(304))
    assert host.get("a") == [1] and host.get("a") == [1]
    assert 'If-None-Match: "x"' in asked.calls[1]


UNKNOWN = Said(1, "", "x code.team.org has not been authenticated with glab. Run `glab auth login`")
KNOWN = Said(0, "", "code.team.org\n  Logged in to code.team.org as ann")


@pytest.mark.parametrize(
    ("kind", "setting", "remote", "said", "is_at"),
    [
        ("auto", "", "git@gitlab.com:group/deeper/thing.git", UNKNOWN, GitLab),
        ("auto", "", "https://github.com/team/thing", UNKNOWN, GitHub),
        ("auto", "", "https://code.team.org/team/thing", KNOWN, GitLab),
        ("auto", "", "https://code.team.org/team/thing", Said(1, "", "API call failed: 401"), GitLab),
        ("auto", "", "https://code.team.org/team/thing", UNKNOWN, PlainGit),
        ("auto", "", "https://code.team.org/team/thing", Said(127), PlainGit),
        ("auto", "", "https://code.team.org/team/thing", Said(None), GitLab),
        ("auto", "code.team.org/team/thing", "../x.git", UNKNOWN, GitHub),
        ("auto", "code.team.org/team/thing", "../x.git", KNOWN, GitLab),
        ("gitlab", "", "https://code.team.org/team/thing", UNKNOWN, GitLab),
        ("git", "", "https://gitlab.com/team/thing", KNOWN, PlainGit),
    ],
)
def test_the_host_is_told_by_its_address_and_by_whether_glab_knows_it(
    kind: str, setting: str, remote: str, said: Said, is_at: type
) -> None:
    assert type(code_host(kind, setting, remote, remote, lambda host: Asked(said), lambda: 0.0)) is is_at


@pytest.mark.parametrize("made", [Gh, Glab])
def test_both_count_their_calls_and_read_tags_and_limits_alike(made: type[Calls]) -> None:
    asked = Asked(http(200, [1], etag='"x"'), http(304), http(429, "Retry later", ratelimit_reset="1090"))
    calls = made("code.team.org", asked, lambda: 1000.0)
    assert calls.get("a") == [1] == calls.get("a") and 'If-None-Match: "x"' in asked.calls[1]
    with pytest.raises(HostUnavailable) as slow:
        calls.get("b")
    assert slow.value.wait == 90 and not slow.value.needs_person
    with pytest.raises(HostUnavailable, match=f"{made.program} auth login"):
        made("code.team.org", Asked(http(401, {"message": "401 Unauthorized"})), lambda: 0.0).ready()
    assert made("h", Asked(Said(0, f"Current {made.program} version: 1.53.0 (x)\n")), lambda: 0.0).version() == (
        f"{made.program} 1.53.0"
    )


def test_a_limit_of_rate_is_waited_out_and_a_login_that_ended_is_said() -> None:
    host, _ = gh(http(403, {"message": "slow down"}, retry_after="77"))
    with pytest.raises(HostUnavailable) as slow:
        host.get("a")
    assert slow.value.wait == 77 and not slow.value.needs_person
    host, _ = gh(http(403, {"message": "API rate limit exceeded"}, x_ratelimit_remaining="0", x_ratelimit_reset="1500"))
    with pytest.raises(HostUnavailable) as limited:
        host.get("a")
    assert limited.value.wait == 500
    host, _ = gh(http(401, {"message": "Bad credentials"}))
    with pytest.raises(HostUnavailable, match="gh auth login") as out:
        host.get("a")
    assert out.value.needs_person
    host, _ = gh(http(502, {"message": "oops"}))
    with pytest.raises(HostUnavailable, match="502"):
        host.get("a")
    host, _ = gh(http(422, {"message": "Validation Failed", "errors": [{"message": "exists"}]}))
    with pytest.raises(HostRefused, match="Validation Failed; exists"):
        host.send("POST", "a", {})


def test_no_more_than_thirty_calls_go_out_in_a_minute() -> None:
    host, asked = gh(http(200, {}))
    for _ in range(CALLS_A_MINUTE):
        host.get("a")
    with pytest.raises(HostUnavailable, match="30 times in this minute") as paced:
        host.get("a")
    assert len(asked.calls) == CALLS_A_MINUTE and paced.value.paced


def test_a_gh_that_is_missing_hangs_or_says_nothing_is_told() -> None:
    for said, words in ((Said(127), "is not installed"), (Said(None), "in time"), (Said(1, "", "boom"), "boom")):
        with pytest.raises(HostUnavailable, match=words):
            gh(said)[0].get("a")
    assert parsed("") is None and parsed("what\n\nelse") is None
