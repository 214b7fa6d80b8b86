"""Runs of the checks: validations, red proofs, and altered tests."""
