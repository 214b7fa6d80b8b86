"""Calls of a code host's interface through its command line: one call, its answer, and the rate.

1. The call has a time limit, as the program has none.
2. Known answers are requested by their tag: 304 costs no part of the host's rate.
3. At most CALLS_A_MINUTE calls go out in a minute; more wait, as they do when the host says so.
4. The program ends with 1 for anything but 2xx, also 304: the printed status counts.
5. Calls and logins of gh and glab are in their own files.
"""

import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Protocol

from ...errors import HostRefused, HostUnavailable
from ...records import frozen
from ...text.cleaning import clean, shorten
from ..model import CALLS_A_MINUTE

MINUTE = 60.0
PAGE = 100
PAGES = 10
_LOGIN_HOLDS = 300.0
_MAX_CACHED = 500
_VERSION = re.compile(r"(?<!\d)\d++(?:\.\d++)++")


class Answered(Protocol):
    """A program's end: `code` None: timeout."""

    @property
    def code(self) -> int | None: ...

    @property
    def out(self) -> str: ...

    @property
    def error(self) -> str: ...


Ask = Callable[[Sequence[str], bytes], Answered]


@frozen
class Reply:
    """An answer of the host."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""

    def json(self) -> Any:
        try:
            return json.loads(self.body or "null")
        except ValueError:
            raise HostUnavailable("the code host's answer is not JSON") from None


class Calls(ABC):
    """Calls of one process to one host."""

    program: ClassVar[str]
    maker: ClassVar[str]
    headers: ClassVar[Sequence[str]] = ()
    body_headers: ClassVar[Sequence[str]] = ()

    def __init__(self, host: str, ask: Ask, clock: Callable[[], float]) -> None:
        self.host = host
        self.ask = ask
        self.clock = clock
        self._calls: deque[float] = deque()
        self._kept: dict[str, tuple[str, Reply]] = {}
        self._logged_in_until = 0.0

    def ready(self) -> None:
        """HostUnavailable: the program is missing, or not logged in."""
        if self.clock() < self._logged_in_until:
            return
        self.check_login()
        self._logged_in_until = self.clock() + _LOGIN_HOLDS

    @abstractmethod
    def check_login(self) -> None:
        """Raises HostUnavailable."""

    @abstractmethod
    def login(self) -> str:
        """The login command for a person."""

    def version(self) -> str:
        found = _VERSION.search(first_line(self.run("--version").out))
        return f"{self.program} {found[0]}" if found else self.program

    def run(self, *arguments: str) -> Answered:
        """Run the program with other arguments. HostUnavailable: timeout, or not installed."""
        said = self.ask([self.program, *arguments], b"")
        self._require_answer(said)
        return said

    def get(self, path: str) -> Any:
        return self.read(path).json()

    def read(self, path: str) -> Reply:
        known = self._kept.get(path)
        reply = self._call("GET", path, None, [f"If-None-Match: {known[0]}"] if known is not None else [])
        if reply.status == 304 and known is not None:
            return known[1]
        self._judge(reply, path)
        if tag := reply.headers.get("etag", ""):
            if len(self._kept) >= _MAX_CACHED:
                self._kept.clear()
            self._kept[path] = tag, reply
        return reply

    def pages(self, path: str) -> list[Any]:
        found: list[Any] = []
        for number in range(1, PAGES + 1):
            more = self.get(f"{path}{'&' if '?' in path else '?'}per_page={PAGE}&page={number}")
            if not isinstance(more, list):
                break
            found += more
            if len(more) < PAGE:
                break
        return found

    def send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Change something; returns the JSON answer."""
        reply = self._call(method, path, body, [])
        self._judge(reply, path)
        return reply.json()

    # --- one call --------------------------------------------------------------------------------

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None, headers: Sequence[str]) -> Reply:
        self._count()
        argv = [self.program, "api", "--include", "--method", method, path]  # the environment names the host
        for header in (*self.headers, *headers, *(self.body_headers if body is not None else ())):
            argv += ["--header", header]
        if body is not None:
            argv += ["--input", "-"]
        said = self.ask(argv, b"" if body is None else json.dumps(body).encode())
        self._require_answer(said)
        reply = parsed(said.out)
        if reply is None:
            why = first_line(said.error) or f"{self.program} ended with {said.code}"
            raise HostUnavailable(f"nobrakes cannot reach {self.host}: {why}")
        return reply

    def _require_answer(self, said: Answered) -> None:
        if said.code is None:
            raise HostUnavailable(f"{self.host} did not answer in time")
        if said.code == 127:
            raise HostUnavailable(
                f"{self.program} is not installed; nobrakes needs it to open pull requests at {self.host}",
                f"Install {self.maker}'s command line, then: {self.login()}",
                needs_person=True,
            )

    def _count(self) -> None:
        now = self.clock()
        while self._calls and not now - MINUTE < self._calls[0] <= now:
            self._calls.popleft()
        if len(self._calls) >= CALLS_A_MINUTE:
            wait = self._calls[0] + MINUTE - now
            why = f"nobrakes already called {self.host} {CALLS_A_MINUTE} times in this minute"
            raise HostUnavailable(why, wait=max(1.0, wait), paced=True)
        self._calls.append(now)

    def _judge(self, reply: Reply, path: str) -> None:
        if 200 <= reply.status < 300:
            return
        words = _words(reply)
        if reply.status == 401:
            self._logged_in_until = 0.0
            raise self.logged_out()
        limited = reply.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in reply.headers
        if reply.status == 429 or (reply.status == 403 and (limited or "rate limit" in words.lower())):
            raise HostUnavailable(f"{self.host} limits the number of calls: {words}", wait=self._wait(reply))
        if reply.status >= 500:
            raise HostUnavailable(f"{self.host} has an error (HTTP {reply.status}): {words}", wait=self._wait(reply))
        raise HostRefused(f"{self.host} refuses {path.partition('?')[0]} (HTTP {reply.status}): {words}")

    def _wait(self, reply: Reply) -> float:
        after = reply.headers.get("retry-after", "")
        reset = reply.headers.get("x-ratelimit-reset", "") or reply.headers.get("ratelimit-reset", "")
        if after.isdigit():
            return min(3600.0, max(1.0, float(after)))
        return min(3600.0, max(MINUTE, float(reset) - self.clock())) if reset.isdigit() else MINUTE

    def logged_out(self) -> HostUnavailable:
        why = (
            f"you are not logged in to {self.host} with {self.program}, or the login has expired. Type: {self.login()}"
        )
        return HostUnavailable(why, "The work then continues automatically.", wait=15.0, needs_person=True)


