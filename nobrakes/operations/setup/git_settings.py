"""What `init` and `doctor` say of a person's git settings that mean something for the work of nobrakes."""

from collections.abc import Iterator

from ...git import person_settings
from ...git.workspaces import fill


def told(root: str) -> Iterator[str]:
    """One text for each setting that nobrakes does not follow as the person's own git does, with what to type."""
    hooks = person_settings.hooks(root)
    if hooks is not None:
        yield (
            f"git runs your hooks {', '.join(hooks.names)} from {hooks.folder}, and nobrakes commits, merges and "
            "pushes without hooks: what they demand belongs into a check of .nobrakes/config.toml"
        )
    if person_settings.is_outside_the_cone(root):
        yield (
            "the sparse checkout leaves out .nobrakes: the settings are read from main, and git may remove the "
            "database there; keep it with: git sparse-checkout add .nobrakes"
        )
    for path, commit in fill.links(root):
        trouble = fill.why_not(path, commit, root)
        if trouble:
            yield f"checks and agents cannot have all of main: {trouble}"
