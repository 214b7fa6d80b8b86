"""Pages of the site: each function is a page, or a part of one that is asked for by itself."""

import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..beads.model import Bead, Status
from ..beads.service import bead_page, taking
from ..beads.service import board as beads_board
from ..command_table import AT_HOME
from ..config.setup import changing
from ..daemon.service import control
from ..daemon.service import now as views
from ..decisions import forms
from ..decisions.commands import approve
from ..decisions.model import Escalation
from ..decisions.service import page
from ..decisions.service.all_blockers import asks, for_you
from ..decisions.service.view import DecisionView
from ..doctor import health as doctor_health
from ..doctor.service import examine, opened_store, or_none
from ..errors import NobrakesError
from ..features.service import feature_page as features_views
from ..features.service import rollback, strategy
from ..features.service.controls import agents_of, configured_criteria
from ..features.service.feature_page import At
from ..machine import registry
from ..machine.web_state import OWN, words
from ..pictures import draw
from ..pictures.service import MAX_BEADS, MODES
from ..projects.service import projects_folder as projects_projects
from ..projects.service import sprint_approval
from ..requests import service as requests_service
from ..review.reading import OFF
from ..review.service import merges as review_merges
from ..review.service import previews, send_back, undo
from ..review.service.landed import reading_rules
from ..sessions.service import relay
from ..sessions.service import viewing as sessions_live
from .access import in_editor, local, reach, site_of
from .api import graph_of
from .commands import COMMANDS, command_of, takes_code
from .rendering import Frame, now_view, opened, read, render, repository

if TYPE_CHECKING:
    from ..app import App

MAX_WORDS = 200
WAYS = ("tree", "kanban", "timeline")


def bead(request: Request) -> Response:
    with opened(request) as app:
        id = request.path_params["id"]
        view = bead_page.bead_page(app.store, app.git, id)
        steps = undo.undoable(app.store, view.history.bead.id)
        live = [one for one in sessions_live.live(app.store, app.paths, app.config) if one.worker.bead == id]
        topics = (f"b:{view.history.bead.id}", *(f"s:{one.worker.attempt}" for one in live))
        values: dict[str, Any] = {"view": view, "steps": steps, "live": live, "reach": reach(request)}
        folder, is_persons = taking.folder_of(app.store, app.paths, view.history.bead)
        values |= {"folder": folder, "is_persons": is_persons, "editor": in_editor(request, folder)}
        values["preview"] = previews.shown(app.paths, view.history.bead.id)
        values["workspace"] = app.git.has_workspace(view.history.bead.id)
        values["has_server"] = bool(app.config.preview.command)
        is_coded = view.history.bead.status is Status.DONE and takes_code(app)  # it looks for a sandbox
        return render(request, "bead.html", takes_code=is_coded, topics=topics, **values)


def changes(request: Request) -> Response:
    with opened(request) as app:
        id = request.path_params["id"]
        bead = app.store.bead(id)
        of = (bead.title, f"bead/{id}", f"nobrakes diff {id}")
        sends_back = bead if send_back.allows(bead) else None
        return _difference(request, of, lambda: review_merges.diff(app.store, app.git, id), sends_back)


def session_changes(request: Request) -> Response:
    with opened(request) as app:
        number = request.path_params["number"]
        of = (relay.found(app.store, number).title, f"sessions/{number}", "")
        return _difference(request, of, lambda: relay.diff(app.store, app.paths, number))


def _difference(
    request: Request,
    of: tuple[str, str, str],
    diff: Callable[[], review_merges.DiffView],
    sends_back: Bead | None = None,
) -> Response:
    """`of`: title, page, and the command that shows all of it; empty: git's. `?sides=2`: in two columns. `sends_back`:
    the bead, if its lines take comments."""
    is_split = request.query_params.get("sides") == "2"
    values: dict[str, Any] = {"title": of[0], "page": of[1], "command": of[2], "is_split": is_split}
    values["sends_back"] = sends_back
    try:
        view = diff()
    except NobrakesError as error:
        return render(request, "difference.html", view=None, error=error, **values)
    patch = read(view.patch)
    numbers = {file.path: number for number, file in enumerate(patch.files, 1)}
    return render(request, "difference.html", view=view, patch=patch, numbers=numbers, error=None, **values)


