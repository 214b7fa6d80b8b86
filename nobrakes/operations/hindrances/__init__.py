"""What keeps work from going on (core.hindrances), found out from the store, the settings and this machine."""
