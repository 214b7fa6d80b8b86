"""What the operating system says of processes: /proc where there is one, `ps` elsewhere."""
