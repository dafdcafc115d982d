"""The files of `deploy/`, which the production shape uses as they are but for names and ports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def read(name: str, replaced: Mapping[str, str]) -> str:
    """A file with other texts in place of some. AssertionError where it no longer holds one of them."""
    text = (ROOT / "deploy" / name).read_text()
    for old, new in replaced.items():
        assert old in text, f"deploy/{name} does not say {old!r} any more"
        text = text.replace(old, new)
    return text


def unit(name: str) -> tuple[list[str], dict[str, str]]:
    """The words of ExecStart of a systemd unit, and the variables that it sets."""
    lines = [line.partition("=") for line in (ROOT / "deploy" / "systemd" / f"{name}.service").read_text().splitlines()]
    (command,) = (value for key, _, value in lines if key == "ExecStart")
    variables = dict(value.split("=", 1) for key, _, value in lines if key == "Environment")
    return command.split(), variables
