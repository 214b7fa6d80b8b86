"""Whatever a simulated night brings: in public, what began has exactly one end, in order, under an agent's name."""

import pytest

from nobrakes.events.payloads import Name
from nobrakes.events.service import public_events
from nobrakes.records import mistakes, schema
from tests.support.dose import everyday
from tests.world.world import World

ENDS = {
    Name.TEST_WRITER_SPAWNED: {Name.TEST_WRITER_COMPLETED, Name.TEST_WRITER_FAILED},
    Name.DOER_SPAWNED: {Name.DOER_COMPLETED, Name.DOER_FAILED},
    Name.REVIEW_STARTED: {Name.REVIEW_PASSED, Name.REVIEW_FAILED, Name.REVIEW_INTERRUPTED},
}
ANY_END = set.union(*ENDS.values())


@pytest.mark.parametrize("seed", everyday(11, ci=[seed for seed in range(20) if seed != 11]))
def test_what_began_has_one_end(seed: int) -> None:
    world = World(seed)
    world.run()
    going: dict[int, tuple[str, set[Name]]] = {}
    last = (0, 0)
    for _, page in public_events(world.store, 0):
        for event in page:
            assert last < (event.about.seq, event.about.part)
            last = event.about.seq, event.about.part
            own = {name: getattr(event.payload, name) for name in event.payload.__dataclass_fields__}
            listed = {name: event.as_values()["metadata"][name] for name in own}
            assert mistakes(listed, schema(type(event.payload))) == []
            if event.name in ENDS:
                assert event.agent != "nobrakes" and event.payload.attempt not in going
                going[event.payload.attempt] = event.agent, ENDS[event.name]
            elif event.name in ANY_END:
                agent, ends = going.pop(event.payload.attempt)
                assert event.agent == agent and event.name in ends
    assert going == {}
