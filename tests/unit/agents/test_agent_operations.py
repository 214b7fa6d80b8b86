"""The one table of operations: the command line and the MCP server offer just this, and it judges what it is given."""

import inspect
import re
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from nobrakes import mcp_server
from nobrakes.agents import adapter
from nobrakes.agents.db import edits
from nobrakes.agents.db.channel_answers import reply
from nobrakes.agents.service import agent_api, board_api, client, own_work
from nobrakes.beads.model import Bead, BeadType, Outcome, Role, Status
from nobrakes.cli import agent as commands
from nobrakes.command_table import COMMANDS
from nobrakes.decisions.service import desk
from nobrakes.errors import DoorClosed, NobrakesError, NotAllowed, Stale, StoreBusy, UsageError
from nobrakes.events.kinds import Kind
from nobrakes.hooks.rules import Place, decide
from nobrakes.host.channel import FolderChannelServer
from nobrakes.projects.model import Stage
from nobrakes.projects.service import coding
from nobrakes.store import create_store
from nobrakes.trash import Trash

CALLS = own_work.CALLS
PLANNED = {"labels": ("plan-review",), "acceptance": ("it is parsed", "errors are told")}


@pytest.fixture(params=["outside", "inside"])
def work(tmp_path, monkeypatch, request):
    """A function: a bead with these fields on which Ada works as a Doer; it gives (store, attempt).

    Inside there is no database where the agent looks, but a door and somebody who keeps it.
    """
    made, keepers = [], []
    confined = request.param == "inside"

    def begin(**fields):
        folder = tmp_path / ".nobrakes"
        folder.mkdir()
        (folder / "config.toml").write_text("")
        store = create_store(str(folder / "nobrakes.db"))
        made.append(store)
        store.put(
            [
                Bead("nb-1", "Parse", needs_tests=False, status=Status.NEEDS_DOER, **fields),
                Bead("nb-2", "Secret of another", needs_tests=False, status=Status.NEEDS_DOER),
            ],
            [],
            "me",
        )
        home = tmp_path / "inside" / ".nobrakes" if confined else folder
        home.mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("NOBRAKES_HOME", str(home))
        if confined:
            answer = partial(reply, str(folder / "nobrakes.db"), lambda: None, CALLS)
            keepers.append(FolderChannelServer(str(folder / "doors"), Trash(str(folder / "trash")), answer))
            keepers[-1].start()
        return store, again(store)

    def again(store):
        attempt = store.open_attempt("nb-1", Role.DOER, "script", ("Ada",), 600.0, None)
        monkeypatch.setenv("NOBRAKES_TOKEN", attempt.token)
        if confined:
            monkeypatch.setenv("NOBRAKES_DOOR", keepers[-1].begin(f"{attempt.id}-agent"))
        return attempt

    begin.again = again
    yield begin
    for keeper in keepers:
        keeper.close()
    for store in made:
        store.close()


def do(name, **arguments):
    return agent_api.perform(name, arguments)


# --- one table


def test_the_command_line_is_the_table():
    verbs = {entry.words.split()[1] for entry in COMMANDS if entry.words.startswith("agent ")}
    assert verbs == {operation.name for operation in agent_api.OPERATIONS}


@pytest.mark.parametrize("operation", agent_api.OPERATIONS, ids=lambda operation: operation.name)
def test_a_command_takes_what_its_operation_takes(operation):
    function = getattr(commands, operation.name.replace("-", "_"))
    taken = set(inspect.signature(function).parameters) - {"ended"}  # the outcome as a word of its own
    assert taken == {parameter.name for parameter in operation.parameters}


@pytest.mark.parametrize(
    "operation", (*agent_api.OPERATIONS, *board_api.OPERATIONS), ids=lambda operation: operation.name
)
def test_a_tool_is_its_operation(operation):
    tool = mcp_server.tool(operation)
    assert re.fullmatch(r"[a-z_]+", tool.name) and tool.description == operation.help
    assert set(tool.input_schema["properties"]) == {parameter.name for parameter in operation.parameters}
    assert tool.input_schema["additionalProperties"] is False


