"""Rows as JSON text that SQLite itself builds, for commands that have no time to import json. Imports nothing."""


def json_object(fields: str) -> str:
    """json_object of space-separated columns; `?name` is a truth value, `{name` holds JSON already."""
    parts = []
    for field in fields.split():
        name = field.lstrip("?{")
        value = name
        if field[0] == "?":
            value = f"json(iif({name}, 'true', 'false'))"
        elif field[0] == "{":
            value = f"json({name})"
        parts.append(f"'{name}', {value}")
    return f"json_object({', '.join(parts)})"


BEAD_FIELDS = (
    "id title type description {acceptance priority {labels epic estimate ?needs_tests ?scaffolding {touches notes "
    "{metadata status held defer_until created_at updated_at closed_at close_reason failures retry_at assignee fence "
    "lease_until return_to ?branch_kept merged_commit branch stacks_on {proposed"
)
BEAD = json_object(BEAD_FIELDS)
"""A row of `beads` with its `bead_text`."""
LOG = json_object("summary blockers learnings ?keep_branch")
"""What an attempt left for the next one."""
