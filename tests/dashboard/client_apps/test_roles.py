"""Every URL below /dashboard/apps/, for each standing towards the app's team: exactly one answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import User, WebhookDelivery, WebhookEndpoint
from dashboard import access_requests, versions
from dashboard.client_apps import actions as apps_actions
from dashboard.client_apps import login_test
from oidc_provider.applications import applications, staging, teams
from oidc_provider.models import Application, ApplicationLogo, Invitation, Role, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import STANDINGS, People, invite, team_of
from tests.dashboard.webhooks.places import Place, sent
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

BELOW = "dashboard/apps/"
# The answers to GET and to POST, in the order of STANDINGS: owner, developer, viewer, invited, former, stranger, staff.
NO_MEMBERS = [404] * 4


def everyone(status: int) -> list[int]:
    return [status] * 7


def members(status: int) -> list[int]:
    return [status, status, status, *NO_MEMBERS]


def developers(status: int) -> list[int]:
    return [status, status, 403, *NO_MEMBERS]


def owners(status: int) -> list[int]:
    return [status, 403, 403, *NO_MEMBERS]


NOT_ALLOWED = everyone(405)
TABLE: dict[str, tuple[list[int], list[int]]] = {
    "applications": (everyone(200), NOT_ALLOWED),
    "new_application": (everyone(200), everyone(200)),
    "preview_application": (NOT_ALLOWED, everyone(200)),
    "check_redirects": (NOT_ALLOWED, everyone(200)),
    "ask_for_scope": (everyone(200), everyone(200)),
    "withdraw_scope_request": (NOT_ALLOWED, [302, *[404] * 6]),  # of the owner
    "application": (members(200), NOT_ALLOWED),
    "application_settings": (developers(200), developers(200)),
    "application_preview": (NOT_ALLOWED, developers(200)),
    "application_redirects": (members(200), members(200)),  # compares, and changes nothing
    "application_activity": (members(200), NOT_ALLOWED),
    "application_reset_secret": (developers(200), developers(200)),
    "application_add_secret": (developers(200), developers(200)),
    "application_remove_secret": (developers(200), developers(302)),
    "application_create_staging": (developers(200), developers(302)),  # the app has one
    "application_copy_settings": (developers(200), developers(200)),
    "application_revoke_tokens": (developers(200), developers(302)),
    "application_delete": (owners(200), owners(200)),
    "application_try": (developers(200), NOT_ALLOWED),
    "application_try_start": (NOT_ALLOWED, developers(302)),
    "application_try_callback": (developers(302), NOT_ALLOWED),
    "application_try_callback_url": (NOT_ALLOWED, developers(302)),
    "application_try_result": (developers(302), NOT_ALLOWED),
    "application_code": (members(200), NOT_ALLOWED),
    "application_usage": (members(200), NOT_ALLOWED),
    "application_usage_csv": (members(200), NOT_ALLOWED),
    "application_log": (members(200), NOT_ALLOWED),
    "application_transfer": (owners(200), owners(200)),
    "withdraw_offer": (NOT_ALLOWED, owners(302)),
    "webhooks": (members(200), NOT_ALLOWED),
    "webhook_new": (developers(200), developers(200)),
    "webhook": (members(200), NOT_ALLOWED),
    "webhook_edit": (developers(200), developers(200)),
    "webhook_pause": (NOT_ALLOWED, developers(302)),
    "webhook_resume": (NOT_ALLOWED, developers(302)),
    "webhook_test": (NOT_ALLOWED, developers(302)),
    "webhook_rotate": (developers(200), developers(200)),
    "webhook_delete": (developers(200), developers(302)),
    "webhook_deliveries": (members(200), NOT_ALLOWED),
    "webhook_delivery": (members(200), NOT_ALLOWED),
    "webhook_replay": (NOT_ALLOWED, developers(302)),
}
REFUSED = {403, 404, 405}


def routes() -> dict[str, str]:
    """Return the routes below /dashboard/apps/, by the name of the URL."""
    return {str(pattern.name): route for pattern, route in _routes(get_resolver(), "") if route.startswith(BELOW)}


def _routes(resolver: URLResolver, before: str) -> Iterator[tuple[URLPattern, str]]:
    for pattern in resolver.url_patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern, route)
        else:
            yield pattern, route


@pytest.fixture
def people(user: User) -> People:
    """The team's app has two secrets, a staging app, and an offer to somebody."""
    people = team_of(user)
    applications.add_secret(application=people.app, by=None)
    people.app.refresh_from_db()
    staging.create(application=people.app, by=user)
    invite("other@example.org", by=user, application=people.app)
    return people


def path_of(name: str, people: People) -> str:
    endpoint = Place(people.by_standing["owner"], people.app).endpoint()
    asked = access_requests.ask_for_scope(user=people.by_standing["owner"], scope="email", reason="A club.")
    values = {
        "client_id": people.app.client_id,
        "version": versions.of(people.app.secret_changed_at),
        "scope": "connections",
        "pk": str(endpoint.pk if name.startswith("webhook") else asked.pk),
        "message_id": sent(endpoint).message_id,
        "period": "24h",
    }
    return "/" + re.sub(r"<\w+:(\w+)>", lambda found: values[found[1]], routes()[name])


def clients_of(people: People) -> list[Client]:
    return [client_of(browser_of(people.by_standing[standing])) for standing in STANDINGS]


def rows() -> Any:
    """What a page could change."""
    models = (Application, ApplicationLogo, TeamMember, Invitation, WebhookEndpoint, WebhookDelivery)
    return [list(model._base_manager.order_by("pk").values()) for model in models]


def test_every_url_has_a_row() -> None:
    assert set(TABLE) == set(routes())


