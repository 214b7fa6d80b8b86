"""The Forge decides: how a feature goes from an idea to an approved plan, and what is reviewed on the way."""