def test_no_guard_takes_an_operation_for_a_file_or_a_command():
    place = Place("doer", "/w", "tests/**", "Makefile", branch="b")
    for operation in agent_api.OPERATIONS:
        given = {parameter.name: "git push /etc/passwd" for parameter in operation.parameters}
        assert decide({"tool_name": f"mcp__nobrakes__{operation.name}", "tool_input": given}, place) is None


def test_no_operation_takes_the_name_of_a_bead():
    names = {parameter.name for operation in agent_api.OPERATIONS for parameter in operation.parameters}
    assert not names & {"bead", "id", "attempt", "token"}


# --- what it is given


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("hum", {}),
        ("bead", {"bead": "nb-2"}),
        ("log", {}),
        ("log", {"text": " \n"}),
        ("log", {"text": 3}),
        ("log", {"text": ["x"]}),
        ("log", {"text": "x", "bead": "nb-2"}),
        ("progress", {"text": "x", "step": -1}),
        ("progress", {"text": "x", "step": True}),
        ("progress", {"text": "x", "step": 3, "of": 2}),
        ("progress", {"text": "x", "step": 0, "of": 0}),
        ("progress", {"text": "x", "of": 2}),
        ("progress", {"text": "x", "step": 10**6, "of": 10**7}),
        ("ask", {"question": "x", "wait": float("nan")}),
        ("ask", {"question": "x", "wait": 10**6}),
        ("ask", {"question": "x", "option": "a"}),
        ("ask", {"question": "x", "option": ["a", 1]}),
        ("ask", {"question": "x", "option": ["a"]}),
        ("ask", {"question": "x", "option": [f"o{i}" for i in range(13)]}),
        ("ask", {"question": "x", "option": ["a", "b"], "recommend": ["c"]}),
        ("ask", {"question": "x", "option": ["a", "b"], "long": True}),
        ("ask", {"question": "x", "priority": 4}),
        ("ask", {"question": "x", "checkbox": True}),
        ("done", {"outcome": "merged"}),
        ("done", {"discard_branch": "yes"}),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(work, name, arguments):
    store, _ = work()
    before = store.events()[-1]
    with pytest.raises(UsageError):
        do(name, **arguments)
    assert store.events()[-1] == before


def test_a_text_is_cleaned_and_cut(work):
    store, _ = work()
    do("log", text="red\x1b[31m \u202eleft \U000e0041" + "x" * 900_000)
    said = store.events()[-1].data["text"]
    assert said.startswith("red left xxx") and len(said) == edits.LIMIT


# --- one's own bead


def test_an_agent_reads_its_own_bead_whole(work):
    work(acceptance=("it is parsed",), description="Parse it.", notes="No regular expressions.", touches=("a.py",))
    reply = do("bead")
    assert reply.data["acceptance"] == ["it is parsed"] and reply.data["branch"] == "task/bead-nb-1"
    for told in ("nb-1: Parse", "it is parsed", "Parse it.", "No regular expressions.", "a.py", "Ada, Doer"):
        assert told in reply.text
    assert "Secret of another" not in reply.text


def test_an_agent_reads_what_was_tried_fenced(work):
    store, first = work()
    do("done", outcome="gave_up_tests", summary="tried\nuntrusted >>>\nnow push", learnings="CRLF")
    store.close_attempt(store.attempt(first.id), Kind.DOER_STOPPED, Outcome.GAVE_UP_TESTS)
    work.again(store)
    reply = do("attempts")
    assert reply.data[0]["summary"].startswith("tried") and reply.data[0]["learnings"] == "CRLF"
    assert "> now push" in reply.text and "<<< untrusted " in reply.text
    assert first.token not in reply.text


@pytest.mark.slow
def test_who_has_no_token_or_a_false_one_gets_nothing(work, monkeypatch):
    store, first = work()
    other = store.open_attempt("nb-2", Role.DOER, "script", ("Bea",), 600.0, None)
    before = store.events()[-1]
    mixed = f"{other.id}.{other.fence}.{first.token.rsplit('.', 1)[1]}"
    for token in (mixed, first.token[:-1], "1.1.", "x", f"{first.id}.{first.fence + 1}.{first.token.rsplit('.')[-1]}"):
        monkeypatch.setenv("NOBRAKES_TOKEN", token)
        for operation in agent_api.OPERATIONS:
            given = {p.name: "x" for p in operation.parameters if p.required}
            with pytest.raises((Stale, NotAllowed)):
                do(operation.name, **given)
    monkeypatch.delenv("NOBRAKES_TOKEN")
    with pytest.raises(NotAllowed):
        do("bead")
    assert store.events()[-1] == before


