"""The fake git's chain of evidence, and the questions that it is compared by."""

from collections.abc import Iterator, Mapping

from nobrakes import US
from nobrakes.git.port import Made
from nobrakes.review.evidence import Entry, Value, about, date, message

from .objects import Commit, Objects

EVIDENCE = "refs/nobrakes/evidence"


class FakeChain:
    """What FakeGit can do with evidence."""

    objects: Objects
    refs: dict[str, str]
    head: str

    def _refuse_when_locked(self) -> None: ...

    def made(self, name: str) -> Made | None:
        """The commit that `name` stands for: an id, `main` or a ref."""
        commit = self.objects.commits.get(self.head if name == "main" else self.refs.get(name, name))
        return None if commit is None else _made(commit)

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        """`tip` and its first parents, newest first, without `since` and what it was made from."""
        without = {commit.id for commit in self.objects.line(since)} if since else set[str]()
        start = self.head if tip == "main" else tip
        return tuple(_made(commit) for commit in self.objects.line(start) if commit.id not in without)

    def evidence_tip(self) -> str | None:
        """The newest commit of the chain; None: there is none yet."""
        return self.refs.get(EVIDENCE)

    def evidence(self) -> Iterator[Entry]:
        """The commits of the evidence chain, newest first."""
        tip = self.evidence_tip()
        for commit in self.objects.line(tip) if tip else ():
            yield Entry(commit.id, commit.parents, commit.subject, (commit.author, commit.author))

    def keep_evidence(self, record: Value) -> str:
        """Put the record at the end of the chain, unless the chain has one about the same."""
        self._refuse_when_locked()
        for entry in self.evidence():
            if entry.about == about(record):
                return entry.commit
        tip = self.evidence_tip()
        who = f"{US} {date(record)}"
        made = self.objects.commit({}, (tip,) if tip else (), message(record), who, float(record["at"]))
        self.refs[EVIDENCE] = made.id
        return made.id

    def hold(self, records: Mapping[str, Value]) -> None:
        """Keep records of evidence under these names, each with its candidate as parent."""
        self._refuse_when_locked()
        for name, record in records.items():
            who, above = f"{US} {date(record)}", (record["candidate"]["commit"],)
            made = self.objects.commit({}, above, message(record), who, float(record["at"]))
            self.refs[f"refs/nobrakes/{name}"] = made.id

    def held(self, name: str) -> Value | None:
        """The record that was kept under this name; None: there is none, or it cannot be read."""
        commit = self.objects.commits.get(self.refs.get(f"refs/nobrakes/{name}", ""))
        if commit is None:
            return None
        entry = Entry(commit.id, commit.parents, commit.subject, (commit.author, commit.author))
        return None if entry.problem() else entry.record


def _made(commit: Commit) -> Made:
    subject = commit.subject.partition("\n")[0]
    return Made(commit.id, commit.tree, commit.parents, subject, commit.author, commit.trailers, commit.when)
