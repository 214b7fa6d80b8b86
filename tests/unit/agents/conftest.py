"""An assignment to change at will."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from nobrakes.agents.adapter import Assignment
from nobrakes.beads.model import Role
from nobrakes.config.sections import AgentSettings

SESSION = str(uuid.UUID(int=7))


@pytest.fixture
def assign() -> Callable[..., Assignment]:
    """Makes an assignment of a Doer, with changes."""

    def make(**changes: Any) -> Assignment:
        given: dict[str, Any] = {
            "role": Role.DOER,
            "bead": "a1",
            "worker": "Ada",
            "attempt": 3,
            "prompt": "do it",
            "prompt_file": "/n/runs/1/prompt.md",
            "workspace": "/n/workspaces/a1",
            "folder": "/n/runs/1",
            "session": SESSION,
            "resume": False,
            "env": {"PATH": "/bin", "NOBRAKES_HOME": "/n", "NOBRAKES_TOKEN": "t"},
            "settings": AgentSettings(),
            "system_prompt": "You are a Doer.",
            "guard": ("/usr/bin/python", "-I", "/with space/guard.py"),
        }
        return Assignment(**(given | changes))

    return make
