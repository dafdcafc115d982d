"""A key replaced by a new one: what the new one may do, and how long the old one works on."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from accounts.api_keys import keys
from accounts.models import ApiKey, User
from dashboard import access_requests
from dashboard.api_keys import actions as keys_actions
from tests.dashboard.api_keys.pages import FORM_ID, SECRET, live_keys, path_of, verdict
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import PASSWORD, ApiKeyFactory

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.mark.parametrize(("overlap", "hours"), [("0", 0), ("24", 24)])
def test_a_replaced_key_hands_over_what_it_may_and_works_on_as_long_as_was_said(
    client: Client, user: User, key: ApiKey, overlap: str, hours: int
) -> None:
    page = client.post(path_of(key, "replace"), {"overlap": overlap, "form_id": FORM_ID}).content.decode()
    key.refresh_from_db()
    new = key.replaced_by
    assert new is not None
    assert (new.owner, new.name, new.permissions) == (user, "Server", ["imagehost:upload"])
    assert f"{new.prefix}_" in page
    assert new.is_live(timezone.now())
    if hours:
        assert key.expires_at is not None
        assert abs(key.expires_at - timezone.now() - hours * HOUR) < timedelta(minutes=1)
        assert verdict(SECRET) == ""
    else:
        assert verdict(SECRET) == "API Key not found"


def test_an_overlap_never_lets_a_key_live_longer_than_it_would_have(user: User, key: ApiKey) -> None:
    soon = timezone.now() + HOUR
    ApiKey.objects.filter(pk=key.pk).update(expires_at=soon)
    new = keys.rotate(key=key, overlap=DAY, by=user).key
    assert (new.expires_at, ApiKey.objects.get(pk=key.pk).expires_at) == (soon, soon)


@pytest.mark.parametrize(("overlap", "left"), [(timedelta(), (0, 7)), (DAY, (3, 4))])
def test_replacing_a_key_makes_no_more_uses_than_there_were(
    user: User, overlap: timedelta, left: tuple[int, int]
) -> None:
    key = ApiKeyFactory(owner=user, remaining_uses=7, refill_amount=10, refill_interval=DAY, refilled_at=timezone.now())
    new = keys.rotate(key=key, overlap=overlap, by=user).key
    key.refresh_from_db()
    new.refresh_from_db()
    assert (key.remaining_uses, new.remaining_uses) == left
    assert (key.refill_amount, new.refill_amount, new.refill_interval) == (None, 10, DAY)


@pytest.mark.parametrize(("waited", "left"), [(HOUR - timedelta(seconds=1), 6), (HOUR, 9)])
def test_a_replaced_key_is_refilled_when_the_one_before_would_have_been(
    user: User, waited: timedelta, left: int
) -> None:
    now = timezone.now()
    refill = {"refill_amount": 10, "refill_interval": DAY, "refilled_at": now - DAY + HOUR}
    key = ApiKeyFactory(owner=user, permissions=["imagehost:upload"], remaining_uses=7, **refill)
    issued = keys.rotate(key=key, overlap=timedelta(), by=user)
    with time_machine.travel(now + waited, tick=False):
        assert verdict(issued.secret) == ""
    issued.key.refresh_from_db()
    assert issued.key.remaining_uses == left


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"revoked_at": -DAY}, "This key is revoked or has expired; create a new one."),
        ({"expires_at": -DAY}, "This key is revoked or has expired; create a new one."),
        ({"is_enabled": False}, "This key is disabled; enable it first, or create a new one."),
    ],
)
def test_a_key_that_does_not_work_is_not_replaced(
    client: Client, key: ApiKey, state: dict[str, timedelta | bool], message: str
) -> None:
    now = timezone.now()
    columns = {name: now + value if isinstance(value, timedelta) else value for name, value in state.items()}
    ApiKey.objects.filter(pk=key.pk).update(**columns)
    answer = client.post(path_of(key, "replace"), {"overlap": "0", "form_id": FORM_ID})
    assert answer.context["form"].non_field_errors() == [message]
    assert ApiKey.objects.count() == 1


def test_a_key_is_replaced_once(client: Client, key: ApiKey) -> None:
    for _ in range(2):
        answer = client.post(path_of(key, "replace"), {"overlap": "24", "form_id": FORM_ID})
    assert answer.context["form"].non_field_errors() == ["This key was replaced already."]
    assert ApiKey.objects.count() == 2


def test_an_overlap_needs_a_place_and_at_once_does_not(client: Client, user: User, key: ApiKey) -> None:
    live_keys(user, 24)
    answer = client.post(path_of(key, "replace"), {"overlap": "1", "form_id": FORM_ID})
    assert "which is the limit" in answer.context["form"].errors["overlap"][0]
    client.post(path_of(key, "replace"), {"overlap": "0", "form_id": FORM_ID})
    assert user.api_keys.count() == 26


def test_other_overlaps_are_refused(client: Client, user: User, key: ApiKey) -> None:
    assert client.post(path_of(key, "replace"), {"overlap": "2", "form_id": FORM_ID}).context["form"].errors
    for overlap in (-HOUR, DAY + timedelta(microseconds=1)):
        with pytest.raises(ValidationError, match="at most 24 more hours"):
            keys.rotate(key=key, overlap=overlap, by=user)
    assert ApiKey.objects.count() == 1


def test_what_waits_for_staff_waits_for_the_new_key(client: Client, key: ApiKey) -> None:
    asked = access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    client.post(path_of(key, "replace"), {"overlap": "24", "form_id": FORM_ID})
    key.refresh_from_db()
    asked.refresh_from_db()
    assert asked.key == key.replaced_by


def test_a_replacement_is_announced_by_mail(
    user: User, key: ApiKey, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a fixture without a type
        new = keys_actions.rotate(key=key, overlap=timedelta(), form_id="", by=user).key
    (letter,) = mailoutbox
    assert "An API key was replaced" in letter.subject
    assert new.prefix in letter.body
    assert "The old key no longer works." in letter.body


def test_after_a_while_the_password_is_asked_again_before_a_key_is_replaced(user: User, key: ApiKey) -> None:
    client = client_of(browser_of(user, password_age=REAUTHENTICATION_TIMEOUT))
    answer = client.post(path_of(key, "replace"), {"overlap": "0", "form_id": FORM_ID})
    assert ApiKey.objects.get().revoked_at is None
    page = client.post(answer["Location"], {"password": PASSWORD}).content.decode()
    key.refresh_from_db()
    assert key.replaced_by is not None
    assert f"{key.replaced_by.prefix}_" in page
    assert verdict(SECRET) == "API Key not found"
