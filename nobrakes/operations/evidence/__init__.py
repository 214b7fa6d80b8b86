"""Reading evidence, and running the checks again on what was merged."""