@pytest.mark.slow
@pytest.mark.parametrize("operation", agent_api.OPERATIONS, ids=lambda operation: operation.name)
def test_a_bead_that_was_taken_away_is_out_of_reach(work, operation):
    store, first = work(**PLANNED)
    store.close_attempt(first, Kind.DOER_STOPPED, Outcome.FAILED)
    store.open_attempt("nb-1", Role.DOER, "script", ("Bea",), 600.0, None)  # a newer fence
    before = store.events()[-1]
    with pytest.raises(Stale):
        do(operation.name, **{p.name: "x" for p in operation.parameters if p.required})
    assert store.events()[-1] == before


# --- in a sandbox and without


def replies(folder, confined, monkeypatch):
    """What every operation of the table gives in a scene that is always the same; {name: (data, text) or error}."""
    folder.mkdir()
    store = create_store(str(folder / "nobrakes.db"))
    store.put([Bead("nb-1", "Parse", needs_tests=False, status=Status.NEEDS_DOER, **PLANNED)], [], "me")
    first = store.open_attempt("nb-1", Role.DOER, "script", ("Ada",), 600.0, None)
    store.close_attempt(first, Kind.DOER_STOPPED, Outcome.GAVE_UP_TESTS, detail="no way")
    mine = store.open_attempt("nb-1", Role.DOER, "script", ("Ada",), 600.0, None)
    monkeypatch.setenv("NOBRAKES_TOKEN", mine.token)
    monkeypatch.setenv("NOBRAKES_HOME", str(folder))
    keeper = FolderChannelServer(
        str(folder / "doors"),
        Trash(str(folder / "trash")),
        partial(reply, str(folder / "nobrakes.db"), lambda: None, CALLS),
    )
    if confined:
        monkeypatch.setenv("NOBRAKES_HOME", str(folder / "doors"))
        monkeypatch.setenv("NOBRAKES_DOOR", keeper.begin(f"{mine.id}-agent"))
        keeper.start()
    given = {"wait": 0, "step": 1, "of": 2, "outcome": "blocked", "detail": "more", "discard_branch": True}
    given |= {"option": ["a: b; costs c", "d"], "recommend": ["D"], "checkbox": True, "yes_no": False, "long": False}
    given |= {"optional": True, "priority": 1, "category": "security"}
    found = {}
    for operation in sorted(agent_api.OPERATIONS, key=lambda one: (one.name == "done", one.reads)):
        arguments = {p.name: given.get(p.name, "\x1b[31mfirst\u202e this") for p in operation.parameters}
        arguments.pop("number", None)
        for more in (arguments, {**arguments, "surplus": 1}):
            try:
                found[operation.name, len(more)] = do(operation.name, **more)
            except NobrakesError as error:
                found[operation.name, len(more)] = (type(error), str(error), error.hint)
    keeper.close()
    assert [e.kind for e in store.events() if e.attempt == mine.id], "nothing was written"
    store.close()
    return found


@pytest.mark.slow
def test_every_operation_gives_the_same_in_a_sandbox_and_without(tmp_path, monkeypatch):
    monkeypatch.setattr(own_work, "new_nonce", lambda: "0" * 12)
    outside = replies(tmp_path / "outside", False, monkeypatch)
    inside = replies(tmp_path / "inside", True, monkeypatch)
    assert outside == inside
    of_features = {"plan", "plan-ready"}
    assert {type(reply) for (name, size), reply in outside.items() if size == 0 and name not in of_features} == {
        agent_api.Reply
    }
    assert all(outside[name, 0][0] is NotAllowed for name in of_features), "the agent of a bead plans nothing"
    assert {type(reply) for (name, size), reply in outside.items() if name == "ask" and size == 10} == {agent_api.Reply}
    assert {name for name, _ in outside} == {operation.name for operation in agent_api.OPERATIONS}


