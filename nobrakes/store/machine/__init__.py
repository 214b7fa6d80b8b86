"""Facts of the machine: runs, settings, cooldowns, costs."""
