"""The repository's own instructions: once for every agent, as main has them, bounded."""

from collections.abc import Mapping

from nobrakes.agents.prompts import MAX_TEXT, MAX_TOTAL, instructions


def told(files: Mapping[str, str], *touches: str) -> str:
    return instructions(lambda path: files[path].encode() if path in files else None, touches)


def test_a_repository_without_any_says_nothing() -> None:
    assert told({}) == "" and told({"AGENTS.md": "  \n"}) == ""


def test_each_vendors_file_reaches_everybody_once() -> None:
    text = told({"AGENTS.md": "Use tabs.", "CLAUDE.md": "Use tabs.", "GEMINI.md": "Be brief."})
    assert text.count("Use tabs.") == 1 and "## AGENTS.md" in text and "## CLAUDE.md" not in text
    assert "## GEMINI.md\n\nBe brief." in text and text.startswith("# The repository's own instructions")


def test_a_file_that_only_points_to_another_is_left_out() -> None:
    assert "@AGENTS.md" not in told({"AGENTS.md": "Use tabs.", "CLAUDE.md": "@AGENTS.md\n"})


def test_those_of_the_folders_that_the_bead_touches_come_after_the_top_ones() -> None:
    files = {"AGENTS.md": "Top.", "web/AGENTS.md": "Web.", "web/ui/CLAUDE.md": "Ui.", "api/AGENTS.md": "Api."}
    text = told(files, "web/ui/button.ts", "web/**/*.css")
    assert [text.index(word) for word in ("Top.", "Web.", "Ui.")] == sorted(
        text.index(word) for word in ("Top.", "Web.", "Ui.")
    )
    assert "Api." not in text


def test_paths_that_lead_out_are_not_asked_for() -> None:
    asked: list[str] = []

    def read(path: str) -> None:
        asked.append(path)

    instructions(read, ("../x/y", "/etc/z", "a/../../b/c"))
    assert asked == ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]


def test_they_are_bounded_and_say_so_and_carry_nothing_invisible() -> None:
    text = told(
        {"AGENTS.md": "a" * 3 * MAX_TEXT, "CLAUDE.md": "b" * 3 * MAX_TEXT, "GEMINI.md": "c\u202e\x1b" * MAX_TEXT}
    )
    assert len(text) < MAX_TOTAL + 2_000 and "left out" in text
    assert "\x1b" not in text
