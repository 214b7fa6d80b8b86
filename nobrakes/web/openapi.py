"""OpenAPI 3.1 of the site's JSON and its commands, from their two tables.

python -m nobrakes.web.openapi --write docs/reference/openapi.json    writes it; without --write it is printed

1. Served at /api/openapi.json. Whoever makes a client from it sends `Accept: application/json` to commands.
2. Its version is the one of the views: it grows when a field changes its meaning or goes.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import command_table
from ..beads.model import Bead
from ..beads.service.bead_page import BeadDetail, BeadHistory, Explained, ListedBead, Review
from ..beads.service.board import BoardView
from ..command_table import NOTE, TEXT
from ..config.setup.changing import SettingView
from ..daemon.model import Limits
from ..daemon.service.now import BreakerView, CostView
from ..daemon.service.status import StatusView
from ..decisions.blockers import Blocker
from ..decisions.model import Escalation
from ..decisions.service.view import Asked, DecisionView
from ..doctor.health import HealthView
from ..features.model import Item, PlanChanges
from ..features.service.feature_page import FeatureListView, FeatureView, ReviewsView, VersionView
from ..features.service.strategy import StrategyView
from ..fleet.service import NodesLine
from ..machine.registry import MachineView, Offered, RepositoryView
from ..pictures.service import GraphView
from ..records import schema
from ..requests.model import RequestView
from ..review.queue import Line, Quarantined
from ..review.service.merges import Record
from ..review.verify import Report
from ..sessions.model import Session
from ..sessions.service.viewing import AttemptLines
from . import api, rendering
from .commands import COMMANDS, Command
from .rendering import Field

Schema = dict[str, Any]
ADDRESS = "/api/openapi.json"
_TEXT: Mapping[Callable[[str, str], Any], Schema] = {
    rendering.text: {"type": "string", "maxLength": NOTE},
    rendering.long_text: {"type": "string", "maxLength": TEXT},
    rendering.word: {"type": "string", "maxLength": 200},
    rendering.rows: {"type": "string", "maxLength": TEXT, "description": "One entry a line."},
    rendering.number: {"type": "integer", "minimum": 0},
    rendering.amount: {"type": "number", "minimum": 0},
    rendering.flag: {"enum": ["0", "1"]},
    api.number: {"type": "integer", "minimum": 0, "default": 0},
    api.few: {"type": "integer", "minimum": 1, "maximum": api.MAX_LIMIT},
}
_ERROR: Schema = {
    "type": "object",
    "required": ["ok", "error"],
    "properties": {
        "ok": {"const": False},
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "hint": {"type": "string"}},
        },
    },
}
_COMMON: Mapping[str, Schema] = {
    "request": {"type": "string", "description": "A command with the same key runs once; repeats get the same answer."},
    "typed": {"type": "string", "description": "The word that confirms a dangerous command."},
    "code": {"type": "string", "description": "A new code from the terminal, if agents run without a sandbox."},
}
_EVENT: Schema = {
    "seq": {"type": "integer", "description": "The event's number in the log; numbers grow and are unique."},
    "bead": {"type": ["string", "null"], "description": "The bead that the event is about."},
    "kind": {"type": "string", "description": "As in events.md."},
    "actor": {"type": "string", "description": "Who caused the event."},
    "at": {"type": "number", "description": "Seconds since 1970."},
    "line": {"type": "string", "description": "A summary in one line for people."},
}
_EVENTS: Schema = {
    "events": {"type": "array", "items": {"type": "object", "required": [*_EVENT], "properties": _EVENT}},
    "last": {"type": "integer", "description": "The next `after`."},
}
_REFUSED = {
    "401": "The request has no session and no token.",
    "403": "The request came from another site, or has no Origin header.",
    "404": "The repository, bead, escalation or session does not exist.",
    "409": "The current state does not allow the request.",
    "422": "A field or parameter is wrong; the message names it.",
    "503": "The repository did not answer in time.",
}


def openapi() -> Schema:
    """The full document."""
    paths: dict[str, Schema] = {
        api.REPOSITORIES: {
            "get": _get("repositories", "All your repositories, and the open decisions of each.", [], _types()[""])
        }
    }
    told = "The folders of `session_roots`, and the repositories without nobrakes found there."
    paths[api.OFFERED] = {"get": _get("session-repositories", told, [], schema(Offered))}
    paths[ADDRESS] = {"get": _get("openapi", "This document.", [], {"type": "object"}, is_bare=True)}
    for reading in api.READINGS:
        paths[(api.BELOW + reading.path).replace(":int}", "}")] = {"get": _reading(reading)}
    for command in COMMANDS:
        paths[f"/r/{{repo}}/do/{command.slug}"] = {"post": _command(command)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "nobrakes web",
            "version": str(LANGUAGE),
            "description": "The API behind the pages of `nobrakes web`. Scripts use a token (`--token-file`).",
        },
        "servers": [{"url": "http://127.0.0.1:7117"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
            "responses": {status: _refusal(why) for status, why in _REFUSED.items()},
        },
    }


LANGUAGE = 1
"""The views' version: it grows when a field changes its meaning or goes; fields may be added."""


