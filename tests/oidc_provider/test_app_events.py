"""What the webhooks of apps hear, and what they do not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import bans, rate_limits, users
from accounts.models import User, WebhookDelivery, WebhookEndpoint
from dashboard.documentation import contents
from oidc_provider.applications import app_events, applications
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.authorize import approvals
from oidc_provider.models import Application, Approval
from oidc_provider.token.token_queries import Subject
from tests.factories.accounts import StaffFactory, UserFactory, WebhookEndpointFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory, SuspendedApplicationFactory
from tests.oidc_provider.protocol import CONNECTED_APPS, EVERY_SCOPE, App, authorize, code_for, decide
from tests.support.outbox import posted

pytestmark = pytest.mark.django_db
EVERY_CLAIM = {claim for scope in SCOPES.values() for claim in scope.claims}


@pytest.fixture
def endpoint(application: Application) -> WebhookEndpoint:
    return WebhookEndpointFactory(application=application)


@pytest.fixture
def staff(db: None) -> User:
    return StaffFactory(username="Boss")


def _about(application: Application, user: User, **more: Any) -> dict[str, Any]:
    return {"client_id": application.client_id, "sub": user.pk, **more}


def _allowed(application: Application, user: User, scope: str = EVERY_SCOPE) -> Approval:
    return ApprovalFactory(application=application, user=user, scopes=scope.split())


def test_a_first_permission_and_each_further_one_is_news(
    app: App, endpoint: WebhookEndpoint, browser: Client, user: User
) -> None:
    code_for(browser, app.application, scope="openid")
    code_for(browser, app.application, scope="openid")  # kept
    code_for(browser, app.application, scope="openid", prompt="consent")  # allowed again, nothing new
    code_for(browser, app.application, scope="openid email")
    events = [("openid",), ("openid", "email")]
    assert posted(endpoint) == [
        ("app.authorized", user.pk, _about(app.application, user, scopes=list(scopes))) for scopes in events
    ]


def test_a_refusal_and_a_page_that_is_only_seen_are_no_news(
    app: App, endpoint: WebhookEndpoint, browser: Client
) -> None:
    decide(browser, authorize(browser, app.application), "cancel")
    browser.get(authorize(browser, app.application)["Location"])
    assert posted(endpoint) == []


def test_a_scope_that_is_no_longer_registered_is_not_named(
    application: Application, endpoint: WebhookEndpoint, browser: Client, user: User
) -> None:
    _allowed(application, user, "openid email")
    applications.change_scopes(application=application, scopes=["openid", "identify"], by=application.user)
    code_for(browser, application, scope="openid identify")
    assert posted(endpoint) == [
        ("app.authorized", user.pk, _about(application, user, scopes=["openid", "identify"])),
    ]


@pytest.mark.parametrize("has_endpoint", [False, True])
def test_consent_costs_no_statement_more_until_there_is_someone_to_tell(
    app: App, browser: Client, has_endpoint: bool
) -> None:
    if has_endpoint:
        WebhookEndpointFactory(application=app.application)
    path = authorize(browser, app.application)["Location"]
    with CaptureQueriesContext(connection) as captured:
        browser.post(path, {"decision": "allow"})
    statements = [query["sql"] for query in captured.captured_queries if "accounts_webhook" in query["sql"]]
    kinds = [sql.split()[0] for sql in statements if "oidc_provider_pendingrequest" not in sql]
    assert kinds == (["SELECT", "INSERT"] if has_endpoint else [])


def _by_the_person(app: App, browser: Client, user: User, staff: User) -> None:
    browser.post(f"{CONNECTED_APPS}{app.application.client_id}/disconnect/")


def _by_staff(app: App, browser: Client, user: User, staff: User) -> None:
    approvals.withdraw(approval=Approval.objects.get(), by=staff, reason="Asked for it")


@pytest.mark.parametrize("disconnect", [_by_the_person, _by_staff])
def test_a_disconnected_app_hears_of_it_once(
    app: App, endpoint: WebhookEndpoint, browser: Client, user: User, staff: User, disconnect: Callable[..., None]
) -> None:
    _allowed(app.application, user)
    disconnect(app, browser, user, staff)
    approvals.disconnect(user=user, application=app.application, by=user)  # it is already
    assert posted(endpoint) == [("app.disconnected", user.pk, _about(app.application, user))]
    assert not Approval.objects.exists()


ENDS: dict[str, Callable[[User, User], object]] = {
    "user.banned": lambda user, staff: bans.ban(user=user, by=staff, reason="Spam"),
    "user.deleted": lambda user, staff: users.delete(user=user, by=user),
}


@pytest.mark.parametrize("event", ENDS)
def test_the_end_of_an_account_is_told_to_apps_that_the_person_allowed(
    application: Application, endpoint: WebhookEndpoint, user: User, other_user: User, staff: User, event: str
) -> None:
    other = ApplicationFactory()
    stranger = WebhookEndpointFactory(application=other)
    _allowed(other, other_user)
    _allowed(application, user)
    abusive = SuspendedApplicationFactory()
    suspended = WebhookEndpointFactory(application=abusive)
    _allowed(abusive, user)
    ENDS[event](user, staff)
    sub = posted(endpoint)[0][1]
    assert posted(endpoint) == [(event, sub, {"client_id": application.client_id, "sub": sub})]
    assert (posted(stranger), posted(suspended)) == ([], [])


def test_a_ban_is_told_once_and_a_deletion_after_it_still_is(
    application: Application, endpoint: WebhookEndpoint, user: User, staff: User
) -> None:
    _allowed(application, user)
    for _ in range(2):
        bans.ban(user=user, by=staff, reason="Spam")
    users.set_display_name(user=user, name="Renamed", by=staff)  # of a banned person no claim can be read
    users.delete(user=user, by=staff)
    assert [each[0] for each in posted(endpoint)] == ["user.banned", "user.deleted"]


def test_a_suspended_app_hears_of_that_and_its_end_and_of_nothing_between(
    application: Application, endpoint: WebhookEndpoint, user: User, staff: User
) -> None:
    live = application
    staging = ApplicationFactory(user=live.user, staging_of=live)
    beside = WebhookEndpointFactory(application=staging)
    for app in (live, staging):
        _allowed(app, user)
    for _ in range(2):
        applications.suspend(application=live, by=staff, reason="Abuse")
    users.set_display_name(user=user, name="Renamed", by=user)
    approvals.disconnect(user=user, application=live, by=user)
    bans.ban(user=user, by=staff, reason="Spam")
    applications.restore(application=live, by=staff)
    of_live, of_staging = ({"client_id": app.client_id} for app in (live, staging))
    assert posted(endpoint) == [("app.suspended", "", of_live), ("app.restored", "", of_live)]
    assert posted(beside) == [("app.suspended", "", of_staging)]
    applications.restore(application=staging, by=staff)
    assert posted(beside)[1:] == [("app.restored", "", of_staging)]


def test_a_deleted_app_takes_its_endpoints_and_their_messages_along(
    application: Application, endpoint: WebhookEndpoint, user: User
) -> None:
    _allowed(application, user)
    users.set_display_name(user=user, name="Renamed", by=user)
    assert len(posted(endpoint)) == 1
    kept = WebhookEndpointFactory(application=ApplicationFactory())
    applications.delete(application=application, by=application.user)
    assert list(WebhookEndpoint.objects.all()) == [kept]
    assert not WebhookDelivery.objects.exists()


@pytest.mark.parametrize("scope", [*SCOPES, EVERY_SCOPE])
def test_no_claim_is_named_whose_scope_the_app_does_not_have(
    application: Application, endpoint: WebhookEndpoint, user: User, scope: str
) -> None:
    """Against the claims that userinfo gives for the same scopes."""
    _allowed(application, user, scope)
    app_events.note_changed_claims({user.pk: EVERY_CLAIM - {"sub"}})
    subject = Subject(user.pk, True, 1, "Ada", "", "a@b.example", True, "a.png", False, "1", "ada", "2", "ada")  # noqa: FBT003
    readable = set(subject.claims(scope.split())) - {"sub"}
    named = {name for _, _, data in posted(endpoint) for name in data["changed"]}
    assert named == readable
    assert len(posted(endpoint)) == bool(readable)
    for _, _, data in posted(endpoint):
        assert data.keys() == {"client_id", "sub", "changed"}


def _restrained(application: Application, user: User, other_user: User) -> dict[str, WebhookEndpoint]:
    """Endpoints that must not hear of the user's email address."""
    no_longer = ApplicationFactory(registered_scopes=["openid", "identify"])
    never = ApplicationFactory()
    stranger = ApplicationFactory()
    paused = WebhookEndpointFactory(application=application, disabled_at=user.created_at, disabled_by="OWNER")
    _allowed(no_longer, user)
    _allowed(never, user, "openid identify connections")
    _allowed(stranger, other_user)
    return {
        "paused": paused,
        "other events": WebhookEndpointFactory(application=application, events=["user.deleted"]),
        "registered no longer": WebhookEndpointFactory(application=no_longer),
        "not allowed": WebhookEndpointFactory(application=never),
        "allowed by another person": WebhookEndpointFactory(application=stranger),
        "of the person": WebhookEndpointFactory(user=user, events=["user.updated", "key.disabled"]),
    }


