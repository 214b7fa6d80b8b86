"""The table [git] of config.toml: how beads appear in git, and which of a person's git settings nobrakes follows."""

from typing import Annotated, Literal

from ..core.beads.branches import PATTERN
from .values import BranchPattern, OneOrMore, Section, section


@section
class GitSettings(Section):
    """How beads appear in git. `filters`: those that nobrakes runs; `clear_text`: of which agents and checks see it."""

    branch_pattern: Annotated[str, BranchPattern()] = PATTERN
    filters: Annotated[tuple[str, ...], OneOrMore()] = ()
    clear_text: Annotated[tuple[str, ...], OneOrMore()] = ()
    sign: Literal["auto", "always", "never"] = "auto"
    committer: str = ""
