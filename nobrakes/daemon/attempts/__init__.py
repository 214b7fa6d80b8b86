"""An agent's attempt from its launch to its end."""
