"""Requests to staff: what the operations refuse and record, and what the database refuses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import bans, users
from accounts.api_keys import keys
from accounts.models import AuditEvent, User
from dashboard import access_requests
from dashboard.models import AccessRequest
from oidc_provider.applications import applications
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory, DeniedRequestFactory, PermissionRequestFactory

pytestmark = pytest.mark.django_db
DECIDED = "This request has been decided or withdrawn in the meantime."


def refused(act: Callable[[], Any]) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        act()
    return caught.value.messages


def state_of(request: AccessRequest) -> str:
    request.refresh_from_db()
    return request.state


def test_a_user_requests_a_scope() -> None:
    user = UserFactory()
    asked = access_requests.ask_for_scope(user=user, scope="email", reason="  Receipts  ")
    assert (asked.kind, asked.subject, asked.reason, asked.state) == ("SCOPE", "email", "Receipts", "PENDING")
    event = AuditEvent.objects.get()
    assert (event.verb, event.actor, event.reason) == ("access_request:asked", user, "Receipts")
    assert event.data == {"subject": "email", "request": asked.pk}


def test_a_user_requests_a_permission_for_a_key() -> None:
    key = ApiKeyFactory()
    asked = access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    assert (asked.user, asked.key, asked.kind, asked.subject) == (key.owner, key, "PERMISSION", "lookup:user")
    assert AuditEvent.objects.get().data == {"subject": "lookup:user", "request": asked.pk, "prefix": key.prefix}


@pytest.mark.parametrize(
    ("scope", "fields", "sentence"),
    [
        ("openid", {}, "openid is not a locked scope."),
        ("email", {"unlocked_scopes": ["email"]}, "email is unlocked for you already."),
        ("email", {"is_active": False}, "This account is banned or deleted."),
    ],
)
def test_a_scope_that_cannot_be_requested(scope: str, fields: dict[str, Any], sentence: str) -> None:
    user = UserFactory(**fields)
    assert refused(lambda: access_requests.ask_for_scope(user=user, scope=scope, reason="Why")) == [sentence]
    assert not AccessRequest.objects.exists()


@pytest.mark.parametrize(
    ("permission", "fields", "sentence"),
    [
        ("imagehost:upload", {}, "imagehost:upload is not a permission that staff grant."),
        ("account", {}, "The key has this permission already."),
        ("lookup:user", {"revoked_at": timezone.now()}, "This key cannot be used again; create a new one."),
        ("lookup:user", {"expires_at": timezone.now()}, "This key cannot be used again; create a new one."),
    ],
)
def test_a_permission_that_cannot_be_requested(permission: str, fields: dict[str, Any], sentence: str) -> None:
    key = ApiKeyFactory(**fields)
    ask = access_requests.ask_for_permission
    assert refused(lambda: ask(key=key, permission=permission, reason="Why")) == [sentence]
    assert not AccessRequest.objects.exists()


def test_a_reason_has_1_to_2000_characters() -> None:
    ask = functools.partial(access_requests.ask_for_scope, user=UserFactory(), scope="email")
    for reason in ("", "   ", "x" * 2001):
        assert refused(functools.partial(ask, reason=reason)) == ["Say what you need it for, in 1 to 2000 characters."]
    ask(reason="x" * 2000)


def test_a_pending_request_cannot_be_repeated_and_a_denied_one_can() -> None:
    waiting, denied = AccessRequestFactory(), DeniedRequestFactory()
    again = "You have requested this already; staff will answer."
    ask = access_requests.ask_for_scope
    assert refused(lambda: ask(user=waiting.user, scope="email", reason="Please")) == [again]
    ask(user=waiting.user, scope="connections", reason="Please")
    ask(user=denied.user, scope="email", reason="Now you know me")
    key = ApiKeyFactory()
    PermissionRequestFactory(key=key, user=key.owner)
    ask_for_permission = access_requests.ask_for_permission
    assert refused(lambda: ask_for_permission(key=key, permission="lookup:user", reason="Please")) == [again]
    ask_for_permission(key=ApiKeyFactory(owner=key.owner), permission="lookup:user", reason="For another key")


def test_a_granted_scope_is_unlocked_and_the_user_gets_a_letter(
    django_capture_on_commit_callbacks: Any,  # pytest-django gives it no public type
) -> None:
    asked, staff = AccessRequestFactory(), StaffFactory()
    with django_capture_on_commit_callbacks(execute=True):
        access_requests.grant(request=asked, by=staff, reason="Known to us")
    asked.refresh_from_db()
    assert (asked.state, asked.answer, asked.decided_by) == ("GRANTED", "Known to us", staff)
    asked.user.refresh_from_db()
    assert asked.user.unlocked_scopes == ["email"]
    events = [(event.verb, event.reason) for event in AuditEvent.objects.order_by("pk")]
    assert events == [("user:scope_unlocked", "Known to us"), ("access_request:granted", "Known to us")]
    (letter,) = mail.outbox
    assert letter.to == [asked.user.email]
    assert letter.subject.endswith("Your request for email: granted")
    assert "Known to us" in letter.body
    assert "/dashboard/apps/" in letter.body


def test_a_denied_request_changes_nothing_and_the_letter_has_the_answer(
    django_capture_on_commit_callbacks: Any,
) -> None:
    asked, without_address = AccessRequestFactory(), AccessRequestFactory(user=UserFactory(email=""))
    with django_capture_on_commit_callbacks(execute=True):
        access_requests.deny(request=without_address, by=StaffFactory(), reason="No")
    assert mail.outbox == []
    with django_capture_on_commit_callbacks(execute=True):
        access_requests.deny(request=asked, by=StaffFactory(), reason="We do not know you & yours")
    asked.refresh_from_db()
    assert (asked.state, asked.answer) == ("DENIED", "We do not know you & yours")
    asked.user.refresh_from_db()
    assert asked.user.unlocked_scopes == []
    assert "We do not know you & yours" in mail.outbox[0].body
    assert "You can send a new request." in mail.outbox[0].body


def test_the_user_withdraws_a_request_and_other_staff_cannot() -> None:
    asked = AccessRequestFactory()
    access_requests.withdraw(request=asked, by=asked.user)
    assert state_of(asked) == "WITHDRAWN"
    event = AuditEvent.objects.get()
    assert (event.verb, event.actor) == ("access_request:withdrawn", asked.user)
    of_staff = AccessRequestFactory(user=StaffFactory())
    with pytest.raises(PermissionDenied):
        access_requests.withdraw(request=of_staff, by=UserFactory(is_staff=True))
    assert state_of(of_staff) == "PENDING"


DECISIONS: list[tuple[str, Callable[[AccessRequest, User], Any]]] = [
    ("grant", lambda request, by: access_requests.grant(request=request, by=by, reason="Because")),
    ("deny", lambda request, by: access_requests.deny(request=request, by=by, reason="Because")),
    ("withdraw", lambda request, by: access_requests.withdraw(request=request, by=request.user)),
]


@pytest.mark.parametrize("decide", [act for _, act in DECISIONS], ids=[name for name, _ in DECISIONS])
def test_the_first_decision_is_final(decide: Callable[[AccessRequest, User], Any]) -> None:
    asked, staff = AccessRequestFactory(), StaffFactory()
    stale = AccessRequest.objects.get(pk=asked.pk)
    decide(asked, staff)
    decided, events = state_of(asked), AuditEvent.objects.count()
    scopes = User.objects.get(pk=asked.user_id).unlocked_scopes
    for _, then in DECISIONS:
        assert refused(functools.partial(then, stale, staff)) == [DECIDED]
    assert (state_of(asked), AuditEvent.objects.count()) == (decided, events)
    assert User.objects.get(pk=asked.user_id).unlocked_scopes == scopes


def test_nothing_is_granted_to_a_banned_account_and_it_can_be_denied() -> None:
    asked, staff = AccessRequestFactory(), StaffFactory()
    bans.ban(user=asked.user, by=staff, reason="Spam")
    assert refused(lambda: access_requests.grant(request=asked, by=staff, reason="Because")) == [
        "This account is banned. Lift the ban first, or deny the request."
    ]
    assert state_of(asked) == "PENDING"
    access_requests.deny(request=asked, by=staff, reason="Banned")
    assert state_of(asked) == "DENIED"


@pytest.mark.parametrize("over", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now()}])
def test_nothing_is_granted_to_a_revoked_or_expired_key(over: dict[str, Any]) -> None:
    asked, staff = PermissionRequestFactory(), StaffFactory()
    assert asked.key is not None
    type(asked.key).objects.filter(pk=asked.key.pk).update(**over)  # while staff have the page open
    assert refused(lambda: access_requests.grant(request=asked, by=staff, reason="Because")) == [
        "The key was revoked or has expired in the meantime. Deny the request."
    ]
    assert state_of(asked) == "PENDING"
    asked.key.refresh_from_db()
    assert asked.key.permissions == ["account"]


def test_granting_what_the_user_has_by_now_closes_the_request() -> None:
    scope, permission, staff = AccessRequestFactory(), PermissionRequestFactory(), StaffFactory()
    assert permission.key is not None
    applications.unlock_scope(owner=scope.user, scope="email", by=staff, reason="By the admin")
    keys.grant_permission(key=permission.key, permission="lookup:user", by=staff)
    for asked in (scope, permission):
        access_requests.grant(request=asked, by=staff, reason="Because")
        assert state_of(asked) == "GRANTED"
    assert AuditEvent.objects.filter(verb="user:scope_unlocked").count() == 1


def test_requests_are_deleted_with_their_user_and_not_with_the_staff_who_answered() -> None:
    answered, waiting = DeniedRequestFactory(), AccessRequestFactory()
    staff = answered.decided_by
    assert staff is not None
    users.delete(user=staff, by=None)
    answered.refresh_from_db()
    assert (answered.decided_by, answered.state) == (None, "DENIED")
    users.delete(user=waiting.user, by=None)
    gone = ["This request no longer exists: its account was deleted."]
    assert refused(lambda: access_requests.grant(request=waiting, by=StaffFactory(), reason="Because")) == gone
    assert refused(lambda: access_requests.deny(request=waiting, by=StaffFactory(), reason="Because")) == gone


def test_requests_wait_in_turn_and_decided_ones_follow() -> None:
    now = timezone.now()
    late = AccessRequestFactory(created_at=now)
    early = AccessRequestFactory(created_at=now - timedelta(days=2))
    old = DeniedRequestFactory(decided_at=now - timedelta(days=3))
    newer = DeniedRequestFactory(decided_at=now - timedelta(days=1))
    newest = DeniedRequestFactory(decided_at=newer.decided_at)
    assert list(AccessRequest.objects.all().in_turn()) == [early, late, newest, newer, old]


# SQLite names the columns of a unique index where PostgreSQL names the index.
CONSTRAINTS: list[tuple[str, str, Callable[[], Any]]] = [
    (
        "access_request_one_for_each_scope",
        "user_id, dashboard_accessrequest.subject",
        lambda: AccessRequestFactory(user=AccessRequestFactory().user),
    ),
    (
        "access_request_one_for_each_permission",
        "key_id, dashboard_accessrequest.subject",
        lambda: PermissionRequestFactory(key=(first := PermissionRequestFactory()).key, user=first.user),
    ),
    ("access_request_key_goes_with_permission", "a scope", lambda: AccessRequestFactory(key=ApiKeyFactory())),
    ("access_request_key_goes_with_permission", "no key", lambda: PermissionRequestFactory(key=None)),
    (
        "access_request_state_is_known",
        "state",
        lambda: AccessRequestFactory(state="NONSENSE", decided_at=timezone.now()),
    ),
    ("access_request_decided_at_a_moment", "granted", lambda: AccessRequestFactory(state="GRANTED")),
    ("access_request_decided_at_a_moment", "waits", lambda: AccessRequestFactory(decided_at=timezone.now())),
]


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("name", "columns", "insert"), CONSTRAINTS, ids=[f"{name}-{what}" for name, what, _ in CONSTRAINTS]
)
def test_the_database_refuses_what_breaks_a_constraint(name: str, columns: str, insert: Callable[[], Any]) -> None:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        insert()
    assert name in str(caught.value) or columns in str(caught.value)
