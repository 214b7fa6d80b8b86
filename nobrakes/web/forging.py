"""Commands of pages about features: rows of nobrakes.web.commands.

1. Boxes that are ticked beforehand send the numbers that stay ticked (`only`), and 0 always, so that none is a choice.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..wording.text import count, one_line
from .fields import Field, flag, long_text, number, rows, text, word

if TYPE_CHECKING:
    from ..app import App
    from ..operations.forging.features import Wanted

Values = Mapping[str, Any]
Do = Callable[["App", Values, str], tuple[Any, str]]
FEATURE = Field("feature", word, True)
_SAID = (
    Field("description", long_text),
    Field("criterion", rows),
    Field("only", number, is_list=True),
    Field("without", number, is_list=True),
    Field("file", rows),
    Field("notes", long_text),
)
_STEP = (FEATURE, Field("text", long_text, True), Field("step", word))


def _wanted(values: Values) -> "Wanted":
    from ..operations.forging.features import Wanted

    only = frozenset(values["only"]) if "only" in values else None
    return Wanted(
        values.get("title"),
        values.get("description"),
        tuple(values.get("criterion", ())),
        frozenset(values.get("without", ())),
        values.get("file"),
        values.get("notes"),
        only,
    )


def _new(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations.forging import features

    made = features.begin(app.store, app.paths, app.config, app.git, _wanted(values), actor)
    return made, f"feature {made.id} began: {one_line(made.title)}"


def _edit(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations.forging import features

    after = features.edit(app.store, app.paths, app.config, values["feature"], _wanted(values), actor)
    return after, f"feature {after.id} is changed"


def _moved(name: str, said: str) -> Do:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        from ..operations.forging import features

        found = getattr(features, name)(app.store, app.paths, values["feature"], actor)
        return found, f"feature {found.id} {said}"

    return do


def _resume(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations.forging.resuming import Way, resume, way_of

    way = way_of(*(bool(values.get(name)) for name in ("fresh", "from_base", "view")))
    found = resume(app.store, app.paths, values["feature"], actor, way)
    return found, f"feature {found.id} {'is as it was' if way is Way.VIEW else 'goes on'}"


def rollback(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    """Take the feature back: its open beads at once, what is on main of it by one commit through the Reviewer."""
    from ..operations.forging import rollback as rolling

    done = rolling.begin(app.store, app.git, app.paths, values["feature"], actor)
    said = f"{count(len(done.cancels), 'bead')} cancelled"
    if done.is_over:
        return done, f"feature {done.feature} is rolled back: {said}, and nothing of it was on main"
    return done, f"{said}; bead {done.bead} takes {count(len(done.reverts), 'merge')} off main, through the Reviewer"


def _archive(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations.forging import features

    back = bool(values.get("back"))
    found = features.archive(app.store, values["feature"], not back, actor)
    return found, f"feature {found.id} is {'in lists again' if back else 'hidden from lists; nothing is removed'}"


def _said(name: str) -> Do:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        from ..operations.forging import features

        say = getattr(features, name)
        found = say(app.store, app.paths, values["feature"], values["text"], actor, values.get("step", ""))
        return found, f"the Shaper of feature {found.id} is told"

    return do


def _sign_off(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations.forging.sign_off import sign_off

    id_, rules = values["feature"], app.config.forge.rules()
    risk, reason = bool(values.get("take_risk")), values.get("reason", "")
    kept = sign_off(app.store, rules, id_, actor, take_risk=risk, reason=reason)
    return (
        kept,
        f"version {kept.version} of the plan of {id_} is signed off: nothing is live before your yes to the plan",
    )


def _checkpoint(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations.forging.asking_checkpoint import checkpoint

    found = checkpoint(app.store, values["feature"], actor)
    return found, f"feature {found.id} goes back to its plan with what was collected"


ROWS: tuple[tuple[str, Do, tuple[Field, ...]], ...] = (
    ("forge new", _new, (Field("title", text, True), *_SAID)),
    ("forge edit", _edit, (FEATURE, Field("title", text), *_SAID)),
    ("forge change", _said("ask_change"), _STEP),
    ("forge discuss", _said("discuss"), _STEP),
    ("forge pause", _moved("pause", "is paused; it can go on"), (FEATURE,)),
    ("forge resume", _resume, (FEATURE, Field("fresh", flag), Field("from_base", flag), Field("view", flag))),
    ("forge cancel", _moved("cancel", "is stopped and paused; it can go on"), (FEATURE,)),
    ("forge archive", _archive, (FEATURE, Field("back", flag))),
    ("forge sign-off", _sign_off, (FEATURE, Field("take_risk", flag), Field("reason", long_text))),
    ("forge checkpoint", _checkpoint, (FEATURE,)),
)
"""(the words, what is done, the fields)"""
