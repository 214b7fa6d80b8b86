"""A store whose answers are kept for whoever asks all the time."""

from typing import Protocol


class Answers(Protocol):
    """Answers hold as long as the store would give the same ones; what others write is heard a moment later."""

    def keep_answers(self) -> None:
        """Ask no question again while its answer must be the same. Who waited for others' words has to `doubt` then."""
        ...

    def doubt(self) -> None:
        """What others have written until now is seen by the next question, also where answers are kept."""
        ...
