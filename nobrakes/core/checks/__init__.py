"""What decides whether work is good: the contract's checks, what their output tells, whether tests mean anything."""
