"""The board that stays on the terminal, over operations."""
