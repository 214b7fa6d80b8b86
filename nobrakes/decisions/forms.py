"""Questions with a form: what may be answered, what each choice means and costs, and parsing of typed answers.

1. `form` makes a form of JSON values, `as_values` returns them: one JSON text for one form.
2. Texts are cleaned and bounded here. Labels are one line and unique.
3. `judge` parses an option's label, its number, or a unique prefix of a label; `text_of` is the text of a value for
   agents, which `judge` parses back.
4. An option may need a reason (`why`): "LABEL: REASON" or "NUMBER: REASON" is the value. One may take any other words
   as reason (`rest`).
5. Mistakes are UsageErrors that say what to correct.
6. Imports stay cheap: agents ask with forms often.
"""

from ..text.cleaning import clean

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


KINDS = ("radio", "checkbox", "short_text", "long_text", "yes_no")
CHOICES = ("radio", "checkbox")
LEAST = {"radio": 2, "checkbox": 1}
MAX_OPTIONS = 12
PRIORITIES = (1, 2, 3)
DEFAULT_PRIORITY = 2
"""The default priority of a question."""
LABEL, MEANING, CONTEXT = 80, 300, 4000
SHORT, LONG, REASON = 200, 8000, 500
"""Characters of an answer, and of an option's reason."""
COSTS = "; costs "
NO_PREFERENCE = "no preference: decide it yourself"
NONE_OF_THEM = "none"
_FIELDS = ("context", "kind", "options", "priority", "recommended", "required")


class Option:
    """One choice: label, meaning, cost. `why`: it needs a reason. `rest`: other words become its reason."""

    __slots__ = ("costs", "label", "means", "rest", "why")

    def __init__(self, label: str, means: str = "", costs: str = "", why: bool = False, rest: bool = False) -> None:
        self.label, self.means, self.costs, self.why, self.rest = label, means, costs, why, rest


class Form:
    """Possible answers. Only `form` and `made` create one, so each is valid."""

    __slots__ = ("context", "kind", "options", "priority", "recommended", "required")

    def __init__(self, kind: str, options: "tuple[Option, ...]", required: bool, priority: int, context: str) -> None:
        self.kind, self.options, self.required, self.priority, self.context = kind, options, required, priority, context
        self.recommended: tuple[str, ...] = ()

    def labels(self) -> "list[str]":
        return ["yes", "no"] if self.kind == "yes_no" else [option.label for option in self.options]

    def rest(self) -> "str | None":
        return next((option.label for option in self.options if option.rest), None)

    def is_numbered(self) -> bool:
        return not any(label.isdigit() for label in self.labels())


def form(values: "Any") -> Form:
    """Validate JSON values. Raises UsageError."""
    if not isinstance(values, dict):
        raise _wrong("the form is not a JSON object", f"It has: {', '.join(_FIELDS)}.")
    _known(values, _FIELDS, "a form")
    if (kind := values.get("kind")) not in KINDS:
        raise _wrong(f"'{_shown(kind)}' is not a kind of question", f"Use one of: {', '.join(KINDS)}.")
    options = tuple(_option(one) for one in _list(values, "options"))
    _judge_options(kind, options)
    required = values.get("required", True)
    if not isinstance(required, bool):
        raise _wrong("`required` of a form has to be true or false")
    priority = values.get("priority", DEFAULT_PRIORITY)
    if type(priority) is not int or priority not in PRIORITIES:
        raise _wrong("the priority of a question has to be 1, 2 or 3", "1 is the most urgent.")
    context = values.get("context", "")
    if not isinstance(context, str):
        raise _wrong("the context of a question has to be a text")
    found = Form(kind, options, required, priority, _cut(clean(context).strip(), CONTEXT))
    found.recommended = _recommended(found, _list(values, "recommended"))
    return found


