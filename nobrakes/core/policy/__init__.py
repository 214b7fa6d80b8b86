"""Who may change what: boundaries of roles, protected files, contracts that are brought, plans that are approved."""
