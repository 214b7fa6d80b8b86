"""What agents may cost and how often they may try: caps, breakers, cooldowns of providers."""
