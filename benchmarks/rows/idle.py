"""What waits, and what it costs: silent agents, a graph that nobody may begin, a command from inside a sandbox."""

import statistics

from answering import pairs
from figures import Dose, Figure, Found, Measured, told
from idle import nothing_to_do, silent_agents

from rows.pipeline import no_sandbox

MODE = "as installed (sandbox auto); a daemon and all that it started, from /proc; the agents sleep"
CPU, WAKES = "four silent agents, CPU a minute", "four silent agents, wake-ups a minute"
WAITING = "10,000 beads and 50 questions, CPU a minute"
EMPTY, RSS = "nothing to do, CPU a minute", "nothing to do, resident"
CALL = "`nobrakes agent log` in the sandbox"

FIGURES = (
    Figure(CPU, 15, " ms"),
    Figure(WAKES, 60),
    Figure(WAITING, 5, " ms"),
    Figure(EMPTY, 20, " ms"),
    Figure(RSS, 80, " MiB"),
    Figure(CALL, 60, " ms"),
)


def measured(dose: Dose) -> Measured:
    """Four daemons, one after the other."""
    seconds, settle, rounds = dose.pick(60.0, 15.0, 0.5), dose.pick(5.0, 3.0, 0.1), dose.pick(30, 10, 2)
    beads, asked = dose.pick(10_000, 10_000, 20), dose.pick(50, 50, 2)
    missing = no_sandbox()
    found: dict[str, Found] = {}
    if missing:
        found = {name: Found(why=missing) for name in (CPU, WAKES, CALL)}
    else:
        with told(found, CPU, WAKES):
            raw = silent_agents(seconds, settle=settle)
            beside = f"{raw['processes']:.0f} processes, the agents' own among them"
            found[CPU] = Found(raw["cpu_ms_a_minute"], "0", beside, raw=raw)
            found[WAKES] = Found(raw["wakes_a_minute"], "0")
        with told(found, CALL):
            times = pairs(rounds)
            floor, ours = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
            found[CALL] = Found(ours, f"true {floor:.1f} ms", raw=times)
    with told(found, WAITING):
        raw = nothing_to_do(seconds, beads, asked, settle)
        found[WAITING] = Found(raw["cpu_ms_a_minute"], "0", f"{raw['wakes_a_minute']:.0f} wake-ups", raw=raw)
    with told(found, EMPTY, RSS):
        raw = nothing_to_do(seconds, settle=settle)
        found[EMPTY] = Found(raw["cpu_ms_a_minute"], "0", f"{raw['wakes_a_minute']:.0f} wake-ups", raw=raw)
        found[RSS] = Found(raw["rss_mib"])
    return Measured(f"{seconds:g} s each, after {settle:g} s of rest; {rounds} calls; {beads:,} beads", found)
