"""Every kind of file object in every place that an agent owns: a row a pair, as in attempts.py.

The work is done before; what is laid down may spoil it or not. Nothing but that bead may notice.
"""

from nobrakes.agents.adapter import SELF_TEST_FILE
from tests.hostile.attempts import ALL, Attempt

KINDS = {
    "folder": 'mkdir -p "$1/inside"',
    "pipe": 'mkfifo "$1"',
    "socket": '(cd "$(dirname "$1")" && python3 -S -c "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])" "$(basename "$1")")',
    "device": 'mknod "$1" c 1 5',
    "link-to-a-secret": 'ln -s "$HOMELY/.netrc" "$1"',
    "link-to-nothing": 'ln -s /nowhere/at-all "$1"',
    "loop": 'ln -s "$(basename "$1")" "$1"',
    "closed": ': >"$1"; chmod 000 "$1"',
    "in-a-closed-folder": ': >"$1"; chmod 000 "$(dirname "$1")"',
    "in-a-folder-nobody-writes": ': >"$1"; chmod 500 "$(dirname "$1")"',
    "giant-of-nothing": 'truncate -s 900G "$1"',
    "odd-bytes": "printf '\\377\\376\\000{\\033[2J\\r\\n' >\"$1\"",
    "second-name": 'ln "$PLAYS/$NOBRAKES_BEAD" "$1"',
    "gone": ":",
}
"""A device needs root; elsewhere nothing is laid down."""
OWN = '$(dirname "$NOBRAKES_HANDOFF")'
PLACES = {
    "hand-off": "$NOBRAKES_HANDOFF",
    "self-test": f"{OWN}/{SELF_TEST_FILE}",
    "own-folder": OWN,
    "request": "${NOBRAKES_DOOR:-$PWD/door}/in/1-1-1.json",
    "inbox": "${NOBRAKES_DOOR:-$PWD/door}/in",
    "output": f"{OWN}/../agent.out",
    "errors": f"{OWN}/../agent.err",
    "exit-code": f"{OWN}/../agent.exit",
    "run-folder": f"{OWN}/..",
    "file": "src/$NOBRAKES_BEAD",
    "ignored": ".gitignore",
    "attributes": "src/.gitattributes",
    "git-head": ".git/HEAD",
    "git-branch": ".git/refs/heads/$NOBRAKES_BRANCH",
    "git-packed-refs": ".git/packed-refs",
    "git-log": ".git/logs/HEAD",
    "git-index": ".git/index",
    "git-borrows": ".git/objects/info/alternates",
    "git-objects": ".git/objects/pack/pack-1.pack",
    "home": "$HOME/.cache",
}
"""The run folder and the home belong to an agent where nothing closes it off; elsewhere laying down comes to nothing."""

HARMLESS = ("home", "run-folder")
"""Places in which a kind would spoil what belongs to the person, or to all: there it is laid down beside."""


def _play(kind: str, place: str) -> str:
    path = PLACES[place] + ("/odd-$NOBRAKES_BEAD/one" if place in HARMLESS else "")
    return f'work; lay() {{ mkdir -p "$(dirname "$1")"; rm -rf -- "$1"; {KINDS[kind]}; }}; lay "{path}" 2>/dev/null; exit 0\n'


TABLE = [Attempt(f"{place}-is-{kind}", "objects", _play(kind, place), ALL) for place in PLACES for kind in KINDS]
