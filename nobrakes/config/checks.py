"""The tables [[checks]] of config.toml: what one check says of itself, and what of that does not go together."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Literal

from .values import Inside, Rule, Section, Tools, section

if TYPE_CHECKING:
    from ..core.checks.contract import Check

Kind = Literal["test", "lint", "types", "build"]
Format = Literal[
    "auto", "exit", "junit", "pytest", "unittest", "go", "cargo", "tap", "jest", "vitest", "mocha", "ava", "ctest",
    "phpunit", "ruby", "maven",
]  # fmt: skip


@section
class CheckSettings(Section):
    """One command of the project's contract."""

    name: Annotated[str, Rule(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$")]
    command: Annotated[str, Rule(min_length=1)]
    kind: Kind = "test"
    timeout_minutes: Annotated[float, Rule(gt=0)] = 30.0
    min_tests: Annotated[int, Rule(ge=0)] = 1
    directory: Annotated[str, Inside()] = ""
    cache: Literal[True, "never"] = True
    retry: Annotated[int, Rule(ge=0, le=10)] = 0
    tools: Annotated[Mapping[str, str], Tools()] = field(default_factory=dict)
    parallel: bool = False
    format: Format = "auto"
    report: Annotated[str, Inside()] = ""

    def mistake(self) -> str | None:
        """What does not go together."""
        if self.kind != "test" and (self.report or self.format not in ("auto", "exit")):
            return f"report and format are read of tests alone, and its kind is {self.kind}"
        if self.report and self.format not in ("auto", "junit"):
            return f"the files of report are read as junit; format is {self.format}"
        if self.kind != "test" and self.min_tests > 1:
            return f"min_tests needs a count, and only tests are counted; its kind is {self.kind}"
        if self.format == "exit" and self.min_tests > 1:
            return 'min_tests needs a count, and with format "exit" nothing is counted'
        return None

    def check(self) -> "Check":
        """The check as core judges it."""
        from ..core.checks.contract import Check

        return Check(
            self.name,
            self.command,
            self.kind,
            self.timeout_minutes * 60,
            self.min_tests,
            self.directory,
            self.cache != "never",
            self.retry,
            tuple(sorted(self.tools.items())),
            self.parallel,
            self.report,
            self.format,
        )
