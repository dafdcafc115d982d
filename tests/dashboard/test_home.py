"""The dashboard's first page: who reads it, what it shows, and how many queries it takes."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver
from django.utils import timezone

from accounts.models import LinkedAccount, User, WebhookEndpoint
from accounts.webhooks import endpoints
from dashboard import access_requests, home
from dashboard.account.queries import Mail
from dashboard.models import AccessRequest
from imagehost.models import Usage
from lookup.models import Profile
from oidc_provider.models import UsageCount
from tests.factories.accounts import PASSWORD, ApiKeyFactory, LinkedAccountFactory, StaffFactory, UserFactory
from tests.factories.dashboard import DeniedRequestFactory
from tests.factories.lookup import AssetFactory, LinkFactory, ProfileFactory, main_profile
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

HOME = "/dashboard/"
DAY = timedelta(days=1)


def test_a_new_user_lands_here_and_reads_what_to_do(user: User) -> None:
    browser = Browser().open("/accounts/login/").submit(login=user.username, password=PASSWORD)
    assert browser.response.request["PATH_INFO"] == HOME
    assert problems_of(browser.response) == []
    for words in (
        "Hello, Ada",
        "Your account is protected by a password only.",
        "0 of 4 done",
        "Add a picture",
        "Register an app",
        "Create a key",
        "of 1.0 GB",
    ):
        assert words in browser.text
    assert "not confirmed" not in browser.text
    links = {link.text_content(): link.get("href") for link in browser.page.xpath("//main//a")}
    assert (links["Register an app"], links["Create a key"]) == ("/dashboard/apps/new/", "/dashboard/api-keys/new/")


def test_a_webhook_that_was_disabled_is_named_and_one_that_its_owner_paused_is_not(
    browser: Browser, user: User
) -> None:
    app = ApplicationFactory.create(user=user, name="Shop")
    url = "https://hooks.example.org"
    own, _ = endpoints.create(by=user, url=f"{url}/0", events=["key.disabled"], user=user)
    of_app, _ = endpoints.create(by=user, url=f"{url}/1", events=["user.deleted"], application=app)
    paused, _ = endpoints.create(by=user, url=f"{url}/2", events=["file.expired"], user=user)
    assert "Disabled webhooks" not in browser.open(HOME).text
    endpoints.pause(endpoint=paused, by=user)
    assert "Disabled webhooks" not in browser.open(HOME).text
    endpoints.disable(own, WebhookEndpoint.Disabled.FAILING)
    endpoints.disable(of_app, WebhookEndpoint.Disabled.GONE)
    assert problems_of(browser.open(HOME).response) == []
    links = browser.page.xpath("//section[@aria-labelledby='webhooks']//a/@href")
    below = f"/dashboard/apps/{app.client_id}/webhooks/{of_app.pk}/"
    assert sorted(links) == sorted([f"/dashboard/webhooks/{own.pk}/", below])
    assert f"{url}/2" not in browser.text


def test_steps_that_are_done_are_no_longer_named(browser: Browser, user: User) -> None:
    LinkedAccountFactory(user=user, kind=LinkedAccount.Kind.SCROBBLER)
    ProfileFactory(user=user, description="Of an alias")
    assert "0 of 4 done" in browser.open(HOME).text
    profile = main_profile(user)
    Profile.objects.filter(pk=profile.pk).update(description="I count")
    LinkFactory(profile=profile)
    LinkedAccountFactory(user=user)
    assert "3 of 4 done" in browser.open(HOME).text
    for words in ("Say something about yourself", "Add a link", "Link your chat account"):
        assert words not in browser.text
    Profile.objects.filter(pk=profile.pk).update(avatar=AssetFactory(owner=user))
    assert "Add a picture" not in browser.open(HOME).text


def test_weak_spots_are_named(browser: Browser, user: User) -> None:
    EmailAddress.objects.update(verified=False)
    assert "Your email address is not confirmed." in browser.open(HOME).text
    EmailAddress.objects.all().delete()
    User.objects.update(email="")
    assert "Your account has no email address." in browser.open(HOME).text
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    assert "You have no recovery codes left." in browser.open(HOME).text
    assert "protected by a password only" not in browser.text


def test_the_primary_address_is_the_one_that_counts(user: User) -> None:
    EmailAddress.objects.filter(user=user).update(primary=False)
    EmailAddress.objects.create(user=user, email="later@example.org", verified=False, primary=True)
    assert home.facts_of(user, timezone.now()).mail == Mail("later@example.org", is_verified=False)


def test_keys_that_expire_within_a_week_are_named_unless_they_are_replaced(browser: Browser, user: User) -> None:
    now = timezone.now()
    replacement = ApiKeyFactory(owner=user, name="Later", expires_at=now + 7 * DAY + timedelta(minutes=1))
    soon = ApiKeyFactory(owner=user, name="Soon", expires_at=now + 7 * DAY)
    ApiKeyFactory(owner=user, name="Replaced", expires_at=now + DAY, replaced_by=replacement)
    for over in ({"expires_at": now}, {"expires_at": now + DAY, "is_enabled": False}, {"revoked_at": now}):
        ApiKeyFactory(owner=user, name="Gone", **over)
    ApiKeyFactory(name="Foreign", expires_at=now + DAY)
    facts = home.facts_of(user, now)
    assert (facts.ending_keys, facts.keys) == ([soon], 3)
    text = browser.open(HOME).text
    assert "Soon expires on" in text
    assert "You have 3 active keys." in text


def test_requests_and_their_answers_are_shown(browser: Browser, user: User) -> None:
    key = ApiKeyFactory(owner=user, permissions=[])
    asked = access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
    access_requests.ask_for_scope(user=user, scope="email", reason="A shop")
    assert browser.open(HOME).text.count("Waits for staff") == 2
    access_requests.deny(request=asked, by=StaffFactory(), reason="Say more, please")
    text = browser.open(HOME).text
    assert "lookup:user Denied" in text
    assert "Say more, please" in text


def test_answers_are_shown_for_14_days(user: User) -> None:
    now = timezone.now()
    last = DeniedRequestFactory(user=user, decided_at=now - 14 * DAY)
    DeniedRequestFactory(user=user, decided_at=now - 14 * DAY - timedelta(seconds=1))
    DeniedRequestFactory(user=user, decided_at=now, state=AccessRequest.State.WITHDRAWN)
    assert home.facts_of(user, now).requests == [last]


def test_apps_with_errors_in_the_last_24_hours_are_named_the_worst_first(browser: Browser, user: User) -> None:
    now = timezone.now()
    bad, worse, old, fine = (ApplicationFactory(user=user, name=name) for name in ("Bad", "Worse", "Old", "Fine"))
    for application, age, outcome in (
        (bad, timedelta(hours=24), "invalid_grant"),
        (worse, timedelta(hours=1), "invalid_grant"),
        (worse, timedelta(hours=2), "invalid_client"),
        (worse, timedelta(hours=1), "ok"),
        (old, timedelta(hours=24, seconds=1), "invalid_grant"),
        (fine, timedelta(hours=1), "ok"),
    ):
        UsageCount.objects.create(application=application, hour=now - age, kind="CODE", outcome=outcome, count=3)
    failing = home.facts_of(user, now).failing_apps
    assert [(app, vars(app)["errors"]) for app in failing] == [(worse, 6), (bad, 3)]
    text = browser.open(HOME).text
    assert "Worse: 6 requests failed" in text
    assert "You have 4 apps" in text


def test_used_storage_is_shown(browser: Browser, user: User) -> None:
    Usage.objects.create(owner=user, used_bytes=512 * 1024 * 1024)
    assert "512.0" in browser.open(HOME).text.replace("\xa0", " ")
    (bar,) = browser.page.xpath("//progress[@aria-label='Storage']")
    assert int(bar.get("value")) * 2 == int(bar.get("max"))


@pytest.mark.embedded
def test_the_page_costs_the_same_however_much_there_is(browser: Browser, user: User) -> None:
    counts, now = [], timezone.now()
    for amount in (0, 1, 9):
        for _ in range(amount):
            key = ApiKeyFactory(owner=user, permissions=[], expires_at=now + DAY)
            access_requests.ask_for_permission(key=key, permission="lookup:user", reason="A bot")
            application = ApplicationFactory(user=user)
            UsageCount.objects.create(application=application, hour=now, kind="CODE", outcome="invalid_grant", count=1)
        browser.open(HOME)
        with CaptureQueriesContext(connection) as captured:
            browser.open(HOME)
        counts.append(len([query for query in captured if "django_session" not in query["sql"]]))
    # user, figures, deletion of the account; then errors of apps, keys that end, requests
    assert counts == [3, 6, 6]


PATTERNS = get_resolver("dashboard.urls").reverse_dict
ARGUMENTS: defaultdict[str, str] = defaultdict(lambda: "1" * 32)  # each converter takes it


def paths() -> list[str]:
    places = {place for name in PATTERNS for reverse in PATTERNS.getlist(name) for place, _ in reverse[0]}
    return sorted(f"/{place % ARGUMENTS}" for place in places if place.startswith("dashboard/"))


def test_a_visitor_is_sent_to_the_login_page(client: Client) -> None:
    invitation = f"/dashboard/teams/join/{ARGUMENTS['token']}/"  # a link from a mail: its own tests have its answers
    assert invitation in paths()
    assert len(paths()) > 100
    for path in paths():
        if path == invitation:
            continue
        for answer in (client.get(path), client.post(path)):
            if answer.status_code != 405:
                assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next={path}")
        assert answer.status_code == 302 or client.get(path).status_code == 302, path


def test_a_form_without_its_token_is_refused(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory())
    for path in paths():
        if f"/profile/{ARGUMENTS['profile_id']}/" in path:
            continue  # the views of the main profile, and 404 here
        for data in ({}, {"csrfmiddlewaretoken": "a" * 64}):
            assert client.post(path, data).status_code == 403, path
