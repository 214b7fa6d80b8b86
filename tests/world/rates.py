"""How often things go wrong in a simulated world: one table, of which the command's options are made as well."""

from dataclasses import dataclass, field, fields


def _rate(usual: float, told: str) -> float:
    value: float = field(default=usual, metadata={"told": told})
    return value


@dataclass(frozen=True, slots=True)
class Rates:
    """Chances from 0 to 1, and how many times more often or longer than usual something happens or takes."""

    fail: float = _rate(0.2, "chance that an agent does no good work")
    conflict: float = _rate(0.1, "chance that a Doer also changes the file that everybody shares")
    machine: float = _rate(0.03, "chance that the machine breaks a check or a workspace")
    cut: float = _rate(0.03, "chance that the wrapper of a run is killed, with its program or alone")
    linger: float = _rate(0.0, "how often an agent that has finished lives on; 0: as usual, in some worlds")
    crash: float = _rate(0.02, "chance that a call kills the daemon, before or after it is done")
    trouble: float = _rate(0.005, "chance that a call fails and does nothing")
    people: float = _rate(0.1, "chance that a person acts in a step; 200 times rarer between two calls of the daemon")
    rewrites: float = _rate(0.0, "how often people rewrite main, in every world; 0: as usual, in some worlds")
    staging: float = _rate(0.0, "how often people stage and commit, in every world; 0: as usual, in some worlds")
    questions: float = _rate(0.0, "how often people answer agents that ask with options; 0: as usual, in some worlds")
    approvals: float = _rate(0.0, "how often people look before a merge, in every world; 0: as usual, in some worlds")
    readings: float = _rate(0.0, "how often people decide on what code review found; 0: no code review")
    hands: float = _rate(0.0, "how often people take beads and hand work in; 0: never")
    requests: float = _rate(0.0, "how often people do something at a code host that work lands by; 0: it lands here")
    epics: float = _rate(0.0, "above 0: they merge epics as a whole there, by one request each; needs --requests")
    features: float = _rate(0.0, "how often people do something with features, in every world; 0: as usual, in some")
    shared: float = _rate(0.0, "above 0: the machine is shared with other daemons in every world; 0: in some worlds")
    nodes: float = _rate(0.0, "chance that something happens to the nodes in a step; 0: as usual, in some worlds")
    edits: float = _rate(1.0, "how often a person edits the checks, beside all else that people do (about 50)")
    slow: float = _rate(0.0, "how many times longer checks take; 0: drawn from the seed")
    refuse: float = _rate(0.08, "chance that a provider begins to refuse when an agent starts")
    broken: float = _rate(0.0, "chance that an agent's CLI breaks when one starts; 0: as usual, in some worlds")
    mute: float = _rate(0.0, "chance that a test command exits with 0 whatever the tests did, and counts none")
    flake: float = _rate(0.0, "chance that a test command that would be green fails one test")
    weakens: float = _rate(0.0, "chance that a Test Writer also makes another bead's tests say less, as many as before")
    filters: float = _rate(0.0, "chance that a Doer also writes a file that git keeps through a filter")
    collects: float = _rate(
        0.0, "chance that git collects what was handed in, at a call of git's; its workspace still has it"
    )
    protects: float = _rate(0.0, "chance that the remote protects main at a push, until a person mends that; 0: never")
    stumble: float = _rate(0.0, "chance that a call about one bead, always the same one, meets a bug of the program")
    jump: float = _rate(0.0, "chance that the wall clock is set, or the machine sleeps, in a step")
    stop: float = _rate(-1.0, "chance that the daemon is stopped in order, in a step; below 0: half of --crash")

    def options(self) -> str:
        """What repeats them on the command line: the options that are not as usual."""
        asked = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        return " ".join(f"--{name} {value:g}" for name, value, usual in asked if value != usual)
