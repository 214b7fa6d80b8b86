"""The table of what hostile agents tried, at the end of a run of the tests, whichever processes they ran in."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a column for each test that let agents loose, and a line for each that let floods loose."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    noted = [pair for report in reports for pair in report.user_properties]
    _attempts(terminalreporter, [value for name, value in noted if name == "hostile"])
    if floods := [value for name, value in noted if name == "floods"]:
        terminalreporter.section("floods: bounded, told and over")
        for mode, count, seconds, own, others in floods:
            terminalreporter.write_line(
                f"{mode}: {count} in {seconds} s; largest process: {own} MB of nobrakes, {others} MB of a run"
            )


def _attempts(terminalreporter: pytest.TerminalReporter, found: list[tuple[str, dict[str, int], int]]) -> None:
    if not found:
        return
    terminalreporter.section("attempts of hostile agents")
    rows = [("attempts by", [mode for mode, _, _ in found])]
    for kind in dict.fromkeys(kind for _, counted, _ in found for kind in counted):
        rows.append((kind, [counted.get(kind, 0) for _, counted, _ in found]))
    rows.append(("all", [sum(counted.values()) for _, counted, _ in found]))
    rows.append(("succeeded (0 expected)", [wrong for _, _, wrong in found]))
    for name, cells in rows:
        terminalreporter.write_line(f"{name:<26}" + "".join(f"{cell:>12}" for cell in cells))
