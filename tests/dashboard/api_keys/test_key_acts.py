"""What people do with their keys: change, replace, disable, revoke, delete, and ask staff."""

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
from accounts.models import ApiKey, AuditEvent, User
from dashboard import access_requests
from dashboard.api_keys import actions as keys_actions
from dashboard.models import AccessRequest
from dashboard.versions import CHANGED
from tests.dashboard.api_keys.pages import FORM_ID, SECRET, live_keys, path_of, send, verdict
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import PASSWORD, ApiKeyFactory, StaffFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def test_name_and_end_are_changed_and_recorded(browser: Browser, key: ApiKey) -> None:
    browser.open(path_of(key, "edit")).submit(name="Laptop", ends="30")
    key.refresh_from_db()
    assert key.name == "Laptop"
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - 30 * DAY) < HOUR
    assert "Key saved." in browser.text


def test_origins_are_changed_recorded_and_taken_away_and_a_bad_one_is_refused(browser: Browser, key: ApiKey) -> None:
    browser.open(path_of(key, "edit")).submit(name="Laptop", ends="keep", origins="https://www.example.org/path")
    assert browser.errors() != []
    key.refresh_from_db()
    assert key.origins == ""
    browser.submit(name="Laptop", ends="keep", origins="https://www.example.org")
    key.refresh_from_db()
    assert key.origins == "https://www.example.org"
    assert "https://www.example.org" in browser.text
    browser.open(path_of(key, "edit")).submit(name="Laptop", ends="keep", origins="")
    key.refresh_from_db()
    assert key.origins == ""
    assert AuditEvent.objects.filter(verb="api_key:origins_changed").count() == 2


def test_an_end_that_stays_stays_to_the_microsecond(browser: Browser, key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() + DAY)
    before = ApiKey.objects.get(pk=key.pk).expires_at
    browser.open(path_of(key, "edit")).submit(name="Laptop", ends="keep")
    assert ApiKey.objects.get(pk=key.pk).expires_at == before


def test_an_expired_key_lives_again_with_a_new_end(browser: Browser, key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() - DAY)
    assert verdict(SECRET) == "API Key has expired"
    browser.open(path_of(key, "edit")).submit(name="Server", ends="never")
    assert ApiKey.objects.get(pk=key.pk).is_live(timezone.now())


def test_a_stale_form_saves_nothing_and_keeps_what_was_typed(browser: Browser, user: User, key: ApiKey) -> None:
    browser.open(path_of(key, "edit"))
    keys.rename(key=key, name="Meanwhile", by=user)
    browser.submit(name="Too late", ends="30")
    assert browser.errors() == [CHANGED]
    assert browser.form("name").fields["name"] == "Too late"
    key.refresh_from_db()
    assert (key.name, key.expires_at) == ("Meanwhile", None)


