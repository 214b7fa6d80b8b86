"""The private clones that agents work in: made, looked at as bytes that may lie, fetched from, removed."""
