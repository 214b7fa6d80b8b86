"""Any command: how it is started, and what its output and its end say."""
