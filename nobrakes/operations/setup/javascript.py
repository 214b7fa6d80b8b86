"""JavaScript and TypeScript projects: the scripts of package.json, with the package manager of the lock file."""

import json
from typing import Any

from .detected import Found, exists, read

_SCRIPTS = (
    ("test", ("test",)),
    ("lint", ("lint",)),
    ("types", ("typecheck", "type-check", "types", "tsc", "check-types")),
    ("build", ("build",)),
)
_PLACEHOLDER = "no test specified"


def detect(root: str) -> Found | None:
    """The project in `root`; None without a package.json."""
    text = read(root, "package.json")
    if text is None:
        return None
    try:
        package: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Found("js", notes=(f"package.json is not JSON ({error}): nothing is read from it",))
    if not isinstance(package, dict):
        return Found("js", notes=("package.json is no object: nothing is read from it",))
    scripts = package.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    setup, run, note = _manager(root, package)
    checks = []
    notes = [note] if note else []
    for kind, names in _SCRIPTS:
        name = next((n for n in names if isinstance(scripts.get(n), str) and scripts[n].strip()), None)
        if name is None:
            continue
        if _PLACEHOLDER in scripts[name]:
            notes.append("package.json's test script is npm's placeholder: left out")
            continue
        checks.append((kind, f"{run} {name}"))
    return Found("js", tuple(checks), setup, tuple(notes))


def _manager(root: str, package: dict[str, Any]) -> tuple[str, str, str]:
    """(setup, what runs a script, a note)."""
    if exists(root, "pnpm-lock.yaml"):
        return "pnpm install --frozen-lockfile", "pnpm run", ""
    if exists(root, "yarn.lock"):
        modern = exists(root, ".yarnrc.yml")
        return ("yarn install --immutable" if modern else "yarn install --frozen-lockfile"), "yarn run", ""
    if exists(root, "bun.lock") or exists(root, "bun.lockb"):
        return "bun install --frozen-lockfile", "bun run", ""
    if exists(root, "package-lock.json") or exists(root, "npm-shrinkwrap.json"):
        return "npm ci", "npm run", ""
    needed = any(package.get(key) for key in ("dependencies", "devDependencies"))
    note = "package.json names dependencies, but there is no lock file: set `setup` in the config" if needed else ""
    return "", "npm run", note
