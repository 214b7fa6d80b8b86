"""The person's own place, above all repositories: a folder of settings, and one of state that only this account reads.

1. They lie where the system wants them (platformdirs: XDG_CONFIG_HOME and XDG_STATE_HOME on Linux); NOBRAKES_USER_HOME
   names a folder for both instead.
2. An agent, a check, and whatever these start are refused: by NOBRAKES_TOKEN and NOBRAKES_RUN here, and by the sandbox
   and the wall, which keep both folders shut (host.confine).
3. A folder that is another account's, or that others may write, is not used: whoever writes there would decide what
   may start. Its way down from the root is the system's business.
4. A home that is not said, not there, or another account's is nobody's place; a file there that is a link, or that
   others may write, is not opened.
5. What is missing is made by whoever writes first, and by nobody who only looks.
"""

import os
import stat

from ..errors import NotAllowed, PlaceUnusable
from ..records import frozen

OVERRIDE = "NOBRAKES_USER_HOME"
_NAME = "nobrakes"


@frozen
class UserPlace:
    """Where the two folders are; neither has to be there."""

    settings: str
    state: str

    @property
    def config(self) -> str:
        """The person's settings."""
        return os.path.join(self.settings, "config.toml")

    @property
    def database(self) -> str:
        """What the repositories of this machine share."""
        return os.path.join(self.state, "user.db")

    @property
    def home(self) -> str:
        """A repository of the person's own, without work in it, for sessions that belong to no other."""
        return os.path.join(self.state, "home")

    @property
    def daemons(self) -> str:
        """One file a living daemon, locked by it."""
        return os.path.join(self.state, "daemons")


def is_in_a_run() -> bool:
    """Whether this process belongs to an agent, a check, or what these started."""
    return "NOBRAKES_TOKEN" in os.environ or "NOBRAKES_RUN" in os.environ


def user_place() -> UserPlace:
    """The place of this account. NotAllowed in a run; PlaceUnusable where there is no home."""
    if is_in_a_run():
        raise NotAllowed("an agent or a check neither reads nor changes what the repositories of a machine share")
    own = os.environ.get(OVERRIDE)
    if own:
        place = UserPlace(os.path.join(own, "config"), os.path.join(own, "state"))
    else:
        _require_home()
        import platformdirs

        try:
            place = UserPlace(platformdirs.user_config_dir(_NAME, False), platformdirs.user_state_dir(_NAME, False))
        except RuntimeError as error:  # HOME is not set, and nobody knows the account
            raise PlaceUnusable(f"this account has no home folder: {error}") from None
    for folder in (place.settings, place.state):
        if not os.path.isabs(folder):
            raise PlaceUnusable(f"this account has no home folder: {folder} is not an absolute path")
    return place


def _require_home() -> None:
    """PlaceUnusable where nobody said which home is meant, or where it is not there or another account's.

    Nobody's home is guessed, made, or written into by another account.
    """
    if os.environ.get("XDG_CONFIG_HOME") and os.environ.get("XDG_STATE_HOME"):
        return
    home = os.environ.get("HOME", "")
    if os.name != "posix":
        return
    if not home:
        raise PlaceUnusable("HOME is not set, so it is not known which home is meant")
    try:
        found = os.stat(home)
    except OSError as error:
        raise PlaceUnusable(f"the home {home[:200]} cannot be looked at: {error.strerror}") from None
    if found.st_uid != os.geteuid():
        raise PlaceUnusable(f"the home {home[:200]} belongs to another account (number {found.st_uid})")


READS, ENTERS, CHANGES = os.R_OK, os.X_OK, os.R_OK | os.W_OK
"""What this account has to be allowed: to read a file, to enter a folder, to read and write one of them."""


def _require_rights(path: str, rights: int) -> None:
    """PlaceUnusable where this process itself may not do that: what is closed is there, and not unset."""
    if not os.access(path, rights, effective_ids=os.access in os.supports_effective_ids):
        what = "read or change" if rights & os.W_OK else "read"
        raise PlaceUnusable(f"this account may not {what} {path}", f"Look at its rights: ls -ld {path}")


def require_own(path: str, rights: int = READS) -> None:
    """PlaceUnusable where the file is there, and is not a plain one that this account alone may write."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PlaceUnusable(f"{path} cannot be looked at: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        raise PlaceUnusable(f"{path} is not a plain file", "Move it away; nobrakes makes the file itself.")
    if found.st_uid != os.geteuid():
        raise PlaceUnusable(f"{path} belongs to another account (number {found.st_uid})")
    if found.st_mode & 0o022:
        raise PlaceUnusable(f"other accounts may write {path}", f"Take that right away: chmod go-w {path}")
    _require_rights(path, rights)


def default_workspace() -> str:
    """Where the person's projects are unless they say so: below the data of this account. NotAllowed, PlaceUnusable."""
    user_place()
    own = os.environ.get(OVERRIDE)
    if own:
        return os.path.join(own, "workspace")
    import platformdirs

    return os.path.join(platformdirs.user_data_dir(_NAME, False), "workspace")


def folders() -> tuple[str, ...]:
    """Both folders as they really are, as far as they are there: what no run may read or write."""
    try:
        place = user_place()
    except (NotAllowed, PlaceUnusable):
        return ()
    found = (os.path.realpath(path) for path in (place.settings, place.state))
    return tuple(path for path in dict.fromkeys(found) if os.path.isdir(path))


def require_safe(folder: str, rights: int = ENTERS) -> bool:
    """Whether the folder is there. PlaceUnusable where somebody else could change what is in it."""
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        if os.path.islink(folder):  # of a disk that is not there, say: what it holds cannot be known
            raise PlaceUnusable(f"{folder} is a link to {os.readlink(folder)[:200]}, which is not there") from None
        return False
    except OSError as error:
        raise PlaceUnusable(f"{folder} cannot be looked at: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise PlaceUnusable(f"{folder} is no folder", "Move it away; nobrakes makes the folder itself.")
    if found.st_uid != os.geteuid():
        raise PlaceUnusable(f"{folder} belongs to another account (number {found.st_uid})")
    if found.st_mode & 0o022:
        raise PlaceUnusable(f"other accounts may write {folder}", f"Take that right away: chmod go-w {folder}")
    _require_rights(folder, rights)
    return True


def make(folder: str) -> None:
    """Make the folder and those above it where they are missing, and close it to others. PlaceUnusable."""
    try:
        if not require_safe(folder):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            os.mkdir(folder, 0o700)
        elif os.stat(folder).st_mode & 0o077:
            os.chmod(folder, os.stat(folder).st_mode & 0o700)  # whoever closed it to themselves meant that
    except FileExistsError:
        require_safe(folder)
    except OSError as error:
        raise PlaceUnusable(f"{folder} cannot be made: {error.strerror}") from None
