"""Cheats for tests in JavaScript and TypeScript: modules of the project that are imported and not there yet.

Read by patterns, so only what is plainly written is seen: imports of relative paths, calls compared with a literal.
"""

import posixpath
import re
from collections.abc import Mapping

from .python import CONSTANT, EMPTY, YES, Tree

ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx")

_PATH = r"""["'](\.{1,2}/[^"'\n]+)["']"""
_IMPORT = re.compile(rf"\bimport\s+(?:type\s+)?([\w$*{{}},\s]+?)\s+from\s*{_PATH}")
_REQUIRE = re.compile(rf"\b(?:const|let|var)\s+([\w$]+|{{[^}}]*}})\s*=\s*require\(\s*{_PATH}\s*\)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")
_LITERAL = r"""(-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*'|true|false|null|\[\]|\{\})"""
_YES, _EMPTY = "true", "undefined"


def cheats(tests: Mapping[str, str], tree: Tree, output: str) -> dict[str, dict[str, str]]:
    """Per cheat the files to lay over the tree; empty where nothing of the project is missing."""
    made: dict[tuple[str, bool], dict[str, str]] = {}  # (path, with require) to export to literal
    for path, text in tests.items():
        for pattern in (_IMPORT, _REQUIRE):
            for names, module in pattern.findall(text):
                target = _target(path, module, tree)
                if target is not None:
                    exports = made.setdefault((target, pattern is _REQUIRE), {})
                    for name, local in _exports(names, text, pattern is _REQUIRE):
                        exports[name] = exports.get(name) or _literal(local, text)
    found: dict[str, dict[str, str]] = {}
    for (path, required), exports in made.items():
        for cheat, value in ((EMPTY, _EMPTY), (YES, _YES), (CONSTANT, None)):
            if value is None and not any(exports.values()):
                continue
            rows = [_export(name, value or literal or _EMPTY, required) for name, literal in sorted(exports.items())]
            found.setdefault(cheat, {})[path] = "\n".join(rows) + "\n"
    return found


def _target(test: str, module: str, tree: Tree) -> str | None:
    """The file that the test misses; None: it is there, or outside of the repository."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(test), module))
    if path.startswith(".."):
        return None
    stem, ending = posixpath.splitext(path)
    candidates = [path, *(path + end for end in ENDINGS), *(f"{path}/index{end}" for end in ENDINGS)]
    candidates += [stem + ".ts"] if ending == ".js" else []
    if any(candidate in tree.paths for candidate in candidates):
        return None
    if ending in ENDINGS:
        return path
    return path + (".ts" if test.endswith((".ts", ".tsx", ".mts")) else ".js")


def _exports(names: str, text: str, required: bool) -> list[tuple[str, str]]:
    """(exported name, local name) of an import clause; `default` for a module's own value."""
    found = []
    outside, _, inside = names.partition("{")
    for part in inside.rstrip("} \n").split(","):
        words = re.split(r"\s+as\s+|\s*:\s*", part.strip())
        if _NAME.match(words[0]):
            found.append((words[0], words[-1]))
    local = outside.strip(" ,\n")
    space = local.split()[-1] if local and (local.startswith("*") or required) else ""
    members = sorted(set(re.findall(rf"\b{re.escape(space)}\.([A-Za-z_$][\w$]*)", text))) if space else []
    if members or local.startswith("*"):
        found += [(name, f"{space}.{name}") for name in members]
    elif _NAME.match(local):
        found.append(("default", local))
    return found


def _literal(local: str, text: str) -> str:
    """The literal that a call with arguments of this name is first compared with; "" for none."""
    call = rf"(?:await\s+)?{re.escape(local)}\((?!\s*\))[^()\n]*\)"
    named = re.search(rf"\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*{call}", text)
    asked = rf"(?:{call}|{re.escape(named[1])})" if named else call
    for pattern in (
        rf"(?:[eE]quals?|\bis|\bsame)\(\s*{asked}\s*,\s*{_LITERAL}",
        rf"(?:[eE]quals?|\bis|\bsame)\(\s*{_LITERAL}\s*,\s*{asked}",
        rf"expect\(\s*{asked}\s*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:be\.|deep\.)?(?:equal|eql|eq))\(\s*{_LITERAL}",
    ):
        match = re.search(pattern, text)
        if match:
            return match[1]
    return ""


def _export(name: str, value: str, required: bool) -> str:
    body = f"function () {{ return {value}; }}" if value != "{}" else "function () { return ({}); }"
    if required:
        return f"module.exports = {body};" if name == "default" else f"module.exports.{name} = {body};"
    return f"export default {body};" if name == "default" else f"export const {name} = {body};"
