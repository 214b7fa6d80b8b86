"""The person's database: the repositories of a machine, and what their daemons share."""
