"""Runs on other machines: a person's Dask cluster carries agents and checks to nodes. See docs/design/fleet.md."""