def parsed(text: str) -> Reply | None:
    """The answer printed by `api --include`."""
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    lines = head.split("\n")
    words = lines[0].split()
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
        return None
    pairs = (line.partition(":") for line in lines[1:])
    return Reply(int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}, body)


def _words(reply: Reply) -> str:
    try:
        found = json.loads(reply.body)
        said = found.get("message") or found.get("error") or ""
        told = [str(one) for one in said[:3]] if isinstance(said, list) else [str(said)]
        for one in found.get("errors", ())[:3]:
            told.append(str(one.get("message", one)) if isinstance(one, dict) else str(one))
        text = "; ".join(filter(None, told))
    except (ValueError, AttributeError, TypeError):
        text = reply.body
    return shorten(clean(text), 300) or f"HTTP {reply.status}"


def first_line(text: str) -> str:
    return shorten(clean(next((line for line in text.splitlines() if line.strip()), "")), 300)


_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?!/)(?P<path>[^\s]+)\Z")
_URL = re.compile(r"(?:https?|ssh|git)://(?:[^@/\s]+@)?(?P<host>[^/\s]+)/(?P<path>[^\s]+)\Z")
_DEEPEST = 21
_NAME = re.compile(r"[A-Za-z0-9_.-]+\Z")


@frozen
class Address:
    """A repository at a code host: `host` may have a port, `owner` may be a nested group."""

    host: str
    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.host}/{self.owner}/{self.name}"


def named(text: str) -> Address | None:
    host, _, path = text.partition("/")
    return _made(host, path)


def parse_remote_url(url: str) -> Address | None:
    """Parse a remote's address; None: a path, or no code host."""
    found = _URL.match(url.strip()) or _SCP.match(url.strip())
    if found is None:
        return None
    host = found["host"]
    # without http the port is that of ssh
    return _made(host if url.strip().startswith("http") else host.partition(":")[0], found["path"])


def _made(host: str, path: str) -> Address | None:
    parts = path.strip("/").removesuffix(".git").split("/")
    if not host or not 2 <= len(parts) <= _DEEPEST or not all(_NAME.match(one) and one.strip(".") for one in parts):
        return None
    return Address(host.lower(), "/".join(parts[:-1]), parts[-1])


_HOLDS = 600.0
_MAX_KNOWN = 1000


class Writers:
    """Caches whether people may write. `ask`: queries it; HostRefused means no."""

    def __init__(self, clock: Callable[[], float], ask: Callable[[str], bool]) -> None:
        self.clock = clock
        self.ask = ask
        self._known: dict[str, tuple[bool, float]] = {}

    def may(self, name: str) -> bool:
        """Raises HostUnavailable if that is unknown."""
        known, until = self._known.get(name, (False, 0.0))
        if self.clock() < until:
            return known
        try:
            known = self.ask(name)
        except HostRefused:
            known = False
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[name] = known, self.clock() + _HOLDS
        return known
