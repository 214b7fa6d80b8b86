"""What the commands without typer share (cli.hot, cli.hotagent): reading words, printing answers. Imports no `re`."""

import os
import sys

from ..lightjson import visible


def read_words(
    words: "list[str]",
    valued: "tuple[str, ...]",
    flags: "tuple[str, ...]",
    repeated: "dict[str, list[str]] | None" = None,
) -> "tuple[dict[str, str], list[str]] | None":
    """(options, texts) of a command line whose every option is known and given once; None for any other.

    The values of options that may be given again are added to their lists in `repeated`.
    """
    lists = repeated or {}
    options: dict[str, str] = {}
    texts: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word == "--":
            return options, texts + words[place:]
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            texts.append(word)
            continue
        if name in options or (name not in valued and name not in lists and word not in flags):
            return None
        if (name in valued or name in lists) and not equals:
            if place == len(words):
                return None
            value = words[place]
            place += 1
        if name in lists:
            lists[name].append(value)
        else:
            options[name] = value
    return options, texts


def put(text: str) -> int:
    """Print it; the exit code."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


def put_envelope(command: str, data: str, more: "int | None" = None) -> int:
    """Print the envelope around JSON text; the exit code. `more`: how many there are beyond a list that is cut."""
    left = "" if more is None else f',"more":{more}'
    return put('{"ok":true,"command":"' + command + '","data":' + visible(data) + left + "}")
