"""What the manifests of package managers say of dependencies and of what decides whether work is good."""
