"""Manifests that are programs, or of no format that the standard library reads: Gemfile, mix.exs, setup.py,
pubspec.yaml; and Python's compiled files. Pure; git.manifests.formats says what a reader gives.

What is plainly a list of dependencies is told apart by its lines. All else of a program decides (`code`), since nobody
can tell what it does; but in setup.py, which is as much the product's as its modules are, only what makes plug-ins of
runners.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from ...core.policy.shadows import is_framework

Parts = tuple[Mapping[str, Any], Mapping[str, Any]]
ELSEWHERE = "dependencies from elsewhere"

_QUOTED = r"""(?:"[^"#{}\n]*"|'[^'\n]*')"""
_OPTION = r"(?::?\w+\s*(?:=>|:)\s*(?:true|false|nil|:\w+|" + _QUOTED + r"|\[[\w:,\s\"']*\]))"
_GEM = re.compile(rf"gem[ (]\s*{_QUOTED}(?:\s*,\s*(?:{_QUOTED}|{_OPTION}|\[[^\]]*\]))*\s*\)?")
_PLAIN_GEMFILE = re.compile(
    rf"source[ (]\s*{_QUOTED}\s*\)?|ruby[ (]?.*|gemspec|end|(?:group[ (][:\w,\s\"']+|source[ (]\s*{_QUOTED})\)?\s*do"
)
_FROM_ELSEWHERE = re.compile(r"\b(?:path|git|github|gist|bitbucket|ref|url|hosted|sdk|file)\b\s*(?::|=>)")
_MIX_DEPS = re.compile(r"^([ \t]*)defp?\s+\w*deps\w*(?:\(.*?\))?\s+do[ \t]*\n(.*?)^\1end\b", re.MULTILINE | re.DOTALL)
_MIX_PLAIN = re.compile(
    r"^\s*(?:version:|description:|@version\b|@source_url\b|name:|source_url:|#).*$\n?", re.MULTILINE
)
_SECTION = re.compile(r"^([\w-]+):[^\n]*\n((?:[ \t#][^\n]*\n|\n)*)", re.MULTILINE)


def gemfile(content: bytes) -> Parts:
    """Gemfile: every line but a gem, a source, a group."""
    gems, code, elsewhere = [], [], []
    for line in content.decode().splitlines():
        text = re.sub(r"(?:^|\s)#.*", "", line).strip()
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


def mix(content: bytes) -> Parts:
    """mix.exs: everything but the functions of dependencies, names and the version."""
    text = content.decode()
    deps = [found[1].strip() for found in _MIX_DEPS.findall(text)]
    rows = [line.strip() for one in deps for line in one.splitlines() if line.strip()]
    code = [line.strip() for line in _MIX_PLAIN.sub("", _MIX_DEPS.sub("", text)).splitlines() if line.strip()]
    elsewhere = [row for row in rows if _FROM_ELSEWHERE.search(row)]
    return _parts({"code": code, ELSEWHERE: elsewhere}), {"deps": deps}


def setup_py(content: bytes) -> Parts:
    """setup.py: entry points of pytest, and a name that is a framework's."""
    import ast

    text = content.decode("utf-8-sig")
    try:
        module = ast.parse(text)
    except (SyntaxError, RecursionError) as error:
        raise ValueError(str(error)) from None
    gates: dict[str, Any] = {}
    for node in ast.walk(module):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            value = ast.unparse(keyword.value)
            if keyword.arg == "name" and is_framework(value.strip("'\"")):
                gates["name"] = value
    if "pytest11" in text:
        gates["entry_points"] = ast.dump(module)
    return gates, {}


def pubspec(content: bytes) -> Parts:
    """pubspec.yaml: overrides, and dependencies that come from a folder or an address."""
    sections = dict(_SECTION.findall(content.decode() + "\n"))
    lists = {name: text.strip() for name, text in sections.items() if name in ("dependencies", "dev_dependencies")}
    plain = (re.sub(r"sdk:\s*flutter\b", "", line).strip() for text in lists.values() for line in text.splitlines())
    elsewhere = [line for line in plain if _FROM_ELSEWHERE.search(line)]
    return _parts({"dependency_overrides": sections.get("dependency_overrides"), ELSEWHERE: elsewhere}), lists


def compiled(content: bytes) -> Parts:
    """A .pyc that Python takes whatever its source says (PEP 552: by its hash, unchecked)."""
    unchecked = content[4:8] == b"\x01\0\0\0"
    return ({"code without its source": hashlib.sha256(content).hexdigest()} if unchecked else {}), {}


def _parts(gates: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in gates.items() if value}