def all_commands(request: Request) -> Response:
    with opened(request) as app:
        there = (one for one in COMMANDS if not app.is_home or one.words in AT_HOME)
        return render(request, "commands.html", commands=sorted(there, key=lambda one: one.words))


def command(request: Request) -> Response:
    """The form of any command, filled from the address."""
    found, query = command_of(request), request.query_params
    given = {one.name: "\n".join(query.getlist(one.name)) for one in found.parameters if one.name in query}
    with opened(request) as app:
        then = local(query["then"]) if "then" in query else f"/r/{request.path_params['repo']}/"
        is_coded = bool(found.danger) and takes_code(app)
        offers = {"what": _approvable(app)} if found.words == "approve" else {}
        values: dict[str, Any] = {"command": found, "given": given, "then": then, "offers": offers}
        return render(request, "do.html", takes_code=is_coded, **values)


def _approvable(app: "App") -> list[tuple[str, str]]:
    waiting = approve(app, "")[0].waiting
    return [(one.what, one.text) for one in waiting if one.command == f"nobrakes approve {one.what}"]


def board(request: Request) -> Response:
    wanted = request.query_params.get("q", "")[:MAX_WORDS].strip()
    with opened(request) as app:
        view = beads_board.columns(app.store, wanted)
        topics = ("found" if wanted else "board",)
        return render(request, "board.html", view=view, names=tuple(beads_board.HEADINGS), topics=topics)


def breaker(request: Request) -> Response:
    with opened(request) as app:
        view = views.breaker(app.store, app.paths, app.config, app.misconfigured)
        return render(request, "breaker.html", view=view, takes_code=takes_code(app), topics=("breaker",))


def desk(request: Request) -> Response:
    with opened(request) as app:
        return _desk(request, app, None, request.query_params.get("all") == "1")


def _desk(request: Request, app: "App", view: DecisionView | None, is_all: bool = False) -> Response:
    form = None if view is None or view.form is None else forms.form(view.form)
    groups, now = page.groups(app.store, page.listed(app.store, is_all)), app.store.now()
    here = next((group for group in groups if view is not None and any(one.id == view.id for one in group)), [])
    found = asks(app.store, app.paths, app.config, app.misconfigured)
    return render(
        request,
        "desk.html",
        groups=groups,
        together=_with_forms(here) if len(here) > 1 else (),
        chosen_rollback=None if view is None else _chosen_rollback(app, view),
        asks=found,
        view=view,
        form=form,
        is_all=is_all,
        now=now,
        topics=("desk",),
    )


def _chosen_rollback(app: "App", view: DecisionView) -> dict[str, Any] | None:
    """What a feature's rollback takes back, once a person chose it at this question and until it begins."""
    if not forms.is_roll_back(view.evidence, view.resolution):
        return None
    feature = app.store.feature(str(view.evidence[forms.FEATURE]))
    counted = rollback.counted(app.store, feature)
    if counted is None or counted.bead:
        return None
    return {"feature": feature.id, "counted": counted, "takes_code": takes_code(app)}


def _with_forms(group: Iterable[Escalation]) -> list[tuple[Escalation, forms.Form | None]]:
    return [(one, None if one.form is None else forms.form(one.form)) for one in group]


def one(request: Request) -> Response:
    """Reads git at most once."""
    number = request.path_params["number"]
    is_whole = request.query_params.get("whole") == "1"
    with opened(request) as app:
        view = page.decision(app.store, app.paths, lambda: app.git, lambda: app.config, number, is_whole)
        return _desk(request, app, view)


