"""Trying out the installed agent CLIs: real processes, a scripted model on the loopback, a scratch repository."""
