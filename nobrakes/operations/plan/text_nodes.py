"""Nodes made from texts that are no plan files: cleaned, bounded, and judged as a plan file's are."""

from dataclasses import replace
from typing import Any

from ...core.beads.bead import MAX_TITLE
from ...core.text.cleaning import clean
from .markdown_lines import plain_title
from .nodes import Plan, plan_of
from .values import MAX_TEXT

KEY = r"(?:after[ \t]*:|(?:depends on|blocked by|waits for)\b[ \t]*:?)"
"""How a text says that something is waited for."""


def tidy(text: str) -> str:
    """The text with one kind of line ending, and without what a person does not see."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
    return clean(plain)


def made_plan(nodes: list[dict[str, Any]], lines: list[str], source: str, told: list[str]) -> Plan:
    """The nodes as a plan, judged as a plan file is; `lines`: where each comes from."""
    if not nodes:
        return Plan((), False, source, tuple(told))
    plan = plan_of({"beads": nodes}, source)
    return replace(
        plan,
        nodes=tuple(replace(node, where=where) for node, where in zip(plan.nodes, lines, strict=True)),
        problems=tuple(told),
    )


def bounded(title: str, description: str, where: str, told: list[str]) -> dict[str, Any]:
    """The fields for a title and a description, cut to what a bead may have; a long title is in the description."""
    full = plain_title(title)
    if len(full) > MAX_TITLE:
        description = f"{full}\n\n{description}".strip()
        told.append(f"{where}: its title is longer than {MAX_TITLE} characters: all of it is in the description")
        full = full[: MAX_TITLE - 1].rstrip() + "…"
    if len(description) > MAX_TEXT:
        told.append(f"{where}: its text was cut to {MAX_TEXT} characters")
        description = description[: MAX_TEXT - 1] + "…"
    return {"title": full or where, **({"description": description} if description else {})}
