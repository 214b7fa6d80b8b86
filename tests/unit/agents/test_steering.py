"""Where the instructions and settings of each agent lie is protected."""

import pytest

from nobrakes.abilities import CODED
from nobrakes.agents.known import STEERING, steering
from nobrakes.checks.policy.boundaries import bends_runner
from nobrakes.checks.worker.steps import with_agents
from nobrakes.config.profiles import find, shipped
from nobrakes.config.settings import Config
from nobrakes.git.port import Change

FREE = ("acp", "script")
"""Any command: nobody knows what it reads."""


@pytest.mark.parametrize("name", [name for name in CODED if name not in FREE])
def test_what_an_agent_reads_is_protected_in_any_folder(name: str) -> None:
    own, boundary = STEERING[name], with_agents(Config().boundary())
    assert own and set(own) <= set(steering())
    for glob in own:
        path = f"deep/down/{glob.removeprefix('**/').removesuffix('/**')}"
        assert bends_runner(Change(path, "000000", "100644"), boundary), path


@pytest.mark.parametrize("name", shipped())
def test_what_the_agent_of_a_profile_reads_is_protected_without_the_profile(name: str) -> None:
    own, boundary = find(name).instructions, with_agents(Config().boundary())
    assert own
    for glob in own:
        path = f"deep/down/{glob.removeprefix('**/').removesuffix('/**').replace('*', 'c')}"
        assert bends_runner(Change(path, "000000", "100644"), boundary), path


def test_the_agents_that_name_nothing_are_those_that_can_be_any_command() -> None:
    assert set(CODED) - set(STEERING) == set(FREE)
