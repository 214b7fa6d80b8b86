"""The Forge: features, their plans and the reviews of them."""
