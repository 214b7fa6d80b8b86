"""Whether the programs of the checks are there: told from their commands, before anything is paid for.

1. Only what is certain is said to be missing: the commands of a chain with `&&`, and of each what it begins with, the
   module after `python -m`, and the script that a shell or an interpreter is given.
2. Nothing is run, not even Python: which modules it has is read from its folders (host.modules).
3. A check sees the machine's programs and no module of the user's own site, unless `sandbox.home` is "own".
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...host.modules import interpreter, lacks

_WORDS = "if for while case cd export set test true false echo exec eval source time [ [[ ( { ! . : return exit command"
OF_THE_SHELL = frozenset(_WORDS.split(" "))
_META = frozenset(";&|()\n")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_GIVEN_SCRIPTS = re.compile(r"(?:(?:ba|da|z|k)?sh|node|ruby|perl|php|(?:python|pypy)[0-9.]*)")
_SCRIPT = re.compile(r".*\.(?:sh|bash|py|js|mjs|cjs|rb|pl|php)|.*/.*")


@dataclass(frozen=True, slots=True)
class Where:
    """Where commands are run: `root` is the working tree, `in_main` says whether main has a path."""

    root: str
    environment: Mapping[str, str]
    in_main: Callable[[str], bool] = lambda _: False
    user_site: bool = False

    def has(self, path: str) -> bool:
        """Whether the path is there, in the working tree or in main."""
        return os.path.exists(os.path.join(self.root, path)) or self.in_main(os.path.normpath(path))


def program_of(command: str) -> str | None:
    """The program that a shell command begins with; None where it begins with the shell's own words."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return _program(words)[0]


def _program(words: list[str]) -> tuple[str | None, list[str]]:
    """The program and what it is given; None: nobody can tell, or it is the shell's own."""
    for number, word in enumerate(words):
        if "=" in word and word.split("=", 1)[0].isidentifier():
            continue
        plain = not set(word) & set("$`*?(){};&|<>")
        return (word if plain and word not in OF_THE_SHELL else None), words[number + 1 :]
    return None, []


def missing(command: str, directory: str, where: Where) -> str:
    """What the command needs and is not there, in words; empty: nothing that can be told without running it."""
    for words, folder in _chain(command, directory):
        program, given = _program(words)
        if program is None:
            continue
        if os.path.sep in program:
            if not os.path.isabs(program) and not where.has(os.path.join(folder, program)):
                return f"{program} is not there"
            if os.path.isabs(program) and not os.path.exists(program):
                return f"{program} is not there"
            found = program if os.path.isabs(program) else None
        else:
            found = shutil.which(program, path=where.environment.get("PATH", os.defpath))
            if found is None:
                return f"`{program}` is not on PATH"
        said = _of_interpreter(os.path.basename(program), found, given, folder, where)
        if said:
            return said
    return ""


def _chain(command: str, directory: str) -> Iterator[tuple[list[str], str]]:
    """The commands of a chain with `&&`, each with the folder it runs in; none where it is anything else."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return
    if "\n" in command.strip() or any(set(word) <= _META and word != "&&" for word in words if word):
        return
    part: list[str] = []
    folder = directory
    for word in [*words, "&&"]:
        if word != "&&":
            part.append(word)
            continue
        if part[:1] == ["cd"]:
            if len(part) != 2 or set(part[1]) & set("$`*?~-"):
                return
            folder = os.path.join(folder, part[1])
        elif part:
            yield part, folder
        part = []


def _of_interpreter(name: str, found: str | None, given: list[str], folder: str, where: Where) -> str:
    """What an interpreter is given and is not there: a module, or a script."""
    options = [word for word in given if not word.startswith("-")]
    if _PYTHON.fullmatch(name) and "-m" in given:
        after = given[given.index("-m") + 1 :]
        module = after[0].partition(".")[0] if after else ""
        if found is None or not module.isidentifier() or "-c" in given[: given.index("-m")]:
            return ""
        return "" if _has_module(found, module, folder, where) else f"{name} has no module named {module}"
    if _GIVEN_SCRIPTS.fullmatch(name) and given and given[0] == next(iter(options), None):
        script = given[0]
        is_plain = _SCRIPT.fullmatch(script) and not set(script) & set("$`*?~{") and not os.path.isabs(script)
        if is_plain and not where.has(os.path.join(folder, script)):
            return f"{script} is not there"
    return ""


def _has_module(python: str, module: str, folder: str, where: Where) -> bool:
    """Whether this Python may find the module, in its own folders, the working tree, or main."""
    own = interpreter(python)
    if not own or not lacks(own, module, where.user_site):
        return True  # it is there, or nobody can tell
    places = (f"{module}.py", os.path.join(module, "__main__.py"), os.path.join(module, "__init__.py"))
    return any(where.has(os.path.join(folder, place)) for place in places)
