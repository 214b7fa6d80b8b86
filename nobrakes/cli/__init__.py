"""The command line: words for people, JSON for programs, the same operations below."""