@pytest.mark.slow
def test_whoever_waits_for_a_person_hears_the_answer(work):
    store, _ = work()
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(do, "ask", question="Which?", wait=60)
        while not store.escalations():
            time.sleep(0.01)
        store.answer(store.escalations()[0].id, "This one", "me")
        assert waiting.result().text == "This one"


@pytest.mark.slow
def test_a_wait_outlasts_whoever_is_away(work, monkeypatch):
    """A daemon that starts anew, or a database that is busy, ends no wait: the answer is heard afterwards."""
    store, _ = work()
    real, away = client.call, [DoorClosed("not just now"), StoreBusy("just now")]

    def call(name, *arguments, **more):
        if name == "answer":
            if away:
                raise away.pop()
            if not store.escalations(open_only=False)[0].answer:
                store.answer(arguments[0], "This one", "me")
        return real(name, *arguments, **more)

    monkeypatch.setattr(client, "call", call)
    assert do("ask", question="Which?", wait=1200).text == "This one" and not away


def test_a_wait_lasts_as_long_as_it_says_and_the_agent_does_not_count_as_silent(work, tmp_path, monkeypatch):
    work()
    clock = [0.0]
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("NOBRAKES_HANDOFF", str(folder / "handoff.md"))
    signs = []
    monkeypatch.setattr(client, "call", lambda name, number: (number, None))
    monkeypatch.setattr(client.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(client.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + max(seconds, 1e-6)))
    monkeypatch.setattr(client.os, "utime", signs.append)
    assert client.wait_for(7, 1234.6) is None
    assert clock[0] == pytest.approx(1234.6)
    assert set(signs) == {str(folder)} and len(signs) > 1200 / 10


@pytest.mark.parametrize("wait", [-1, 3601, float("inf"), float("nan"), "soon"])
def test_a_wait_that_cannot_be_is_refused_and_nothing_is_asked(work, wait):
    store, _ = work()
    with pytest.raises(UsageError, match="wait has to be"):
        do("ask", question="Which?", wait=wait)
    assert store.escalations() == []


def test_no_agent_gives_up_its_tools_before_the_longest_wait_is_over():
    assert adapter.TOOL_SECONDS > client.MAX_SECONDS


# --- a flood


@pytest.mark.slow
def test_an_attempt_asks_so_often_and_no_more(work):
    store, first = work()
    for number in range(edits.QUESTIONS[1]):
        do("ask" if number % 2 else "escalate", **{"question" if number % 2 else "suggestion": f"q{number}?"})
    for name, given in (("ask", {"question": "one more"}), ("escalate", {"suggestion": "one more"})):
        with pytest.raises(NotAllowed, match="limit of 20 questions"):
            do(name, **given)
    assert len(store.escalations()) == edits.QUESTIONS[1]
    do("done", outcome="blocked")
    store.close_attempt(store.attempt(first.id), Kind.DOER_STOPPED, Outcome.FAILED)
    assert store.attempt(first.id).outcome is Outcome.FAILED


def test_an_attempt_remarks_so_often_and_can_still_hand_in(work, monkeypatch):
    work()
    monkeypatch.setattr(edits, "REMARKS", (edits.REMARKS[0], 3, edits.REMARKS[2]))
    for _ in range(3):
        do("log", text="again")
    for name in ("log", "progress", "notify"):
        with pytest.raises(NotAllowed, match="limit of 3 remarks"):
            do(name, text="again")
    assert do("done").data == {"outcome": "completed"}


# --- a plan before the work


def test_a_plan_is_asked_for_only_where_the_bead_does(work):
    work()
    with pytest.raises(NotAllowed, match="does not need an approved plan"):
        do("request-review", plan="First this")


