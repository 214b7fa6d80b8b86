"""Whether main itself passes: the trial before the first agent, the monitor in idle time."""
