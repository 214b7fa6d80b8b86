"""What is known of projects and of chat agents' sessions, in the person's database. Each method is one transaction.

1. A project's row is only what its folder cannot say: who made it, and whether it is archived.
2. Setting a chat's project and its event are one transaction; what was set before stays in the events.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .connection import UserDatabase

PROJECT_SET = "project.set"
_CHAT = "name, confirmed_project, is_new, identity, client, began_at, seen_at, set_at"
_SEEN = """INSERT INTO chats (name, client, began_at, seen_at) VALUES (?1, ?2, ?3, ?3)
ON CONFLICT (name) DO UPDATE SET seen_at = ?3, client = CASE WHEN ?2 = '' THEN client ELSE ?2 END"""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project as the database knows it. `archived_at` None: it is not archived."""

    name: str
    created_at: float
    created_by: str
    archived_at: float | None


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat agent's session. `confirmed_project` is a folder's name, None: none was confirmed yet.

    `identity`: the word of the repository that was confirmed; `client`: who speaks in it.
    """

    name: str
    confirmed_project: str | None
    is_new: bool
    identity: str
    client: str
    began_at: float
    seen_at: float
    set_at: float | None


@dataclass(frozen=True, slots=True)
class ChatEvent:
    """Something that happened in a chat."""

    seq: int
    at: float
    chat: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRun:
    """A session that a chat's coding tool began. `is_current`: the tool goes on with it."""

    chat: str
    project: str
    tool: str
    session: int
    model: str
    is_current: bool
    at: float


class ProjectStore(UserDatabase):
    """Projects and chats."""

    def created(self, name: str, actor: str) -> None:
        """The project was made by this person or agent; one that is known already stays as it is."""
        with self._write():
            self._run("INSERT OR IGNORE INTO projects VALUES (?, ?, ?, NULL)", name, self._now(), actor)

    def archive(self, name: str, is_archived: bool) -> None:
        """Archive the project, or bring it back."""
        with self._write():
            self._run("INSERT OR IGNORE INTO projects VALUES (?, ?, '', NULL)", name, self._now())
            self._run("UPDATE projects SET archived_at = ? WHERE name = ?", self._now() if is_archived else None, name)

    def projects(self) -> dict[str, ProjectRow]:
        """All that are known, by name."""
        rows = self._all("SELECT name, created_at, created_by, archived_at FROM projects ORDER BY name")
        return {row[0]: ProjectRow(*row) for row in rows}

    def see_chat(self, name: str, client: str = "") -> Chat:
        """The chat, which speaks now; one that is not known begins."""
        with self._write():
            self._run(_SEEN, name, client, self._now())
        found = self.chat(name)
        assert found is not None, "it was written in this moment"
        return found

    def chat(self, name: str) -> Chat | None:
        """The chat of this name; None: it is not known."""
        rows = self._all(f"SELECT {_CHAT} FROM chats WHERE name = ?", name)
        return _chat(rows[0]) if rows else None

    def chats(self) -> list[Chat]:
        """All chats, the one that spoke last first."""
        return [_chat(row) for row in self._all(f"SELECT {_CHAT} FROM chats ORDER BY seen_at DESC, name")]

    def set_project(self, chat: str, project: str, path: str, is_new: bool, identity: str) -> None:
        """The chat's project is this one from now on, and its coding tools begin anew."""
        data = {"sessionId": chat, "projectName": project, "projectPath": path, "isNew": is_new}
        now = self._now()
        with self._write():
            self._run(_SEEN, chat, "", now)
            columns = "confirmed_project = ?, is_new = ?, identity = ?, set_at = ?"
            self._run(f"UPDATE chats SET {columns} WHERE name = ?", project, is_new, identity, now, chat)
            self._run("UPDATE chat_runs SET is_current = 0 WHERE chat = ?", chat)
            insert = "INSERT INTO chat_events (at, chat, kind, data) VALUES (?, ?, ?, ?)"
            self._run(insert, now, chat, PROJECT_SET, json.dumps(data))

    def chat_events(self, chat: str = "", most: int = 100) -> list[ChatEvent]:
        """What happened in the chat, or in all of them, newest first."""
        where = "WHERE ? IN ('', chat) ORDER BY seq DESC LIMIT ?"
        rows = self._all(f"SELECT seq, at, chat, kind, data FROM chat_events {where}", chat, most)
        return [ChatEvent(row[0], row[1], row[2], row[3], json.loads(row[4])) for row in rows]

    def ran(self, run: ChatRun) -> None:
        """The chat's tool works in this session from now on."""
        with self._write():
            before = "UPDATE chat_runs SET is_current = 0 WHERE chat = ? AND project = ? AND tool = ?"
            self._run(before, run.chat, run.project, run.tool)
            values = (run.chat, run.project, run.tool, run.session, run.model, run.is_current, self._now())
            self._run("INSERT OR REPLACE INTO chat_runs VALUES (?, ?, ?, ?, ?, ?, ?)", *values)

    def runs(self, chat: str) -> list[ChatRun]:
        """The sessions that the chat's tools began, newest first."""
        columns = "chat, project, tool, session, model, is_current, at"
        rows = self._all(f"SELECT {columns} FROM chat_runs WHERE chat = ? ORDER BY at DESC, session DESC", chat)
        return [ChatRun(row[0], row[1], row[2], row[3], row[4], bool(row[5]), row[6]) for row in rows]


def _chat(row: tuple[Any, ...]) -> Chat:
    return Chat(row[0], row[1], bool(row[2]), *row[3:])
