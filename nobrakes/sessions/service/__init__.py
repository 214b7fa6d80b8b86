"""What people ask of sessions: begun, spoken to, looked at, handed in."""
