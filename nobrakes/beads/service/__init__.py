"""What people ask of beads: commands on one, the board, the page of one."""
