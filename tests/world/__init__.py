"""The same deciders, store and daemon on a virtual clock: one seed replays a whole run with all its failures."""
