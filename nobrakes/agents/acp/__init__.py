"""Any agent of the Agent Client Protocol: how it is started, and what its lines and its end say."""
