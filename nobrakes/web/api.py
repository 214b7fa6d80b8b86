"""The JSON of the site: what pages show, for programs. One table makes the routes and openapi.json.

1. Each row is a reading command of the CLI, with its `--json` values under `data` (records.plain). Changes are
   commands: POST /r/<repo>/do/<command> with `Accept: application/json`.
2. Unknown parameters are refused.
3. Looking starts no program: what needs git or the sandbox is in the doctor's look.
4. What a page's own script draws is bare values, and nothing if unchanged (ETag).
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..beads.service import bead_page, board
from ..config.setup import changing
from ..daemon.service import now, status
from ..decisions.service import page
from ..decisions.service.all_blockers import blockers, for_you
from ..doctor import health
from ..errors import UsageError
from ..features.service import feature_page, strategy
from ..machine import registry
from ..pictures.service import GraphView, graph_view
from ..records import frozen, plain
from ..requests import service as requests_service
from ..review.service import merges
from ..sessions.service import relay
from . import rendering
from .live import told
from .rendering import Field, flag, opened, word

if TYPE_CHECKING:
    from ..app import App

BELOW = "/r/{repo}/api/"
MAX_LIMIT = 500
_SOME = 20
Values = Mapping[str, Any]
INSPECTION = "looked"
"""The doctor's last findings here, stored by the server."""


def number(name: str, value: str) -> int:
    return rendering.number(name, value)


def few(name: str, value: str) -> int:
    found = rendering.number(name, value)
    if not 1 <= found <= MAX_LIMIT:
        raise UsageError(f"{name} must be from 1 to {MAX_LIMIT}, not {found}")
    return found


@frozen
class Reading:
    """One address to read. `path` follows BELOW; `words`: the command whose `--json` has the same data, or "".
    `parameters` are in the query, `{…}` in the path. `is_bare`: no envelope."""

    path: str
    words: str
    summary: str
    look: Callable[["App", Values], Any]
    parameters: tuple[Field, ...] = ()
    is_bare: bool = False


def _status(app: "App", values: Values) -> Any:
    return status.status(app.store, app.paths, app.config, misconfigured=app.misconfigured)


def _board(app: "App", values: Values) -> Any:
    return board.board(app.store, stands=blockers(app.store, app.paths, app.config, misconfigured=app.misconfigured))


def _ready(app: "App", values: Values) -> Any:
    return bead_page.ready(app.store, values.get("limit", _SOME))


def _bead(app: "App", values: Values) -> Any:
    return bead_page.bead_detail(app.store, values["id"])


def _escalations(app: "App", values: Values) -> Any:
    return page.listed(app.store, bool(values.get("all")))


def _escalation(app: "App", values: Values) -> Any:
    is_whole = bool(values.get("all"))
    return page.decision(app.store, app.paths, lambda: app.git, lambda: app.config, values["number"], is_whole)


def _events(app: "App", values: Values) -> Any:
    bead = values.get("bead") or None
    if bead is not None:
        app.store.bead(bead)
    found = app.store.events(values.get("after", 0), values.get("limit", MAX_LIMIT), bead)
    return {"events": [told(event) for event in found], "last": found[-1].seq if found else values.get("after", 0)}


def _sessions(app: "App", values: Values) -> Any:
    return relay.listed(app.store, everything=bool(values.get("all")))


def _session(app: "App", values: Values) -> Any:
    return relay.view(app.store, app.paths, values["number"])


def _session_diff(app: "App", values: Values) -> Any:
    return relay.diff(app.store, app.paths, values["number"])


def _reviews(app: "App", values: Values) -> Any:
    return bead_page.reviews(app.store, values.get("limit", _SOME))


def _requests(app: "App", values: Values) -> Any:
    return requests_service.listed(app.store, bool(values.get("all")))


def _request(app: "App", values: Values) -> Any:
    return requests_service.one(app.store, values["id"])


def _breaker(app: "App", values: Values) -> Any:
    return now.breaker(app.store, app.paths, app.config, app.misconfigured)


def _health(app: "App", values: Values) -> Any:
    return health.health(app.store, app.paths, app.config, values[INSPECTION], app.misconfigured)


def _plan(app: "App", values: Values) -> Any:
    return strategy.strategy(app.store)


def _features(app: "App", values: Values) -> Any:
    asked = {"state": values.get("state") or "all", "sort": values.get("sort") or "activity"}
    return feature_page.listed(
        app.store, words=values.get("search", ""), archived=bool(values.get("archived")), **asked
    )


def _feature(app: "App", values: Values) -> Any:
    return feature_page.view(app.store, values["id"])


def _evidence(app: "App", values: Values) -> Any:
    return list(islice(merges.records(app.git, values.get("bead", "")), values.get("limit", _SOME)))


def _part(name: str) -> Callable[["App", Values], Any]:
    return lambda app, values: getattr(_feature(app, values), name)


def graph_of(app: "App", values: Values) -> GraphView:
    return graph_view(
        app.store,
        values.get("mode") or "focus",
        epic=values.get("epic", ""),
        match=values.get("q", ""),
        is_live_only=values.get("open", False),
    )


