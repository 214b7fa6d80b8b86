"""Checkouts of runs that are over go; those of whoever still works stay, and where there is none nobody is asked."""

from types import SimpleNamespace

import pytest

from nobrakes.checks.worker.validation import Scratch
from nobrakes.review.main_monitor import ASKED
from nobrakes.sessions.model import name_of


class Ports:
    """A store that counts what it is asked, and checkouts by name."""

    def __init__(self, folder, *checkouts):
        self.asked = 0
        self.dropped = []
        self.names = list(checkouts)
        self.paths = SimpleNamespace(trash=str(folder / "trash"), scratch=str(folder), runs=str(folder / "runs"))
        self.store = SimpleNamespace(
            runs=lambda: self.answer([SimpleNamespace(id="2-validation", turn=None), SimpleNamespace(id="t7", turn=7)]),
            sessions=lambda: self.answer([SimpleNamespace(id=3)]),
            turn=lambda number: SimpleNamespace(session=4),
            setting=lambda name: None,
        )
        self.git = SimpleNamespace(scratches=lambda: [f"{folder}/{name}" for name in self.names])
        self.background = SimpleNamespace(begin=lambda name, job: self.dropped.append(name), over=lambda name: False)

    def answer(self, rows):
        self.asked += 1
        return rows


@pytest.mark.parametrize("names", [(), (f"{ASKED}-1",)])
def test_without_a_checkout_that_could_go_the_store_is_not_asked(tmp_path, names):
    ports = Ports(tmp_path, *names)
    Scratch(ports).settle()
    assert ports.asked == 0 and not [name for name in ports.dropped if name.startswith("drop")]


def test_those_of_runs_and_sessions_stay_and_the_others_go_once(tmp_path):
    ports = Ports(tmp_path, "1-validation", "2-validation", name_of(3), name_of(4), name_of(5), "canary-9")
    scratch = Scratch(ports)
    scratch.settle()
    gone = ["drop 1-validation", "drop canary-9", f"drop {name_of(5)}"]
    assert ports.dropped == gone and ports.asked == 2
    scratch.settle()
    assert ports.dropped == gone
