"""Texts of a bead that another tool wrote and nobrakes has no field for: they are kept in `metadata`, and told.

Imports nothing: agents ask for them all night. The words are people's and agents' of another tool: data.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KEPT = "x_beads"
"""The key of a bead's metadata under which an import keeps what it has no field for."""

COMMENTS = 40
"""So many comments are told, the latest."""


def texts(metadata: "Mapping[str, Any]") -> "list[tuple[str, str]]":
    """(title, text) of the design and the comments that came with a bead."""
    kept = metadata.get(KEPT)
    if not isinstance(kept, dict):
        return []
    found = []
    design = kept.get("design")
    if isinstance(design, str) and design.strip():
        found.append(("Design", design))
    comments = [
        one for one in _list(kept.get("comments")) if isinstance(one, dict) and str(one.get("text") or "").strip()
    ]
    if comments:
        rows = [f"{one.get('author') or 'somebody'}: {one['text']}" for one in comments[-COMMENTS:]]
        if len(comments) > COMMENTS:
            rows.insert(0, f"[{len(comments) - COMMENTS} older ones left out]")
        found.append(("Comments", "\n\n".join(rows)))
    return found


def _list(value: "Any") -> "list[Any]":
    return value if isinstance(value, list) else []
