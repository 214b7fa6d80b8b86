"""The page of settings: each with its help and default, changed by the commands of every surface, and never a program."""

import re

import pytest

from nobrakes.cli import main
from nobrakes.config.settings import Config, load
from nobrakes.config.setup import changing
from nobrakes.store import open_store
from tests.integration.web.test_every_page import EVIL, plain


def shown(page: str, key: str) -> str:
    return page.partition(f'id="{key}"')[2].partition("</li>")[0]


def test_every_setting_has_a_field_its_help_its_default_and_its_unit(site) -> None:
    page = site.get("/r/shop/settings").text
    plain(page)
    for one in changing.listed(Config()):
        if one.key == "checks":  # there is one, which is shown instead
            continue
        own = shown(page, one.key)
        assert f'id="s-{one.key}"' in own and ("config-set" in own) == one.on_page, one.key
        assert "The setting has its default value." in own, one.key
    merge, minutes = shown(page, "review.merge"), shown(page, "limits.agent_minutes")
    assert "<option selected>squash" in merge and "becomes one commit on main" in merge
    assert 'type="number"' in minutes and "in minutes" in minutes and "more than 0" in minutes
    assert 'type="checkbox"' in shown(page, "review.push") and "<textarea" in shown(page, "review.pull_labels")
    assert 'id="checks.build.retry"' in page and "in a terminal" not in shown(page, "checks.build.retry")
    assert "Changed" not in shown(page, "checks.build.command")
    assert " disabled" in shown(page, "checks.build.command") and "nobrakes config set checks.build.command" in page


CHANGES = [
    ("review.merge", "rebase", "rebase"), ("limits.agent_minutes", "90", 90.0), ("review.push", "true", True),
    ("review.mutation_probes", None, False), ("review.pull_labels", "a, b\r\nc\r\n", ("a, b", "c")),
    ("review.pull_reviewers", "", ()), ("agents.doer", "codex\nclaude", ("codex", "claude")), ("caps.day.usd", "12.5", 12.5),
    ("notify.quiet_hours", "22:00-07:00", "22:00-07:00"), ("sandbox.memory_mb", "4096", 4096),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "becomes"), CHANGES)
def test_a_change_is_the_command_an_event_and_a_step_that_undo_takes_back(
    site, repository, key, value, becomes
) -> None:
    config = repository / ".nobrakes" / "config.toml"

    def now() -> object:
        return changing.setting(load(str(config)), key, {})

    before, text = now(), config.read_text()
    form = {"key": key} | ({} if value is None else {"value": value})
    done = site.post("/r/shop/do/config-set", form, accept="application/json")
    assert done.status_code == 200 and now() == becomes, done.text
    found = done.json()
    assert "the change takes effect now" in found["said"]
    if before == becomes and config.read_text() == text:
        return
    assert found["undo"], found
    page = site.get("/r/shop/settings?changed=1").text
    assert ("Changed" in shown(page, key)) == (before != becomes)
    assert site.post("/r/shop/do/undo", {"seq": str(found["undo"])}, accept="application/json").status_code == 200
    assert now() == before


def test_the_default_comes_back_and_a_wrong_value_is_refused(site, repository) -> None:
    config = repository / ".nobrakes" / "config.toml"
    assert site.post("/r/shop/do/config-set", {"key": "caps.day.usd", "value": "9"}).status_code == 303
    assert "config-unset" in shown(site.get("/r/shop/settings?q=caps.day").text, "caps.day.usd")
    assert site.post("/r/shop/do/config-unset", {"key": "caps.day.usd"}).status_code == 303
    assert load(str(config)).caps.day.usd is None
    text = config.read_text()
    for key, value in (("caps.day.usd", "-1"), ("review.merge", "octopus"), ("agents.doer", "nobody"), ("main", "a b"),
                       ("nothing", "1"), ("review.features", "{ nb-1 = { unit = 1 } }")):  # fmt: skip
        refused = site.post("/r/shop/do/config-set", {"key": key, "value": value}, accept="application/json")
        assert (refused.status_code, config.read_text()) == (422, text), (key, refused.text)


def test_no_text_of_a_page_becomes_a_program_a_file_or_an_open_sandbox(site, repository) -> None:
    config = repository / ".nobrakes" / "config.toml"
    text = config.read_text()
    keys = [one.key for one in changing.listed(load(str(config))) if not one.on_page]
    assert {"setup", "checks.build.command", "agents.script.command", "agents.claude.executable", "sandbox.mode",
            "agents.claude.base_url", "git.filters", "events.export", "forge.own_instructions", "notify.channels",
            "review.land", "review.remote", "review.code_host", "review.code_host_repository", "git.committer"} <= {*keys}  # fmt: skip
    keys += [
        "checks.new.command",
        "checks.0.command",
        "notify.channels.x.command",
        "notify.channels.x",
        "agents.acp.keys",
        "checks",
        "limits",
        "agents",
    ]
    for key in keys:
        for slug, more in (("set", {"value": "none"}), ("unset", {})):
            refused = site.post(f"/r/shop/do/config-{slug}", {"key": key, **more}, accept="application/json")
            assert refused.status_code in (409, 422) and config.read_text() == text, (key, refused.text)
    assert "Type in a terminal" in refused.text
    texts = {one.key for one in changing.listed(Config()) if one.on_page and one.form in ("text", "lines", "table")}
    assert not [
        key for key in texts if re.search("command|executable|url|secret|keys|environment|path|filter|read|write$", key)
    ]
    assert site.post("/r/~/do/config-set", {"key": "review.merge", "value": "rebase"}).status_code == 422


def test_the_address_filters_and_words_of_others_are_text(site, repository) -> None:
    page = site.get("/r/shop/settings?q=SQUASH+main").text
    assert 'id="review.merge"' in page and 'id="review.push"' not in page
    page = site.get(f"/r/shop/settings?q={EVIL[:25]}").text
    plain(page)
    assert "No setting matches these words" in page
    assert main.run(["config", "set", "names", f'["{EVIL[:8]}"]']) == 0
    plain(site.get("/r/shop/settings?q=names").text)


def test_a_broken_file_is_said_and_can_be_mended_there(site, repository) -> None:
    config = repository / ".nobrakes" / "config.toml"
    config.write_text('main = "main"\n[review]\nmerge = "octopus"\n')
    page = site.get("/r/shop/settings")
    assert page.status_code == 200 and 'class="wrong">.nobrakes/config.toml: review.merge' in page.text
    done = site.post("/r/shop/do/config-set", {"key": "review.merge", "value": "rebase"}, accept="application/json")
    assert done.status_code == 200 and load(str(config)).review.merge == "rebase", done.text


def test_a_person_alone_is_named_in_the_event(site, repository) -> None:
    assert site.post("/r/shop/do/config-set", {"key": "review.merge", "value": "rebase"}).status_code == 303
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    last = store.events()[-1]
    store.close()
    assert (last.kind.value, last.actor) == ("config_changed", "ada (web)")
    assert last.data == {"before": {"review.merge": None}, "after": {"review.merge": "rebase"}}
