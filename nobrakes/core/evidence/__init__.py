"""What a merge stands on, and whether main, the store and the record of it agree."""
