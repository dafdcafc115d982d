"""Tells apps what happens to them and to people who allowed them something: events for the webhooks of apps.

A suspended app hears only that it is suspended or restored. No event has the value of a claim, and none names a claim
of a scope that the app does not have: one that the person allowed and that is still registered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from accounts import rate_limits
from accounts.models import EventType, User, WebhookEndpoint
from accounts.webhooks import outbox
from accounts.webhooks.outbox import Message
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from oidc_provider.applications.scopes import SCOPES, in_order
from oidc_provider.models import Application, Approval


class _Listener(NamedTuple):
    """An endpoint of an app with the approval of one person: what they allow, and what the app has registered."""

    endpoint_id: int
    events: list[str]
    client_id: str
    registered_scopes: list[str]
    user_id: str
    allowed_scopes: list[str]

    def about_person(self) -> dict[str, Any]:
        return {"client_id": self.client_id, "sub": self.user_id}

    def granted(self, claims: AbstractSet[str]) -> list[str]:
        """Return which of the claims the app was granted, in the order of SCOPES."""
        scopes = [SCOPES[name] for name in _granted(self.allowed_scopes, self.registered_scopes)]
        return [claim for scope in scopes for claim in scope.claims if claim in claims]


def authorized(*, approval: Approval, application: Application) -> None:
    """The person has just allowed the app something new. 1 query, and 1 more where there are endpoints."""
    granted = _granted(approval.scopes, application.registered_scopes)
    data = {"client_id": application.client_id, "sub": approval.user_id, "scopes": granted}
    _tell(application, EventType.APP_AUTHORIZED, user_id=approval.user_id, data=data)


def disconnected(*, user: User, application: Application) -> None:
    """The approval was withdrawn. 1 query, and 1 more where there are endpoints."""
    data = {"client_id": application.client_id, "sub": user.pk}
    _tell(application, EventType.APP_DISCONNECTED, user_id=user.pk, data=data)


def suspended(application: Application) -> None:
    """1 query, and 1 more where there are endpoints."""
    _tell_of_suspension(application, EventType.APP_SUSPENDED)


def restored(application: Application) -> None:
    """1 query, and 1 more where there are endpoints."""
    _tell_of_suspension(application, EventType.APP_RESTORED)


def note_changed_claims(changes: Mapping[str, AbstractSet[str]]) -> None:
    """Receiver of `claims_changed`: tell each app of the claims that it was granted.

    A banned person's apps can read no claim, and hear nothing; nor do those of a person who has had CLAIM_NEWS. 1 query
    for all people, and 1 more where there are endpoints, with 1 round trip for each person who has them.
    """
    messages = []
    for listener in _listeners(EventType.USER_UPDATED, changes, application__approvals__user__is_active=True):
        if changed := listener.granted(changes[listener.user_id]):
            data = {**listener.about_person(), "changed": changed}
            messages.append(Message(listener.endpoint_id, EventType.USER_UPDATED, listener.user_id, data))
    # A form that a person sends again and again would write a row for each endpoint of each app that they allow.
    told = {user_id for user_id in {message.subject for message in messages} if _may_be_told(user_id)}
    outbox.post(message for message in messages if message.subject in told)


def note_ban(user: User) -> None:
    """Receiver of `user_banned`. 1 query, and 1 more where there are endpoints."""
    _tell_of_person(EventType.USER_BANNED, user)


def note_deletion(user: User) -> None:
    """Receiver of `user_deleted`, before the approvals are deleted. 1 query, and 1 more where there are endpoints."""
    _tell_of_person(EventType.USER_DELETED, user)


def _may_be_told(user_id: str) -> bool:
    """Count a change of the person, and return whether apps hear of it: also, uncounted, while the limit store is away,
    since pages work then, too."""
    try:
        return not limits.hit(rate_limits.CLAIM_NEWS.of(user_id))
    except LimitsUnavailable:
        return True


def _tell(application: Application, event: EventType, *, user_id: str, data: dict[str, Any]) -> None:
    endpoints = outbox.subscribed(event, application=application, application__suspended_at=None)
    outbox.post(Message(endpoint.pk, event, user_id, data) for endpoint in endpoints)


def _tell_of_suspension(application: Application, event: EventType) -> None:
    data: dict[str, Any] = {"client_id": application.client_id}
    endpoints = outbox.subscribed(event, application=application)
    outbox.post(Message(endpoint.pk, event, data=data) for endpoint in endpoints)


def _tell_of_person(event: EventType, user: User) -> None:
    listeners = _listeners(event, [user.pk])
    outbox.post(Message(each.endpoint_id, event, each.user_id, each.about_person()) for each in listeners)


def _listeners(event: EventType, user_ids: Collection[str], **conditions: Any) -> Iterator[_Listener]:
    """Yield the endpoints that want the event, with the approvals of these people. 1 query."""
    of_approval = "application__approvals__"
    rows = WebhookEndpoint.objects.filter(
        disabled_at=None, application__suspended_at=None, **{f"{of_approval}user__in": list(user_ids)}, **conditions
    )
    columns = ("pk", "events", "application__client_id", "application__registered_scopes")
    found = rows.order_by("pk").values_list(*columns, f"{of_approval}user", f"{of_approval}scopes")
    return (listener for listener in map(_Listener._make, found) if event in listener.events)


def _granted(allowed: Collection[str], registered: Collection[str]) -> list[str]:
    return in_order(set(allowed) & set(registered))
