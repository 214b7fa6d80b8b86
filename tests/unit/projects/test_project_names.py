"""What a project may be called, which names clash, and which project a message means."""

import pytest

from nobrakes.errors import NoProject, UsageError
from nobrakes.projects import model as projects_model
from nobrakes.projects.model import Brief, filled, values


@pytest.mark.parametrize("name", ["my-app", "A", "site_2", "v1.2", "0day"])
def test_a_name_is_one_plain_part_of_a_path(name: str) -> None:
    assert projects_model.names_require(f"  {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            ".hidden",
            "-rf",
            "a..b",
            "a.",
            "x.git",
            "x.lock",
            "con",
            "LPT1.x",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "/etc",
            "~",
            "$HOME",
        ],
        *["a b", "a\nb", "ä", "a\x00b", "\u202ea"],
        "x" * 65,
    ],
)
def test_what_leads_elsewhere_or_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        projects_model.names_require(name)


def test_names_that_differ_in_capitals_alone_clash() -> None:
    assert projects_model.clash("My-App", ["site", "my-app"]) == "my-app" and not projects_model.clash(
        "my-app-2", ["my-app"]
    )


@pytest.mark.parametrize(
    ("session", "message", "meant"),
    [
        ("website", "go on with my-app", "website"),  # the session's name comes first
        ("phone", "please mend the login of My App, today", "my-app"),
        ("phone", "my-app-2 is slow", "my-app-2"),  # the longest name that stands there
        ("phone", "compare my-app and website", ""),  # as long as each other: nobody knows
        ("phone", "myapplication is slow", ""),
        ("", "", ""),
    ],
)
def test_the_project_that_is_probably_meant(session: str, message: str, meant: str) -> None:
    assert projects_model.suggested(["my-app", "my-app-2", "website"], session, message)[0] == meant


def test_a_value_is_text_and_is_not_filled_in_again() -> None:
    brief = Brief("tea", objective="sell {{name}}", criteria=("one\ntwo", " "))
    made = filled("{{title}}: {{objective}} {{nobody}}\n{{criteria}}\n{{constraints}}", values(brief, "today"))
    assert made.splitlines()[:2] == ["tea: sell {{name}} {{nobody}}", "- [ ] one two"]
    assert made.splitlines()[2].startswith("- (to be written")


@pytest.mark.parametrize(
    ("path", "confirmed"),
    [
        ("/w/PROJECTS", "a"),
        ("/w/PROJECTS/", "a"),
        ("/w", "a"),
        ("/", "a"),
        ("/w/PROJECTS-2/a", "a"),
        ("/w/PROJECTS/b", "a"),
        ("/w/PROJECTS/ab", "a"),
        ("/w/PROJECTS/../a", "a"),
        ("/w/PROJECTS/a", None),
    ],
)
def test_the_guard_lets_nothing_out_of_the_confirmed_project(path: str, confirmed: str | None) -> None:
    with pytest.raises(
        NoProject, match=r"Read the project-setup skill at SKILLS/project-setup\.md .* call set_project"
    ):
        projects_model.guard_require("/w/PROJECTS", path, confirmed)


def test_the_guard_lets_the_confirmed_project_and_its_folders_through() -> None:
    for path in ("/w/PROJECTS/a", "/w/PROJECTS/a/src"):
        projects_model.guard_require("/w/PROJECTS", path, "a")
