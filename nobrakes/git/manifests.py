"""What the manifests of package managers say, in two parts: what decides whether work is good, and lists of
dependencies. Pure.

A reader gives (protected sections, dependencies) by name; ValueError for content that cannot be read. A dependency that
comes from a folder, a file or an address, and not from the usual registry, is a protected section: it can be anything.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..checks.contract import UNREADABLE as UNREADABLE_CODE
from ..checks.contract import parse_python
from ..checks.policy.shadows import is_framework
from ..text import toml

# Manifests that are programs. What is plainly a list of dependencies is told apart by its lines; all else decides
# (`code`), since nobody can tell what it does. Of setup.py, which is as much the product's, only what makes plug-ins of
# runners does.
ProgramsParts = tuple[Mapping[str, Any], Mapping[str, Any]]
ELSEWHERE = "dependencies from elsewhere"

_QUOTED = r"""(?:"[^"#{}\n]*"|'[^'\n]*')"""
_LIST = rf"\[(?:[\s,]|:\w++|{_QUOTED})*+\]"
_OPTION = rf"(?::?\w+\s*(?:=>|:)\s*(?:true|false|nil|:\w+|{_QUOTED}|{_LIST}))"
_GIVEN = rf"(?:\s*,\s*(?:{_QUOTED}|{_OPTION}|{_LIST}))*\s*\)?"
_GEM = re.compile(rf"gem[ (]\s*{_QUOTED}{_GIVEN}")
_PLAIN_GEMFILE = re.compile(
    rf"source[ (]\s*{_QUOTED}\s*\)?|ruby[ (]\s*(?:{_QUOTED}|{_OPTION}){_GIVEN}|gemspec|end|"
    rf"group[ (][:\w,\s\"']+(?:\)\s*)?do|source[ (]\s*{_QUOTED}\)?\s*do"
)
_FROM_ELSEWHERE = re.compile(r"\b(?:path|git|github|gist|bitbucket|ref|url|hosted|sdk|file)\b\s*(?::|=>)")
_MIX_DEPS = re.compile(
    r"^([ \t]*)defp?\s+\w*deps\w*(?:\([^()]*\))?\s+do[ \t]*\n((?:(?!\1(?:end|defp?)\b).*\n)*)\1end\b", re.MULTILINE
)
_MIX_PLAIN = re.compile(
    r"^[ \t]*(?:(?:version:|description:|@version\b|@source_url\b|name:|source_url:)[ \t]*"
    r"(?:\"[^\"\\{\n]*\"|@?\w+(?:\(\))?),?[ \t]*|(?!.*#\{)#.*)$\n?",
    re.MULTILINE,
)
_MIX_ROW = re.compile(r"(?:[\s\[\]{},]|:\w++[?!]?|(?:true|false|nil)\b|\w++:|\"[^\"\\{\n]*\")*+(?:#.*)?")
_SECTION = re.compile(r"^([\w-]+):[^\n]*\n((?:[ \t#][^\n]*\n|\n)*)", re.MULTILINE)


def gemfile(content: bytes) -> ProgramsParts:
    """Gemfile: every line but a gem, a source, a group."""
    gems, code, elsewhere = [], [], []
    for line in content.decode().splitlines():
        text = re.sub(r"(?:^|\s)#(?!.*#\{|\{).*", "", line).strip()
        if not text:
            continue
        if _GEM.fullmatch(text):
            gems.append(text)
            elsewhere += [text] if _FROM_ELSEWHERE.search(text) else []
        elif _PLAIN_GEMFILE.fullmatch(text) and "`" not in text and "#{" not in text:
            gems.append(text)
        else:
            code.append(text)
    return _parts({"code": code, ELSEWHERE: sorted(elsewhere)}), {"gems": gems}


def mix(content: bytes) -> ProgramsParts:
    """mix.exs: everything but the functions of dependencies, names and the version."""
    text = content.decode()
    deps = [found[1].strip() for found in _MIX_DEPS.findall(text)]
    rows = [line.strip() for one in deps for line in one.splitlines() if line.strip()]
    code = [line.strip() for line in _MIX_PLAIN.sub("", _MIX_DEPS.sub("", text)).splitlines() if line.strip()]
    code += [row for row in rows if "#{" in row or not _MIX_ROW.fullmatch(row)]
    return _parts({"code": code, ELSEWHERE: [row for row in rows if _FROM_ELSEWHERE.search(row)]}), {"deps": deps}


def setup_py(content: bytes) -> ProgramsParts:
    """setup.py: entry points of pytest, and a name that is a framework's."""
    import ast

    gates: dict[str, Any] = {}
    try:
        module = parse_python(content)
        for node in ast.walk(module):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                value = ast.unparse(keyword.value)
                if keyword.arg == "name" and is_framework(value.strip("'\"")):
                    gates["name"] = value
        if "pytest11" in (whole := ast.dump(module)):
            gates["entry_points"] = whole
    except UNREADABLE_CODE as error:
        raise ValueError(str(error)) from None
    return gates, {}


def pubspec(content: bytes) -> ProgramsParts:
    """pubspec.yaml: overrides, and dependencies that come from a folder or an address."""
    sections = dict(_SECTION.findall(content.decode() + "\n"))
    lists = {name: text.strip() for name, text in sections.items() if name in ("dependencies", "dev_dependencies")}
    plain = (re.sub(r"sdk:\s*flutter\b", "", line).strip() for text in lists.values() for line in text.splitlines())
    elsewhere = [line for line in plain if _FROM_ELSEWHERE.search(line)]
    return _parts({"dependency_overrides": sections.get("dependency_overrides"), ELSEWHERE: elsewhere}), lists


def compiled(content: bytes) -> ProgramsParts:
    """A .pyc that Python trusts without comparing its source (PEP 552: unchecked hash)."""
    unchecked = content[4:8] == b"\x01\0\0\0"
    return ({"code without its source": hashlib.sha256(content).hexdigest()} if unchecked else {}), {}


def _parts(gates: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in gates.items() if value}


Parts = tuple[Mapping[str, Any], Mapping[str, Any]]

_TOOLS = (
    "pytest", "ruff", "mypy", "coverage", "tox", "nox", "pylint", "pyright", "basedpyright", "flake8", "poe", "taskipy",
    "ty", "bandit", "behave", "pydocstyle", "interrogate",
)  # fmt: skip
_PLAIN_JSON = frozenset(
    ("name", "version", "description", "keywords", "homepage", "bugs", "license", "author", "contributors", "funding",
     "files", "repository", "private", "main", "module", "types", "typings", "exports", "bin", "man", "directories",
     "browser", "sideEffects", "engines", "os", "cpu", "publishConfig", "unpkg", "$schema", "maintainers")
)  # fmt: skip
_LISTS_JSON = ("dependencies", "devDependencies", "peerDependencies", "peerDependenciesMeta", "optionalDependencies",
               "bundledDependencies", "bundleDependencies")  # fmt: skip
_GATES_CARGO = ("profile", "lints", "patch", "replace", "test", "bench")
_LISTS_CARGO = ("dependencies", "dev-dependencies", "build-dependencies")
_PACKAGE_CARGO = frozenset(("autotests", "autobins", "autobenches", "build", "links", "workspace", "metadata"))
_FLAGS_CARGO = ("test", "doctest", "harness", "doc", "proc-macro")
_PLAIN_POM = frozenset(
    ("modelVersion", "groupId", "artifactId", "version", "name", "description", "url", "inceptionYear", "licenses",
     "organization", "developers", "contributors", "scm", "issueManagement", "dependencies", "dependencyManagement")
)  # fmt: skip
_GATES_COMPOSER = ("scripts", "repositories", "autoload-dev", "config", "replace", "provide", "extra")
_WITHIN = {
    "uv": ("sources", "workspace", "index", "index-url", "extra-index-url", "find-links", "override-dependencies"),
    "poetry": ("plugins", "source"),
    "hatch": ("envs",),
    "pdm": ("scripts", "source"),
    "rye": ("scripts", "sources"),
    "pixi": ("tasks",),
}
_ORIGIN = frozenset(("path", "git", "url", "file", "source", "registry"))
"""Keys in a dependency's table that name another source."""
_ELSEWHERE = re.compile(r"^(?!workspace:|catalog:)[^<>=~^*\d]*[:/@]")


def pyproject(content: bytes) -> Parts:
    """pyproject.toml: the tables of tools that check, entry points, and how it is built."""
    data = _toml(content)
    tool, project, build = (_table(data, name) for name in ("tool", "project", "build-system"))
    # pytest reads [tool.pytest] and [tool.pytest.ini_options]; plug-ins have [tool.pytest-…] of their own
    gates = {
        f"tool.{name}": value
        for name, value in tool.items()
        if name in _TOOLS or any(name.startswith((f"{gate}-", f"{gate}_")) for gate in _TOOLS)
    }
    for name, parts in _WITHIN.items():
        own = tool.get(name)
        gates |= {f"tool.{name}.{part}": own[part] for part in parts if part in own} if isinstance(own, dict) else {}
    gates |= _posing("project", project)
    gates |= {"project.entry-points": project["entry-points"]} if "entry-points" in project else {}
    gates |= {"build-system.backend-path": build["backend-path"]} if "backend-path" in build else {}
    lists: dict[str, Any] = {n: project[n] for n in ("dependencies", "optional-dependencies") if n in project}
    lists |= {"dependency-groups": data["dependency-groups"]} if "dependency-groups" in data else {}
    lists |= {"build-system": build["requires"]} if "requires" in build else {}
    named = [text for text in _texts(lists) if "@" in text]
    for name, table in _poetry_lists(_table(tool, "poetry")):
        lists[name] = table
        named += [f"{one} {spec}" for one, spec in table.items() if isinstance(spec, dict) and spec.keys() & _ORIGIN]
    own = tool.get("uv")
    lists |= {"uv": own["dev-dependencies"]} if isinstance(own, dict) and "dev-dependencies" in own else {}
    return gates | ({ELSEWHERE: sorted(named)} if named else {}), lists


def _posing(table: str, project: Mapping[str, Any]) -> dict[str, Any]:
    """A name or script of a runner or framework: installed, it would replace that one."""
    found: dict[str, Any] = {}
    if is_framework(str(project.get("name", ""))):
        found[f"{table}.name"] = project["name"]
    scripts = project.get("scripts")
    if isinstance(scripts, dict) and (posing := {n: v for n, v in scripts.items() if _runs_as(n)}):
        found[f"{table}.scripts"] = posing
    return found


def _runs_as(name: str) -> bool:
    return is_framework(name) or name.startswith(("python", "py.test"))


def _poetry_lists(poetry: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    groups = poetry.get("group", {})
    every = {f"group.{name}": one for name, one in groups.items()} if isinstance(groups, dict) else {}
    for name, holder in ({"": poetry} | every).items():
        for part in ("dependencies", "dev-dependencies"):
            if isinstance(holder, dict) and isinstance(holder.get(part), dict):
                yield f"poetry {name} {part}", holder[part]


def package(content: bytes) -> Parts:
    """package.json: all but names, places of the product and lists of dependencies."""
    data = json.loads(content.decode("utf-8-sig"))
    if not isinstance(data, dict):
        raise ValueError("not an object")
    lists = {name: data[name] for name in _LISTS_JSON if name in data}
    gates = {name: value for name, value in data.items() if name not in _PLAIN_JSON and name not in lists}
    named = sorted(
        f"{name} {version}"
        for one in lists.values()
        if isinstance(one, dict)
        for name, version in one.items()
        if isinstance(version, str) and _ELSEWHERE.search(version)
    )
    every = {name for one in lists.values() if isinstance(one, dict) for name in one}
    name, bins, browser = data.get("name"), data.get("bin"), data.get("browser")
    if isinstance(name, str) and (is_framework(name) or name in every):
        gates["name"] = name  # node finds a package by its own name before any other
    if isinstance(bins, dict) and (posing := {key: value for key, value in bins.items() if _runs_as(key)}):
        gates["bin"] = posing
    if isinstance(browser, dict) and (posing := {k: v for k, v in browser.items() if not k.startswith(".")}):
        gates["browser"] = posing
    return gates | ({ELSEWHERE: named} if named else {}), lists


def composer(content: bytes) -> Parts:
    data = json.loads(content.decode("utf-8-sig"))
    if not isinstance(data, dict):
        raise ValueError("not an object")
    return {name: data[name] for name in _GATES_COMPOSER if name in data}, {
        name: data[name] for name in ("require", "require-dev") if name in data
    }


def pipfile(content: bytes) -> Parts:
    """Pipfile: scripts and sources."""
    data = _toml(content)
    lists = {name: value for name, value in data.items() if name not in ("scripts", "source", "requires", "pipenv")}
    named = {
        f"{name}": spec
        for one in lists.values()
        if isinstance(one, dict)
        for name, spec in one.items()
        if isinstance(spec, dict) and spec.keys() & _ORIGIN
    }
    gates = {name: data[name] for name in ("scripts", "source") if name in data}
    return gates | ({ELSEWHERE: named} if named else {}), lists


def cargo(content: bytes) -> Parts:
    """Cargo.toml: profiles, lints, patches, members, and whether a target is tested."""
    data = _toml(content)
    package = _table(data, "package")
    gates: dict[str, Any] = {name: data[name] for name in _GATES_CARGO if name in data}
    gates |= {f"package.{name}": package[name] for name in sorted(_PACKAGE_CARGO & package.keys())}
    gates |= {"package.name": package["name"]} if is_framework(str(package.get("name", ""))) else {}
    for name in ("lib", "bin", "example"):
        targets = data.get(name, [])
        told = [_flags(one) for one in ([targets] if isinstance(targets, dict) else targets) if isinstance(one, dict)]
        gates |= {name: told} if any(told) else {}
    workspace = _table(data, "workspace")
    gates |= {f"workspace.{n}": v for n, v in workspace.items() if n not in ("dependencies", "package")}
    lists: dict[str, Any] = {name: data[name] for name in _LISTS_CARGO if name in data}
    lists |= {"workspace": workspace["dependencies"]} if "dependencies" in workspace else {}
    for target, own in _table(data, "target").items():
        lists |= {f"{target} {name}": own[name] for name in _LISTS_CARGO if isinstance(own, dict) and name in own}
    named = {
        f"{name}": spec
        for one in lists.values()
        if isinstance(one, dict)
        for name, spec in one.items()
        if isinstance(spec, dict) and spec.keys() & {"path", "git", "registry", "package"}
    }
    return gates | ({ELSEWHERE: named} if named else {}), lists


def _flags(target: Mapping[str, Any]) -> dict[str, Any]:
    return {name: target[name] for name in _FLAGS_CARGO if name in target}


def go(content: bytes) -> Parts:
    """go.mod: what is replaced, left out, or chosen as a tool."""
    gates: dict[str, list[str]] = {}
    lists: dict[str, list[str]] = {}
    block = ""
    for line in content.decode().splitlines():
        words = line.partition("//")[0].split()
        if not words:
            continue
        if block:
            verb, rest = block, words
            if words == [")"]:
                block = ""
                continue
        else:
            verb, rest = words[0], words[1:]
            if rest[:1] == ["("]:
                block = verb
                continue
        if verb == "require":
            lists.setdefault(verb, []).append(" ".join(rest))
        elif verb not in ("module", "go") or is_framework(" ".join(rest)):
            gates.setdefault(verb, []).append(" ".join(rest))
    return {name: sorted(lines) for name, lines in gates.items()}, {name: sorted(one) for name, one in lists.items()}


def pom(content: bytes) -> Parts:
    """pom.xml: all but names, people and dependencies. A document type is refused: it could stand for anything."""
    from xml.etree import ElementTree

    if b"<!" in re.sub(rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", b"", content, flags=re.DOTALL):
        raise ValueError("a document type")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None
    gates: dict[str, list[str]] = {}
    lists: dict[str, list[str]] = {}
    for child in root:
        name = child.tag.rpartition("}")[2]
        if name == "properties":
            for one in child:
                key = one.tag.rpartition("}")[2]
                kind = lists if key.endswith(".version") else gates
                kind.setdefault("properties", []).append(f"{key}={(one.text or '').strip()}")
            continue
        text = ElementTree.canonicalize(ElementTree.tostring(child, encoding="unicode"), strip_text=True)
        kind = lists if name in ("dependencies", "dependencyManagement") else gates
        if name not in _PLAIN_POM or kind is lists:
            kind.setdefault(name, []).append(text)
        if kind is lists and "systemPath" in text:
            gates.setdefault(ELSEWHERE, []).append(text)
    return gates, lists


def requirements(content: bytes) -> Parts:
    """A list of requirements for pip: options, folders, files and addresses are not plain dependencies."""
    lines = [line.partition("#")[0].strip() for line in content.decode().splitlines()]
    told = sorted(line for line in lines if line)
    named = [line for line in told if line.startswith(("-", ".", "/")) or "@" in line or "://" in line]
    return ({ELSEWHERE: named} if named else {}), {"requirements": told}


_READERS: Mapping[str, Callable[[bytes], Parts]] = {
    "pyproject.toml": pyproject,
    "package.json": package,
    "cargo.toml": cargo,
    "go.mod": go,
    "pom.xml": pom,
    "gemfile": gemfile,
    "gems.rb": gemfile,
    "mix.exs": mix,
    "setup.py": setup_py,
    "pubspec.yaml": pubspec,
    "composer.json": composer,
    "pipfile": pipfile,
}
_REQUIREMENTS = re.compile(r"(?:[\w.-]*[_-])?requirements(?:[_.-][\w.-]*)?\.(?:txt|in)")


def reader(path: str) -> Callable[[bytes], Parts] | None:
    name = path.rpartition("/")[2].casefold()
    if name.endswith((".pyc", ".pyo")):
        return compiled
    return requirements if _REQUIREMENTS.fullmatch(name) else _READERS.get(name)


def _toml(content: bytes) -> dict[str, Any]:
    # some editors write a byte order mark, and the tools read it
    return toml.loads(content.decode("utf-8-sig"))


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise ValueError(f"{name} is not a table")
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


# A file that is added or removed changes the protected sections that it has; new content that cannot be read changes
# everything.
UNREADABLE = "unreadable"
_DEEPEST = 100
"""Nested values that are compared."""


def is_shared(path: str) -> bool:
    return reader(path) is not None


def changed_parts(path: str, before: bytes | None, after: bytes | None) -> tuple[tuple[str, ...], bool]:
    """(names of the protected sections that differ, sorted; whether dependencies do). None: an absent file."""
    read = reader(path)
    if read is None or before == after:
        return (), False
    try:
        # what was broken and is whole now cannot be compared, so a person looks at it
        new, old = (({}, {}) if content is None else _shallow(read(content)) for content in (after, before))
        return _differ(old[0], new[0]), bool(_differ(old[1], new[1]))
    except (ValueError, RecursionError, AttributeError, TypeError):
        return (UNREADABLE,), True


def _shallow(parts: Parts) -> Parts:
    """The parts, which may be compared by recursion. ValueError: they are nested too deep."""
    level: list[Any] = [*parts]
    for _ in range(_DEEPEST):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [one for values in inner for one in values]
    if level:
        raise ValueError("nested too deep")
    return parts


def _differ(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in sorted({*old, *new}) if not _same(old.get(name, ...), new.get(name, ...)))


def _same(old: Any, new: Any) -> bool:
    """Equality that tells 1 from True and ignores the order of keys."""
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(_same(a, b) for a, b in zip(old, new, strict=True))
    return bool(old == new)
