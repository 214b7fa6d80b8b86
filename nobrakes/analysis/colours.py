"""One colour for each kind of bead, in every format: dark text on light, told apart without colour by its word."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """CSS colours of a box."""

    fill: str
    line: str
    text: str = "#1f2328"


COLOURS: Mapping[str, Colour] = {
    "draft": Colour("#f6f8fa", "#8c959f"),
    "ready": Colour("#ddf4ff", "#0969da"),
    "blocked": Colour("#ffffff", "#8c959f"),
    "working": Colour("#fff8c5", "#9a6700"),
    "review": Colour("#fbefff", "#8250df"),
    "escalated": Colour("#ffebe9", "#cf222e"),
    "done": Colour("#dafbe1", "#1a7f37"),
    "cancelled": Colour("#eaeef2", "#57606a", "#57606a"),
}