@pytest.mark.parametrize("name", TABLE)
def test_a_read_answers_each_standing_and_changes_nothing(people: People, name: str) -> None:
    path, before = path_of(name, people), rows()
    assert [client.get(path).status_code for client in clients_of(people)] == TABLE[name][0]
    assert rows() == before


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("standing", STANDINGS)
def test_a_write_answers_each_standing_and_a_refused_one_changes_nothing(
    people: People, name: str, standing: str
) -> None:
    client = client_of(browser_of(people.by_standing[standing]))
    path, before = path_of(name, people), rows()
    status = client.post(path).status_code
    assert status == TABLE[name][1][STANDINGS.index(standing)]
    if status in REFUSED:
        assert rows() == before


def test_too_low_a_role_is_told_who_may(people: People) -> None:
    viewer, developer = (browser_of(people.by_standing[name]) for name in ("viewer", "developer"))
    page = f"/dashboard/apps/{people.app.client_id}/"
    assert "Only a developer or an owner may do this." in viewer.open(f"{page}settings/").text
    assert "Only an owner of the team may do this." in developer.open(f"{page}delete/").text


@pytest.mark.parametrize("standing", ["owner", "developer", "viewer"])
def test_no_page_leads_a_member_to_what_their_role_may_not(people: People, standing: str) -> None:
    browser = browser_of(people.by_standing[standing])
    root = f"/dashboard/apps/{people.app.client_id}/"
    seen, waiting = set(), [root]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        assert browser.open(page).response.status_code == 200, page
        for element in browser.page.xpath("//main//a/@href | //main//form/@action"):
            target = re.split(r"[?#]", str(element))[0]
            acts = any(part in target for part in ("/try/callback", "/try/start", "/try/result", "withdraw", ".csv"))
            if target.startswith(root) and target not in seen and not acts:
                waiting.append(target)
    assert len(seen) >= {"owner": 14, "developer": 13, "viewer": 5}[standing]


def test_the_list_shows_the_apps_of_ones_teams_with_team_and_role(people: People) -> None:
    text = browser_of(people.by_standing["viewer"]).open("/dashboard/apps/").text
    assert "Tidepool" in text
    assert "Team Harbour: you are viewer" in text
    for standing in ("invited", "former", "stranger", "staff"):
        assert "Tidepool" not in browser_of(people.by_standing[standing]).open("/dashboard/apps/").text


def test_the_list_and_the_home_page_cost_the_same_with_teams(
    people: People, browser: Browser, django_assert_max_num_queries: Any
) -> None:
    def queries_of(path: str) -> int:
        browser.open(path)
        with django_assert_max_num_queries(100) as captured:
            browser.open(path)
        return len(captured)

    paths = ("/dashboard/apps/", "/dashboard/")
    before = [queries_of(path) for path in paths]
    for number in range(3):
        team = teams.create(name=f"Pier {number}", by=people.by_standing["stranger"])
        TeamMember.objects.create(team=team, user=people.by_standing["owner"], role=Role.VIEWER)
        Application.objects.create(name="One", user=people.by_standing["stranger"], team=team)
    assert [queries_of(path) for path in paths] == before


def test_a_letter_about_the_app_goes_to_all_owners_and_to_who_did_it(
    people: People, django_capture_on_commit_callbacks: Any
) -> None:
    TeamMember.objects.create(team=people.team, user=people.by_standing["former"], role=Role.OWNER)
    banned = people.by_standing["stranger"]
    TeamMember.objects.create(team=people.team, user=banned, role=Role.OWNER)
    User.objects.filter(pk=banned.pk).update(is_active=False)
    with django_capture_on_commit_callbacks(execute=True):
        apps_actions.reset_secret(
            application=people.app,
            by=people.by_standing["developer"],
            version=apps_actions.version_of_secrets(people.app),
        )
    received = {letter.to[0]: str(letter.body) for letter in mail.outbox}
    assert set(received) == {people.by_standing[name].email for name in ("owner", "former", "developer")}
    assert "by Developer of its team" in received[people.by_standing["owner"].email]
    assert "from your account" in received[people.by_standing["developer"].email]


def test_a_developer_tries_the_login_and_a_viewer_does_not(people: People) -> None:
    login_test.add_callback(application=people.app, by=people.by_standing["developer"])
    path = f"/dashboard/apps/{people.app.client_id}/try/start/"
    statuses = []
    for standing in ("developer", "viewer"):
        client = client_of(browser_of(people.by_standing[standing]))
        statuses.append(client.post(path, {"scopes": ["openid"], "prompt": "", "mistake": ""}))
    assert statuses[0]["Location"].startswith("/api/auth/oauth2/authorize?")
    assert statuses[1].status_code == 403


def test_the_settings_of_a_team_offer_scopes_that_any_member_has_unlocked(people: People) -> None:
    User.objects.filter(pk=people.by_standing["viewer"].pk).update(unlocked_scopes=["email"])
    browser = browser_of(people.by_standing["developer"])
    client_of(browser).post(
        f"/dashboard/apps/{people.app.client_id}/settings/",
        {
            "name": "Tidepool",
            "redirect_urls": people.app.redirect_urls,
            "scopes": ["openid", "email"],
            "version": versions.of(Application.objects.get(pk=people.app.pk).updated),
        },
    )
    people.app.refresh_from_db()
    assert people.app.registered_scopes == ["openid", "email"]


def test_the_preview_of_the_consent_screen_names_the_team(people: People) -> None:
    browser = browser_of(people.by_standing["developer"])
    assert "by Harbour" in browser.open(f"/dashboard/apps/{people.app.client_id}/settings/").text
