"""What an agent may run, and what a person is alerted of."""
