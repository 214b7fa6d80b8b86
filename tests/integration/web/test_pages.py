"""The pages as plain requests: what they show without scripts, and what their forms do."""

import re
import shutil
import subprocess

import pytest
from markupsafe import escape

from nobrakes.beads.model import bead_owner
from nobrakes.cli import main
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.sessions.model import SessionKind
from nobrakes.store import open_store
from nobrakes.web.commands import link
from tests.support.web import serving


def key_of(page: str, command: str) -> str:
    found = re.search(rf'action="/r/shop/do/{command}".*?name="request" value="([^"]+)"', page, re.S)
    assert found, page
    return found.group(1)


def test_the_first_page_lists_the_repositories_and_now_shows_one(site, repository) -> None:
    first = site.get("/")
    assert first.status_code == 200 and 'href="/r/shop/"' in first.text and "nothing for you" in first.text
    now = site.get("/r/shop/")
    assert now.status_code == 200
    titles = [now.text.index(word) for word in ("Needs you", "Broken", "At work", "Latest events")]
    assert titles == sorted(titles)
    assert "&lt;img src=x onerror=alert(1)&gt;" in now.text and "<img" not in now.text
    assert "style=" not in now.text and not re.search(r"<script(?! type=\"module\" src=\"/static/)", now.text)
    assert site.get("/r/nothing/").status_code == 404


def test_a_command_in_a_commits_subject_is_no_link(site, repository) -> None:
    words = ["git", "commit", "-q", "--allow-empty", "-m", "Mend it: `nobrakes hold nb-1`"]
    subprocess.run(words, cwd=repository, check=True)
    now = site.get("/r/shop/").text
    assert "Mend it: `nobrakes hold nb-1`" in now and "do/hold" not in now


def test_an_error_keeps_the_navigation_and_offers_what_can_be_done_there(site) -> None:
    missing = site.get("/r/shop/bead/nb-77")
    assert missing.status_code == 404 and "nb-77" in missing.text
    assert 'href="/r/shop/board"' in missing.text and 'href="/r/shop/desk"' in missing.text
    assert '<a class="button" href="/r/shop/board">Board</a>' in missing.text
    assert 'class="ways"' not in site.get("/r/nothing/").text
    assert 'class="ways"' not in site.raw.get("/r/shop/bead/nb-77", headers={"host": site.host}).text, (
        "who is not logged in"
    )


def test_an_old_link_asks_which_of_two_repositories_of_one_name(site, repository, tmp_path, monkeypatch) -> None:
    other = tmp_path / "elsewhere" / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(other)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=other, check=True)
    monkeypatch.chdir(other)
    assert main.run(["init", "--build", "true"]) == 0
    asked = site.get("/r/shop/bead/nb-1")
    assert asked.status_code == 404 and "2 of your repositories are called &#39;shop&#39;" in asked.text
    links = re.findall(r'href="(/r/shop~[0-9a-f]{6}/bead/nb-1)">([^<]+)<', asked.text)
    assert sorted(path for _, path in links) == sorted(map(str, (repository, other)))
    answers = {path: site.get(link).status_code for link, path in links}
    assert answers == {str(repository): 200, str(other): 404}, "only one of them has the bead"
    gone = next(link for link, path in links if path == str(other))
    shutil.rmtree(other / ".nobrakes")
    moved = site.get(gone)
    assert "no longer uses nobrakes" in moved.text and f">{repository}<" in moved.text