@cache
def names() -> Mapping[str, Any]:
    return {"Blocker": Blocker, "Limits": Limits, "NodesLine": NodesLine, "Quarantined": Quarantined}


@cache
def views() -> Mapping[str, Any]:
    """Command -> type of its data, for `--json` (`plain`) and pages. A command of every surface declares it; those
    without a record are missing."""
    from ..features.service.approving import Approved
    from ..features.service.controls import ScanView
    from ..projects.service.projects_folder import Confirmed, ProjectsView, ProjectView
    from ..projects.service.sprint_approval import NextView, ProjectPage
    from ..review.service.merges import DiffView
    from ..sessions.service.relay import SessionView

    shared = ((one.words, one.command()) for one in command_table.COMMANDS)
    returned = {words: get_args(signature(command).return_annotation)[0] for words, command in shared if command}
    return {
        "status": StatusView,
        "board": BoardView,
        "list": list[ListedBead],
        "show": BeadDetail,
        "ready": list[Bead],
        "ready --explain": list[Explained],
        "escalations": list[Asked],
        "escalation": DecisionView,
        "answers": list[Escalation],
        "history": BeadHistory,
        "review": list[Review],
        "diff": DiffView,
        "history --transcript": list[AttemptLines],
        **dict.fromkeys(("graph --focus", "graph --epics", "graph --all"), GraphView),
        "flakes": list[Line],
        "commit-strategy --dry-run": StrategyView,
        "commit-strategy": Approved,
        "forge reviews": ReviewsView,
        "project list": ProjectsView,
        "project show": ProjectPage,
        "project use": Confirmed,
        "project whats-next": NextView,
        **dict.fromkeys(("project new", "project archive"), ProjectView),
        "forge list": FeatureListView,
        "forge show": FeatureView,
        "forge show --version": PlanChanges,
        "forge scan": ScanView,
        "session show": SessionView,
        "pr list": list[RequestView],
        "pr show": RequestView,
        **{words: type_ for words, type_ in returned.items() if isinstance(type_, type)},
    }


def schema_of(words: str) -> Schema:
    return schema(views()[words], names())


def _types() -> Mapping[str, Schema]:
    own: dict[str, Any] = {
        "": list[RepositoryView],
        "sessions": list[Session],
        "sessions/{number:int}/diff": views()["diff"],
        "breaker": BreakerView,
        "health": HealthView,
        "cost": CostView,
        "machine": MachineView,
        "evidence/check": Report,
        "evidence": list[Record],
        "settings": list[SettingView],
    }
    below: dict[str, Any] = {"plans": list[VersionView], "questions": list[Escalation], "items": list[Item]}
    own |= {f"features/{{id}}/{name}": type_ for name, type_ in below.items()}
    types = own | {one.path: views()[one.words] for one in api.READINGS if one.words and one.path not in own}
    found = {path: schema(type_, names()) for path, type_ in types.items()}
    picture = schema_of("graph --all")
    picture["properties"]["structure"] = {"type": "string", "description": "Changes when boxes or edges move."}
    return {**found, "events": {"type": "object", "required": [*_EVENTS], "properties": _EVENTS}, "graph": picture}


