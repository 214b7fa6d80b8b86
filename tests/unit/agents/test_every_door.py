"""Every operation of an agent, asked with the token of whoever can hold one: it answers, or refuses in clear words."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from sqlite3 import connect

import pytest

from nobrakes.agents.db.channel_answers import reply
from nobrakes.agents.quoting import TITLES
from nobrakes.agents.service import agent_api, own_work
from nobrakes.beads.model import Bead, Role, Status
from nobrakes.cli import main
from nobrakes.errors import NobrakesError
from nobrakes.host.channel import FolderChannelServer
from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store, create_store
from nobrakes.trash import Trash

CALLS = own_work.CALLS
HOLDERS = (*Role, *SessionKind)
GIVEN = {"findings": '{"findings": []}', "plan": "beads: [{id: x, title: X}]", "number": 1}
INTERNAL = 70


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    folder = tmp_path / ".nobrakes"
    folder.mkdir()
    (folder / "config.toml").write_text("")
    made = create_store(str(folder / "nobrakes.db"))
    monkeypatch.setenv("NOBRAKES_HOME", str(folder))
    yield made
    made.close()


def token_of(store: Store, folder: Path, holder: Role | SessionKind) -> str:
    """The token that an agent, the Reviewer, a person's work or a session of this kind has while it is open."""
    if isinstance(holder, SessionKind):
        session = store.begin_session(holder, "f", "t", ("script", "", ""), "begin", "nobrakes").id
        opened = store.open_turn(session)
        assert opened is not None
        return opened[0].token
    statuses = {Role.TEST_WRITER: Status.NEEDS_TESTS, Role.REVIEWER: Status.NEEDS_REVIEW}
    store.put([Bead("a", "A", status=statuses.get(holder, Status.NEEDS_DOER))], [], "me")
    claimed = holder if holder in statuses else Role.DOER
    token = store.open_attempt("a", claimed, "script", ("Ada",), 600.0, None).token
    with connect(str(folder / "nobrakes.db")) as database:  # nobody claims a bead as a Shaper or as a person
        database.execute("UPDATE attempts SET role = ?", (holder,))
    return token


def given(operation: agent_api.Operation) -> dict[str, object]:
    return {p.name: GIVEN.get(p.name, "words") for p in operation.parameters if p.required or p.name == "number"}


@pytest.mark.parametrize("confined", [False, True], ids=["outside", "inside"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_every_operation_answers_or_refuses(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: Role | SessionKind, confined: bool
) -> None:
    token = token_of(store, tmp_path / ".nobrakes", holder)
    monkeypatch.setenv("NOBRAKES_TOKEN", token)
    keeper = None
    if confined:
        answer = partial(reply, str(tmp_path / ".nobrakes" / "nobrakes.db"), lambda: None, CALLS)
        keeper = FolderChannelServer(str(tmp_path / "doors"), Trash(str(tmp_path / "trash")), answer)
        keeper.start()
        monkeypatch.setenv("NOBRAKES_DOOR", keeper.begin(f"{token.partition('.')[0]}-agent"))
    answered = set()
    try:
        for operation in agent_api.OPERATIONS:
            try:
                assert agent_api.perform(operation.name, given(operation)).text
                answered.add(operation.name)
            except NobrakesError as refused:
                assert str(refused) and "itself failed" not in str(refused), (operation.name, refused)
    finally:
        if keeper is not None:
            keeper.close()
    assert ("bead" in answered) is isinstance(holder, Role) and "log" in answered


@pytest.mark.parametrize("holder", HOLDERS)
def test_no_command_ends_as_an_internal_error(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    holder: Role | SessionKind,
) -> None:
    monkeypatch.setenv("NOBRAKES_TOKEN", token_of(store, tmp_path / ".nobrakes", holder))
    for operation in agent_api.OPERATIONS:
        words = [str(value) for value in given(operation).values()]
        if operation.name == "finding":
            words = ["words", "--impact", "words"]
        assert main.run(["agent", operation.name, *words]) != INTERNAL, operation.name
    capsys.readouterr()


def test_every_role_has_a_title() -> None:
    assert set(TITLES) == {role.value for role in Role}
