"""Argon2 with little work."""

from accounts.sign_up.passwords import PasswordHasher


class QuickArgon2PasswordHasher(PasswordHasher):
    time_cost = 1
    memory_cost = 8
