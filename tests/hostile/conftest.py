"""The table of what hostile agents tried, at the end of a run of the tests, whichever processes they ran in."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a column for each test that let agents loose."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    found = [value for report in reports for name, value in report.user_properties if name == "hostile"]
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
