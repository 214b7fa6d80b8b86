"""Changing our own refs through one lasting `git update-ref --stdin`: a transaction costs no process.

1. All of a transaction or nothing, on the disk before the answer.
2. The process holds no lock between transactions.
3. A transaction that it refuses or does not answer is the caller's to try again by a command of its own, which then
   says what is wrong: setting refs of ours to what they shall be may be done twice.
4. Main does not go this way: what is written to its log has the time at which its process began.
"""

from collections.abc import Mapping, Sequence

from .conversation import Conversation

DURABLE = ("-c", "core.fsync=committed,loose-object,reference")

_DONE = [b"start: ok\n", b"prepare: ok\n", b"commit: ok\n"]


class Transactions:
    """Changes refs of one repository."""

    def __init__(self) -> None:
        self._git = Conversation([*DURABLE, "update-ref", "--no-deref", "--stdin"])

    def close(self) -> None:
        """End the process; the next transaction starts another."""
        self._git.close()

    def commit(self, lines: Sequence[str], git_dir: str, env: Mapping[str, str]) -> bool:
        """Do these lines of `git update-ref --stdin` together; False: it is not known to be done."""
        question = f"start\n{''.join(lines)}prepare\ncommit\n".encode()
        if self._git.ask(question, len(_DONE), git_dir, env) == _DONE:
            return True
        self._git.close()
        return False
