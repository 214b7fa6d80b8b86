"""One file for each agent CLI: argv to build, lines to parse, endings to judge. No I/O."""