def made(
    kind: str,
    options: "Iterable[str]" = (),
    recommended: "Iterable[str]" = (),
    *,
    required: bool = True,
    priority: int = DEFAULT_PRIORITY,
    context: str = "",
) -> Form:
    """A form from texts: options as `LABEL: MEANING; costs COST`, or only the label."""
    values = {"kind": kind, "options": [*map(parted, options)], "recommended": list(recommended)}
    return form({**values, "required": required, "priority": priority, "context": context})


def parted(option: str) -> "dict[str, str]":
    label, _, rest = option.partition(":")
    means, _, costs = f"; {rest.strip()}".partition(COSTS)
    return {"label": label.strip(), "means": means.removeprefix("; ").strip(), "costs": costs.strip()}


def line(option: Option) -> str:
    more = (f"; {option.means}" if option.means else "") + (COSTS + option.costs if option.costs else "")
    return f"{option.label}: {more.removeprefix('; ')}" if more else option.label


def as_values(found: Form) -> "dict[str, Any]":
    return {
        "context": found.context,
        "kind": found.kind,
        "options": [_option_values(one) for one in found.options],
        "priority": found.priority,
        "recommended": list(found.recommended),
        "required": found.required,
    }


def _option_values(one: Option) -> "dict[str, Any]":
    values: dict[str, Any] = {"costs": one.costs, "label": one.label, "means": one.means}
    return values | {name: True for name in ("rest", "why") if getattr(one, name)}


def priority_of(values: "Mapping[str, Any] | None") -> int:
    return DEFAULT_PRIORITY if values is None else int(values["priority"])


def question(title: str, values: "Mapping[str, Any] | None") -> str:
    if values is None or not values["options"]:
        return title
    return "\n".join([title, *(f"- {line(_option(one))}" for one in values["options"])])


def _option(values: "Any") -> Option:
    if not isinstance(values, dict):
        raise _wrong("an option is not a JSON object", "An option has a label, a meaning and costs.")
    _known(values, ("costs", "label", "means", "rest", "why"), "an option")
    why, rest = values.get("why", False), values.get("rest", False)
    if not isinstance(why, bool) or not isinstance(rest, bool) or (rest and not why):
        raise _wrong("`why` and `rest` of an option have to be true or false, and `rest` goes with `why`")
    if any(not isinstance(text, str) for name, text in values.items() if name not in ("rest", "why")):
        raise _wrong("label, meaning and costs of an option have to be texts")
    if not (label := _one_line(values.get("label", ""))) or len(label) > LABEL:
        what = f"the label '{label[:20]}…' is too long" if label else "an option has no label"
        raise _wrong(what, f'Write "LABEL: what it means; costs …", with a label of at most {LABEL} characters.')
    means, costs = (_cut(_one_line(values.get(name, "")), MEANING) for name in ("means", "costs"))
    return Option(label, means, costs, why, rest)


def _judge_options(kind: str, options: "tuple[Option, ...]") -> None:
    if kind not in CHOICES:
        if options:
            raise _wrong(f"a question of kind {kind} has no options", "Leave options out, or use radio or checkbox.")
        return
    if not LEAST[kind] <= len(options) <= MAX_OPTIONS:
        allowed = f"from {LEAST[kind]} to {MAX_OPTIONS}"
        raise _wrong(f"a {kind} question has {allowed} options, not {len(options)}", "Split the question.")
    if kind != "radio" and any(option.why for option in options):
        raise _wrong(f"an option of a {kind} question cannot ask for a reason", "Use radio.")
    if sum(option.rest for option in options) > 1:
        raise _wrong("only one option can accept free text as its reason", "Set `rest` for one option only.")
    for why in (option.label for option in options if option.why):
        other = next((option.label for option in options if _behind(why, option.label) is not None), None)
        if other is not None:
            raise _wrong(f"the label '{other}' could also mean option '{why}' with a reason", "Rename an option.")
    seen: set[str] = set()
    for label in (option.label.casefold() for option in options):
        if label in seen:
            raise _wrong(f"two options are called '{label}'", "Give each option its own label.")
        seen.add(label)
        if kind == "checkbox" and ("," in label or label == NONE_OF_THEM):
            raise _wrong(f"'{label}' cannot be the label of a checkbox", "Use a label without a comma, and not 'none'.")


