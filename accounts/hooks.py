"""Calls the receivers that apps above `accounts` have in its transactions. `settings.RECEIVERS` lists them all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from django.contrib.auth.base_user import AbstractBaseUser

_merged: ContextVar[defaultdict[str, set[str]] | None] = ContextVar("_merged", default=None)


def call(event: str, user: AbstractBaseUser, **details: Any) -> None:
    """Call the receivers of `event`, in order. KeyError: there is no such event."""
    for path in settings.RECEIVERS[event]:
        import_string(path)(user, **details)


def claims_changed(changes: Mapping[str, AbstractSet[str]]) -> None:
    """Call the receivers of `claims_changed`, in the transaction of the change; none without a name.

    `changes`: by the user's id, the names of the claims that have another value now.
    """
    found = {user_id: names for user_id, names in changes.items() if names}
    pending = _merged.get()
    if pending is not None:
        for user_id, names in found.items():
            pending[user_id] |= names
    elif found:
        for path in settings.RECEIVERS["claims_changed"]:
            import_string(path)(found)


@contextmanager
def merged_claims() -> Iterator[None]:
    """Have `claims_changed` called once, at the end of this block of a transaction; after an error not at all."""
    if _merged.get() is not None:
        yield
        return
    pending: defaultdict[str, set[str]] = defaultdict(set)
    token = _merged.set(pending)
    try:
        yield
    finally:
        _merged.reset(token)
    claims_changed(pending)
