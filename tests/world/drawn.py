"""The settings of a simulated project, drawn from its seed."""

import random

from nobrakes.config.settings import Config, validated

from .fake_processes import AGENT
from .project import LINT, TESTS


def settings(rng: random.Random) -> Config:
    """Settings drawn from the seed; short limits, so that a virtual day holds many attempts."""
    return validated(
        Config,
        {
            "checks": [
                {"name": "tests", "command": TESTS, "timeout_minutes": 5},
                {"name": "lint", "command": LINT, "kind": "lint", "timeout_minutes": 5},
            ],
            "limits": {
                "doers": rng.randint(1, 4),
                "max_failures": rng.randint(2, 3),
                "agent_minutes": 20,
                "idle_minutes": 3,
            },
            "review": {
                "merge": rng.choice(["squash", "rebase"]),
                "revalidate": rng.choice(["cached", "cached", "always"]),
                "every_commit_green": rng.random() < 0.6,
                "validators": rng.randint(1, 4),
            },
            "names": ["Ada", "Bo", "Cyd"],
            "agents": {
                "test_writer": rng.choice(["first", "second"]),
                "doer": rng.choice(["first", ["first", "second"]]),
                "by_type": {"fix": {"doer": "second"}},
                "script": {"command": [AGENT, "{prompt}"]},
            },
            "breaker": {"without_progress": rng.randint(1, 3)},
            "caps": rng.choice([{}, {"calls_per_hour": rng.randint(5, 30)}, {"day": {"usd": 8}, "bead": {"usd": 1.5}}]),
        },
    )
