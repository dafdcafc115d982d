"""An act of staff on an app, a person, a key or a request: its words, its right and its operation.

The operations take an act on something that is so already for done. On a page that would hide that somebody else was
quicker, so `perform` looks under the lock first, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import ApiKey, User
from dashboard.models import AccessRequest

MAX_REASON = 2000


@dataclass(frozen=True)
class Act:
    """`subject` is what the act is done to.

    `title` and `done` hold `{}` for the subject's name. `effects(subject)`: sentences of what will happen.
    `refusal(subject)`: why it cannot be done now, or the empty text. `run(subject, by=staff, reason=...)` calls the
    operation. `permission` is a whole name. `hint`: who reads the reason.
    """

    name: str
    label: str
    title: str
    done: str
    permission: str
    effects: Callable[[Any], list[str]]
    refusal: Callable[[Any], str]
    run: Callable[..., object]
    is_harmless: bool = False
    hint: str = "Kept in the audit trail."

    def is_offered(self, subject: Any) -> bool:
        return not self.refusal(subject)


@transaction.atomic
def perform(act: Act, subject: Any, *, by: User, reason: str) -> None:
    """ValidationError: `subject` is gone or so already, or the operation says no. PermissionDenied: the operation's."""
    locked = _locked(subject)
    refusal = act.refusal(locked)
    if refusal:
        raise ValidationError(refusal)
    act.run(locked, by=by, reason=reason)


def through(operation: Callable[..., object], argument: str, **fixed: str) -> Callable[..., object]:
    """A `run` that hands the subject to `operation` as `argument`, and `fixed` as they are."""
    return lambda subject, **given: operation(**{argument: subject, **fixed, **given})


def refused_if(condition: Callable[[Any], bool], sentence: str) -> Callable[[Any], str]:
    return lambda subject: sentence if condition(subject) else ""


def counted(number: int, noun: str) -> str:
    """ "1 user", "2 users"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _locked(subject: Any) -> Any:
    """The row as it is now, held until the end, as strongly as the operation will hold it."""
    if isinstance(subject, AccessRequest):
        return subject  # its operation locks the person first, and says itself what has changed
    rows = type(subject)._default_manager.select_for_update(of=("self",), no_key=not isinstance(subject, ApiKey))
    found = rows.filter(pk=subject.pk).first()
    if found is None:
        raise ValidationError("It was deleted in the meantime.")
    return found