def test_a_form_without_scripts_does_its_command_once_and_leads_back(site, repository) -> None:
    page = site.get("/r/shop/").text
    form = {"request": key_of(page, "daemon-start"), "then": "/r/shop/", "bead": "nb-1", "reason": "I look first"}
    for _ in range(2):
        answer = site.post("/r/shop/do/hold", form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/r/shop/")
    with_said = site.raw.get("/r/shop/", headers=site.headers(cookie=f"{site.headers()['cookie']}; {_said(answer)}"))
    assert "nb-1 is held" in with_said.text
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    held = [event for event in store.events() if event.kind.value == "held"]
    store.close()
    assert [(event.actor, event.bead) for event in held] == [("ada (web)", "nb-1")]


def test_the_same_hold_again_is_no_step_to_undo(site) -> None:
    steps = []
    for reason in ("I look first", "I look first", "I wait"):
        form = {"bead": "nb-1", "reason": reason}
        steps.append(site.post("/r/shop/do/hold", form, accept="application/json").json()["undo"])
    assert [step is None for step in steps] == [False, True, False]
    for step in (steps[2], steps[0]):
        assert site.post("/r/shop/do/undo", {"seq": str(step)}).status_code == 303
    assert site.get("/r/shop/api/beads/nb-1").json()["data"]["held"] is None


def test_a_test_notice_that_fails_is_a_refusal_that_names_the_channel(site, repository) -> None:
    with (repository / ".nobrakes" / "config.toml").open("a") as file:
        file.write('\n[notify.channels.phone]\ntype = "command"\ncommand = ["false"]\n')
    for channel in ("phone", ""):
        page = site.post("/r/shop/do/notify-test", {"channel": channel, "sparse": "1"})
        assert page.status_code == 409 and "1 channel rejected the test notice: phone" in page.text, page.text
    assert site.post("/r/shop/do/notify-test", {"channel": "pager"}).status_code == 422


def test_code_in_a_decision_is_code_and_no_link(site, repository) -> None:
    options = [{"label": "Use `a <b>`", "means": "As in `nobrakes hold nb-1`", "costs": "a `day"}, {"label": "Stop"}]
    form = forms.as_values(forms.form({"kind": "radio", "options": options}))
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.escalate(NewEscalation(EscalationType.QUESTION, "Is `x` it?", "Say.", form=form), "nb-1", None, "Ada")
    store.close()
    page = site.get("/r/shop/desk/1").text.partition("<main")[2]
    assert "Use <code>a &lt;b&gt;</code>" in page and "As in <code>nobrakes hold nb-1</code>" in page
    assert "Costs: a `day" in page and "Is <code>x</code> it?" in page and "do/hold" not in page.partition("decide")[2]
    assert 'value="Use `a &lt;b&gt;`"' in page
    assert site.post("/r/shop/do/answer", {"number": "1", "text": "Use `a <b>`"}).status_code == 303


def _said(answer) -> str:
    return "; ".join(f"{name}={value}" for name, value in answer.cookies.items())


def test_what_the_operations_refuse_is_a_page_with_the_same_words(site) -> None:
    refused = site.post("/r/shop/do/release", {"bead": "nb-1"})
    assert refused.status_code == 409 and "bead nb-1 is not held" in refused.text
    missing = site.post("/r/shop/do/hold", {"bead": "nb-77"}, accept="application/json")
    assert missing.status_code == 404 and "nb-77" in missing.json()["error"]["message"]
    circle = site.post("/r/shop/do/depend", {"bead": "nb-1", "needs": "nb-2"})
    assert circle.status_code == 409
    assert site.post("/r/shop/do/init", {}).status_code == 422
    assert site.post("/r/shop/do/hold", {}).status_code == 422


def test_a_page_starts_no_daemon_where_the_command_line_starts_none(site, repository, monkeypatch) -> None:
    monkeypatch.setattr("nobrakes.daemon.service.control.start", lambda *_: pytest.fail("nobrakes started a daemon"))
    assert main.run(["pause"]) == 0
    for words in ("start", "restart"):
        assert main.run(["daemon", words]) == 62
        refused = site.post(f"/r/shop/do/daemon-{words}", {}, accept="application/json")
        assert refused.json()["error"]["code"] == 62 and "nobrakes resume" in refused.text


def test_stopping_everything_takes_its_word_and_without_a_sandbox_a_fresh_code(site, repository) -> None:
    config = repository / ".nobrakes" / "config.toml"
    config.write_text('main = "main"\n[sandbox]\nmode = "none"\n')
    assert site.post("/r/shop/do/stop", {}).status_code == 422
    told = site.post("/r/shop/do/stop", {"typed": "stop"})
    assert told.status_code == 422 and "nobrakes web --code" in told.text
    code = site.site.state.new_code()
    for typed in ("", "yes", "stop now"):
        assert site.post("/r/shop/do/stop", {"typed": typed, "code": code}).status_code == 422, "typed is its word"
    assert site.post("/r/shop/do/stop", {"typed": "Stop", "code": code}).status_code == 303
    assert site.post("/r/shop/do/stop", {"typed": "stop", "code": code}).status_code == 422
    written_out = site.site.state.new_code(confirms=False)  # as `--open` writes one into a file for the browser
    assert site.post("/r/shop/do/stop", {"typed": "stop", "code": written_out}).status_code == 422
    for _ in range(10):
        assert site.post("/r/shop/do/stop", {"typed": "stop", "code": "AAAAA-AAAAA"}).status_code == 422
    good = site.site.state.new_code()
    assert site.post("/r/shop/do/stop", {"typed": "stop", "code": good}).status_code == 303, (
        "wrong ones lock nobody out"
    )
    assert "Stopping" in site.get("/r/shop/").text


def test_what_stands_in_the_way_is_the_same_list_everywhere(site, repository, capsys) -> None:
    assert main.run(["pause"]) == 0
    config = repository / ".nobrakes" / "config.toml"
    config.write_text('main = "main"\n')
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.set_setting("frozen", "0123456789abcdef")
    store.close()
    now, breaker = (site.get(f"/r/shop/{page}").text for page in ("", "breaker"))
    now = now.partition('id="now-broken"')[2].partition("</section>")[0]
    told = site.get("/r/shop/api/breaker").json()["data"]["stands"]
    assert [one["kind"] for one in told] == ["paused", "no_check", "main_red"]
    for one in told:
        page = link(one["commands"][0])
        assert escape(one["what"]) in breaker and escape(page.name if page else one["commands"][0]) in breaker
        assert (escape(one["what"]) in now) == (one["kind"] != "paused"), one  # the bar has the switches
    capsys.readouterr()
    assert main.run(["status"]) == 0
    said = capsys.readouterr().out
    assert all(one["what"] in said for one in told if one["kind"] != "no_check")
    config.write_text("main = 3\n")
    assert (
        "config.toml is not valid" in site.get("/r/shop/").text
        and "config.toml is not valid" in site.get("/r/shop/breaker").text
    )


def test_what_the_doctor_found_is_kept_by_the_server_that_asked(site, repository) -> None:
    assert site.post("/r/shop/health/look", {}).status_code == 303
    assert site.get("/r/shop/api/health").json()["data"]["looked"]["findings"]
    with serving() as another:
        assert another.log_in().get("/r/shop/api/health").json()["data"]["looked"] is None


def test_a_beads_page_shows_what_fresh_eyes_found_as_text(site, repository) -> None:
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    found = {"category": "edge_cases", "priority": "P1", "path": "a.py", "line": 3, "text": "<b>An empty name</b>"}
    data = {"bead": "nb-1", "round": 1, "outcome": "done", "answer": [found]}
    spec = ("codex", "openai", "")
    store.begin_session(
        SessionKind.CODE_REVIEW, bead_owner("nb-1"), "Review of nb-1", spec, "Read it", "nobrakes", data
    )
    store.close()
    page = site.get("/r/shop/bead/nb-1").text
    assert "Code review" in page and "1 round, $0.00: 1 P1" in page
    assert "&lt;b&gt;An empty name&lt;/b&gt;" in page and "a.py:3" in page
    assert "Code review" not in site.get("/r/shop/bead/nb-2").text


def test_now_counts_what_waits_for_a_person_and_what_waits_for_a_daemon(site, repository) -> None:
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which?", "One"), None, None, "Ada")
    store.escalate(NewEscalation(EscalationType.QUESTION, "Where?", "Two"), None, None, "Ada")
    store.close()
    for bead in ("nb-1", "nb-2"):
        assert main.run(["cancel", bead]) == 0
    assert main.run(["add", "Later", "--draft"]) == 0
    page = site.get("/r/shop/").text
    tile = page.partition('<li class="escalated asks">')[2].partition("</li>")[0]
    assert re.search(r"</svg>\s+3</b>", tile) and 'href="/r/shop/desk"' in tile, tile
    assert "2 questions wait for your decision. <a" in page and 'href="/r/shop/desk">Open the Desk</a>' in page
    assert "waits for it" not in page, "a draft waits for a person, and not for a daemon"
    assert "Begin a feature" not in page
    assert main.run(["add", "Now", "--id", "now"]) == 0
    assert "No daemon is running, and 1 bead is waiting for it" in site.get("/r/shop/").text


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """The pages of a repository in which nobrakes was just set up."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    assert main.run(["init", "--build", "true"]) == 0
    with serving() as served:
        yield served.log_in()


def test_an_empty_repository_begins_on_its_first_page(empty) -> None:
    site, page = empty, empty.get("/r/shop/").text
    begins = page.partition('id="now-begins"')[2].partition("</section>")[0]
    for way in ("do/add", "plan#file", "features#begin", "set-up"):
        assert f'href="/r/shop/{way}"' in begins, way
    assert 'action="/r/shop/do/daemon-start"' in begins and "cannot change shell commands on a page" in begins
    assert "nobrakes init --agent NAME" in begins and "First plan" not in begins
    for name in ("board", "graph"):
        assert 'href="/r/shop/do/add?then=' in site.get(f"/r/shop/{name}").text
    plan = site.get("/r/shop/plan").text
    assert 'type="file"' in plan and "Markdown" in plan and '<details id="file" open>' in plan
    assert main.run(["add", "First", "--id", "first"]) == 0
    page = site.get("/r/shop/").text
    assert '<section id="now-begins" aria-labelledby="h-begins" hidden>' in page
    assert "do/add" not in page.partition('id="now-begins"')[2].partition("</section>")[0]


def test_agents_that_cannot_start_are_a_refusal_with_its_reason(site, repository) -> None:
    (repository / ".nobrakes" / "config.toml").write_text('main = "main"\n')
    refused = site.post("/r/shop/do/daemon-start", {}, accept="application/json")
    assert refused.status_code == 409 and "no check is configured" in refused.json()["error"]["message"]
