"""No setting that a page may change decides whom a key or data is sent to, or what is run: a stolen login can set each."""

import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pydantic
import pytest

from nobrakes.agents.adapter import Assignment
from nobrakes.agents.known import ADAPTERS, adapter
from nobrakes.beads.model import Role
from nobrakes.config.sections import FeatureSettings, RoleAgents, RoleModels
from nobrakes.config.settings import load
from nobrakes.config.setup import changing
from nobrakes.errors import NobrakesError
from nobrakes.host.messages import Asked
from nobrakes.paths import Paths
from nobrakes.requests import service

SET_UP = """\
review.land = "pull_request"
[[checks]]
name = "unit"
command = "make test"
[agents.acp]
command = ["my-acp"]
[agents.script]
command = ["my-script"]
[notify.channels.phone]
type = "webhook"
url = "https://ntfy.example/me"
"""
REMOTES = {"origin": "https://git.example/me/shop.git", "evil": "https://evil.example/a/b.git"}
TABLES = {
    "review.features": ("nb-1", FeatureSettings),
    "agents.by_type": ("fix", RoleAgents),
    "agents.models": ("gemini", RoleModels),
}
HOSTILE = (
    "evil", "evil.example/a/b", "https://evil.example/a/b.git", "ext::sh -c evil", "--yolo", "-u evil", "gemini",
    "$(evil)", '"\n[agents.script]\ncommand = ["evil"]\n#',
)  # fmt: skip


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    for name, url in REMOTES.items():
        subprocess.run(["git", "remote", "add", name, url], cwd=tmp_path, check=True)
    found = Paths(str(tmp_path / ".nobrakes"))
    Path(found.folder).mkdir()
    return found


def settings_of_pages(paths: Paths) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each, and the values that it is tried with."""
    for one in changing.listed(load(paths.config)):
        if one.on_page:
            few = {"yes": ("true", "false"), "number": HOSTILE[:1]}
            yield one.key, one.choices or few.get(one.form, HOSTILE)
        if one.on_page and one.form == "table":
            name, section = TABLES[one.key]
            yield from ((f"{one.key}.{name}.{field.name}", ("epic", "remote", *HOSTILE)) for field in fields(section))


def reach(paths: Paths, asked: list[Any]) -> dict[str, Any]:
    """Whom nobrakes sends to, and what it runs."""
    config = load(paths.config)
    asked.clear()
    try:
        ports = service.ports_of(paths, config)
        host = [type(ports.host).__name__, ports.publish.remote.address()]
        ports.host.ready()
    except NobrakesError as error:
        host = [str(error)]
    launches = {}
    for name in ADAPTERS:
        for role in (Role.TEST_WRITER, Role.DOER, Role.REVIEWER):
            given = Assignment(
                role, "a1", "Ada", 3, "do it", "/n/prompt.md", "/n/workspace", "/n/run", str(uuid.UUID(int=7)), False,
                env={"PATH": "/bin", "NOBRAKES_HOME": "/n", "NOBRAKES_TOKEN": "t"}, system_prompt="You work.",
                settings=config.agents.seated(name, role.value), guard=("/usr/bin/python",),
            )  # fmt: skip
            launch = adapter(name).launch(given)
            argv = [word for word in launch.argv if not word.startswith("--model=")]
            launches[name, role] = argv, launch.env, launch.files, launch.prologue, launch.programs, launch.hosts
    typed = {one.key: one.value for one in changing.listed(config) if not one.on_page}
    return {"sends": config.review.land, "host": host, "asked": [*asked], "launches": launches, "typed": typed}


def test_no_hostile_value_of_a_page_changes_whom_is_sent_to_or_what_is_run(paths, monkeypatch) -> None:
    asked: list[Any] = []

    def asking(env, seconds):
        def ask(argv, given):
            asked.append((*argv, env["GH_HOST"], env["GITLAB_HOST"]))
            return Asked(1, "", "no token found")

        return ask

    monkeypatch.setattr(service, "Asking", asking)
    monkeypatch.setattr(pydantic, "TypeAdapter", cache(pydantic.TypeAdapter))  # made once, not for each value
    Path(paths.config).write_text(SET_UP)
    usual, wrong, tried = reach(paths, asked), {}, 0
    for key, values in settings_of_pages(paths):
        for value in values:
            try:
                changing.change(paths, [(key, changing.from_page(paths, key, value))])
            except NobrakesError:
                continue
            tried += 1
            now = reach(paths, asked)
            if now != usual:
                wrong[key, value] = [name for name in now if now[name] != usual[name]]
            Path(paths.config).write_text(SET_UP)
    assert wrong == {} and tried > 50