def _graph(app: "App", values: Values) -> Any:
    view = graph_of(app, values)
    return {**plain(view), "structure": view.structure}


_LIMIT, _ALL = Field("limit", few), Field("all", flag)
GRAPH = (Field("mode", word), Field("epic", word), Field("q", word), Field("open", flag), Field("bead", word))
"""As in the page's address; `bead` is the selected one."""
READINGS: tuple[Reading, ...] = (
    Reading("status", "status", "The whole repository: counts, agents at work, open decisions.", _status),
    Reading("board", "board", "The first beads of each column, and the number of beads in it.", _board),
    Reading("ready", "ready", "Ready beads, in the order in which agents will start on them.", _ready, (_LIMIT,)),
    Reading("beads/{id}", "show", "One bead: texts, dependencies, attempts, open escalations.", _bead),
    Reading("escalations", "escalations", "Open decisions, the most blocking first.", _escalations, (_ALL,)),
    Reading("escalations/{number:int}", "escalation", "One escalation with its evidence.", _escalation, (_ALL,)),
    Reading(
        "events",
        "",
        "The events after number `after`, oldest first, as a page's socket sends them. Use `last` as the next `after`.",
        _events,
        (Field("after", number), _LIMIT, Field("bead", word)),
    ),
    Reading("sessions", "sessions", "The open sessions with agents, newest first.", _sessions, (_ALL,)),
    Reading("sessions/{number:int}", "session show", "One session with its messages, turns and work.", _session),
    Reading("sessions/{number:int}/diff", "", "The changes on the branch of a working session.", _session_diff),
    Reading("reviews", "review", "The latest reviews, newest first.", _reviews, (_LIMIT,)),
    Reading("pull-requests", "pr list", "The pull requests that wait for people, oldest first.", _requests, (_ALL,)),
    Reading("pull-requests/{id}", "pr show", "A bead's newest pull request: state, checks, comments.", _request),
    Reading("breaker", "", "What stops work now: a pause, limits, providers, spending caps, the daemon.", _breaker),
    Reading("health", "", "The daemon, agents, disk, and the doctor's latest findings.", _health),
    Reading("plan", "commit-strategy --dry-run", "The drafts and proposed changes that wait for your approval.", _plan),
    Reading(
        "features",
        "forge list",
        "Features: stage, age, and open questions of each.",
        _features,
        (Field("state", word), Field("search", rendering.text), Field("sort", word), Field("archived", flag)),
    ),
    Reading("features/{id}", "forge show", "One feature: plan, versions, reviews, findings, talk, items.", _feature),
    Reading("features/{id}/plans", "", "The versions of a feature's plan, with their changes.", _part("versions")),
    Reading("features/{id}/questions", "", "A feature's open decisions.", _part("questions")),
    Reading("features/{id}/items", "", "The items collected for a feature's checkpoints.", _part("items")),
    Reading(
        "cost",
        "",
        "The cost of agents by day, provider, bead and feature.",
        lambda app, values: now.costs(app.store, app.config),
    ),
    Reading("machine", "machine", "The limits that all repositories share.", lambda app, values: registry.view()),
    Reading("evidence", "", "The records of merges, newest first.", _evidence, (_LIMIT, Field("bead", word))),
    Reading("evidence/check", "verify", "Main compared with its evidence.", lambda app, values: merges.verify(app.git)),
    Reading(
        "settings",
        "",
        "Each setting: value, default, help, and whether a page may change it.",
        lambda app, values: changing.listed(app.config),
    ),
    Reading("graph", "", "The drawing of the graph: boxes with positions, edges, lanes.", _graph, GRAPH, is_bare=True),
)
REPOSITORIES, OFFERED = "/api/repositories", "/api/session-repositories"


def answered(data: Any) -> Response:
    return JSONResponse({"ok": True, "data": plain(data)})


def bare(request: Request, data: Any) -> Response:
    """The values alone; 304 if unchanged."""
    body = json.dumps(plain(data), separators=(",", ":")).encode()
    mark = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def endpoint(reading: Reading) -> Callable[[Request], Response]:
    def look(request: Request) -> Response:
        values = rendering.values(reading.parameters, request.query_params.multi_items())
        with opened(request) as app:
            looked = request.app.state.site.looks.last(app.paths.root)
            found = reading.look(app, {**values, **request.path_params, INSPECTION: looked})
            return bare(request, found) if reading.is_bare else answered(found)

    return look


def repositories(request: Request) -> Response:
    rendering.values((), request.query_params.multi_items())
    return answered(registry.repositories(for_you))


def offered(request: Request) -> Response:
    rendering.values((), request.query_params.multi_items())
    return answered(registry.offered())


ROUTES: Sequence[Route] = (
    Route(REPOSITORIES, repositories, methods=["GET"]),
    Route(OFFERED, offered, methods=["GET"]),
    *(Route(BELOW + reading.path, endpoint(reading), methods=["GET"]) for reading in READINGS),
)
