"""Every notifier, by its name; `App.notifier` chooses."""

from collections.abc import Callable

from ..ports import Notifier
from .stdout import StdoutNotifier

NOTIFIERS: dict[str, Callable[[], Notifier]] = {
    "stdout": StdoutNotifier,
}
