"""What invented data is made of: random values that depend only on a seed, and the words and objects of demo/data/."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TypeVar

Value = TypeVar("Value")


class SeededRandom(Random):
    """Made by `seeded(...)`."""

    def chance(self, share: float) -> bool:
        return self.random() < share

    def pick(self, values: Sequence[Value]) -> Value:
        """Pick as `choice`, in less time."""
        return values[int(self.random() * len(values))]

    def some(self, values: Sequence[Value], least: int, most: int) -> list[Value]:
        """Return from `least` to `most` different values, in any order."""
        return self.sample(values, min(self.randint(least, most), len(values)))

    def weighted(self, values: Sequence[tuple[Value, float]]) -> Value:
        """Return one of the values, by shares that add up to 1."""
        rest = self.random()
        for value, share in values:
            rest -= share
            if rest < 0:
                return value
        return values[-1][0]

    def timestamp(self, start: datetime, end: datetime) -> datetime:
        """Return a whole second between the two."""
        return start + timedelta(seconds=int(self.random() * (end - start).total_seconds()))

    def new_id(self) -> str:
        """Return an id as `accounts.models.users.new_id` makes them: 32 lower-case hexadecimal characters."""
        return f"{self.getrandbits(128):032x}"

    def snowflake(self) -> str:
        """Return an id of the chat platform: 18 digits."""
        return str(self.randrange(10**17, 10**18))

    def image_hash(self, *, is_animated: bool = False) -> str:
        """Return the hash by which the chat platform names an image."""
        return f"{'a_' if is_animated else ''}{self.getrandbits(128):032x}"


def seeded(*parts: object) -> SeededRandom:
    return SeededRandom("/".join(map(str, parts)))


DATA = Path(__file__).with_name("data")


@functools.cache
def load(name: str) -> SimpleNamespace:
    """Return the values of a file as attributes."""
    return SimpleNamespace(**json.loads(DATA.joinpath(f"{name}.json").read_text()))
