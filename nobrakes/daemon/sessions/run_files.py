"""progress.json and output.json of a relay session, for who follows it by files, where it was asked for.

1. They lie beside the session's clone, in no repository: `.nobrakes/relays/N.files`. A file is whole or not there.
2. progress.json has two tracks, the agent's claim and the commits; output.json its last words, in at most 1 KB.
3. nobrakes writes them, and reads them never. They go with the clone.
"""

import json
import os
from contextlib import suppress
from typing import Any

from ...core.beads.events import Kind
from ...core.board import Board
from ...core.errors import NobrakesError
from ...core.sessions.claims import MOST_CLAIMS, claim_of
from ...core.sessions.relay import FILES, FOLDER, STAGE, WORK, files_of
from ...core.sessions.session import Session, Talk
from ...core.text.cleaning import clean, shorten
from ...git.workspaces.inside import commits_since
from ...host.files import private_folder, write_atomic
from ..ports import Ports

PROGRESS, OUTPUT = "progress.json", "output.json"
LOOK_SECONDS = 2.0
MOST_BYTES = 1024


class RunFiles:
    """Writes them for the sessions that want them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._looked_at = -LOOK_SECONDS
        self._written: dict[int, str] = {}

    def look(self, board: Board) -> bool:
        """Write the progress of those at work, where it is another one."""
        if abs(board.now - self._looked_at) >= LOOK_SECONDS:
            self._looked_at = board.now
            for work in (board.work_of(run) for run in board.all_runs):
                if isinstance(work, Talk) and work.session.data.get(FILES):
                    with suppress(NobrakesError, OSError):
                        self._progress(work, True)
        return False

    def ended(self, talk: Talk, said: str, branch: str) -> None:
        """The turn is over: what its agent said last, and how far it came."""
        if not talk.session.data.get(FILES):
            return
        with suppress(NobrakesError, OSError):
            self._progress(talk, False)
            told: dict[str, Any] = {"session": talk.session.id, "turn": talk.turn.number, "branch": branch}
            text = clean(said)[:MOST_BYTES]
            while text and len(json.dumps({**told, "text": text}).encode()) > MOST_BYTES:
                text = shorten(text, len(text) * 3 // 4) if len(text) > 20 else ""
            self._write(talk.session, OUTPUT, json.dumps({**told, "text": text}))

    def _progress(self, talk: Talk, works: bool) -> None:
        session = talk.session
        clone = os.path.join(self.ports.paths.folder, FOLDER, str(session.id))
        commits = commits_since(clone, session.created_at)
        said = self.ports.store.latest_events((Kind.PROGRESSED,), None, MOST_CLAIMS)
        claim = claim_of(said, session, commits)
        told = {
            "session": session.id,
            "turn": talk.turn.number,
            "stage": session.data.get(STAGE, WORK),
            "works": works,
            "commits": commits,
            "step": claim.step if claim else None,
            "of": claim.of if claim else None,
            "text": claim.text if claim else "",
            "doubt": claim.doubt if claim else "",
        }
        text = json.dumps(told)
        if self._written.get(session.id) != text:
            self._write(session, PROGRESS, text)
            self._written[session.id] = text

    def _write(self, session: Session, name: str, text: str) -> None:
        folder = files_of(self.ports.paths.folder, session.id)
        private_folder(folder)
        write_atomic(os.path.join(folder, name), f"{text}\n".encode())
