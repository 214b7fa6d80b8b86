"""Words for people, which every surface shares: safe text, times, events as lines, the glossary."""
