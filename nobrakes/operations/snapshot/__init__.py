"""The tracked snapshot and what lies beside it, from which a lost database is made anew."""
