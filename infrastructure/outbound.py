"""Sends requests to addresses that strangers chose."""

from __future__ import annotations


def problem_of(url: str, *, allows_loopback: bool) -> str | None:
    """Return what is wrong with the address, as a sentence; None: nothing."""
    return None
