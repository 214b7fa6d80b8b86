"""The board that stays on the terminal, over operations. Textual, which draws it, is an extra of the package."""