def _recommended(found: Form, given: "list[Any]") -> "tuple[str, ...]":
    if any(not isinstance(one, str) for one in given):
        raise _wrong("the recommendation has to be the label of an option")
    if given and not found.labels():
        raise _wrong(f"a question of kind {found.kind} has no options to recommend")
    chosen = [_called(found.labels(), _one_line(one)) for one in given]
    if None in chosen:
        raise _wrong(
            f"the recommended '{_shown(given[chosen.index(None)])}' is not an option", f"Options are: {_listed(found)}."
        )
    if len(chosen) > 1 and found.kind != "checkbox":
        raise _wrong("more than one option is recommended", "Recommend only one, or use checkbox.")
    needing = next((one.label for one in found.options if one.why and one.label in chosen), None)
    if needing is not None:
        raise _wrong(f"'{needing}' is recommended, but needs a person's reason", "Recommend another, or no option.")
    return tuple(label for label in found.labels() if label in chosen)


def judge(found: Form, given: str, recommended: bool = False) -> "Any":
    """The meant label, labels, bool or text; None: left open. `recommended`: as the agent says. Raises UsageError."""
    typed = clean(given).strip()
    if recommended:
        if typed:
            raise _wrong("an answer and the recommended answer were both given", "Give one answer only.")
        if not found.recommended:
            raise _wrong("the question has no recommended answer", _choices(found))
        if found.kind == "checkbox":
            return list(found.recommended)
        return found.recommended[0] == "yes" if found.kind == "yes_no" else found.recommended[0]
    if not typed:
        if not found.required:
            return None
        raise _wrong("the answer is empty", _choices(found))
    if found.kind == "long_text":
        return _text(typed, LONG)
    if found.kind == "short_text":
        if "\n" in typed:
            raise _wrong("the answer has more than one line", "The question asks for a short text.")
        return _text(" ".join(typed.split()), SHORT)
    if found.kind == "checkbox":
        return _several(found, " ".join(typed.split()))
    rest = found.rest()
    chosen = _one(found, " ".join(typed.split())) if rest is None else _or_rest(found, rest, typed)
    return chosen == "yes" if found.kind == "yes_no" else chosen


def text_of(found: Form, value: "Any") -> str:
    """The value as text for agents."""
    if value is None:
        return NO_PREFERENCE
    if found.kind == "yes_no":
        return "yes" if value else "no"
    if found.kind == "checkbox":
        return ", ".join(value) or NONE_OF_THEM
    return str(value)


def typed_as(found: Form, label: str) -> str:
    """What to type for the option: its number, or its label if numbers are ambiguous."""
    if found.kind == "yes_no" or not found.is_numbered():
        return label
    return str(found.labels().index(label) + 1)


def _one(found: Form, typed: str) -> str:
    """The label, with its reason if the option needs one."""
    with_reason = [option.label for option in found.options if option.why]
    if not with_reason or _called(found.labels(), typed) is not None:
        return _without_reason(_plain(found, typed), with_reason)
    given = [(label, rest) for label in with_reason if (rest := _behind(label, typed)) is not None]
    if given:
        chosen, reason = max(given, key=lambda one: len(one[0]))
    elif ":" not in typed or len(_named(found, typed)) == 1:
        chosen, reason = _plain(found, typed), ""
    else:
        name, _, reason = typed.partition(":")
        if (chosen := _plain(found, name.strip())) not in with_reason:
            raise _wrong(f"'{chosen}' takes no reason", _choices(found))
    reason = _cut(reason.strip(), REASON)
    return f"{chosen}: {reason}" if reason else _without_reason(chosen, with_reason)


