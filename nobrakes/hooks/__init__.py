"""What an agent CLI calls before each tool. It only advises, so it has to be quick and to fail closed."""
