"""Which domains a plan touches, so that each has a reviewer: frontend, backend, database, devops, test.

1. What somebody said of a bead goes first (its labels), then where it changes files (`touches`), then its words. A bead
   of which nothing is known is backend; one that only writes documents is nobody's.
2. A feature's affected files count as well, one each. The same plan gives the same domains.
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .plan_changes import changes

FRONTEND, BACKEND, DATABASE, DEVOPS, TEST = "frontend", "backend", "database", "devops", "test"
DOMAINS = (FRONTEND, BACKEND, DATABASE, DEVOPS, TEST)
"""In the order in which equals are chosen."""

_LABELS: Mapping[str, frozenset[str]] = {
    FRONTEND: frozenset({"frontend", "front-end", "ui", "ux", "web", "css", "client"}),
    BACKEND: frozenset({"backend", "back-end", "api", "server", "service", "core"}),
    DATABASE: frozenset({"database", "db", "sql", "schema", "migration", "migrations", "storage"}),
    DEVOPS: frozenset({"devops", "ci", "cd", "infra", "infrastructure", "deploy", "deployment", "build", "docker"}),
    TEST: frozenset({"test", "tests", "testing", "qa", "e2e"}),
}
_FOLDERS: Mapping[str, frozenset[str]] = {
    TEST: frozenset({"test", "tests", "spec", "specs", "__tests__", "e2e", "cypress"}),
    DEVOPS: frozenset(
        {".github", ".gitlab", ".circleci", ".ci", "ci", "deploy", "deployment", "infra", "helm", "k8s", "terraform"}
    ),
    DATABASE: frozenset({"migrations", "migration", "db", "database", "schema", "schemas", "sql", "prisma"}),
    FRONTEND: frozenset(
        {"frontend", "client", "components", "pages", "ui", "web", "views", "templates", "static", "styles", "public"}
    ),
}
"""Asked in this order: a test of the pages is a test, and a migration's folder is one wherever it lies."""
_SUFFIXES: Mapping[str, frozenset[str]] = {
    DATABASE: frozenset({".sql", ".prisma", ".ddl"}),
    DEVOPS: frozenset({".tf", ".hcl", ".dockerfile"}),
    FRONTEND: frozenset({".tsx", ".jsx", ".css", ".scss", ".sass", ".less", ".html", ".htm", ".vue", ".svelte"}),
}
_FILES = frozenset({"dockerfile", "makefile", "jenkinsfile", "procfile", ".gitlab-ci.yml", "tox.ini"})
_DOCUMENTS = frozenset({".md", ".rst", ".txt", ".adoc"})
_WORDS: Mapping[str, frozenset[str]] = {
    FRONTEND: frozenset(
        {"page", "pages", "button", "screen", "browser", "css", "html", "frontend", "layout", "responsive", "ui"}
    ),
    BACKEND: frozenset(
        {
            "api",
            "endpoint",
            "endpoints",
            "server",
            "service",
            "handler",
            "parser",
            "command",
            "cli",
            "backend",
            "request",
        }
    ),
    DATABASE: frozenset(
        {"database", "sql", "sqlite", "postgres", "migration", "migrations", "schema", "table", "query", "index"}
    ),
    DEVOPS: frozenset(
        {
            "ci",
            "pipeline",
            "docker",
            "container",
            "deploy",
            "deployment",
            "kubernetes",
            "terraform",
            "systemd",
            "release",
        }
    ),
    TEST: frozenset({"fixture", "fixtures", "coverage", "e2e", "benchmark", "fuzz", "flaky"}),
}


def of_path(path: str) -> str | None:
    """The domain of a file or a glob; None: of none, as a document is."""
    parts = [part.lower() for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    name = parts[-1] if parts else ""
    stem, suffix = posixpath.splitext(name)
    tests = (stem.startswith("test_"), stem.endswith(("_test", ".test", ".spec", "_spec")), name == "conftest.py")
    if any(tests):
        return TEST
    for domain, folders in _FOLDERS.items():
        if folders & set(parts):
            return domain
    if name in _FILES or name.startswith(("dockerfile.", "docker-compose")):
        return DEVOPS
    found = next((domain for domain, suffixes in _SUFFIXES.items() if suffix in suffixes), None)
    return found if found or suffix in _DOCUMENTS else BACKEND


def of_bead(bead: Mapping[str, Any]) -> frozenset[str]:
    """The domains that one bead of a plan touches, by its record as a plan file has it."""
    if bead.get("type") == "epic":
        return frozenset()
    labels = {str(label).lower() for label in bead.get("labels") or ()}
    said = {domain for domain, words in _LABELS.items() if words & labels}
    if said:
        return frozenset(said)
    touches = [str(path) for path in bead.get("touches") or ()]
    if touches:
        return frozenset(found for found in map(of_path, touches) if found)
    if bead.get("type") == "docs":
        return frozenset()
    texts = (bead.get("title"), bead.get("description"), *(bead.get("acceptance") or ()))
    words = {word.strip(".,:;!?()'\"`").lower() for text in texts for word in str(text or "").split()}
    meant = {domain for domain, known in _WORDS.items() if known & words}
    if bead.get("type") == "test":
        meant.add(TEST)
    return frozenset(meant or {BACKEND})


def touched(plan: Sequence[Mapping[str, Any]], files: Iterable[str], most: int) -> tuple[str, ...]:
    """The domains that the plan touches, the most touched first; at least one, since every plan is looked at."""
    count = Counter(domain for bead in plan for domain in of_bead(bead))
    count.update(found for found in map(of_path, files) if found)
    ranked = sorted(count, key=lambda domain: (-count[domain], DOMAINS.index(domain)))
    return tuple(ranked[: max(1, most)]) or (BACKEND,)


def changed(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The domains of the beads that differ between two versions of a plan; a bead that is gone counts too.

    How far a bead is built is no difference.
    """
    found = changes(before, now)
    differ = {str(bead["id"]) for bead in (*found.added, *found.gone)} | {one.id for one in found.changed}
    sides = [bead for bead in (*before, *now) if bead["id"] in differ]
    return frozenset(domain for bead in sides for domain in of_bead(bead))
