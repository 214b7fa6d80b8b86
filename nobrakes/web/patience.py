"""How long a page may take: what makes it runs in a thread, and is left when it is too late.

1. A thread that is left goes on to its end and is heard no more; MOST_THREADS bounds how many there are, so a disk that
   hangs makes pages say so and nothing else.
2. Only what looks is left. A command is waited for: nobody would know what it did (nobrakes.web.commanding).
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response

PATIENCE_SECONDS = 15.0
MOST_THREADS = 40
Look = Callable[[Request], Response]


class Threads:
    """The threads of one server."""

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._free = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], Response]) -> Response:
        """What `work` makes in a thread of its own; TimeoutError after PATIENCE_SECONDS, the wait for one included."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self._free.acquire()
            answer: asyncio.Future[Response] = loop.create_future()

            def end(made: Response | None, error: BaseException | None) -> None:
                self._free.release()
                if answer.done():
                    return  # it was left
                if made is not None:
                    answer.set_result(made)
                else:
                    answer.set_exception(error or RuntimeError("nothing was made"))

            def go() -> None:
                made, error = None, None
                try:
                    made = work()
                except BaseException as caught:
                    error = caught
                with suppress(RuntimeError):  # the server has ended meanwhile
                    loop.call_soon_threadsafe(end, made, error)

            try:
                threading.Thread(target=go, daemon=True, name="page").start()
            except RuntimeError:
                self._free.release()
                raise
            return await answer


def in_time(look: Look) -> Callable[[Request], Awaitable[Response]]:
    """`look`, with PATIENCE_SECONDS."""

    @wraps(look)
    async def answer(request: Request) -> Response:
        threads: Threads = request.app.state.threads
        return await threads.run(lambda: look(request))

    return answer
