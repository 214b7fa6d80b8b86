"""What is done beside the loop, for which nobody waits."""
