"""What a turn's words say where the agent called no operation: markers first, then what reads like a question."""

import pytest

from nobrakes.features.markers import PlanStep, Question, Reading, read

DECISION = """[DECISION_NEEDED priority="1" category="scope"]
Which store should keep them?
- Postgres: what we have (recommended)
- SQLite: simpler
[/DECISION_NEEDED]"""
ASKED = Question("Which store should keep them?", ("Postgres: what we have", "SQLite: simpler"), ("Postgres",), 1)


def test_markers_on_lines_of_their_own_are_read_and_urgent_questions_come_first() -> None:
    reading = read(
        "I looked around.\n"
        '[DECISION_NEEDED priority="3"]\nWhich colour?\n- red\n- blue\n[/DECISION_NEEDED]\n'
        f'{DECISION}\n[PLAN_STEP id="1" parent="null" status="pending"]\nThe table\nIts columns.\n[/PLAN_STEP]\n'
        '[PLAN_STEP id="1.1" parent="1"]\nIts index\n[/PLAN_STEP]\n[PLAN_READY]\n'
    )
    assert reading.certain and reading.ready
    assert reading.questions == (ASKED, Question("Which colour?", ("red", "blue"), (), 3))
    assert reading.steps == (PlanStep("1", "The table", "Its columns."), PlanStep("1.1", "Its index", "", "1"))


@pytest.mark.parametrize(
    "words",
    [
        f"```\n{DECISION}\n```",
        f"~~~~\n```\n{DECISION}\n~~~\n{DECISION}",  # the block has no end
        DECISION.replace("\n", " "),  # not on a line of its own
        DECISION.lower(),
        "\n".join(f"> {line}" for line in DECISION.split("\n")),
        "\n".join(f"    {line}" for line in DECISION.split("\n")[:1]),  # indented code
        "[PLAN_APPROVED]",
        "[PLAN_READY] now",
        "[plan_ready]",
        "The plan is approved and ready. nobrakes commit-strategy --yes",
    ],
)
def test_what_is_no_marker_says_nothing_for_certain(words: str) -> None:
    reading = read(words)
    assert not reading.certain and not reading.ready and not reading.steps
    assert all(one.priority == 2 for one in reading.questions), "its attributes were not read"


def test_markers_nest_and_a_text_around_them_stays_with_its_own() -> None:
    reading = read(
        f'[CHECKPOINT step="2"]\nBetween.\n{DECISION}\n[PLAN_STEP id="a"]\nFirst\n[/PLAN_STEP]\n[/CHECKPOINT]'
    )
    assert reading == Reading((ASKED,), (PlanStep("a", "First"),), False, True)
    twice = read('[PLAN_STEP id="a"]\nOuter\n[PLAN_STEP id="b"]\nInner\n[/PLAN_STEP]\nMore of it\n[/PLAN_STEP]')
    assert twice.steps == (PlanStep("a", "Outer", "More of it"), PlanStep("b", "Inner"))


def test_a_marker_without_an_end_is_read_as_words_and_is_ready_for_nothing() -> None:
    reading = read(f"{DECISION.rpartition(chr(10))[0]}\n\nThat is all.\n[PLAN_READY]")
    assert reading.questions == (ASKED,) and not reading.certain and not reading.ready
    inner = read('[CHECKPOINT]\n[PLAN_STEP id="1"]\nThe table\n[/CHECKPOINT]')
    assert inner.is_empty, "its step has no end, and no look of one"


def test_words_alone_are_read_without_a_model() -> None:
    reading = read(
        "Is it clear? I think so.\n\nWhat must block a login?\n\n1. A wrong password (recommended)\n2. An old session\n\n"
        "Steps of the plan:\n1. **Table**\n   With an index.\n2. Form\n\nShall I go on?"
    )
    assert not reading.certain and not reading.ready
    assert [one.text for one in reading.questions] == ["What must block a login?", "Shall I go on?"]
    assert reading.questions[0].recommended == ("A wrong password",)
    assert reading.steps == (PlanStep("1", "Table", "With an index."), PlanStep("2", "Form"))


@pytest.mark.parametrize(
    "words",
    [
        "",
        "I looked around and found three modules.",
        "Error: the plan failed with exit code 1\nTraceback (most recent call last)",
        '{"is_error": false, "error_count": 0}\nFatal: no error',
        "Who would want that? Nobody.\n\nSo I leave it out.",
        "1. one\n2. two",
    ],
)
def test_what_asks_and_proposes_nothing_is_empty_and_errors_are_words_like_others(words: str) -> None:
    assert read(words).is_empty


def test_more_options_than_a_form_has_and_long_texts_become_context() -> None:
    many = "\n".join(f"- choice {number}" for number in range(20))
    (one,) = read(f"[DECISION_NEEDED]\n{'word ' * 100}\nWhich?\n{many}\n[/DECISION_NEEDED]").questions
    assert one.text == "Which?" and one.options == () and "choice 19" in one.context and one.priority == 2
    flood = "\n".join(f"[DECISION_NEEDED]\nNumber {n}?\n[/DECISION_NEEDED]" for n in range(500))
    assert len(read(flood).questions) == 10
