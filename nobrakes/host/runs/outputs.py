"""What runs left in files: their exit codes, what they printed, what agents and checks wrote down themselves."""

import io
from collections.abc import Mapping, Sequence

from ...ports.processes import Ending, Reports
from ...walking import below, of_state
from .. import diaries
from ..files import read_tail
from . import endings, reports


class Outputs:
    """Reads them, whoever wrote them and whether the run still lives."""

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        """What the exit files say."""
        return endings.ending(folder, steps)

    def output(self, path: str, limit: int) -> str:
        """The last `limit` bytes of an output file as text; "" when it is missing."""
        return read_tail(path, limit).decode("utf-8", "replace")

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        """The first `limit` bytes of an output file, from `start` on; empty when it is missing."""
        with below(*of_state(path)) or io.BytesIO() as file:
            file.seek(start)
            return file.read(limit)

    def appended(self, folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
        """What agents' own files hold from their places on."""
        return diaries.appended(folder, glob, since, paths, limit)

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        """What a check wrote into files."""
        return reports.kept(top, folder, glob, since, keep)
