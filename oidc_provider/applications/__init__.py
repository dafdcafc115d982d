"""Registration of apps, scopes, and client authentication."""
