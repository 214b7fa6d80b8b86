"""Every notifier, by the name that config.toml uses."""

from collections.abc import Callable

from ..ports import Notifier
from .stdout import StdoutNotifier

NOTIFIERS: dict[str, Callable[[], Notifier]] = {
    "stdout": StdoutNotifier,
}