def test_a_revoked_key_gets_no_new_end(browser: Browser, key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    browser.open(path_of(key, "edit")).submit(name="Server", ends="30")
    assert browser.errors() == ["A revoked key cannot be used again; create a new one."]


@pytest.mark.parametrize(("others", "is_allowed"), [(24, True), (25, False)])
def test_a_key_lives_again_only_while_its_owner_has_a_place_left(
    browser: Browser, client: Client, user: User, key: ApiKey, others: int, is_allowed: bool
) -> None:
    full = "You have 25 active keys, which is the limit. Revoke one that you do not need."
    live_keys(user, others)
    ApiKey.objects.filter(pk=key.pk).update(is_enabled=False)
    client.post(path_of(key, "enable"))
    assert ApiKey.objects.get(pk=key.pk).is_enabled is is_allowed
    assert (full not in browser.open(path_of(key)).text) is is_allowed
    ApiKey.objects.filter(pk=key.pk).update(is_enabled=True, expires_at=timezone.now() - DAY)
    browser.open(path_of(key, "edit")).submit(name="Server", ends="30")
    assert ApiKey.objects.get(pk=key.pk).is_live(timezone.now()) is is_allowed
    assert is_allowed or browser.errors() == [full]


def test_disabling_and_enabling_work_at_once(browser: Browser, key: ApiKey) -> None:
    send(browser.open(path_of(key)), path_of(key, "disable"))
    assert not ApiKey.objects.get().is_enabled
    assert "Key disabled until you enable it." in browser.text
    send(browser, path_of(key, "enable"))
    assert ApiKey.objects.get().is_enabled


@pytest.mark.parametrize("is_disabled_before", [False, True])
def test_what_staff_disabled_only_they_enable(
    browser: Browser, client: Client, user: User, key: ApiKey, is_disabled_before: bool
) -> None:
    if is_disabled_before:
        keys.disable(key=key, by=user)
    keys.disable(key=key, by=StaffFactory())
    browser.open(path_of(key))
    assert not [form for form in browser.page.forms if str(form.get("action")).endswith("/enable/")]
    client.post(path_of(key, "enable"))
    assert "Staff disabled this key, and only they can enable it again." in browser.open(path_of(key)).text
    assert not ApiKey.objects.get().is_enabled


def test_owners_do_not_enable_what_the_system_disabled(user: User, key: ApiKey) -> None:
    staff = StaffFactory()
    keys.disable(key=key, by=None)
    with pytest.raises(ValidationError, match="Staff disabled"):
        keys.enable(key=key, by=user)
    assert keys.enable(key=key, by=staff).is_enabled
    keys.disable(key=key, by=user)
    assert keys.enable(key=key, by=user).is_enabled


def test_revoking_asks_once_more_is_for_ever_and_withdraws_what_waits(browser: Browser, key: ApiKey) -> None:
    access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    browser.open(path_of(key, "revoke"))
    assert "This cannot be undone" in browser.text
    send(browser, path_of(key, "revoke"))
    assert verdict(SECRET) == "API Key not found"
    assert AccessRequest.objects.get().state == AccessRequest.State.WITHDRAWN
    assert "Key revoked." in browser.text


def test_a_live_key_is_not_deleted(browser: Browser, key: ApiKey) -> None:
    send(browser.open(path_of(key, "delete")), path_of(key, "delete"))
    assert "Revoke the key first" in browser.text
    assert ApiKey.objects.exists()


def test_a_dead_key_is_deleted_and_its_callers_hear_no_more_of_it(browser: Browser, user: User, key: ApiKey) -> None:
    keys_actions.revoke(key=key, by=user)
    assert "Invalid API key." in browser.open(path_of(key, "delete")).text
    assert problems_of(browser.response) == []
    send(browser, path_of(key, "delete"))
    assert not ApiKey.objects.exists()
    assert verdict(SECRET) == "Invalid API key."


def test_a_self_served_permission_is_given_and_taken_by_the_owner(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user, secret=SECRET, permissions=["lookup:user"])
    send(browser.open(path_of(key)), path_of(key, "give/imagehost:upload"))
    assert verdict(SECRET) == ""
    assert ApiKey.objects.get().permissions == ["imagehost:upload", "lookup:user"]
    send(browser.open(path_of(key, "take/lookup:user")), path_of(key, "take/lookup:user"))
    assert ApiKey.objects.get().permissions == ["imagehost:upload"]


def test_owners_cannot_give_a_key_what_staff_give(client: Client, key: ApiKey) -> None:
    for permission in ("lookup:user", "account", "nonsense"):
        client.post(path_of(key, f"give/{permission}"))
    assert ApiKey.objects.get().permissions == ["imagehost:upload"]


@pytest.mark.django_db
def test_staff_who_are_no_superusers_give_their_own_keys_what_everybody_may() -> None:
    staff = StaffFactory(is_superuser=False)
    key = ApiKeyFactory(owner=staff, permissions=["account"])
    keys_actions.give_permission(key=key, permission="imagehost:upload", by=staff)
    assert ApiKey.objects.get().allows("imagehost:upload")


def test_a_permission_is_asked_for_withdrawn_and_asked_for_again(browser: Browser, key: ApiKey) -> None:
    browser.open(path_of(key, "ask")).submit(permission="lookup:user", reason="A bot for my club")
    assert "Request sent" in browser.text
    assert "Waits for staff" in browser.text
    asked = AccessRequest.objects.get()
    send(browser, path_of(key, f"requests/{asked.pk}/withdraw"))
    asked.refresh_from_db()
    assert asked.state == AccessRequest.State.WITHDRAWN
    browser.open(path_of(key, "ask")).submit(permission="lookup:user", reason="Still")
    assert AccessRequest.objects.count() == 2


def test_the_page_of_a_key_withdraws_its_own_requests_alone(client: Client, user: User, key: ApiKey) -> None:
    for other in (ApiKeyFactory(), ApiKeyFactory(owner=user)):
        asked = access_requests.ask_for_permission(key=other, permission="lookup:user", reason="A bot")
        assert client.post(path_of(key, f"requests/{asked.pk}/withdraw")).status_code == 404
        asked.refresh_from_db()
        assert asked.is_pending


def test_what_waits_cannot_be_asked_for_again_and_a_reason_is_needed(browser: Browser, key: ApiKey) -> None:
    access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    browser.open(path_of(key, "ask"))
    assert browser.page.xpath("//input[@name='permission']/@value") == ["account", "lookup:presence"]
    browser.submit(permission="account", reason=" ")
    assert browser.errors() == ["This field is required."]


def test_the_page_of_a_key_shows_the_answer_of_staff(browser: Browser, key: ApiKey) -> None:
    asked = access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    access_requests.deny(request=asked, by=StaffFactory(), reason="Too <b>vague</b>")
    assert "Staff answered: Too <b>vague</b>" in browser.open(path_of(key)).text


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
