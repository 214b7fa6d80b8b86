"""Signatures of the commits that nobrakes makes, by the person's own way (gpg.format, user.signingKey and so on).

1. git makes them under the person's settings. Nothing can ask for a passphrase: a key that needs one cannot be used.
2. A signature may hold a moment. So what was signed is kept in the git folder, by the id that it had without: the same
   input is the same commit, also for who comes after a kill.
3. Whether it works is tried once, before anything is made. Where it does not, commits are not signed, and it is told.
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from ..core.errors import NoAnswer, NobrakesError
from . import commands
from .environment import ASKING, CHECKOUT, EMAIL, NAME
from .location import Place
from .messages import Person, person
from .refs import is_oid

FOLDER = "nobrakes-signed"
_SECONDS = 20.0
_NO_PROMPT = {
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",
    "GPG_TTY": "",
    "DISPLAY": "",
    "WAYLAND_DISPLAY": "",
}


@dataclass(frozen=True, slots=True)
class Signing:
    """What the settings say: `how` is "auto" (as the person's git does), "always" or "never"; `who` commits."""

    how: str = "never"
    who: str = ""


class Signer:
    """Signs commits of one repository."""

    def __init__(self, place: Place, signing: Signing | None = None) -> None:
        self.place = place
        self.signing = signing or Signing()
        self.who = person(self.signing.who) if self.signing.who else Person(NAME, EMAIL)

    @cached_property
    def is_wanted(self) -> bool:
        """Whether commits are to be signed."""
        if self.signing.how != "auto":
            return self.signing.how == "always"
        asked = ["config", "--type=bool", "--get", "commit.gpgSign"]
        return self._says(asked) == "true"

    @cached_property
    def key(self) -> str:
        """Whose key signs, where no setting names one: the person's, as in their own commits; empty: git knows."""
        asked = ["config", "--get"]
        if self.signing.who or self._says([*asked, "gpg.format"]) == "ssh" or self._says([*asked, "user.signingKey"]):
            return ""
        name, ends, _ = self._says(["var", "GIT_COMMITTER_IDENT"]).rpartition(">")
        return name + ends

    @cached_property
    def trouble(self) -> str:
        """Why nothing can be signed here without asking anybody; empty: it can, or nobody wants it."""
        if not self.is_wanted:
            return ""
        tree = self.place.run(["mktree"], stdin=b"").text
        who = f"{self.who.name} <{self.who.email}> 0 +0000"
        try:
            self._made(f"tree {tree}\nauthor {who}\ncommitter {who}\n\nCan commits be signed?\n".encode())
        except NobrakesError as error:
            return str(error)
        return ""

    def signed(self, content: bytes) -> str | None:
        """The signed commit of this content, which has no signature; None: commits are not signed."""
        if not self.is_wanted or self.trouble:
            return None
        name = hashlib.sha256(content).hexdigest()
        path = os.path.join(self.place.git_dir, FOLDER, name[:2], name)
        with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
            known = file.read(80).strip()
            if is_oid(known) and self.place.run(["cat-file", "-e", known], expect=(0, 1, 128)).code == 0:
                return known
        made = self._made(content)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as new:
            new.write(f"{made}\n")
            new.flush()
            os.fsync(new.fileno())
        os.replace(new.name, path)
        return made

    def _says(self, asked: list[str]) -> str:
        """What the person's git answers, without our own settings and identity; empty: nothing."""
        ours = ("GIT_CONFIG", "GIT_COMMITTER", "GIT_AUTHOR")
        env = {name: value for name, value in ASKING.items() if not name.startswith(ours)}
        env["GIT_DIR"] = self.place.git_dir
        return commands.run(asked, cwd=self.place.git_dir, env=env, expect=(0, 1, 128)).text

    def _made(self, content: bytes) -> str:
        head, _, text = content.partition(b"\n\n")
        rows = [row.partition(" ")[::2] for row in head.decode("utf-8", "replace").split("\n")]
        words = [word for key, value in rows for word in {"tree": (value,), "parent": ("-p", value)}.get(key, ())]
        env = {**CHECKOUT, **_NO_PROMPT, "GIT_DIR": self.place.git_dir}
        for key, value in rows:
            if key in ("author", "committer"):
                name, _, rest = value.rpartition(" <")
                email, _, when = rest.partition("> ")
                own = {"NAME": name, "EMAIL": email, "DATE": f"@{when}"}
                env |= {f"GIT_{key.upper()}_{what}": said for what, said in own.items()}
        asked = ["commit-tree", f"-S{self.key}", *words]
        try:
            return commands.run(asked, cwd=self.place.git_dir, env=env, stdin=text, seconds=_SECONDS).text
        except NoAnswer:
            raise NoAnswer(
                f"nothing was signed in {_SECONDS:g} seconds: perhaps the key asks for a passphrase"
            ) from None
