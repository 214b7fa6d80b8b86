"""Programs that do nothing right: tests that pass with one of them prove nothing."""