# A feature's forms are the commands of the CLI (`nobrakes forge …`); everything that agents wrote is text.


def features(request: Request) -> Response:
    """Words `q`, `state`, `sort` and `archived` are in the address."""
    asked = request.query_params
    state, sort = asked.get("state", "all"), asked.get("sort", "activity")
    state, sort = (
        state if state in features_views.STATES else "all",
        sort if sort in features_views.SORTS else "activity",
    )
    with opened(request) as app:
        words = asked.get("q", "")[:MAX_WORDS].strip()
        view = features_views.listed(app.store, state, words, sort, asked.get("archived") == "1")
        usual = configured_criteria(app.config, app.paths)
        return render(
            request,
            "features.html",
            view=view,
            usual=usual,
            archived=asked.get("archived") == "1",
            states=features_views.STATES,
            sorts=features_views.SORTS,
            topics=("beads",),
        )


def feature(request: Request) -> Response:
    way = request.query_params.get("as", "tree")
    with opened(request) as app:
        view = features_views.view(app.store, request.path_params["feature"])
        looks = features_views.reviews(app.store, app.config.forge, view.feature.id)
        talks = [one for one in (view.feature.session, *(look.session for look in looks.running)) if one is not None]
        turns = sessions_live.running_turns(app.store, app.paths, talks)
        return render(
            request,
            "feature.html",
            view=view,
            looks=looks,
            is_read=reading_rules(app.store, app.config, view.feature.id).way != OFF,
            turns=turns,
            agents=len(agents_of(app.store, view.feature.id, stopping=False)),
            groups=[_with_forms(group) for group in page.groups(app.store, view.questions)],
            way=way if way in WAYS else "tree",
            ways=WAYS,
            columns=tuple(at.value for at in At),
            rollback=rollback.counted(app.store, view.feature),
            takes_code=takes_code(app),
            topics=("beads", "sessions", "desk", "plan", *(f"t:{one.turn.id}" for one in turns)),
        )


def graph(request: Request) -> Response:
    asked = request.query_params
    values = {name: asked.get(name, "")[:MAX_WORDS] for name in ("mode", "epic", "q")}
    with opened(request) as app:
        view = graph_of(app, {**values, "open": asked.get("open") == "1"})
        return render(
            request,
            "graph.html",
            view=view,
            modes=MODES,
            chosen=asked.get("bead", "")[:MAX_WORDS],
            asked=str(request.url.query),
            too_many=draw.too_many(view.too_many, MAX_BEADS) if view.too_many else "",
            circles=[(draw.circle(one.members, one.cut, one.stuck), one.cut) for one in view.cycles],
            topics=("graph",),
        )


# Nothing that a shell runs is edited from the pages of health and set-up: what to type is printed.
def health(request: Request) -> Response:
    """Starts no program: a button runs the doctor, whose findings show their age."""
    with opened(request) as app:
        view = doctor_health.health(
            app.store, app.paths, app.config, site_of(request).looks.last(app.paths.root), app.misconfigured
        )
        return render(request, "health.html", view=view, topics=("health",))


def set_up(request: Request) -> Response:
    with opened(request) as app:
        config = app.config
        steps = doctor_health.set_up(app.store, app.paths, config, app.misconfigured)
        return render(request, "set_up.html", steps=steps, config=config, topics=("set-up",))


async def look(request: Request) -> Response:
    """Run the doctor, then show its findings."""
    word, looks = request.path_params["repo"], site_of(request).looks

    def run() -> None:
        with repository(word) as app:
            store, git = opened_store(app.paths, lambda: app.store), or_none(lambda: app.git)
            config = app.config
            looks.look(
                app.paths.root,
                lambda: examine(
                    store,
                    None if isinstance(git, NobrakesError) else git,
                    app.paths,
                    config,
                    app.sandbox_trouble,
                    app.wall_trouble,
                    app.misconfigured,
                ),
            )

    await run_in_threadpool(run)
    return RedirectResponse(f"/r/{word}/health", 303)


