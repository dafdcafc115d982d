"""Calls the receivers that apps above `accounts` have in its transactions. `settings.RECEIVERS` lists them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser


def call(event: str, user: AbstractBaseUser, **details: Any) -> None:
    """Call the receivers of `event`, in order. KeyError: there is no such event."""
    for path in settings.RECEIVERS[event]:
        import_string(path)(user, **details)
