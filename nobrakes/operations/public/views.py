"""What people's surfaces show, by the command that shows it: one typed view model each, the same for all of them.

1. `--json` is `plain` of the view under `data`; a page and a phone read the same values.
2. LANGUAGE grows when a field changes its meaning or goes. Fields are added in the same version.
"""

from collections.abc import Mapping
from typing import Any

from ...core.beads.bead import Bead
from ...core.beads.escalations import Escalation
from ...core.board import Limits
from ...core.forge.feature import Feature
from ...core.forge.plan_changes import PlanChanges
from ...core.forge.rounds import SignOff
from ...core.public.schema import Schema, schema
from ...core.pulls.shown import RequestView
from ...core.review.flakes import Line as Flaked
from ...core.review.quarantine import Quarantined
from ..decisions.view import Asked, DecisionView
from ..forge.approving import Approved
from ..forge.strategy import StrategyView
from ..forging.plan_reviews import ReviewsView
from ..forging.rollback import RollbackView
from ..forging.scanning import ScanView
from ..forging.views import FeatureListView, FeatureView
from ..projects.confirming import Confirmed
from ..projects.looking import ProjectPage
from ..projects.projects import ProjectsView, ProjectView
from ..projects.whats_next import NextView
from ..views.board import BoardView, StatusView
from ..views.diff import DiffView
from ..views.graph.view import GraphView
from ..views.graph.what_if import WhatIf
from ..views.history import BeadHistory, Review
from ..views.listing import ListedBead
from ..views.next_step import NextStep
from ..views.one_bead import WholeBead
from ..views.readiness import Explained
from ..views.transcripts import AttemptLines

LANGUAGE = 1


NAMES: Mapping[str, Any] = {"Limits": Limits, "Quarantined": Quarantined}
"""Types that modules of views know for checking alone."""
VIEWS: Mapping[str, Any] = {
    "status": StatusView,
    "board": BoardView,
    "list": list[ListedBead],
    "show": WholeBead,
    "ready": list[Bead],
    "ready --explain": list[Explained],
    "escalations": list[Asked],
    "escalation": DecisionView,
    "history": BeadHistory,
    "review": list[Review],
    "diff": DiffView,
    "history --transcript": list[AttemptLines],
    **dict.fromkeys(("graph --focus", "graph --epics", "graph --all"), GraphView),
    "graph --what-if": WhatIf,
    "flakes": list[Flaked],
    "commit-strategy --dry-run": StrategyView,
    "commit-strategy": Approved,
    "forge reviews": ReviewsView,
    "forge sign-off": SignOff,
    "forge checkpoint": Feature,
    "project list": ProjectsView,
    "project show": ProjectPage,
    "project use": Confirmed,
    "project whats-next": NextView,
    **dict.fromkeys(("project new", "project archive"), ProjectView),
    "forge list": FeatureListView,
    "forge show": FeatureView,
    "forge show --version": PlanChanges,
    "forge scan": ScanView,
    **dict.fromkeys(("forge new", "forge edit", "forge change", "forge discuss"), Feature),
    "forge rollback": RollbackView,
    **dict.fromkeys(("forge pause", "forge resume", "forge cancel", "forge archive"), Feature),
    "pr list": list[RequestView],
    "pr show": RequestView,
    "answer": Escalation,
    "resolve": Escalation,
    **dict.fromkeys(("add", "edit", "hold", "release", "defer", "cancel", "done", "reopen"), Bead),
}
"""Command -> the type of its data. `nobrakes` alone has its `next`: NEXT."""
NEXT = NextStep


def schema_of(words: str) -> Schema:
    """The JSON schema of what the command hands out."""
    return schema(VIEWS[words], NAMES)
