"""What the request log holds of each request of an app, and how notes are written: bounded, in batches, all counted."""

from __future__ import annotations

import contextlib
import re
from datetime import timedelta
from typing import Any, NoReturn

import pytest
import time_machine
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from oidc_provider import request_log
from oidc_provider.applications import applications
from oidc_provider.models import OK, LastUse, RequestKind, RequestRecord, UsageCount
from tests.accounts.clock import NOON
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import CLIENT_SECRET, CODE_CHALLENGE, CODE_VERIFIER, PendingRequestFactory
from tests.oidc_provider.protocol import (
    AUTHORIZE,
    KEY_SET,
    TOKEN,
    USERINFO,
    App,
    authorize,
    basic,
    code_for,
    decide,
    post,
    userinfo,
)

pytestmark = pytest.mark.django_db

Row = tuple[str, str, str]


def written() -> list[RequestRecord]:
    request_log.buffer.write()
    return list(RequestRecord.objects.order_by("pk"))


def rows() -> list[Row]:
    """Return kind, outcome and username of each record, in the order of the requests."""
    return [(row.kind, row.outcome, row.user.username if row.user else "") for row in written()]


def test_a_whole_sign_in_is_noted_step_by_step(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    userinfo(tokens["access_token"])
    app.introspect(tokens["access_token"])
    newer = app.refresh(tokens["refresh_token"]).json()
    app.revoke(newer["refresh_token"])
    assert rows() == [
        ("ASKED", OK, "Ada"),
        ("APPROVED", OK, "Ada"),
        ("CODE", OK, "Ada"),
        ("USERINFO", OK, "Ada"),
        ("INTROSPECT", OK, "Ada"),
        ("REFRESH", OK, "Ada"),
        ("REVOKE", OK, ""),
    ]


def test_the_consent_page_its_refusal_and_a_kept_approval_are_noted(app: App, browser: Client) -> None:
    answer = authorize(browser, app.application)
    browser.get(answer["Location"])
    decide(browser, answer, "cancel")
    decide(browser, authorize(browser, app.application))
    authorize(browser, app.application)
    assert rows() == [
        ("ASKED", OK, "Ada"),
        ("SHOWN", OK, "Ada"),
        ("DENIED", "access_denied", "Ada"),
        ("ASKED", OK, "Ada"),
        ("APPROVED", OK, "Ada"),
        ("KEPT", OK, "Ada"),
    ]


def test_the_way_to_the_login_page_is_one_record(app: App) -> None:
    visitor = Client()
    pending = PendingRequestFactory(application=app.application)
    authorize(visitor, app.application)
    visitor.get(reverse("consent", args=[pending.pk]))
    assert rows() == [("ASKED", OK, "")]


@pytest.mark.parametrize(
    ("changes", "outcome", "redirect_uri"),
    [
        ({"scope": "openid profile"}, "invalid_scope", ""),
        ({"prompt": "none"}, "login_required", ""),
        (
            {"redirect_uri": "https://user:word@app.example.org/other?code=hush#hush"},
            "invalid_redirect",
            "https://app.example.org/other",
        ),
        ({"redirect_uri": None}, "invalid_redirect", ""),
    ],
)
def test_an_error_of_an_authorization_request_is_noted(
    app: App, changes: dict[str, Any], outcome: str, redirect_uri: str
) -> None:
    authorize(Client(), app.application, **changes)
    (row,) = written()
    assert (row.kind, row.outcome, row.redirect_uri, row.user) == ("ASKED", outcome, redirect_uri, None)
    assert row.description


def test_a_suspended_app_finds_its_refusals_in_the_log(app: App) -> None:
    applications.suspend(application=app.application, by=None, reason="Spam.")
    authorize(Client(), app.application)
    app.exchange("unknown")
    assert rows() == [("ASKED", "client_disabled", ""), ("CODE", "invalid_client", "")]


def test_a_sign_in_that_took_too_long_is_noted(app: App, browser: Client, clock: Any) -> None:
    answer = authorize(browser, app.application)
    clock.shift(601)
    page = browser.get(answer["Location"])
    assert rows()[-1] == ("ASKED", "expired", "")
    assert written()[-1].request_id in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({"code": "unknown"}, ("CODE", "invalid_grant", "")),
        ({"client_secret": "wrong"}, ("CODE", "invalid_client", "")),
        ({"code_verifier": "w" * 43}, ("CODE", "invalid_grant", "Ada")),
        ({"grant_type": "client_credentials"}, ("TOKEN", "unauthorized_client", "")),
        ({"grant_type": None}, ("TOKEN", "invalid_request", "")),
    ],
)
def test_an_error_at_the_token_endpoint_is_noted(app: App, browser: Client, changes: dict[str, Any], row: Row) -> None:
    code = code_for(browser, app.application)
    request_log.buffer.clear()
    app.post(
        TOKEN,
        **{
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": app.application.redirect_urls[0],
            "code_verifier": CODE_VERIFIER,
            **changes,
        },
    )
    assert rows() == [row]


