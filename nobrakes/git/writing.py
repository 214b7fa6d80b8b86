"""Writing commits and trees through one lasting `git hash-object` each: an object costs no process.

git checks the object's form as it writes it. One that it does not answer for is written once more by a command of
its own, which then says what is wrong: the same bytes are the same object, however often they are written.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from . import commands
from .conversation import Conversation

if TYPE_CHECKING:
    from .messages import Person


class Writer:
    """Writes objects of one type ("commit", "tree") into one repository."""

    def __init__(self, kind: str) -> None:
        self._command = ("hash-object", "-t", kind, "-w")
        self._git = Conversation([*self._command, "--stdin-paths"])

    def close(self) -> None:
        """End the process; the next object starts another."""
        self._git.close()

    def write(self, content: bytes, git_dir: str, env: Mapping[str, str]) -> str:
        """The id of the object with this content; it is in the repository then."""
        with _named(content) as path:
            answers = self._git.ask(os.fsencode(path) + b"\n", 1, git_dir, env)
        if answers:
            return answers[0].decode("ascii").strip()
        return commands.run([*self._command, "--stdin"], cwd=git_dir, env=env, stdin=content).text


@contextmanager
def _named(content: bytes) -> Iterator[str]:
    """The path of a file with this content, in memory where the system can."""
    try:
        memory = os.memfd_create("nobrakes-object", os.MFD_CLOEXEC)
    except (AttributeError, OSError):  # another system, or a container that forbids it
        with tempfile.NamedTemporaryFile(prefix="nobrakes-object-") as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    with open(memory, "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/{os.getpid()}/fd/{memory}"


def content(
    tree: str, parents: Sequence[str], author: tuple["Person", str], committer: tuple["Person", str], text: str
) -> bytes:
    """A commit as git stores it; people with their moments, as `SECONDS ZONE`."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [
        f"{what} {who.name} <{who.email}> {when}"
        for what, (who, when) in (("author", author), ("committer", committer))
    ]
    return ("\n".join([*lines, "", ""]) + text).encode("utf-8", "replace")
