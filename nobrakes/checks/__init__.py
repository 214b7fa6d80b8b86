"""The checks of a project: the contract, what tests are, and whether they mean something."""
