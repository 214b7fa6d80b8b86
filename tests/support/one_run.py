"""One run of a real CLI on nobrakes' own ground, in a network of its own: `one_run.py SPEC.json`, the answer on stdout.

SPEC: name, executable, folder, own_network, steps, env (added to the run's), `stop` (the file that tells when to stop it)
`permitted` (beginnings of commands), `word` (which it is told to remember) and `then` (steps of a second run, which goes
on with the session of the first).
"""

import json
import os
import sys
from dataclasses import replace
from typing import Any

from nobrakes.agents.adapter import Assignment, Launch
from nobrakes.conformance import AgentRun, Fixture
from nobrakes.host.proctable import become_subreaper

from stub_anthropic import _loopback_up  # isort: skip


class WithEnvironment:
    """The adapter, whose runs see these variables too."""

    def __init__(self, whole: Any, env: dict[str, str], permitted: list[list[str]] | None) -> None:
        self.whole, self.env = whole, env
        self.permitted = None if permitted is None else tuple(map(tuple, permitted))

    def launch(self, a: Assignment) -> Launch:
        launch = self.whole.launch(replace(a, permitted=self.permitted))
        return replace(launch, env={**launch.env, **self.env})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


def told(ran: AgentRun) -> dict[str, Any]:
    return {
        "outcome": ran.verdict.outcome.value,
        "detail": ran.verdict.detail,
        "session": ran.verdict.session,
        "resets_at": ran.verdict.resets_at,
        "output": ran.output.decode(errors="replace"),
        "errors": ran.errors,
        "requests": len(ran.requests),
        "told": ran.told(),
    }


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    if spec["own_network"]:
        _loopback_up()
    become_subreaper()
    ground = Fixture(spec["name"], [spec["executable"]], spec["folder"], os.environ["PATH"])
    ground.adapter = WithEnvironment(ground.adapter, spec["env"], spec.get("permitted"))  # type: ignore[assignment]
    if spec.get("nobody"):
        ground.close()
    ground.model.scripts[spec["name"]] = spec["steps"]
    word = spec.get("word", "pomegranate")
    left: list[int] = []
    if spec.get("stop"):
        ran, left = ground.stop(f"Remember the {word}.", spec["stop"])
    else:
        ran = ground.work(f"Remember the {word}.")
    answer = {"first": told(ran), "left": left, "workspace": ground.workspace}
    if spec.get("then") and ran.verdict.session:
        ground.model.requests.clear()
        ground.model.scripts[spec["name"]] = spec["then"]
        answer["second"] = told(ground.work("What was it?", ran.verdict.session))
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
