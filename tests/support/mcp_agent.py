"""An agent that talks to nobrakes by its MCP server alone, through the SDK's own client: plan, question, work, hand in.

Which of them comes next it sees from its bead, as the tool `bead` tells it; it keeps no memory of its own.
"""

import os
import subprocess
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

QUESTION = "Tea or coffee?"


def stdio(command: str, env: dict[str, str], cwd: str | None = None) -> Any:
    """The server `nobrakes mcp` with these variables, to be given to a Client."""
    path = {"PATH": os.environ["PATH"]}
    return stdio_client(StdioServerParameters(command=command, args=["mcp"], env={**path, **env}, cwd=cwd))


async def call(client: Client, name: str, **given: Any) -> str:
    """What the tool answers; RuntimeError where it refuses."""
    result = await client.call_tool(name, given)
    text = "\n".join(getattr(part, "text", "") for part in result.content)
    if getattr(result, "is_error", False):
        raise RuntimeError(text)
    return text


async def work() -> None:
    """One attempt."""
    env = {name: value for name, value in os.environ.items() if name.startswith("NOBRAKES_")}
    async with Client(stdio(os.path.join(env["NOBRAKES_HOME"], "bin", "nobrakes"), env)) as client:
        bead = await call(client, "bead")
        first = await call(client, "whats_next")
        print(first, flush=True)
        if "A plan first" in bead:
            assert "request-review" in first
            await call(client, "request_review", plan="1. Ask what to pour.\n2. Write it down.")
        elif QUESTION not in bead:
            assert "Follow" in bead or "follow it" in bead
            await call(client, "ask", question=QUESTION)
        else:
            assert "Follow-up" not in await call(client, "attempts")
            with open("poured", "w", encoding="utf-8") as file:
                file.write("tea\n" if "Tea, please" in bead else "nobody said\n")
            subprocess.run(["git", "add", "-A"], check=True)
            subprocess.run(["git", "commit", "-q", "-m", "Pour"], check=True)
            await call(client, "progress", text="poured", step=1, of=1)
            await call(client, "log", text="It was tea.")
            await call(client, "notify", text="Tea is ready.")
            await call(client, "escalate", suggestion="Buy milk", detail="There is none.")
            assert "hand in" in await call(client, "whats_next")
            await call(client, "done", outcome="completed", summary="poured", learnings="milk is out")
            print("NOBRAKES: COMPLETED")
            return
        await call(client, "done", outcome="blocked", blockers="waits for the person")
        print("NOBRAKES: BLOCKED")


if __name__ == "__main__":
    anyio.run(work)
