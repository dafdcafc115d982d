"""A migration that needs a lock which every read of users conflicts with."""