def test_a_body_that_cannot_be_read_is_noted_for_the_app_that_it_names(app: App) -> None:
    client_id = app.application.client_id
    post(TOKEN, f'{{"client_id": "{client_id}"}}', content_type="application/json")
    post(TOKEN, "{}", content_type="application/json", authorization=basic(client_id, CLIENT_SECRET))
    post(f"{TOKEN}?client_id={client_id}", {"grant_type": "refresh_token"})
    Client().post(TOKEN, {"client_id": client_id})  # multipart
    assert [row.outcome for row in written()] == ["invalid_request"] * 4


def test_an_access_token_without_openid_is_noted_for_its_app(app: App, browser: Client) -> None:
    token = app.sign_in(browser, "identify")["access_token"]
    request_log.buffer.clear()
    userinfo(token)
    assert rows() == [("USERINFO", "insufficient_scope", "Ada")]


def test_nothing_is_noted_of_apps_that_do_not_exist(app: App, browser: Client) -> None:
    unknown = "0" * 32
    authorize(browser, app.application, client_id=unknown)
    app.exchange("unknown", client_id=unknown)
    app.exchange("unknown", client_id="' or 1=1")
    userinfo("unknown")
    assert rows() == []
    assert not UsageCount.objects.exists()


def test_no_secret_code_token_verifier_or_state_is_kept(app: App, browser: Client) -> None:
    state = "the-state-of-the-tests"
    tokens = app.sign_in(browser, state=state, nonce="the-nonce-of-the-tests")
    authorize(browser, app.application, state=state, scope="profile")
    app.exchange("the-code-of-the-tests", code_verifier=CODE_VERIFIER)
    app.refresh(tokens["refresh_token"])
    app.refresh(tokens["refresh_token"])
    userinfo(tokens["access_token"])
    kept = repr(list((written(), RequestRecord.objects.values())[1]))
    secrets = [CLIENT_SECRET, CODE_VERIFIER, CODE_CHALLENGE, state, "the-nonce-of-the-tests", "the-code-of-the-tests"]
    secrets += [tokens["access_token"], tokens["refresh_token"], tokens["id_token"]]
    assert [secret for secret in secrets if secret in kept] == []
    assert "Ada" not in kept  # the user is a reference, which ends with the account


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
    ],
)
def test_of_the_address_the_network_alone_is_kept(app: App, address: str, network: str) -> None:
    Client(REMOTE_ADDR=address).get(AUTHORIZE, {"client_id": app.application.client_id})
    assert [row.network for row in written()] == [network]


def test_a_person_whose_account_is_deleted_leaves_the_records(app: App, browser: Client, user: User) -> None:
    app.sign_in(browser)
    assert {row.user for row in written()} == {user}
    user.delete()
    assert {row.user for row in RequestRecord.objects.all()} == {None}
    assert not LastUse.objects.exists()


@pytest.mark.parametrize("path", [AUTHORIZE, TOKEN, USERINFO, KEY_SET])
def test_every_answer_carries_its_own_request_id(db: None, path: str) -> None:
    ids = {Client().get(path)["X-Request-Id"] for _ in range(2)}
    assert len(ids) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", request_id) for request_id in ids)


def test_an_error_page_names_the_id_of_its_request_and_json_stays_as_it_is(app: App) -> None:
    page = authorize(Client(), app.application, redirect_uri="https://elsewhere.example")
    assert page["X-Request-Id"] in page.content.decode()
    assert page["X-Request-Id"] == written()[0].request_id
    body = authorize(Client(), app.application, redirect_uri="https://elsewhere.example", accept="application/json")
    assert set(body.json()) == {"error", "error_description"}