def _refusal(why: str) -> Schema:
    return {"description": why, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}


def _answers(data: Schema, more: Schema, *statuses: str) -> Schema:
    envelope = {
        "type": "object",
        "required": ["ok", "data"],
        "properties": {"ok": {"const": True}, "data": data, **more},
    }
    done = {"description": "Done.", "content": {"application/json": {"schema": envelope}}}
    return {"200": done, **{status: {"$ref": f"#/components/responses/{status}"} for status in statuses}}


def _named(name: str, where: str, shape: Schema, is_required: bool) -> Schema:
    return {"name": name, "in": where, "required": is_required, "schema": shape}


def _get(name: str, summary: str, parameters: list[Schema], data: Schema, is_bare: bool = False) -> Schema:
    answers = _answers(data, {}, "401", "403", "404", "409", "422", "503")
    if is_bare:
        answers["200"] = {"description": "Done.", "content": {"application/json": {"schema": data}}}
    return {"operationId": name, "summary": summary, "parameters": parameters, "responses": answers}


_REPO = _named("repo", "path", {"type": "string"}, True)


def _reading(reading: api.Reading) -> Schema:
    parameters = [_REPO]
    if "{id}" in reading.path:
        parameters.append(_named("id", "path", {"type": "string"}, True))
    if "{number:int}" in reading.path:
        parameters.append(_named("number", "path", {"type": "integer", "minimum": 0}, True))
    parameters += [_named(one.name, "query", _TEXT[one.read], one.is_required) for one in reading.parameters]
    name = "-".join("one" if "{" in part else part for part in reading.path.split("/"))
    found = _get(name, reading.summary, parameters, _types()[reading.path], reading.is_bare)
    if reading.is_bare:
        found["responses"]["304"] = {"description": "Nothing changed since the ETag in `If-None-Match`."}
    if reading.words:
        found["description"] = f"The data of `nobrakes {reading.words} --json`."
    return found


def _field(field: Field) -> Schema:
    shape = dict(_TEXT[field.read])
    return {"type": "array", "items": shape} if field.is_list else shape


def _command(command: Command) -> Schema:
    properties = {field.name: _field(field) for field in command.fields} | {"request": dict(_COMMON["request"])}
    if command.danger:
        properties |= {"typed": {**_COMMON["typed"], "examples": [command.danger]}, "code": dict(_COMMON["code"])}
    form: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [field.name for field in command.fields if field.is_required]:
        form["required"] = required
    undo = {"type": ["integer", "null"], "description": "The `seq` with which `undo` undoes the command."}
    more: Schema = {"command": {"const": command.words}, "said": {"type": "string"}, "again": {"type": "boolean"}}
    more["undo"] = undo
    return {
        "operationId": f"do-{command.slug}",
        "summary": f"nobrakes {command.words}",
        "parameters": [_REPO],
        "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": form}}},
        "responses": _answers({}, more, "401", "403", "404", "409", "422", "503"),
    }


def document(request: Request) -> Response:
    return JSONResponse(openapi())


ROUTES = (Route(ADDRESS, document, methods=["GET"]),)


def text() -> str:
    return json.dumps(openapi(), indent=1, ensure_ascii=False) + "\n"


def main(argv: list[str]) -> int:
    """Print it, or write it to a file."""
    if len(argv) == 2 and argv[0] == "--write":
        with open(argv[1], "w", encoding="utf-8") as file:
            file.write(text())
        return 0
    if argv:
        sys.stderr.write("usage: python -m nobrakes.web.openapi [--write FILE]\n")
        return 2
    sys.stdout.write(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