def live(request: Request) -> Response:
    with opened(request) as app:
        found = sessions_live.live(app.store, app.paths, app.config)
        topics = ("live", *(f"s:{one.worker.attempt}" for one in found))
        return render(request, "live.html", view=found, topics=topics)


def attempt(request: Request) -> Response:
    before = request.query_params.get("before", "")
    with opened(request) as app:
        number = request.path_params["attempt"]
        at = int(before) if before.isascii() and before.isdigit() and len(before) < 9 else None
        view = sessions_live.attempt_page(app.store, app.paths, app.config, number, at)
        topics = (f"s:{number}",) if view.watched is not None and at is None else ()
        return render(request, "attempt.html", view=view, now=app.store.now(), topics=topics)


def merges(request: Request) -> Response:
    with opened(request) as app:
        view = review_merges.merges(app.store, app.store.setting(control.FROZEN))
        return render(request, "merges.html", view=view, takes_code=takes_code(app), topics=("merges",))


def now(request: Request) -> Response:
    with opened(request) as app:
        if app.is_home:
            return RedirectResponse("/sessions", 303)
        view, steps = now_view(app, is_visiting=True)
        return render(request, "now.html", view=view, steps=steps, topics=("now",))


def plan(request: Request) -> Response:
    way = request.query_params.get("as", "tree")
    with opened(request) as app:
        view = strategy.plan_page(app.store)
        return render(request, "plan.html", view=view, way=way if way in WAYS else "tree", ways=WAYS, topics=("plan",))


def settings(request: Request) -> Response:
    """`?q=`: those with these words; `?changed=1`: those that differ from their default."""
    asked = request.query_params
    words, is_only = asked.get("q", "")[:MAX_WORDS].strip(), asked.get("changed") == "1"
    with opened(request) as app:
        found = [
            one
            for one in changing.listed(app.config)
            if (one.is_changed or not is_only)
            and all(word in f"{one.key} {one.help}".lower() for word in words.lower().split())
        ]
        values: dict[str, Any] = {"found": found, "words": words, "changed": is_only, "wrong": app.misconfigured}
        return render(request, "settings.html", topics=("settings",), **values)


def cost(request: Request) -> Response:
    with opened(request) as app:
        return render(request, "cost.html", view=views.costs(app.store, app.config))


def machine(request: Request) -> Response:
    with opened(request):
        return render(request, "machine.html", view=registry.view(), named=words(registry.paths()))


MAX_RECORDS = 50


def evidence(request: Request) -> Response:
    """`?bead=`: its records; `?check=1`: main is compared with the chain."""
    asked = request.query_params
    bead = asked.get("bead", "")[:MAX_WORDS]
    with opened(request) as app:
        found = list(islice(review_merges.records(app.git, bead), MAX_RECORDS + 1))
        values: dict[str, Any] = {"records": found[:MAX_RECORDS], "more": found[MAX_RECORDS:], "bead": bead}
        report = review_merges.verify(app.git) if asked.get("check") == "1" else None
        return render(request, "evidence.html", report=report, **values)


def projects(request: Request) -> Response:
    found = sprint_approval.pages()
    named = words([one.project.path for one in found])
    return render(
        request,
        "projects.html",
        view=found,
        named=named,
        own=Frame(OWN),
        chats=projects_projects.chats(),
        events=projects_projects.chat_events(),
        now=time.time(),
    )


def sprints(request: Request) -> Response:
    """`?check=1`: its documents are compared with each other and with the commits."""
    with opened(request) as app:
        view = sprint_approval.sprints_page(app.store, app.git, app.config, app.paths.root)
        found = sprint_approval.look(view.name).findings if request.query_params.get("check") == "1" else None
        return render(request, "sprints.html", view=view, found=found, topics=("sprints",))


