"""Which channels get a notice, and in which words.

1. A channel takes a notice whose kind it names and that matters at least as much as it wants.
2. A message says where it comes from in its title, and never begins like an option of a command.
"""

from collections.abc import Sequence

from ..text.cleaning import clean, redacted, shorten
from .notice import MOST_TEXT, ChannelRules, Message, NewNotice, NoticeRecord, Rules

EVERY = "*"
MOST_TITLE = 120


def takes(channel: ChannelRules, notice: NoticeRecord | NewNotice) -> bool:
    """Whether the channel gets the notice."""
    return (EVERY in channel.kinds or notice.kind.value in channel.kinds) and notice.severity.rank >= channel.least.rank


def routes(rules: Rules, notice: NoticeRecord | NewNotice) -> list[str]:
    """The names of the channels that get the notice."""
    return [channel.name for channel in rules.channels if takes(channel, notice)]


def bounded(text: str, most: int = MOST_TEXT) -> str:
    """Anybody's text as a notice holds it: without secrets and what nobody sees, and short."""
    return shorten(redacted(clean(text)).strip(), most)


def message(notice: NoticeRecord, project: str) -> Message:
    """The notice as it is sent, from the project of this name."""
    kind = notice.kind.value.replace("_", " ")
    about = f" {notice.bead}" if notice.bead else ""
    urgent = "URGENT: " if notice.severity.value == "urgent" else ""
    title = shorten(" ".join(bounded(f"nobrakes {urgent}{project}:{about} {kind}").split()), MOST_TITLE)
    return Message(
        title,
        _as_words(bounded(notice.text)) or kind,
        notice.kind,
        notice.severity,
        notice.created_at,
        notice.bead,
        notice.session,
        notice.escalation,
        notice.link,
    )


def _as_words(text: str) -> str:
    """The text, which no program can take for an option or the name of a file."""
    return f"» {text}" if text.startswith(("-", "@", "/", "<")) else text


def numbers(found: Sequence[tuple[str, int]]) -> str:
    """`3 merged, 1 question`."""
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in found)
