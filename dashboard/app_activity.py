"""What was done to an app, in words for its owner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings

from accounts.models import AuditEvent, User

_TITLES = {
    "application:registered": "Registered",
    "application:details_changed": "Name or links changed",
    "application:redirect_urls_changed": "Redirect URLs changed",
    "application:scopes_changed": "Scopes changed",
    "application:secret_reset": "Secret reset",
    "application:tokens_revoked": "All tokens revoked",
    "application:logo_changed": "Logo changed",
    "application:logo_removed": "Logo removed",
    "application:suspended": "Suspended",
    "application:restored": "Restored",
    "application:verified": "Verified",
    "application:unverified": "No longer verified",
}
_LABELS = {
    "name": "Name",
    "homepage_url": "Website",
    "privacy_url": "Privacy policy",
    "terms_url": "Terms",
    "support_url": "Support",
}


@dataclass(frozen=True)
class Change:
    """One value that became another; for a list, what was added and what was removed."""

    label: str
    before: str = ""
    after: str = ""
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """`address` is told to whom it belongs alone."""

    created_at: datetime
    title: str
    actor: str
    reason: str
    address: str
    changes: list[Change]


def entries_of(events: Iterable[AuditEvent], reader: User) -> list[Entry]:
    return [_entry(event, reader) for event in events]


def _entry(event: AuditEvent, reader: User) -> Entry:
    title = _TITLES.get(event.verb, event.verb.partition(":")[2].replace("_", " ").capitalize())
    address = event.address if event.actor_id == reader.pk else ""
    return Entry(event.created_at, title, actor_of(event, reader), event.reason, address, _changes(event))


def actor_of(event: AuditEvent, reader: User) -> str:
    """Who did it, as `reader` may know. Members of staff are not named to the people whom they act upon."""
    if event.actor_id == reader.pk:
        return "you"
    if event.actor_kind == AuditEvent.ActorKind.STAFF:
        return f"the staff of {settings.SITE_NAME}"
    return event.actor_name or "the service itself"


def _changes(event: AuditEvent) -> list[Change]:
    """Any event may lack them: the trail is kept for ever, and was written by every release."""
    before, after = event.data.get("before"), event.data.get("after")
    if isinstance(before, dict) and isinstance(after, dict):
        return [_value(name, before, after) for name in sorted(after)]
    if isinstance(before, list) and isinstance(after, list):
        return [_list(event.verb, before, after)]
    if event.verb == "application:registered":
        return [
            Change("Redirect URLs", added=list(event.data.get("redirect_urls", []))),
            Change("Scopes", added=list(event.data.get("scopes", []))),
        ]
    return []


def _value(name: str, before: dict[str, Any], after: dict[str, Any]) -> Change:
    return Change(_LABELS.get(name, name), str(before.get(name) or "none"), str(after.get(name) or "none"))


def _list(verb: str, before: list[str], after: list[str]) -> Change:
    return Change(
        "Scopes" if verb == "application:scopes_changed" else "Redirect URLs",
        added=[value for value in after if value not in before],
        removed=[value for value in before if value not in after],
    )
