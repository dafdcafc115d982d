"""Chance that falls the same way every time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

Value = TypeVar("Value")


class Dice(Random):
    """`roll(...)` makes one; what it gives depends on nothing but its parts."""

    def chance(self, share: float) -> bool:
        return self.random() < share

    def new_id(self) -> str:
        """As `accounts.models.users.new_id`: 32 lower-case hexadecimal characters."""
        return f"{self.getrandbits(128):032x}"

    def some(self, values: Sequence[Value], least: int, most: int) -> list[Value]:
        """So many of the values, none twice, in any order."""
        return self.sample(values, min(self.randint(least, most), len(values)))

    def moment(self, start: datetime, end: datetime) -> datetime:
        """A whole second between the two."""
        return start + timedelta(seconds=int(self.random() * (end - start).total_seconds()))

    def weighted(self, values: Sequence[tuple[Value, float]]) -> Value:
        """One of the values, by shares that add up to 1."""
        rest = self.random()
        for value, share in values:
            rest -= share
            if rest < 0:
                return value
        return values[-1][0]


def roll(*parts: object) -> Dice:
    return Dice("/".join(map(str, parts)))
