"""JSON by the C code that the module json wraps: that module imports re, which costs more than a hot command's work."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Context:
    """The scanner's view of its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: "dict[str, str]" = {}  # noqa: RUF012 - the scanner's own


def loads(text: str) -> "Any":
    """Parse trusted JSON text of SQLite or a daemon."""
    import _json

    scanner: Any = _json.make_scanner
    return scanner(_Context)(text, 0)[0]


def _refuse(value: object) -> "Any":
    raise TypeError(f"{type(value).__name__} is not a value that JSON has")


def dumps(value: "Any") -> str:
    """One line, as cli.outcome.dumps writes it."""
    import _json

    encoder: Any = _json.make_encoder
    return "".join(encoder(None, _refuse, _json.encode_basestring, None, ":", ",", False, False, False)(value, 0))
