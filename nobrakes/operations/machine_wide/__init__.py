"""What the repositories of a machine share: who they are, places for agents, what a day has cost."""
