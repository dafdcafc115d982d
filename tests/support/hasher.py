"""Argon2 with little work."""

from accounts.passwords import PasswordHasher


class QuickArgon2PasswordHasher(PasswordHasher):
    time_cost = 1
    memory_cost = 8