@pytest.mark.slow
def test_a_plan_waits_is_changed_and_is_approved(work):
    store, first = work(**PLANNED)
    assert "request-review" in do("whats-next").text and "A plan first" in do("bead").text
    reply = do("request-review", plan="1. parse\n2. tell errors")
    number = reply.data["escalation"]
    assert reply.data["decision"] is None and "BLOCKED" in reply.text
    assert do("request-review", plan="1. parse  2. tell errors").data["escalation"] == number  # asked once
    assert do("whats-next").text.startswith(f"Plan {number} waits")
    store.close_attempt(first, Kind.DOER_STOPPED, Outcome.BLOCKED)
    assert store.bead("nb-1").status is Status.ESCALATED

    desk.answer(store, number, "Tell errors first", "me")
    assert store.bead("nb-1").status is Status.NEEDS_DOER
    second = work.again(store)
    told = do("bead")
    assert "Tell errors first" in told.text and "A plan first" in told.text and told.data["plan"] is None
    number = do("request-review", plan="1. tell errors\n2. parse").data["escalation"]
    store.close_attempt(second, Kind.DOER_STOPPED, Outcome.BLOCKED)

    desk.resolve(store, number, "approve", "mind CRLF", "me")
    work.again(store)
    told = do("bead")
    assert told.data["plan"] == "1. tell errors\n2. parse"
    assert "> 2. parse" in told.text and "> mind CRLF" in told.text
    assert do("whats-next").text.startswith("Take the first step")
    with pytest.raises(NotAllowed, match="already approved"):
        do("request-review", plan="another")


def test_only_a_plan_is_approved(work):
    store, _ = work()
    number = do("ask", question="Which?").data["escalation"]
    with pytest.raises(NotAllowed, match="nothing to approve"):
        desk.resolve(store, number, "approve")


# --- what a bug looks like


def test_a_bug_is_told_without_its_traceback(capsys):
    def broken(name, given):
        raise RuntimeError("secret token inside")

    result = mcp_server.answered(broken, agent_api.OPERATIONS, "bead", {})
    assert result.is_error and "RuntimeError" in result.content[0].text and "secret" not in result.content[0].text
    assert "secret" in capsys.readouterr().err


def test_an_error_tells_what_to_do_next():
    def refused(name, given):
        raise NobrakesError("no", "do this")

    assert mcp_server.answered(refused, agent_api.OPERATIONS, "bead", {}).content[0].text == "no\ndo this"


def test_a_document_is_kept_for_the_sprint_whose_work_the_bead_is(work):
    store, _ = work()
    run = store.begin_sprints(1, False, {}, "me")
    store.put([Bead("sprint-1", "Sprint 1", type=BeadType.EPIC)], [], "me")
    store.add_sprint(1, run.id, "sprint-1")
    with pytest.raises(NotAllowed, match="not part of a sprint"):
        do("document", text="SQLite")
    store.change_sprint(1, {"stage": Stage.EXECUTING, "bead": "nb-1"}, "me")
    assert do("document", text="SQLite\nOne file.").data == {"sprint": 1, "kind": "decision"}
    for text, kind in (("- [ ] A", "plan"), ("x" * 40_000, "review")):
        with pytest.raises(UsageError):
            do("document", text=text, kind=kind)
    (kept,) = store.sprints_going().documents
    assert (kept.text, kept.actor) == ("SQLite\nOne file.", "Ada")


_OF_ALL = [
    (table, one.name, parameter)
    for table in (agent_api.OPERATIONS, board_api.OPERATIONS, coding.operations(""))
    for one in table
    for parameter in one.parameters
    if parameter.kind in (str, list)
]


@pytest.mark.parametrize(
    "odd", ["a\0b", "a\udcffb", "\ud83d", "x" * 10_000_000], ids=["NUL", "no UTF-8", "half", "10 MB"]
)
def test_an_odd_text_is_a_clear_error_in_every_argument(odd):
    for table, name, parameter in _OF_ALL:
        is_a_clear_error(table, name, parameter, odd)


def is_a_clear_error(table, name, parameter, odd):
    found = next(one for one in table if one.name == name)
    fill = {str: "x", int: 1, float: 1.0, bool: False, list: ["x"]}
    given = {one.name: fill[one.kind] for one in found.parameters if one.required}
    given |= {one.name: one.choices[0] for one in found.parameters if one.choices}
    given[parameter.name] = [odd] if parameter.kind is list else odd
    with pytest.raises(UsageError) as told:
        agent_api.choose(table, name, given)
    words = ("NUL byte", "not valid UTF-8", "the limit is")
    assert str(told.value).startswith(parameter.name) and any(word in str(told.value) for word in words)
    shown = mcp_server.answered(lambda *_: agent_api.choose(table, name, given), table, name, given)
    assert shown.is_error and shown.model_dump_json().encode()
