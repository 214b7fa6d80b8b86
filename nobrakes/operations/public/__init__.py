"""What every surface hands out and takes in, in one language: events, views, requests."""