def _without_reason(chosen: str, with_reason: "list[str]") -> str:
    if chosen in with_reason:
        raise _wrong(f"the option '{chosen}' needs a reason", f'Write the answer as "{chosen}: REASON".')
    return chosen


def _behind(label: str, typed: str) -> "str | None":
    rest = typed[len(label) :].lstrip()
    return rest[1:] if typed[: len(label)].casefold() == label.casefold() and rest.startswith(":") else None


def _or_rest(found: Form, rest: str, typed: str) -> str:
    """As `_one`; unknown words become the reason of `rest`, with their lines."""
    flat, (name, colon, words) = " ".join(typed.split()), typed.partition(":")
    if _behind(rest, flat) is not None:
        named, words = [rest], typed.split(":", rest.count(":") + 1)[-1]
    elif colon and _called(found.labels(), flat) is None:
        behind = [label for label in found.labels() if _behind(label, flat) is not None]
        named = behind or _whole(found, " ".join(name.split()))  # no beginning of a label: words have colons, too
    else:
        named, words = _named(found, flat), ""
    if named and (named != [rest] or not words.strip()):
        return _one(found, flat)
    return f"{rest}: {_text(words.strip() if named else typed, LONG)}"


def _plain(found: Form, typed: str) -> str:
    begun = _named(found, typed)
    if len(begun) == 1:
        return begun[0]
    what = f"'{_shown(typed)}' could be {', '.join(begun)}" if begun else f"'{_shown(typed)}' is not an option"
    raise _wrong(what, _choices(found))


def _named(found: Form, typed: str) -> "list[str]":
    whole = _whole(found, typed)
    return whole or [label for label in found.labels() if label.casefold().startswith(typed.casefold())]


def _whole(found: Form, typed: str) -> "list[str]":
    labels = found.labels()
    exact = _called(labels, typed)
    if exact is None and found.kind != "yes_no" and found.is_numbered() and typed.isascii() and typed.isdigit():
        return labels[int(typed[:4]) - 1 : int(typed[:4])] if int(typed[:4]) else []
    return [] if exact is None else [exact]


def _several(found: Form, typed: str) -> "list[str]":
    if typed.casefold() == NONE_OF_THEM:
        if found.required:
            raise _wrong("at least one option has to be chosen", _choices(found))
        return []
    chosen = {_one(found, part.strip()) for part in typed.split(",") if part.strip()}
    if not chosen:
        raise _wrong("the answer is empty", _choices(found))
    return [label for label in found.labels() if label in chosen]


def _called(labels: "list[str]", typed: str) -> "str | None":
    return next((label for label in labels if label.casefold() == typed.casefold()), None)


def _choices(found: Form) -> str:
    if found.kind == "yes_no":
        return "Answer yes or no."
    if found.kind == "checkbox":
        none = "" if found.required else f", or {NONE_OF_THEM}"
        return f"Options are: {_listed(found)}. Separate several options with commas{none}."
    return f"Options are: {_listed(found)}." if found.kind == "radio" else "Give a text."


def _listed(found: Form) -> str:
    if found.kind == "yes_no" or not found.is_numbered():
        return ", ".join(found.labels())
    return ", ".join(f"{place} {label}" for place, label in enumerate(found.labels(), 1))


def _text(typed: str, most: int) -> str:
    if len(typed) > most:
        raise _wrong(f"the answer has {len(typed)} characters; the limit is {most}", "Shorten the answer.")
    return typed


def _list(values: "dict[str, Any]", name: str) -> "list[Any]":
    found = values.get(name, [])
    if not isinstance(found, list | tuple):
        raise _wrong(f"`{name}` of a form has to be a list")
    return list(found)


def _known(values: "dict[str, Any]", names: "tuple[str, ...]", what: str) -> None:
    unknown = sorted(str(name) for name in values if name not in names)
    if unknown:
        raise _wrong(f"{what} has no '{_shown(unknown[0])}'", f"It has: {', '.join(names)}.")


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 4].rstrip() + " […]"


