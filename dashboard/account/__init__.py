"""The account: names, sessions, data, and its deletion."""
