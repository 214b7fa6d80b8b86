"""What the repositories of one person share on a machine."""
