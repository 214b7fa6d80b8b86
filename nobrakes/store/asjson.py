"""Rows as JSON text that SQLite itself builds, for commands that have no time to import json."""


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
