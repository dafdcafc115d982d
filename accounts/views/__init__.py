"""Pages of the account that allauth does not have."""
