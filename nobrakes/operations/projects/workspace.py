"""The workspace: the folder of a person's projects, with the skills and templates that they may change.

1. `workspace.folder` of the person's own settings says where it is; unset, it is below the data of the account.
2. Whatever is missing in it is made when it is first needed; a file that is there stays as it is.
3. A project is a folder directly in PROJECTS: no link, and nothing that begins with a dot.
"""

import os
import stat
from dataclasses import dataclass

from ...config.user import load_user
from ...core.errors import ConfigError
from ...host.files import storage_errors, write_atomic
from ...paths import resource
from ...place import default_workspace, require_safe, user_place

PROJECTS, SKILLS, TEMPLATES = "PROJECTS", "SKILLS", "TEMPLATES"
SKILL = f"{SKILLS}/project-setup.md"
BRIEF, TASK, SETTINGS = "DEFAULT-CLAUDE.md", "DEFAULT-task.md", "DEFAULT-settings.json"
_SHIPPED = {
    SKILL: "project-setup.md",
    f"{TEMPLATES}/{BRIEF}": "CLAUDE.md",
    f"{TEMPLATES}/{TASK}": "task.md",
    f"{TEMPLATES}/{SETTINGS}": "settings.json",
}
AGAIN = "Mend the file, or move it away: it is made anew."
MOST = 200_000
"""Characters of a template or skill that are read."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace. `root` is its real path."""

    root: str

    @property
    def projects(self) -> str:
        """The folder of projects."""
        return os.path.join(self.root, PROJECTS)

    def folder(self, name: str) -> str:
        """Where the project of this name is, or would be."""
        return os.path.join(self.projects, name)

    def text(self, name: str) -> str:
        """A skill or a template, as the person has it. ConfigError."""
        path = os.path.join(self.root, name)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read(MOST)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} cannot be read: {error}", AGAIN) from None

    def names(self) -> list[str]:
        """The names of the folders that are projects, sorted."""
        with os.scandir(self.projects) as entries:
            found = [one.name for one in entries if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)]
        return sorted(found, key=lambda name: (name.casefold(), name))

    def has(self, name: str) -> bool:
        """Whether there is a project of this very name."""
        return name in self.names()

    def is_repository(self, name: str) -> bool:
        """Whether the project has a git folder of its own, in it."""
        try:
            return stat.S_ISDIR(os.lstat(os.path.join(self.folder(name), ".git")).st_mode)
        except OSError:
            return False


def where() -> str:
    """Where the workspace is by the settings. ConfigError, NotAllowed in a run, PlaceUnusable."""
    place = user_place()
    require_safe(place.settings)
    own = load_user(place.config).workspace.folder
    return os.path.expanduser(own) if own else default_workspace()


def opened() -> Workspace:
    """The workspace, made where it is missing. ConfigError, PlaceUnusable, StoreReadOnly, NotAllowed in a run."""
    path = where()
    with storage_errors(path):
        for folder in (path, *(os.path.join(path, one) for one in (PROJECTS, SKILLS, TEMPLATES))):
            try:
                os.makedirs(folder, mode=0o755, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise ConfigError(f"{folder} is there, and it is no folder", "Move it away.") from None
        for name, shipped in _SHIPPED.items():
            own = os.path.join(path, name)
            if not os.path.lexists(own):
                with open(resource(f"config/projects/{shipped}"), "rb") as file:
                    write_atomic(own, file.read(), 0o644)
    return Workspace(os.path.realpath(path))
