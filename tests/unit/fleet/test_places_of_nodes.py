"""Places of nodes: the helper that talks to them counts a run's places from its opening to its end, and no longer."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from nobrakes.fleet.gateway import Gateway

NODE = "tls://127.0.0.1:1"


def gateway(folder: Path, places: int) -> Gateway:
    made = Gateway(str(folder), {"reserved_for_checks": 0})
    made.client = object()
    made.known = {NODE: {"name": "n1", "why": ""}}
    made.places = {NODE: places}

    async def answer(*_: Any, **__: Any) -> tuple[str, bytes]:
        return "{}", b""

    made._on = answer  # type: ignore[method-assign]
    return made


def opened(made: Gateway, session: str) -> None:
    made._opened[session] = (NODE, "agent", 1, time.monotonic())
    made.used.setdefault(NODE, {})[session] = ("agent", 1)


def test_a_run_that_ended_holds_no_place_until_the_scheduler_is_asked_again(tmp_path: Path) -> None:
    """One Doer starts a bead several times a second, and the scheduler is asked once a second."""

    async def story() -> None:
        made = gateway(tmp_path, 1)
        opened(made, "1-agent-a")
        waiting = asyncio.create_task(made._free(1, "agent"))
        await asyncio.sleep(0)
        assert not waiting.done()
        await made._answered({"call": "close", "node": NODE, "session": "1-agent-a"}, b"")
        assert await asyncio.wait_for(waiting, 0.15) == NODE
        opened(made, "2-agent-b")
        assert made._taken(NODE) == 1

    asyncio.run(story())


@pytest.mark.parametrize("call", ["exchange", "collect", "stop"])
def test_a_run_that_goes_on_holds_its_place(tmp_path: Path, call: str) -> None:
    async def story() -> None:
        made = gateway(tmp_path, 1)
        opened(made, "1-agent-a")
        await made._answered({"call": call, "node": NODE, "session": "1-agent-a"}, b"")
        assert made._taken(NODE) == 1

    asyncio.run(story())
