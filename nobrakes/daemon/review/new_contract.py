"""A scaffolding bead that brings the project's contract: `.nobrakes/config.toml` with its checks, approved by a person.

1. What was approved are bytes: the whole file, by its digest. The same file in a later commit of the bead is not asked
   about again, another one is.
2. Until main has it, it holds for this bead's review alone, and the person's own file for everything else.
3. It lands by itself: nobody's candidate stands under it or on it, and one whose file is not what was approved,
   since main's changed meanwhile, is a conflict.
4. There is one truth afterwards: the person's file follows main's, in a checkout of main or by being written here.
   What they edited meanwhile stays, and they are told.
"""

import hashlib
import os
from dataclasses import asdict, dataclass

from ...config.settings import parse
from ...config.trees import layout_of
from ...core.beads.bead import Bead
from ...core.beads.escalations import EscalationType, is_accepted
from ...core.beads.outcomes import Outcome
from ...core.errors import ConfigError, GitFailed
from ...core.policy.new_contract import faults, tell
from ...core.policy.ownership import CONTRACT
from ...core.review.journal import Journal
from ...host.files import write_atomic
from ...ports.git import Message
from ...ports.people import Notice
from ..checks import committed
from ..checks.committed import LARGEST
from ..checks.proofs import clean
from ..ports import Ports
from .messages import US
from .reports import AttemptEnd

PLAIN = "100644"


@dataclass(frozen=True, slots=True)
class Brought:
    """What a branch brings: why it cannot be established, or the digest of the file and what a person is shown."""

    faults: tuple[str, ...] = ()
    digest: str = ""
    told: tuple[str, ...] = ()


class NewContract:
    """Looks at the contracts that branches bring."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    # --- the question ----------------------------------------------------------------------------

    def brought(self, bead: Bead, journal: Journal) -> Brought | None:
        """What the branch brings; None: it leaves the contract alone."""
        git = self.ports.git
        if not bead.scaffolding:
            return None
        change = next((one for one in git.changes(journal.fork, journal.head) if one.path == CONTRACT), None)
        if change is None:
            return None
        if change.after != PLAIN:
            return Brought((f"{CONTRACT}: it has to be a plain file",))
        try:
            text = committed.text(git, journal.head)
            before = committed.config(git, journal.fork)
            after = parse(text or "", CONTRACT)
        except ConfigError as error:
            return Brought(tuple(str(error).splitlines()))
        paths = git.paths(journal.head)
        globs = before.boundaries.tests or layout_of(git, journal.head).tests
        will_be = after.boundaries.tests or layout_of(git, journal.head).tests
        was, becomes = asdict(before), asdict(after)
        wrong = faults(was, becomes, paths, globs, will_be)
        told = tell(was, becomes, sorted(paths), will_be)
        if not wrong and clean(self.ports, "\n".join(told)) != "\n".join(told):
            wrong = [f"{CONTRACT}: it holds what looks like a secret, which no contract may"]
        return Brought(tuple(wrong), hashlib.sha256((text or "").encode()).hexdigest(), tuple(told))

    def is_accepted(self, bead: Bead, brought: Brought) -> bool:
        """Whether a person approved these very bytes for this bead."""
        asked = self.ports.store.escalations(open_only=False, bead=bead.id)
        return is_accepted(asked, EscalationType.CHECKS_CHANGED, brought.digest, "contract")

    def question(self, journal: Journal, brought: Brought) -> AttemptEnd:
        """What a person is asked, and what they are shown of it."""
        git = self.ports.git
        is_first = not committed.config(git, journal.fork).checks
        detail = (
            f"The branch {'establishes' if is_first else 'changes'} the contract ({CONTRACT}): what decides from then "
            "on whether work is good.\n"
            "Approve it, and this bead is validated by it; once it is on main, everything is. It is approved byte for "
            "byte: another version asks again. Or send the work back."
        )
        evidence = {
            "contract": brought.digest,
            "commit": journal.head,
            "establishes": list(brought.told),
            "difference": clean(
                self.ports,
                difference(
                    git.read(journal.fork, CONTRACT, LARGEST) or b"", git.read(journal.head, CONTRACT, LARGEST) or b""
                ),
            ),
        }
        return AttemptEnd(Outcome.CHECKS_CHANGED, detail, journal.head, evidence)

    # --- one truth -------------------------------------------------------------------------------

    def hand_out(self, bead: Bead) -> None:
        """Before a scaffolding bead begins without a check: main has the person's settings, to add checks to."""
        ports = self.ports
        if not bead.scaffolding or ports.git.read(ports.git.main(), CONTRACT) is not None:
            return
        folder, name = os.path.split(CONTRACT)
        files: dict[str, bytes | None] = {}
        for one in (name, ".gitignore"):
            content = _read(os.path.join(ports.paths.folder, one))
            if content is not None:
                files[f"{folder}/{one}"] = content
        if CONTRACT not in files:
            return
        try:
            ports.git.commit_files(files, Message("Settings of nobrakes", "", US, ports.store.now()))
        except GitFailed as error:
            # a commit of named paths starts from HEAD: it takes nothing back where the checkout is behind
            typed = "git add .nobrakes && git commit -m 'Add the settings of nobrakes' .nobrakes"
            text = f"main has no {CONTRACT} yet, and it could not be committed: {error}. Then, on main: {typed}"
            ports.notifier.tell(Notice(text, bead.id, urgent=True))
            return
        ports.notifier.tell(Notice(f"{CONTRACT} was committed on main, for {bead.id} to add its checks to", bead.id))

    def take_over(self, bead: str, journal: Journal) -> None:
        """Main has the contract: the person's file is the same, or they are told that it is not."""
        ports, git = self.ports, self.ports.git
        path = ports.paths.config
        wanted = git.read(journal.candidate, CONTRACT, LARGEST)
        present = _read(path)
        if wanted is None or present == wanted:
            return
        if present == git.read(journal.base, CONTRACT, LARGEST):
            write_atomic(path, wanted, 0o644)
            return
        text = (
            f"{bead} brought a contract to main, and {path} was edited: the edited one holds. To take main's over, "
            f"copy it from `git show {journal.candidate[:12]}:{CONTRACT}`."
        )
        ports.notifier.tell(Notice(text, bead, urgent=True))


def difference(before: bytes, after: bytes) -> str:
    """The change of the file, for a person."""
    from difflib import unified_diff  # rarely needed, and it takes a while to import

    old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, after))
    return "\n".join(unified_diff(old, new, f"a/{CONTRACT}", f"b/{CONTRACT}", lineterm=""))[:20_000]


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST)
    except OSError:
        return None
