"""The page of a feature: what waits, its pull request, its end, and what its agent says while it works."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import Bead, BeadType, Role
from nobrakes.config.sections import ForgeSettings
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.decisions.service import page
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.model import SIGN_OFF_ASKED, Criterion, Feature, ItemKind, Step
from nobrakes.features.reviewed_plan import nodes_of
from nobrakes.features.service.feature_page import sign_off
from nobrakes.requests.model import PullRequest, PullState
from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store, open_store
from tests.integration.web.test_socket import hear, hello, seq_of, socket


@pytest.fixture
def store(repository):
    """With a feature whose Shaper is session 1, and whose plan is complete."""
    found = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    found.put([Bead("f", "Login", type=BeadType.EPIC), Bead("form", "The form", epic="f")], [], "ada")
    own = (Criterion("The tests pass: `true`", "automated"), Criterion("It is fast", "manual"))
    found.begin_feature(Feature("f", "Login", "People log in.", own, ("src",), actor="ada"))
    talk = found.begin_session(SessionKind.PLANNING, "bead:f", "Login", ("script", "script", ""), "Begin.", "nobrakes")
    found.change_feature("f", {"session": talk.id}, "nobrakes")
    yield found
    found.close()


def test_what_its_agent_says_is_on_the_page_and_comes_while_it_is_open(site, store: Store, repository) -> None:
    assert "h-live" not in site.get("/r/shop/features/f").text
    begun = store.open_turn(1)
    assert begun is not None
    topic = f"t:{begun[0].id}"
    output = repository / ".nobrakes" / "runs" / f"s{begun[0].id}-agent" / "agent.out"
    output.parent.mkdir(parents=True)
    output.write_text("I read src\n")
    shown = site.get("/r/shop/features/f").text
    assert "I read src" in shown and f'data-topic="{topic}" data-n="1"' in shown
    first = hello(seq_of(site), topic, "t:77")
    with socket(site) as line:
        line.send(first)
        hear(line, lambda m: m["op"] == "lines")
        with output.open("a") as file:
            file.write("I wrote a plan\n")
        heard = hear(line, lambda m: m["op"] == "lines")
        assert [(one["number"], one["text"]) for one in heard["lines"]] == [(1, "I wrote a plan")]
        assert heard["topic"] == topic


def test_a_sign_off_is_offered_once_its_points_are_answered_and_is_shown_once_it_is_given(site, store: Store) -> None:
    store.keep_plan("f", nodes_of(store, "f"), "complete", "Shaper")
    store.move_feature("f", Step.PLAN_READY, "Shaper")
    store.note_feature("f", {SIGN_OFF_ASKED: 1}, "nobrakes")
    store.collect("f", ItemKind.TODO, "limit the tries", "nobrakes", file="src/a.py", line=2, blocks=True)
    shown = site.get("/r/shop/features/f").text
    assert "<b>open point</b>" in shown
    assert "is waiting for your sign-off" in shown and "do/forge-answer" in shown and "do/forge-sign-off" not in shown
    answered = site.post(
        "/r/shop/do/forge-answer", {"feature": "f", "number": "1", "text": "Three"}, accept="application/json"
    )
    assert "src/a.py:2 (TODO: limit the tries)" in answered.json()["said"]
    shown = site.get("/r/shop/features/f").text
    assert "<b>open point</b>" not in shown
    assert "do/forge-sign-off" in shown and "I accept the risk: 0 of 10 reviews" in shown and "0/10" in shown
    assert "Another round" in shown and "about $0.50" in shown
    sign_off(store, ForgeSettings(), "f", "ada", take_risk=True)
    shown = site.get("/r/shop/features/f").text
    assert "<b>ada</b> signed off version 1" in shown and "do/forge-sign-off" not in shown
    assert "Another round" not in shown


def test_its_pull_request_is_its_last_two_stages_and_what_is_over_offers_no_change(site, store: Store) -> None:
    assert "Pull request" not in site.get("/r/shop/features/f").text
    store.approve(["f", "form"], "ada")
    store.move_feature("f", Step.APPROVED, "ada")
    store.save_pull(PullRequest("f"))
    shown = site.get("/r/shop/features/f").text
    assert 'aria-current="step">4. Pull request<' in shown and "0 of 1 merged" in shown
    one = PullRequest(
        "f", PullState.OPEN, 41, "https://code.invalid/41", "Login", "feature/f", says="it waits for people"
    )
    store.save_pull(one)
    shown = site.get("/r/shop/features/f").text
    assert 'aria-current="step">5. Pull request review<' in shown and "#41" in shown and "it waits for people" in shown
    assert "do/forge-change" in shown and "at each merge" in shown
    store.move_feature("f", Step.MERGED, "nobrakes")
    shown = site.get("/r/shop/features/f").text
    assert (
        'aria-current="step">6. Merged<' in shown
        and "do/forge-change" not in shown
        and "Checked by nobrakes: passed" in shown
    )


def test_the_page_offers_to_stop_the_agents_of_its_beads(site, store: Store) -> None:
    assert "forge-cancel" not in site.get("/r/shop/features/f").text
    store.approve(["f", "form"], "ada")
    assert store.open_attempt("form", Role.TEST_WRITER, "script", ("Ada",), 60.0, None) is not None
    shown = site.get("/r/shop/features/f").text
    assert "forge-cancel" in shown and "Stop 1 agent<" in shown


def ask(store: Store, title: str, **form: object) -> int:
    values = forms.as_values(forms.form(form))
    return store.escalate(
        NewEscalation(EscalationType.QUESTION, title, session=1, form=values), None, None, "Shaper"
    ).id


def test_the_questions_of_a_turn_are_one_form_that_is_taken_whole_or_not_at_all(site, store: Store) -> None:
    assert store.open_turn(1) is not None
    options = [{"label": "Mail"}, {"label": "Code", "why": True}]
    which = ask(store, "Which way?", kind="radio", priority=1, options=options, recommended=["Mail"])
    who = ask(store, "Who?", kind="checkbox", options=[{"label": "Staff"}, {"label": "All"}])
    free = ask(store, "Which words?", kind="long_text", required=False)
    for path in ("features/f", f"desk/{who}"):
        shown = site.get(f"/r/shop/{path}").text
        assert shown.count('action="/r/shop/do/answers"') == 1 and "Answer all 3" in shown, path
        assert all(f'name="answers.{number}"' in shown for number in (which, who, free)), path
        assert f'<input type="hidden" value="{which} {who} {free} ">' in shown, "a script knows it from other forms"
        assert ">P1<" in shown and "<b>Mail</b> <em>recommended</em>" in shown, path
    assert "Which way? and 2 more questions" in site.get("/r/shop/desk").text
    given = {f"answers.{which}": "Code", f"answers.{who}": ["", "All", "Staff"], f"answers.{free}": ""}
    refused = site.post("/r/shop/do/answers", given, accept="application/json")
    said = refused.json()["error"]["message"]
    assert refused.status_code == 422 and f"nothing was answered, because of question {which} (Which way?)" in said
    assert len(store.escalations()) == 3
    done = site.post("/r/shop/do/answers", {**given, f"why.{which}": "no mail"}, accept="application/json").json()
    assert done["said"] == (
        "3 questions answered: Which way? Code: no mail; Who? Staff, All; "
        "Which words? no preference: decide it yourself"
    )
    assert store.escalations() == [] and store.escalation(who).value == ["Staff", "All"]


def test_questions_of_another_turn_are_another_form(site, store: Store) -> None:
    assert store.open_turn(1) is not None
    for title in ("Which way?", "Who?"):
        ask(store, title, kind="yes_no")
    one, other = store.escalations()
    assert page.groups(store, (one, other)) == [[one, other]]
    before = replace(one, created_at=0.5)
    assert page.groups(store, (before, other)) == [[before], [other]]
    decided = replace(one, resolved_at=1.0)
    assert page.groups(store, (decided, other)) == [[decided], [other]]


def test_who_chooses_to_roll_back_confirms_it_where_it_was_chosen(site, store: Store) -> None:
    store.approve(["f", "form"], "ada")
    store.move_feature("f", Step.APPROVED, "ada")
    failed = NewEscalation(
        EscalationType.REPEATED_FAILURE,
        "form failed 3 times",
        evidence={forms.FEATURE: "f"},
        form=forms.failing_form(),
    )
    number = store.escalate(failed, "form", None, "nobrakes").id
    here = f"/r/shop/desk/{number}"
    shown = site.get(here).text
    assert "do/forge-rollback" not in shown and f'name="then" value="{here}"' in shown
    said = {"number": str(number), "text": forms.ROLL_BACK}
    answered = site.post("/r/shop/do/answer", said, accept="application/json").json()["said"]
    assert "nobrakes forge rollback f" in answered
    shown = site.get(here).text
    assert "do/forge-rollback" in shown and "The rollback cancels 1 bead" in shown and "to confirm" in shown
    store.record(Event(Kind.CANCELLED, "form", actor="ada", data={"reason": "x"}))
    code = site.new_code()
    back = {"feature": "f", "typed": "roll back", "code": code}
    done = site.post("/r/shop/do/forge-rollback", back, accept="application/json")
    assert done.status_code == 200, done.text
    assert "do/forge-rollback" not in site.get(here).text


def test_each_bead_s_pull_request_is_shown_with_how_many_are_merged(site, store: Store) -> None:
    store.put([Bead("table", "The table", epic="f")], [], "ada")
    store.approve(["f", "form", "table"], "ada")
    store.move_feature("f", Step.APPROVED, "ada")
    store.record(Event(Kind.DONE_BY_HAND, "table", actor="ada"))
    store.save_pull(PullRequest("table", PullState.MERGED, 41, "https://code.invalid/41", "The table"))
    shown = site.get("/r/shop/features/f").text
    assert 'aria-current="step">4. Pull request<' in shown and "1 of 2 merged" in shown and "#41" in shown
    checks = ({"name": "build", "state": "failed", "url": ""},)
    store.save_pull(PullRequest("form", PullState.OPEN, 42, "https://code.invalid/42", "The form", checks=checks))
    shown = site.get("/r/shop/features/f").text
    assert 'aria-current="step">5. Pull request review<' in shown and "#42" in shown and ">build<" in shown
    assert "1 of 2 pull requests merged" in site.get("/r/shop/features").text
