"""Questions with a form: what may be asked, what a person may type, and the one text that agents are given."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.db import fast
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, fingerprint
from nobrakes.errors import UsageError

DATABASES = ["Postgres: what we have; costs nothing", "SQLite: one file; costs a migration", "Post-it"]
WHICH = forms.made("radio", DATABASES, ["sqlite"])
ANY = forms.made("checkbox", ["Linux", "macOS", "Windows: last; costs a week"], ["macOS", "linux"])
MAYBE = forms.made("checkbox", ["Linux", "macOS"], required=False)
SURE = forms.made("yes_no", recommended=["Yes"])
SHORT = forms.made("short_text", required=False)
LONG = forms.made("long_text", context="\x1b[31mwhy\n", priority=1)
SIZES = forms.made("radio", ["4", "8", "16"])


def test_a_form_says_what_its_words_said() -> None:
    assert forms.as_values(WHICH) == {
        "context": "",
        "kind": "radio",
        "options": [
            {"costs": "nothing", "label": "Postgres", "means": "what we have"},
            {"costs": "a migration", "label": "SQLite", "means": "one file"},
            {"costs": "", "label": "Post-it", "means": ""},
        ],
        "priority": 2,
        "recommended": ["SQLite"],
        "required": True,
    }
    assert ANY.recommended == ("Linux", "macOS")
    assert (LONG.context, LONG.priority, SURE.recommended) == ("why", 1, ("yes",))
    assert forms.parted("Cheap: costs little") == {"label": "Cheap", "means": "", "costs": "little"}


@pytest.mark.parametrize(
    ("found", "typed", "value", "text"),
    [
        (WHICH, "2", "SQLite", "SQLite"),
        (WHICH, " sqlite ", "SQLite", "SQLite"),
        (WHICH, "sq", "SQLite", "SQLite"),
        (WHICH, "postgres", "Postgres", "Postgres"),
        (ANY, "1,3", ["Linux", "Windows"], "Linux, Windows"),
        (ANY, "win, MAC , 2", ["macOS", "Windows"], "macOS, Windows"),
        (MAYBE, "None", [], "none"),
        (MAYBE, "", None, forms.NO_PREFERENCE),
        (SURE, "y", True, "yes"),
        (SURE, "No", False, "no"),
        (SHORT, "  a \t b ", "a b", "a b"),
        (SHORT, "", None, forms.NO_PREFERENCE),
        (LONG, " one\ntwo\x1b[0m ", "one\ntwo", "one\ntwo"),
        (SIZES, "8", "8", "8"),
        (SIZES, "16", "16", "16"),
    ],
)
def test_what_a_person_types_is_a_value(found: forms.Form, typed: str, value: Any, text: str) -> None:
    assert forms.judge(found, typed) == value
    assert forms.text_of(found, value) == text


@pytest.mark.parametrize(
    ("found", "typed", "said"),
    [
        (WHICH, "", "empty"),
        (WHICH, "4", "'4' is not an option"),
        (WHICH, "0", "not an option"),
        (WHICH, "Oracle", "not an option"),
        (WHICH, "post", "could be Postgres, Post-it"),
        (WHICH, "1,2", "not an option"),
        (ANY, "1,9", "'9' is not an option"),
        (ANY, ",", "empty"),
        (ANY, "none", "at least one"),
        (SURE, "maybe", "not an option"),
        (SURE, "1", "not an option"),
        (SHORT, "a\nb", "more than one line"),
        (SHORT, "x" * 201, "201 characters"),
        (LONG, "", "empty"),
        (LONG, "x" * 8001, "8001 characters"),
        (SIZES, "2", "not an option"),
    ],
)
def test_what_is_no_answer_is_refused(found: forms.Form, typed: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        forms.judge(found, typed)


def test_a_refusal_lists_the_options() -> None:
    with pytest.raises(UsageError) as refused:
        forms.judge(WHICH, "Oracle")
    assert refused.value.hint == "Options are: 1 Postgres, 2 SQLite, 3 Post-it."
    with pytest.raises(UsageError) as refused:
        forms.judge(SIZES, "2")
    assert refused.value.hint == "Options are: 4, 8, 16."


@pytest.mark.parametrize(("found", "value"), [(WHICH, "SQLite"), (ANY, ["Linux", "macOS"]), (SURE, True)])
def test_what_is_recommended_is_taken_when_it_is_asked_for(found: forms.Form, value: Any) -> None:
    assert forms.judge(found, "", recommended=True) == value
    with pytest.raises(UsageError):
        forms.judge(found, "")
    with pytest.raises(UsageError):
        forms.judge(found, "1", recommended=True)
    with pytest.raises(UsageError, match="has no recommended answer"):
        forms.judge(LONG, "", recommended=True)


TWO = [{"label": "a"}, {"label": "b"}]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "not a JSON object"),
        ({}, "not a kind"),
        ({"kind": "slider"}, "'slider' is not a kind"),
        ({"kind": ["radio"]}, "not a kind"),
        ({"kind": "radio"}, "from 2 to 12 options, not 0"),
        ({"kind": "radio", "options": TWO[:1]}, "options, not 1"),
        ({"kind": "radio", "options": [{"label": str(i)} for i in range(13)]}, "options, not 13"),
        ({"kind": "checkbox", "options": []}, "from 1 to 12"),
        ({"kind": "radio", "options": [{"label": "A"}, {"label": " a"}]}, "two options are called 'a'"),
        ({"kind": "radio", "options": [{"label": ""}, {"label": "b"}]}, "no label"),
        ({"kind": "radio", "options": [{"label": "x" * 81}, {"label": "b"}]}, "too long"),
        ({"kind": "radio", "options": ["a", "b"]}, "an option is not a JSON object"),
        ({"kind": "radio", "options": [{"label": 1}, {"label": "b"}]}, "have to be texts"),
        ({"kind": "radio", "options": [{"label": "a", "price": ""}, {"label": "b"}]}, "an option has no 'price'"),
        ({"kind": "radio", "options": "ab"}, "has to be a list"),
        ({"kind": "radio", "options": TWO, "recommended": ["c"]}, "the recommended 'c' is not an option"),
        ({"kind": "radio", "options": TWO, "recommended": ["a", "b"]}, "more than one"),
        ({"kind": "radio", "options": TWO, "recommended": [1]}, "label of an option"),
        ({"kind": "yes_no", "options": TWO}, "has no options"),
        ({"kind": "short_text", "recommended": ["a"]}, "no options to recommend"),
        ({"kind": "checkbox", "options": [{"label": "a,b"}]}, "cannot be the label of a checkbox"),
        ({"kind": "checkbox", "options": [{"label": "None"}]}, "cannot be the label of a checkbox"),
        ({"kind": "yes_no", "required": 1}, "true or false"),
        ({"kind": "yes_no", "priority": 4}, "1, 2 or 3"),
        ({"kind": "yes_no", "priority": True}, "1, 2 or 3"),
        ({"kind": "yes_no", "context": None}, "has to be a text"),
        ({"kind": "yes_no", "colour": "red"}, "a form has no 'colour'"),
    ],
)
def test_a_wrong_form_is_refused_with_what_is_wrong(values: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        forms.form(values)


def test_texts_are_cleaned_and_bounded() -> None:
    options = [{"label": " a\x1b[31m \n b ", "means": "m" * 999, "costs": "c" * 999}, {"label": "c"}]
    found = forms.form({"kind": "radio", "options": options, "context": "x" * 9999})
    first = found.options[0]
    assert first.label == "a b" and len(found.context) <= forms.CONTEXT
    assert len(first.means) == len(first.costs) == forms.MEANING and first.means.endswith("m […]")


def test_the_form_is_part_of_what_makes_two_questions_the_same() -> None:
    marks = {fingerprint(EscalationType.QUESTION, "b", "Why?", form) for form in ("", "{}", "[]")}
    assert len(marks) == 3


def test_the_database_sorts_by_the_same_priority() -> None:
    assert f", {forms.DEFAULT_PRIORITY})" in fast.PRIORITY_OF_FORM
    assert forms.priority_of(None) == forms.DEFAULT_PRIORITY and forms.priority_of(forms.as_values(LONG)) == 1


TEXT = st.text(max_size=30)
LABELS = st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=12)


@st.composite
def drawn(draw: st.DrawFn) -> forms.Form:
    """A right form of any kind: what is no form is drawn again."""
    kind = draw(st.sampled_from(forms.KINDS))
    labels = draw(LABELS) if kind in forms.CHOICES else []
    options = [{"label": label, "means": draw(TEXT), "costs": draw(TEXT)} for label in labels]
    some = draw(st.lists(st.sampled_from(labels), max_size=1)) if labels else []
    values = {"kind": kind, "options": options, "recommended": some, "required": draw(st.booleans())}
    try:
        return forms.form({**values, "priority": draw(st.sampled_from(forms.PRIORITIES)), "context": draw(TEXT)})
    except UsageError:
        return SURE


@given(drawn())
def test_a_form_outlives_its_json(found: forms.Form) -> None:
    values = forms.as_values(found)
    again = forms.as_values(forms.form(json.loads(json.dumps(values))))
    assert again == values and list(values) == sorted(values)


@given(drawn(), st.data())
def test_the_text_of_a_value_is_judged_to_be_that_value(found: forms.Form, data: st.DataObject) -> None:
    labels = found.labels()
    if found.kind == "checkbox":
        some = data.draw(st.sets(st.sampled_from(labels), min_size=int(found.required)))
        value: Any = [label for label in labels if label in some]
    elif labels:
        label = data.draw(st.sampled_from(labels))
        value = label == "yes" if found.kind == "yes_no" else label
        assert forms.judge(found, forms.typed_as(found, label)) == value
    else:
        try:
            value = forms.judge(found, data.draw(TEXT))
        except UsageError:
            return
    if value is not None:
        assert forms.judge(found, forms.text_of(found, value)) == value


@given(drawn(), TEXT, st.booleans())
def test_whatever_is_typed_is_a_value_of_the_form_or_refused(found: forms.Form, typed: str, recommended: bool) -> None:
    try:
        value = forms.judge(found, typed, recommended)
    except UsageError as error:
        assert str(error)
        return
    assert forms.text_of(found, value)
    if found.kind == "radio":
        assert value in found.labels() or (value is None and not found.required)


def test_an_option_may_ask_for_a_reason_which_is_kept_with_it() -> None:
    option = {"label": "accept the risk", "why": True}
    values = {"kind": "radio", "options": [{"label": "add a limit"}, option], "recommended": ["add a limit"]}
    found = forms.form(values)
    assert forms.as_values(found)["options"][1] == {"costs": "", "label": "accept the risk", "means": "", "why": True}
    assert "why" not in forms.as_values(found)["options"][0]  # a form of before is the same text of JSON
    for typed in ("accept the risk: behind a login", "2: behind a login", "Acc : behind a login"):
        value = forms.judge(found, typed)
        assert value == "accept the risk: behind a login"
        assert forms.judge(found, forms.text_of(found, value)) == value
    for typed in ("accept the risk", "2", "2:", "accept the risk:  "):
        with pytest.raises(UsageError, match="needs a reason"):
            forms.judge(found, typed)
    with pytest.raises(UsageError, match="takes no reason"):
        forms.judge(found, "1: because")
    with pytest.raises(UsageError, match="is not an option"):
        forms.judge(found, "none of these: because")
    assert forms.judge(found, "", recommended=True) == "add a limit"
    with pytest.raises(UsageError, match="cannot ask for a reason"):
        forms.form(values | {"kind": "checkbox"})


def test_labels_may_have_colons_beside_an_option_that_asks_for_a_reason() -> None:
    labels = [{"label": "split: two beads"}, {"label": "accept: the risk", "why": True}, {"label": "no", "why": True}]
    values = {"kind": "radio", "options": labels}
    found = forms.form(values)
    for typed, value in (
        ("split: two beads", "split: two beads"),
        ("SPLIT:", "split: two beads"),
        ("Accept: the risk : it: is fine", "accept: the risk: it: is fine"),
        ("2: it is fine", "accept: the risk: it is fine"),
        ("no: split: two beads", "no: split: two beads"),
    ):
        assert forms.judge(found, typed) == value
        assert forms.judge(found, forms.text_of(found, value)) == value
    for typed in ("accept: the risk", "accept: the", "accept: the risk:"):
        with pytest.raises(UsageError, match="'accept: the risk' needs a reason"):
            forms.judge(found, typed)
    with pytest.raises(UsageError, match="'accept: the risk' is recommended, but needs a person's reason"):
        forms.form(values | {"recommended": ["Accept: the risk"]})
    with pytest.raises(UsageError, match="the label 'No: never' could also mean option 'no' with a reason"):
        forms.form(values | {"options": [*labels, {"label": "No: never"}]})


def test_one_option_may_take_any_other_words_which_keep_their_lines() -> None:
    rest = {"label": "give guidance", "why": True, "rest": True}
    found = forms.form({"kind": "radio", "options": [{"label": "use v1"}, rest, {"label": "pause"}]})
    for typed, value in (
        ("use v3\nand cache it", "give guidance: use v3\nand cache it"),
        ("2: use v3", "give guidance: use v3"),
        ("note: use v3", "give guidance: note: use v3"),
        ("1", "use v1"),
        ("PAUSE", "pause"),
        ("pau", "pause"),
        ("use: the old one", "give guidance: use: the old one"),
        ("p: see p. 3\ng: none", "give guidance: p: see p. 3\ng: none"),
        ("9: see page 9", "give guidance: 9: see page 9"),
        ("give  Guidance : pause: no\nuse v1", "give guidance: pause: no\nuse v1"),
    ):
        assert forms.judge(found, typed) == value
        assert forms.judge(found, forms.text_of(found, value)) == value
    for typed, said in (
        ("2", "needs a reason"),
        ("give guidance: ", "needs a reason"),
        ("1: because", "takes no reason"),
        ("use v1: because", "takes no reason"),
        ("", "empty"),
        ("x" * 9000, "9000"),
    ):
        with pytest.raises(UsageError, match=said):
            forms.judge(found, typed)
    for wrong in ({"label": "a", "rest": True}, {"label": "a", "why": True, "rest": 1}):
        with pytest.raises(UsageError):
            forms.form({"kind": "radio", "options": [{"label": "b"}, wrong]})
    with pytest.raises(UsageError, match="only one option can"):
        forms.form({"kind": "radio", "options": [rest, {"label": "a", "why": True, "rest": True}]})
