"""Evidence: the chain, and records that are held until main has moved."""

from collections.abc import Iterator, Mapping

from ..core.evidence.record import Entry, Value
from .tools import Tools


class Records(Tools):
    """The chain of evidence."""

    def evidence(self) -> Iterator[Entry]:
        """The commits of the evidence chain, newest first."""
        return self._chain.entries(self._chain.tip())

    def evidence_tip(self) -> str | None:
        """The newest commit of the chain; None: there is none yet."""
        return self._chain.tip()

    def keep_evidence(self, record: Value) -> str:
        """Put the record at the end of the chain, unless the chain has one about the same; the record's commit."""
        return self._chain.keep(record)

    def hold(self, records: Mapping[str, Value]) -> None:
        """Keep records of evidence under these names, each with its candidate as parent."""
        self._chain.hold(records)

    def held(self, name: str) -> Value | None:
        """The record that was kept under this name; None: there is none, or it cannot be read."""
        return self._chain.held(name)
