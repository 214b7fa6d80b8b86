"""One exchange with a code host: what a request is for changes there, and it stays the same request."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from nobrakes.requests.hosts.port import PullPorts, Wanted
from nobrakes.requests.model import CheckState, PullState, Told, mark
from nobrakes.requests.worker.exchange import Order, exchange
from nobrakes.review.waits import Land, Landing
from tests.world.fake_code_host import FakeCodeHost
from tests.world.objects import Objects


class Place:
    """A host with a lower request's branch, and somebody who asks."""

    def __init__(self) -> None:
        objects = Objects()
        first = objects.commit({"README": "a project\n"}, (), "first", "human", 0.0).id
        self.host = FakeCodeHost(objects, "main", first)
        self.calls: list[str] = []
        self.host.answers = self.calls.append
        self.host.push("task/bead-low", {"low": "lower\n"}, onto=first)
        self.objects = objects

    def publish(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        self.calls.append("push")
        self.host.branches[branch] = commit
        return Land(Landing.MOVED)

    def made(self, onto: str, **files: str) -> str:
        tree = {**self.objects.tree_of(onto), **files}
        return self.objects.commit(tree, (onto,), "work", "nobrakes", 1.0).id

    def ask(self, order: Order) -> Told:
        self.calls.clear()
        ports = PullPorts(self.host, self.publish, self.publish, dict, "main")  # type: ignore[arg-type]
        told = exchange(order, ports, lambda: Land(Landing.MOVED)).told
        assert told is not None
        return told


@pytest.mark.parametrize("is_known", [True, False])
def test_a_request_whose_base_is_another_by_now_is_pushed_and_then_given_that_base(is_known: bool) -> None:
    place, line = Place(), mark("one")
    first = place.made(place.host.branches["task/bead-low"], one="1\n")
    wanted = Wanted("task/bead-one", "task/bead-low", "One", f"text\n{line}\n", line)
    place.ask(Order(first, frozenset({first}), frozenset({first}), wanted, "digest"))
    assert [one.base for one in place.host.requests] == ["task/bead-low"] and "retarget" not in place.calls

    place.host.push("main", {"low": "lower\n"})  # the lower one was merged
    second = place.made(place.host.branches["main"], one="1\n")
    order = Order(
        second,
        frozenset({first, second}),
        frozenset({first, second}),
        replace(wanted, base="main"),
        "digest",
        "digest",
        int(is_known),
    )
    place.ask(order)
    assert [(one.base, one.state) for one in place.host.requests] == [("main", PullState.OPEN)]
    assert place.calls.index("push") < place.calls.index("retarget"), "nothing unproven is for main"
    place.ask(replace(order, number=1))
    assert "retarget" not in place.calls and "push" not in place.calls, "what is so already stays"


def test_a_host_that_merges_by_itself_is_asked_once_and_what_it_refuses_holds_nothing_up() -> None:
    place, line = Place(), mark("one")
    head = place.made(place.host.branches["main"], one="1\n")
    wanted = Wanted("task/bead-one", "main", "One", f"text\n{line}\n", line, auto_merge=True)
    order = Order(head, frozenset({head}), frozenset({head}), wanted, "digest")
    place.ask(order)
    assert "auto_merge" in place.calls and "auto_merges" not in place.calls, "nothing runs there yet"
    place.host.check(head, "build", CheckState.RUNNING)
    assert place.ask(replace(order, number=1, has_text="digest")).auto_merge
    place.ask(replace(order, number=1, has_text="digest"))
    assert "auto_merge" not in place.calls
    place.host.check(head, "build", CheckState.PASSED)
    assert place.ask(replace(order, number=1, has_text="digest")).state is PullState.MERGED
