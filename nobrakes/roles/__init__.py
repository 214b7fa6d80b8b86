"""Role, bead and history become a prompt; a role has permissions."""
