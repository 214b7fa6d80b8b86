"""The form of a question from the words that an agent asks with: None where it asks for any text."""

from ...core.beads.forms import USUAL, as_values, made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def form_of(
    options: "Sequence[str]",
    recommended: "Sequence[str]",
    checkbox: bool,
    yes_no: bool,
    long: bool,
    optional: bool,
    priority: "int | None",
    context: str,
) -> "dict[str, Any] | None":
    """The form as JSON values; UsageError where the words do not fit each other."""
    kinds = [name for name, wanted in (("yes-no", yes_no), ("long", long), ("options", bool(options))) if wanted]
    if len(kinds) > 1 or (checkbox and not options):
        from ...core.errors import UsageError

        if checkbox and not options:
            raise UsageError("a checkbox needs options", 'Give each as --option "LABEL: what it means; costs …".')
        raise UsageError(f"a question is not {' and '.join(kinds)} at once", "Use one of options, yes-no and long.")
    if not (kinds or recommended or optional or priority is not None or context):
        return None
    kind = "yes_no" if yes_no else "long_text" if long else "short_text"
    if options:
        kind = "checkbox" if checkbox else "radio"
    urgent = USUAL if priority is None else priority
    return as_values(made(kind, options, recommended, required=not optional, priority=urgent, context=context))
