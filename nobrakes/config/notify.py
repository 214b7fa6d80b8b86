"""The table [notify] of config.toml: when people are told of what, and through which channels.

The repository's settings hold no secret: `secret` names an entry of the user's own file (config.secrets).
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Literal

from .values import Rule, Section, section

if TYPE_CHECKING:
    from ..core.notices.notice import Rules

DAY = 86_400.0


@section
class ChannelSettings(Section):
    """One way to reach people."""

    type: Literal["command", "desktop", "webhook", "apprise"]
    kinds: Annotated[tuple[str, ...], Rule(min_length=1)] = ("*",)
    severity: Literal["info", "warning", "urgent"] = "info"
    command: tuple[str, ...] = ()
    url: str = ""
    secret: str = ""
    insecure: bool = False

    def mistakes(self) -> list[str]:
        """What does not fit together."""
        from ..core.notices.notice import NoticeKind

        known = {"*", *(kind.value for kind in NoticeKind)} - {NoticeKind.DIGEST.value, NoticeKind.TEST.value}
        found = [f"kinds: there is no kind '{kind[:40]}'" for kind in self.kinds if kind not in known]
        if self.type == "command":
            found += _program_mistakes(self.command)
        elif self.command:
            found.append(f"command: a channel of type {self.type} starts none")
        if self.type in ("webhook", "apprise") and not self.url and not self.secret:
            found.append("url: say where to, here or as `secret`")
        if self.type in ("command", "desktop") and self.url:
            found.append(f"url: a channel of type {self.type} has none")
        if self.type == "webhook" and self.url:
            from ..core.notices.addresses import mistake

            found += [f"url: {wrong}" for wrong in [mistake(self.url, self.insecure)] if wrong]
        return found


def _program_mistakes(command: tuple[str, ...]) -> list[str]:
    if not command or not command[0]:
        return ["command: name the program, with its arguments"]
    program = command[0]
    if "/" in program and not program.startswith(("/", "~/")):
        return ["command: a program is a whole path or a name on PATH: what lies in the repository may change"]
    return []


@section
class NotifySettings(Section):
    """When people are told of what, and through which channels."""

    quiet_hours: str = ""
    renotify_hours: Annotated[float, Rule(ge=0)] = 4.0
    digest_after: Annotated[int, Rule(ge=1, le=1000)] = 10
    send_seconds: Annotated[float, Rule(gt=0, le=300)] = 30.0
    keep_days: Annotated[float, Rule(gt=0)] = 30.0
    channels: Mapping[Annotated[str, Rule(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")], ChannelSettings] = field(
        default_factory=dict
    )

    def mistakes(self) -> list[str]:
        """What does not fit together, each with its key below `notify`."""
        from ..core.errors import ConfigError
        from ..core.notices.quiet import parsed

        found = []
        try:
            parsed(self.quiet_hours)
        except ConfigError as error:
            found.append(f"{error} {error.hint}")
        for name, channel in self.channels.items():
            found += [f"notify.channels.{name}.{wrong}" for wrong in channel.mistakes()]
        return found

    def rules(self) -> "Rules":
        """The settings as the rules of notices read them."""
        from ..core.notices.notice import ChannelRules, Rules, Severity
        from ..core.notices.quiet import parsed

        return Rules(
            tuple(ChannelRules(name, one.kinds, Severity(one.severity)) for name, one in self.channels.items()),
            parsed(self.quiet_hours),
            self.renotify_hours * 3600,
            self.digest_after,
            self.keep_days * DAY,
        )
