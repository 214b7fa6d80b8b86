"""Pull requests: the newest of each bead, as it was seen last, among the machine's small facts (`settings`)."""

import json
from dataclasses import replace

from ..beads.model import BeadType, Status
from ..db import queries
from ..db.database import Database
from ..records import as_values, restore
from ..review.journal import waits_for_people
from .model import WAITING, IssueLink, PullRequest, PullState, RequestLine, landed, page_of

_KEY = "pull/"
_ISSUE = "issue/"


def pull(db: Database, bead: str) -> PullRequest | None:
    kept = queries.setting(db, _KEY + bead)
    return None if kept is None else _made(bead, kept)


def pulls(db: Database, waiting: bool = True) -> list[PullRequest]:
    """The waiting requests, or all; oldest first."""
    # the loop asks in each quiet turn: what is over is large, and is not read
    rows = db.all(
        "SELECT key, value FROM settings WHERE key >= 'pull/' AND key < 'pull0' AND "
        "coalesce(json_extract(value, '$.state'), 'opening') IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(WAITING if waiting else PullState)),),
    )
    found = [_made(str(row[0]).removeprefix(_KEY), str(row[1])) for row in rows]
    return sorted(found, key=lambda one: (one.opened_at, one.bead))


def requested(db: Database) -> dict[str, RequestLine]:
    """Bead -> its request, while it only waits for that; on an epic's branch the epic's, which has no column."""
    found = {}
    for attempt in queries.reviewing(db):
        if waits_for_people(attempt.data):
            waiting, one = str(attempt.data.get("waiting") or ""), pull(db, attempt.bead)
            if one is None or not one.waits:
                found[attempt.bead] = RequestLine(0, PullState.OPENING.value, "", waiting)
            else:
                found[attempt.bead] = RequestLine(one.number, one.state.value, page_of(one.url), waiting or one.says)
    if not found:
        return {}
    for bead in queries.beads(db, (Status.LANDED,)):
        if (of_epic := found.get(str(bead.epic))) is not None:
            found[bead.id] = replace(of_epic, says=f"{landed(str(bead.epic))}; {of_epic.says}")
    return {bead.id: found[bead.id] for bead in queries.beads(db, ids=found) if bead.type is not BeadType.EPIC}


def save_pull(db: Database, pull: PullRequest) -> None:
    queries.set_setting(db, _KEY + pull.bead, json.dumps(as_values(pull), sort_keys=True))


def _made(bead: str, text: str) -> PullRequest:
    return restore(PullRequest, {**json.loads(text), "bead": bead})


def issues(db: Database, repository: str) -> list[IssueLink]:
    rows = db.all(
        "SELECT key, value FROM settings WHERE key >= 'issue/' AND key < 'issue0' AND "
        "json_extract(value, '$.repository') = ? ORDER BY json_extract(value, '$.number')",
        (repository,),
    )
    return [_link(str(row[0]), str(row[1])) for row in rows]


def issues_to_post(db: Database) -> list[tuple[IssueLink, int, str, str]]:
    """(link, number and address of its open request, commit of its merge) of those whose issue does not name them."""
    rows = db.all(
        "SELECT link.key, link.value, coalesce(json_extract(pull.value, '$.number'), 0), "
        "coalesce(json_extract(pull.value, '$.url'), ''), "
        "CASE WHEN status = 'done' THEN coalesce(merged_commit, '') ELSE '' END "
        "FROM settings AS link JOIN beads ON beads.id = substr(link.key, 7) "
        "LEFT JOIN settings AS pull ON pull.key = 'pull/' || beads.id AND json_extract(pull.value, '$.state') = 'open' "
        "WHERE link.key >= 'issue/' AND link.key < 'issue0' ORDER BY link.key"
    )
    found = [(_link(str(row[0]), str(row[1])), int(row[2]), str(row[3]), str(row[4])) for row in rows]
    return [one for one in found if one[1] not in (0, one[0].request) or one[3] not in ("", one[0].merged)]


def save_issue(db: Database, link: IssueLink) -> None:
    queries.set_setting(db, _ISSUE + link.bead, json.dumps(as_values(link), sort_keys=True))


def _link(key: str, text: str) -> IssueLink:
    return restore(IssueLink, {**json.loads(text), "bead": key.removeprefix(_ISSUE)})
