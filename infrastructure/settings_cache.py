"""Values derived from settings, computed once: Django looks each setting up through a lazy object, and a request
needs a dozen of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from django.core.signals import setting_changed

MOST = 1_000  # answers that are kept of a function with arguments
P = ParamSpec("P")
R = TypeVar("R")


def from_settings(read: Callable[P, R]) -> Callable[P, R]:
    """Keep the answer of a function of only settings and arguments, until tests change a setting by Django's tools."""
    kept = functools.lru_cache(maxsize=MOST)(read)

    def forget(**_signal: Any) -> None:
        kept.cache_clear()

    setting_changed.connect(forget, weak=False)
    return cast("Callable[P, R]", kept)
