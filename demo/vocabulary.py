"""The words, sentences and objects of invented data, as JSON in demo/data/."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from types import SimpleNamespace

DATA = Path(__file__).with_name("data")


@functools.cache
def load(name: str) -> SimpleNamespace:
    """Return the values of a file as attributes."""
    return SimpleNamespace(**json.loads(DATA.joinpath(f"{name}.json").read_text()))