def _shown(value: object) -> str:
    return _one_line(str(value))[:40]


def _wrong(why: str, hint: str = "") -> Exception:
    from ..errors import UsageError

    return UsageError(why, hint)


# What a person is asked when an agent cannot go on: the most urgent question there is, with options.
#
# 1. The options are the agent's, if it has any; then guidance in the person's own words, which any other words are;
# then to let the bead rest. An option of the agent's that is called like one of these is left out.
# 2. Only a question with MARK in its evidence is a blocker: agents fill a form, and no evidence.
# 3. Imports nothing that costs, since agents call it.

MARK = "blocker"
"""In an escalation's evidence: an agent cannot go on."""
GUIDE = "give guidance"
PAUSE = "pause the bead"
MAX_BLOCKER_OPTIONS = MAX_OPTIONS - 2
OWN: "tuple[Mapping[str, Any], ...]" = (
    {"label": GUIDE, "means": "an agent continues with the bead and reads your words", "why": True, "rest": True},
    {"label": PAUSE, "means": "no agent works on the bead before you release it"},
)


def form_of(options: "Sequence[str]" = (), recommended: "Sequence[str]" = (), context: str = "") -> "dict[str, Any]":
    """Raises UsageError for an agent's invalid words."""
    own = {str(one["label"]) for one in OWN}
    offered = [one for one in map(parted, options) if one["label"].casefold() not in own]
    values = {"kind": "radio", "options": [*offered, *OWN], "recommended": list(recommended), "priority": 1}
    return as_values(form({**values, "context": context}))


def is_blocker(evidence: "Mapping[str, Any]") -> bool:
    return bool(evidence.get(MARK))


# What a person is asked where a step of a feature, or its Shaper, fails again and again: the same four ways in every
# stage. Agents go on with a person's words, or the plan is changed, or the feature rests; reverting it has a page and
# an approval of its own. Only what nobrakes itself asked is meant so, since agents fill a form: of a bead with FEATURE
# in its evidence, of a Shaper with ABOUT as well.
FEATURE, ABOUT = "feature", "about"
RETRY = "retry with guidance"
REPLAN = "change the plan"
FAILING_PAUSE = "pause the feature"
ROLL_BACK = "roll back the feature"


def is_roll_back(evidence: "Mapping[str, Any]", resolution: str) -> bool:
    """Whether a person chose to roll the feature back at this question."""
    return bool(evidence.get(FEATURE)) and resolution == ROLL_BACK


WAYS = (RETRY, REPLAN, FAILING_PAUSE, ROLL_BACK)
_RETRIES: "Mapping[str, Any]" = {
    "label": RETRY,
    "means": "the bead's failures no longer count, and the next prompt contains your words",
    "why": True,
    "rest": True,
}
_RESTS: "tuple[Mapping[str, Any], ...]" = (
    {"label": FAILING_PAUSE, "means": "no agent starts on the feature or its beads before you resume it"},
    {"label": ROLL_BACK, "means": "the feature is paused; next you see what a rollback undoes, and confirm"},
)


def failing_form() -> "dict[str, Any]":
    plan = {"label": REPLAN, "means": "the feature's plan is changed; the bead is held until you approve the new plan"}
    return as_values(form({"kind": "radio", "options": [_RETRIES, plan, *_RESTS], "priority": 1}))


def shaper_form(*go_on: str, priority: int = 1) -> "dict[str, Any]":
    """`go_on`: options instead of RETRY, the recommended one first."""
    own: list[Mapping[str, Any]] = [*map(parted, go_on)]
    plan = {"label": REPLAN, "means": "the Shaper changes the plan as you say; reviewers read it again", "why": True}
    values = {"kind": "radio", "options": [*(own or [_RETRIES]), plan, *_RESTS], "priority": priority}
    return as_values(form({**values, "recommended": [one["label"] for one in own[:1]]}))
