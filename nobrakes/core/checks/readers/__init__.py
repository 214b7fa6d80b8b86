"""One file a language: what its test commands print, turned into a Tally. Pure, and linear in the output's length."""
