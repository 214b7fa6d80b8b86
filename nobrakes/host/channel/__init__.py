"""How a confined agent reaches the daemon, and what it needs of the outside: its channel, logins, and hosts."""
