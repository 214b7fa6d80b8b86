"""Agents at work: started, watched, ended."""