def repositories(request: Request) -> Response:
    """Waiting repositories come first; those without a word have no pages."""
    found = registry.repositories(for_you)
    named = words([one.path for one in found if not one.is_own])
    lines = [("" if one.state == registry.GONE else named.get(one.path, OWN), one) for one in found]
    lines.sort(key=lambda line: (-(line[1].for_you or 0), line[1].state != registry.AT_WORK, -line[1].seen_at))
    return render(request, "repositories.html", view=lines, now=time.time())


def own_sessions(request: Request) -> Response:
    """The person's own sessions, and the repositories in which one can begin. It creates nothing."""
    found = []
    if registry.home_paths():
        with repository(OWN) as app:
            found = relay.listed(app.store, everything=False)
    values: dict[str, Any] = {"own": Frame(OWN), "sessions": found, "known": words(registry.paths())}
    return render(request, "own_sessions.html", offered=registry.offered(), now=time.time(), **values)


MAX_REQUESTS = 100


def requests(request: Request) -> Response:
    """Waiting ones with their checks and comments, and the latest finished ones."""
    with opened(request) as app:
        waiting = requests_service.listed(app.store)
        ids = {one.bead for one in waiting}
        over = [one for one in requests_service.listed(app.store, everything=True) if one.bead not in ids]
        return render(
            request,
            "requests.html",
            waiting=waiting,
            over=over[: -MAX_REQUESTS - 1 : -1],
            lands=app.config.review.by_request,
            unsaid=requests_service.unsaid(app.store, app.config),
            now=app.store.now(),
            topics=("requests",),
        )


def sessions(request: Request) -> Response:
    """Words `q`, `state`, `sort` and `page` are in the address."""
    asked = request.query_params
    page = asked.get("page", "1")
    number = int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 6 else 1
    words = asked.get("q", "")[:MAX_WORDS].strip()
    with opened(request) as app:
        view = sessions_live.agent_sessions(
            app.store, words, asked.get("state", "all"), asked.get("sort", "newest"), max(1, number)
        )
        return render(
            request,
            "sessions.html",
            view=view,
            states=sessions_live.STATES,
            sorts=sessions_live.SORTS,
            topics=("sessions",),
        )


def session(request: Request) -> Response:
    with opened(request) as app:
        view = relay.view(app.store, app.paths, request.path_params["number"])
        return render(request, "session.html", view=view, now=app.store.now(), topics=("sessions",))


_PAGES = {
    "/r/{repo}/bead/{id}": bead,
    "/r/{repo}/bead/{id}/diff": changes,
    "/r/{repo}/board": board,
    "/r/{repo}/breaker": breaker,
    "/r/{repo}/do": all_commands,
    "/r/{repo}/cost": cost,
    "/r/{repo}/evidence": evidence,
    "/r/{repo}/machine": machine,
    "/r/{repo}/do/{command}": command,
    "/r/{repo}/desk": desk,
    "/r/{repo}/desk/{number:int}": one,
    "/r/{repo}/features": features,
    "/r/{repo}/features/{feature}": feature,
    "/r/{repo}/graph": graph,
    "/r/{repo}/health": health,
    "/r/{repo}/set-up": set_up,
    "/r/{repo}/settings": settings,
    "/r/{repo}/live": live,
    "/r/{repo}/live/{attempt:int}": attempt,
    "/r/{repo}/merges": merges,
    "/r/{repo}/": now,
    "/r/{repo}/plan": plan,
    "/projects": projects,
    "/r/{repo}/sprints": sprints,
    "/": repositories,
    "/r/{repo}/requests": requests,
    "/r/{repo}/sessions": sessions,
    "/r/{repo}/sessions/{number:int}": session,
    "/r/{repo}/sessions/{number:int}/diff": session_changes,
    "/sessions": own_sessions,
}
ROUTES = (
    *(Route(address, page, methods=["GET"]) for address, page in _PAGES.items()),
    Route("/r/{repo}/health/look", look, methods=["POST"]),
)