def note(client_id: str, *, kind: RequestKind = RequestKind.CODE, user: User | None = None, error: str = "") -> None:
    with request_log.Noting(kind) as noted:
        request_log.about(client_id=client_id, user_id=user.pk if user else "")
        if error:
            noted.fails(error, "It failed.")


def counts() -> dict[tuple[str, str], int]:
    return {(row.kind, row.outcome): row.count for row in UsageCount.objects.all()}


@pytest.mark.embedded
def test_counts_add_up_over_batches_hour_by_hour(app: App, clock: time_machine.Traveller) -> None:
    for _ in range(2):
        note(app.application.client_id)
        note(app.application.client_id)
        note(app.application.client_id, error="invalid_grant")
        request_log.buffer.write()
    assert counts() == {("CODE", "ok"): 4, ("CODE", "invalid_grant"): 2}
    assert {row.hour for row in UsageCount.objects.all()} == {NOON}
    clock.shift(timedelta(hours=1))
    note(app.application.client_id)
    request_log.buffer.write()
    assert [row.count for row in UsageCount.objects.filter(outcome="ok").order_by("hour")] == [4, 1]


@pytest.mark.embedded
@pytest.mark.parametrize("number", [1, 10])
def test_a_batch_costs_the_same_for_one_note_and_for_ten(app: App, user: User, number: int) -> None:
    for _ in range(number):
        note(app.application.client_id, user=user)
    with CaptureQueriesContext(connection) as captured:
        request_log.buffer.write()
    statements = [query["sql"].split()[0] for query in captured.captured_queries]
    assert [word for word in statements if word not in {"SAVEPOINT", "RELEASE"}] == [
        "SELECT",  # the people
        "SELECT",  # the apps
        "INSERT",  # the records
        "INSERT",  # the counts
        "INSERT",  # the last uses
    ]


def test_of_one_app_a_batch_stores_the_newest_records_and_counts_them_all(
    app: App, other_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "MOST_RECORDS", 3)
    note(other_app.application.client_id)
    for number in range(5):
        note(app.application.client_id, error=f"error_{number}")
    request_log.buffer.write()
    stored = app.application.request_records.values_list("outcome", flat=True)
    assert list(stored.order_by("pk")) == ["error_2", "error_3", "error_4"]
    assert sum(row.count for row in app.application.usage_counts.all()) == 5
    assert other_app.application.request_records.count() == 1


def test_of_many_successes_of_an_app_a_batch_stores_the_newest_and_every_failure(
    app: App, other_app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "MOST_SUCCESSES", 2)
    note(other_app.application.client_id)
    for error in ("", "first", "", "", "last"):
        note(app.application.client_id, error=error)
    request_log.buffer.write()
    assert other_app.application.request_records.count() == 1
    stored = app.application.request_records.order_by("pk").values_list("outcome", flat=True)
    assert list(stored) == ["first", "ok", "ok", "last"]
    assert sum(row.count for row in app.application.usage_counts.all()) == 5


def test_an_app_or_a_person_that_is_gone_breaks_no_batch(app: App, other_app: App, user: User) -> None:
    gone = UserFactory()
    note(other_app.application.client_id, user=user)
    note(app.application.client_id, user=gone)
    other_app.application.delete()
    gone.delete()
    request_log.buffer.write()
    (row,) = RequestRecord.objects.all()
    assert (row.application, row.user) == (app.application, None)


def broken_by(error: DatabaseError) -> contextlib.AbstractContextManager[None]:
    """Context manager: every statement raises `error`."""

    def fail(*call: object) -> NoReturn:
        raise error

    return connection.execute_wrapper(fail)


@pytest.mark.embedded
def test_a_database_that_is_away_costs_no_note(app: App, user: User, caplog: pytest.LogCaptureFixture) -> None:
    note(app.application.client_id, user=user)
    with broken_by(OperationalError("gone")):
        request_log.buffer.write()
    assert "could not be written yet" in caplog.text
    request_log.buffer.write()
    assert (RequestRecord.objects.count(), LastUse.objects.count()) == (1, 1)


