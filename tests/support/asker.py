"""Who asks a code host about the requests of beads, as requests.worker.request_step does: rows, pins, the real exchange and deciders."""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from nobrakes.requests import model
from nobrakes.requests.hosts.port import CodeHost, PullPorts, Wanted
from nobrakes.requests.model import PullRequest, PullState, Seen, Turn
from nobrakes.requests.worker import exchange as exchanging
from nobrakes.review.waits import Land, Landing


class Asker:
    """What outlives a daemon: rows and pins. `host` is what it asks, `bases` what each bead's request is for by now."""

    host: CodeHost

    def __init__(self) -> None:
        self.rows: dict[str, PullRequest] = {}
        self.pins: dict[str, set[str]] = {}
        self.done: dict[str, str] = {}
        self.told: Counter[tuple[str, str]] = Counter()
        self.bases: dict[str, str] = {}
        self.labels: tuple[str, ...] = ()

    def publish(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        """The branch there, which is not there or at one of ours."""
        raise NotImplementedError

    def built(self, bead: str) -> str:
        """A candidate on the base as it is now."""
        raise NotImplementedError

    def ask(self, bead: str) -> None:
        """One exchange of one bead, as a review has it."""
        row = self.rows.get(bead)
        if row is None or not row.waits:
            row = PullRequest(bead, branch=f"task/bead-{bead}", title=bead)
        if not row.head:
            row = replace(row, head=self.built(bead))
        self.pins.setdefault(bead, set()).add(row.head)
        self.rows[bead] = row
        line, base = model.mark(bead), self.bases.get(bead, "main")
        wanted = Wanted(row.branch, base, bead, f"text\n{line}\n", line, labels=self.labels)
        ours = frozenset(self.pins[bead])
        order = exchanging.Order(row.head, ours, ours, wanted, "digest", row.text, row.number)
        ports = PullPorts(self.host, self.publish, self.publish, dict, "main")  # type: ignore[arg-type]
        seen = exchanging.exchange(order, ports, lambda: Land(Landing.MOVED))
        self.heard(bead, row, seen)

    def heard(self, bead: str, row: PullRequest, seen: Seen) -> None:
        """What a review makes of it."""
        if seen.told is not None:
            state = PullState.OPEN if seen.told.state is PullState.MERGED else seen.told.state
            row = replace(row, state=state, number=seen.told.number, merged_as=seen.told.merged_as)
            row = replace(row, text=seen.text or row.text)
        head = row.head
        row, found = model.happened(row, seen)
        if not seen.trouble:
            way = model.turn(seen, row)
            if way is Turn.MERGED:
                row, more = model.merged(replace(row, state=PullState.MERGED))
                found += more
                self.done[bead] = row.merged_as
            elif way is Turn.CLOSED:
                row = replace(row, state=PullState.CLOSED, head="")
            elif way in (Turn.RED, Turn.REMARKS, Turn.CONFLICTS):
                new = tuple(one.key for one in model.unheard_comments(seen.remarks, row))
                row = replace(row, heard=(*row.heard, *new), head="")  # it is done again, on the base as it is
        self.rows[bead] = row
        for kind, data in found:
            on = head if data.get("check") else ""  # a check is red on each commit anew
            self.told[bead, f"{kind} {data.get('by')} {data.get('issue')} {on[:8]} {row.number}"] += 1
