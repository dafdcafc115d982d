"""Who may open which page of webhooks: each page for each kind of reader, and rows of others below one's own pages."""

from __future__ import annotations

import threading

import pytest
from django.core.exceptions import PermissionDenied
from django.db import transaction

from accounts.models import User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints
from dashboard.webhooks import actions
from dashboard.webhooks.queries import Owner
from oidc_provider.applications import applications, transfers
from oidc_provider.models import Application, Role, Team, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.webhooks.places import Place, sent
from tests.factories.accounts import StaffFactory, UserFactory
from tests.support.threads import GIVE_UP, together, wait_for_a_blocked_statement

pytestmark = pytest.mark.django_db

READ = ["", "{pk}/", "{pk}/deliveries/", "{pk}/deliveries/{id}/"]
CHANGING = ["new/", "{pk}/edit/", "{pk}/rotate/", "{pk}/delete/"]
PRESSED = ["{pk}/pause/", "{pk}/resume/", "{pk}/test/", "{pk}/deliveries/{id}/replay/"]
GET = [("get", page) for page in READ + CHANGING]
POST = [("post", page) for page in CHANGING + PRESSED]


@pytest.fixture
def team_place(user: User, app: Application) -> Place:
    """An app of a team whose first owner is `user`."""
    team = Team.objects.create(name="Team")
    TeamMember.objects.create(team=team, user=user, role=Role.OWNER)
    Application.objects.filter(pk=app.pk).update(team=team)
    app.refresh_from_db()
    return Place(user, app)


def reader(place: Place, who: str) -> User | None:
    if who in Role.values:
        member = UserFactory.create()
        TeamMember.objects.create(team=Team.objects.get(), user=member, role=who)
        return member
    return {"owner of record": lambda: place.user, "staff": StaffFactory.create, "stranger": UserFactory.create}[who]()


def answers(place: Place, who: User, pages: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The status of each page, for a reader who may see and change what the page is about, or not."""
    endpoint = place.endpoint()
    delivery = sent(endpoint)
    client = client_of(browser_of(who))
    return {
        (method, page): getattr(client, method)(
            place.path + page.format(pk=endpoint.pk, id=delivery.message_id), {}
        ).status_code
        for method, page in pages
    }


MAY_READ = [("get", page) for page in READ]
MAY_CHANGE = [each for each in [*GET, *POST] if each not in MAY_READ and each != ("post", "{pk}/delete/")]


@pytest.mark.parametrize("who", ["owner of record", Role.OWNER, Role.DEVELOPER, Role.VIEWER, "stranger", "staff"])
def test_each_page_of_an_app_for_each_reader(team_place: Place, who: str) -> None:
    found = answers(team_place, reader(team_place, who), [*MAY_READ, *MAY_CHANGE])  # type: ignore[arg-type]  # a person
    reads = {page: found[page] for page in MAY_READ}
    changes = {page: found[page] for page in MAY_CHANGE}
    if who in {"stranger", "staff"}:
        assert set(found.values()) == {404}
    elif who == Role.VIEWER:
        assert set(reads.values()) == {200}
        assert set(changes.values()) == {403}
    else:
        assert set(reads.values()) == {200}
        assert set(changes.values()) == {200, 302}


def test_a_viewer_is_offered_nothing_that_changes(team_place: Place) -> None:
    browser = browser_of(reader(team_place, Role.VIEWER))  # type: ignore[arg-type]  # a person
    assert "A developer or an owner of the app can add one." in browser.open(team_place.path).text
    endpoint = team_place.endpoint()
    delivery = sent(endpoint)
    for page in READ:
        browser.open(team_place.path + page.format(pk=endpoint.pk, id=delivery.message_id))
        main = browser.page.xpath("//main")[0]
        assert [
            form for form in main.xpath(".//form[@method='post']") if "webhooks" in (form.get("action") or "")
        ] == []
        assert (
            main.xpath(".//a[contains(@href, '/edit/') or contains(@href, '/rotate/') or contains(@href, 'new/')]")
            == []
        )


def test_the_webhooks_of_a_person_are_theirs_alone(user: User) -> None:
    place = Place(user)
    endpoint = place.endpoint()
    delivery = sent(endpoint)
    before = WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.values().get()
    for other in (UserFactory.create(), StaffFactory.create()):
        client = client_of(browser_of(other))
        for method, page in [*GET, *POST]:
            if "{pk}" in page:
                path = place.path + page.format(pk=endpoint.pk, id=delivery.message_id)
                assert getattr(client, method)(path, {}).status_code == 404, page
    assert (WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.values().get()) == before


def test_an_endpoint_of_another_owner_is_not_below_ones_own_pages(user: User, app: Application) -> None:
    other = Place(user, None)
    foreign, own = other.endpoint(), Place(user, app).endpoint()
    delivery, own_delivery = sent(foreign), sent(own)
    client = client_of(browser_of(user))
    for method, page in [*GET, *POST]:
        if "{pk}" in page:
            path = Place(user, app).path + page.format(pk=foreign.pk, id=delivery.message_id)
            assert getattr(client, method)(path, {}).status_code == 404, page
    for path in (f"{own.pk}/deliveries/{delivery.message_id}/", f"{own.pk}/deliveries/no-such/"):
        assert client.get(Place(user, app).path + path).status_code == 404
    replay = f"{foreign.pk}/deliveries/{own_delivery.message_id}/replay/"
    assert client.post(other.path + replay).status_code == 404
    assert client.get(f"{other.path}{10**30}/").status_code == 404


def test_a_visitor_is_sent_to_the_login_page(client: object, place: Place) -> None:
    endpoint = place.endpoint()
    delivery = sent(endpoint)
    for method, page in [*GET, *POST]:
        answer = getattr(client, method)(place.path + page.format(pk=endpoint.pk, id=delivery.message_id))
        assert (answer.status_code, answer.headers["Location"][:22]) == (302, "/accounts/login/?next=")


def test_who_has_left_the_team_since_the_page_was_opened_changes_nothing(team_place: Place) -> None:
    developer = reader(team_place, Role.DEVELOPER)
    assert developer is not None
    endpoint, owner = team_place.endpoint(), Owner(developer, team_place.app)
    TeamMember.objects.filter(user=developer).delete()
    version = actions.version_of_secret(endpoint)
    with pytest.raises(PermissionDenied):
        actions.rotate_secret(owner=owner, endpoint=endpoint, by=developer, version=version)
    with pytest.raises(PermissionDenied):
        actions.perform(endpoints.pause, owner=owner, by=developer, endpoint=endpoint)
    endpoint.refresh_from_db()
    assert (actions.version_of_secret(endpoint), endpoint.disabled_at) == (version, None)


@pytest.mark.django_db(transaction=True)
def test_who_deletes_a_webhook_of_an_app_that_moves_meanwhile_is_told_so(user: User, app: Application) -> None:
    team = Team.objects.create(name="Team")
    TeamMember.objects.create(team=team, user=user, role=Role.OWNER)
    place = Place(user, app)
    path = place.page(place.endpoint(), "delete/")
    browser = browser_of(user)
    is_between = threading.Event()

    def act(number: int) -> None:
        if number == 1:
            assert is_between.wait(GIVE_UP)
            browser.response = client_of(browser).post(path, follow=True)
            return
        with transaction.atomic():
            transfers.transfer(application=app, team=team, by=user)
            is_between.set()
            wait_for_a_blocked_statement()

    together(2, act)
    assert applications.MOVED in browser.text
    assert WebhookEndpoint.objects.exists()
