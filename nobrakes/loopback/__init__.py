"""A scripted model on the loopback, for trying agent CLIs out: no account, no key, no token is spent."""