def test_hostile_descriptions_are_stored_harmless_and_short(app: App) -> None:
    with request_log.Noting(RequestKind.ASKED) as noted:
        noted.client_id = app.application.client_id
        noted.fails("invalid_request", "a\x00b\nc" + "d" * 5_000)
        noted.redirect_uri = "https://[broken"
    request_log.buffer.write()
    (row,) = RequestRecord.objects.all()
    assert row.description.startswith("a?b?cd")
    assert (len(row.description), row.redirect_uri) == (300, "")


def test_a_view_that_breaks_is_a_server_error(app: App) -> None:
    with pytest.raises(ZeroDivisionError), request_log.Noting(RequestKind.CODE) as noted:
        noted.client_id = app.application.client_id
        raise ZeroDivisionError
    request_log.buffer.write()
    assert RequestRecord.objects.get().outcome == "server_error"


def test_outside_a_request_nothing_is_noted(app: App) -> None:
    request_log.about(client_id=app.application.client_id)
    request_log.failed("invalid_request", "Outside a request.")
    request_log.buffer.write()
    assert request_log.request_id() == ""
    assert not RequestRecord.objects.exists()


def test_the_last_use_of_a_person_moves_on_with_each_sign_in(
    app: App, user: User, clock: time_machine.Traveller
) -> None:
    note(app.application.client_id, user=user)
    request_log.buffer.write()
    clock.shift(timedelta(hours=3))
    note(app.application.client_id, user=user, error="invalid_grant")  # is no use
    request_log.buffer.write()
    assert LastUse.objects.get().used_at == NOON
    note(app.application.client_id, kind=RequestKind.REFRESH, user=user)
    request_log.buffer.write()
    assert LastUse.objects.get().used_at == NOON + timedelta(hours=3)


def test_a_last_use_is_stored_once_in_five_minutes(app: App, user: User, clock: time_machine.Traveller) -> None:
    used_at = []
    for _ in range(4):
        note(app.application.client_id, user=user)
        request_log.buffer.write()
        used_at.append(LastUse.objects.get().used_at)
        clock.shift(timedelta(minutes=2, seconds=30))
    later = NOON + timedelta(minutes=5)
    assert used_at == [NOON, NOON, later, later]


def test_the_job_deletes_records_after_a_week_and_counts_after_ninety_days(
    app: App, user: User, clock: time_machine.Traveller
) -> None:
    note(app.application.client_id, user=user)
    request_log.buffer.write()
    clock.shift(timedelta(days=7))
    assert request_log.delete_past_use(timezone.now()) == 0
    clock.shift(timedelta(seconds=1))
    assert request_log.delete_past_use(timezone.now()) == 1
    clock.move_to(NOON + timedelta(days=90, seconds=1))
    assert request_log.delete_past_use(timezone.now()) == 2
    assert not RequestRecord.objects.exists()
    assert not UsageCount.objects.exists()
    assert not LastUse.objects.exists()


def test_the_job_leaves_each_app_its_newest_records(
    app: App, other_app: App, monkeypatch: pytest.MonkeyPatch, clock: time_machine.Traveller
) -> None:
    monkeypatch.setattr(request_log, "MOST_RECORDS_KEPT", 2)
    note(other_app.application.client_id)
    for number in range(4):
        clock.shift(timedelta(seconds=1))
        note(app.application.client_id, error=f"error_{number}")
    request_log.buffer.write()
    assert request_log.delete_past_use(timezone.now()) == 2
    assert list(app.application.request_records.order_by("-moment", "-pk").values_list("outcome", flat=True)) == [
        "error_3",
        "error_2",
    ]
    assert other_app.application.request_records.count() == 1


@pytest.mark.parametrize("count", [0, 2])
def test_the_database_holds_one_count_that_is_some_for_each_hour_kind_and_outcome(app: App, count: int) -> None:
    fields = {"application": app.application, "hour": NOON, "kind": "CODE", "outcome": "ok"}
    UsageCount.objects.create(count=1, **fields)
    if count == 0:
        fields["outcome"] = "other"
    with pytest.raises(IntegrityError), transaction.atomic():
        UsageCount.objects.create(count=count, **fields)


def test_a_person_has_one_last_use_of_an_app(app: App, user: User) -> None:
    LastUse.objects.create(application=app.application, user=user, used_at=NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        LastUse.objects.create(application=app.application, user=user, used_at=NOON)


def test_a_note_costs_its_request_no_query(app: App) -> None:
    with CaptureQueriesContext(connection) as captured:
        note(app.application.client_id)
    assert captured.captured_queries == []
