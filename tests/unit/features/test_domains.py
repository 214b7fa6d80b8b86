"""Which reviewers a plan has: by what was said of its beads, by where they change files, by their words."""

from typing import Any

import pytest

from nobrakes.features.reviewed_plan import (
    BACKEND,
    DATABASE,
    DEVOPS,
    FRONTEND,
    TEST,
    bead_domains,
    changed,
    path_domain,
    touched,
)


@pytest.mark.parametrize(
    ("path", "domain"),
    [
        ("src/components/Login.tsx", FRONTEND),
        ("web/**", FRONTEND),
        ("app/styles/site.css", FRONTEND),
        ("server/login.py", BACKEND),
        ("cmd/main.go", BACKEND),
        ("src/index.ts", BACKEND),
        ("db/migrations/003_users.py", DATABASE),
        ("reports/monthly.sql", DATABASE),
        (".github/workflows/ci.yml", DEVOPS),
        ("Dockerfile", DEVOPS),
        ("infra/main.tf", DEVOPS),
        ("tests/test_login.py", TEST),
        ("src/components/Login.test.tsx", TEST),  # a test of the pages is a test
        ("pkg/login_test.go", TEST),
        ("docs/login.md", None),
        ("README.md", None),
    ],
)
def test_a_file_belongs_to_a_domain(path: str, domain: str | None) -> None:
    assert path_domain(path) == domain


def test_what_was_said_goes_before_files_and_files_before_words() -> None:
    bead: dict[str, Any] = {"id": "a", "title": "A migration of the users table"}
    assert bead_domains(bead) == {DATABASE}
    assert bead_domains({**bead, "touches": ["web/users.tsx"]}) == {FRONTEND}
    assert bead_domains({**bead, "touches": ["web/users.tsx"], "labels": ["CI", "urgent"]}) == {DEVOPS}


def test_a_bead_of_which_nothing_is_known_is_backend_and_documents_are_nobodys() -> None:
    assert bead_domains({"id": "a", "title": "Say hello"}) == {BACKEND}
    assert bead_domains({"id": "a", "title": "Explain the API", "type": "docs"}) == frozenset()
    assert bead_domains({"id": "a", "title": "Explain it", "touches": ["docs/api.md"]}) == frozenset()
    assert bead_domains({"id": "a", "title": "All of the database", "type": "epic"}) == frozenset()


def test_the_most_touched_come_first_and_no_more_than_may() -> None:
    paths = ("web/a.css", "web/b.css", "api/a.py", "db/a.sql", "Dockerfile", "tests/test_a.py", "tests/test_b.py")
    plan = [{"id": str(n), "title": "x", "touches": [path]} for n, path in enumerate(paths)]
    assert touched(plan, (), 4) == (FRONTEND, TEST, BACKEND, DATABASE)
    assert touched(plan, ("Dockerfile", "infra/x.tf"), 4) == (DEVOPS, FRONTEND, TEST, BACKEND)
    assert touched(plan, (), 1) == (FRONTEND,)


def test_every_plan_is_looked_at_by_somebody() -> None:
    assert touched([{"id": "a", "title": "Explain it", "type": "docs"}], (), 4) == (BACKEND,)


def test_what_changed_counts_in_both_its_shapes_and_so_does_what_is_gone() -> None:
    before = [{"id": "a", "title": "x", "touches": ["web/a.css"]}, {"id": "b", "title": "y", "touches": ["a.sql"]}]
    same = [dict(bead) for bead in reversed(before)]
    assert changed(before, same) == frozenset()
    assert changed(before, before[:1]) == {DATABASE}
    assert changed(before, [before[1], {"id": "a", "title": "x", "touches": ["a.py"]}]) == {FRONTEND, BACKEND}
    assert changed(before, [{**before[0], "status": "done"}, before[1]]) == frozenset(), "it was built, not changed"
