"""The words and sentences of invented members, as JSON in demo/data/."""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).with_name("data")


def lists(name: str) -> dict[str, tuple[str, ...]]:
    """The lists of a file, by their names."""
    return {key: tuple(texts) for key, texts in json.loads(DATA.joinpath(f"{name}.json").read_text()).items()}