def test_apps_that_were_not_granted_the_claim_hear_nothing(
    application: Application, endpoint: WebhookEndpoint, user: User, other_user: User
) -> None:
    silent = _restrained(application, user, other_user)
    _allowed(application, user)
    app_events.note_changed_claims({user.pk: frozenset({"email", "email_verified"})})
    about = _about(application, user, changed=["email", "email_verified"])
    assert posted(endpoint) == [("user.updated", user.pk, about)]
    assert {name: posted(each) for name, each in silent.items()} == {name: [] for name in silent}


def test_what_is_rolled_back_tells_nothing(
    application: Application, endpoint: WebhookEndpoint, user: User, staff: User
) -> None:
    _allowed(application, user)
    for act in (
        lambda: users.set_display_name(user=user, name="Renamed", by=user),
        lambda: approvals.disconnect(user=user, application=application, by=user),
        lambda: bans.ban(user=user, by=staff, reason="Spam"),
        lambda: applications.suspend(application=application, by=staff, reason="Abuse"),
    ):
        with suppress(ZeroDivisionError), transaction.atomic():
            act()
            assert posted(endpoint)
            raise ZeroDivisionError
        assert posted(endpoint) == []


def test_of_one_persons_changes_only_so_many_are_told_in_an_hour(
    application: Application, endpoint: WebhookEndpoint, user: User
) -> None:
    another = UserFactory.create()
    for person in (user, another):
        _allowed(application, person)
    most = rate_limits.CLAIM_NEWS.amount
    for number in range(most + 2):
        app_events.note_changed_claims({user.pk: {"name"}, **({another.pk: {"name"}} if number == most else {})})
    assert [subject for _, subject, _ in posted(endpoint)].count(user.pk) == most
    assert [subject for _, subject, _ in posted(endpoint)].count(another.pk) == 1
    page = contents.pages()["patterns/webhook-events"].source
    assert f"at most {most} changes of a person in an hour" in page


def test_many_people_and_apps_are_two_statements(user: User, django_assert_num_queries: Any) -> None:
    people = [user, *(UserFactory() for _ in range(4))]
    for _ in range(3):
        app = ApplicationFactory()
        WebhookEndpointFactory(application=app)
        WebhookEndpointFactory(application=app)
        for person in people:
            _allowed(app, person)
    with django_assert_num_queries(2):
        app_events.note_changed_claims({person.pk: frozenset({"name"}) for person in people})
    assert WebhookDelivery.objects.count() == 30
    with django_assert_num_queries(1):
        app_events.note_changed_claims({person.pk: frozenset({"unknown"}) for person in people})
