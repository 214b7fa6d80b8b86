"""Values as JSON has them: what every surface hands out is made by `plain`, so that all hand out the same."""

from collections.abc import Iterable
from typing import Any

HIDDEN = frozenset(("token",))
"""Fields that leave the process nowhere."""


def plain(value: Any) -> Any:
    """`value` as JSON values: dataclasses by field without what is hidden, tuples as lists, sets sorted."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None and hasattr(value, "_fields"):
        fields = value._fields
    if fields is not None:
        return {name: plain(getattr(value, name)) for name in fields if name not in HIDDEN}
    if hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not a value that JSON has")
