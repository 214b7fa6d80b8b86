"""`nobrakes agent test`: the project's checks, run in the agent's own workspace, and reported at its door.

1. The contract comes with the agent's start (NOBRAKES_CHECKS), since config.toml is not in its reach. What passes here
   proves nothing: the Reviewer runs the checks itself, on a fresh checkout.
2. A check has its own time limit. One that failed does not keep the others from running.
3. Each call is one test round (core.checks.test_rounds), reported with how each check ended.
"""

import os
from typing import Any

from ...core.errors import UsageError
from ...environ import process_environment
from ...lightjson import loads
from . import client

CHECKS = "NOBRAKES_CHECKS"
_MARKS = ("NOBRAKES_RUN", "NOBRAKES_WAKE")
_LINES = 40


def test(name: str) -> tuple[dict[str, Any], str]:
    """Run the check of this name, or all of them; (JSON values, text)."""
    client.store().agent_standing(*client.key())  # who has no door runs nothing
    workspace, known = os.environ.get("NOBRAKES_WORKSPACE", ""), loads(os.environ.get(CHECKS) or "[]")
    wanted = [check for check in known if name in ("", check["name"])]
    if not wanted or not os.path.isabs(workspace):
        names = ", ".join(check["name"] for check in known) or "none"
        raise UsageError(
            f"there is no check '{client.cleaned(name)[:40]}'" if name else "no check is configured", names
        )
    ended = [_run(check, workspace) for check in wanted]
    client.say("test", "; ".join(f"{one['name']}: {one['outcome']}" for one in ended))
    text = "\n\n".join(f"{one['name']}: {one['outcome']}\n{one['output']}".strip() for one in ended)
    return {"passed": all(one["code"] == 0 for one in ended), "checks": ended}, text


def _run(check: dict[str, Any], workspace: str) -> dict[str, Any]:
    from ...host.runs import checking

    # the door is the agent's, and not its tests'; what marks its processes stays
    environment = {n: v for n, v in process_environment().items() if not n.startswith("NOBRAKES_") or n in _MARKS}
    folder = os.path.join(workspace, check["directory"])
    if not os.path.isdir(folder):
        return {"name": check["name"], "code": None, "outcome": "fail: its directory is missing", "output": ""}
    code, output = checking.run(check["command"], folder, check["timeout"], environment)
    outcome = "pass" if code == 0 else f"fail: exit code {code}"
    if code is None:
        outcome = f"fail: stopped after {check['timeout']:g} seconds"
    tail = "\n".join(client.cleaned(output).strip().splitlines()[-_LINES:])
    return {"name": check["name"], "code": code, "outcome": outcome, "output": "" if code == 0 else tail}
