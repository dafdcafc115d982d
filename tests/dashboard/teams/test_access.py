"""Every URL of teams and transfers, for each standing towards the team: exactly one answer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from dashboard import urls as dashboard_urls
from dashboard.teams import urls
from oidc_provider.models import Application, Invitation, Team, TeamMember
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import STANDINGS, People, invite
from tests.pages.markup import problems_of

pytestmark = pytest.mark.django_db

# The answers to GET and to POST, in the order of STANDINGS: owner, developer, viewer, invited, former, stranger, staff.
ALL_READ = [200] * 7
MEMBERS_READ = [200, 200, 200, 404, 404, 404, 404]
OWNERS_READ = [200, 403, 403, 404, 404, 404, 404]
NOT_READ = [405] * 7
TO_ITS_PAGE = [302] * 7
INVITED_READS = [404, 404, 404, 200, 404, 404, 404]
INVITED_ACTS = [404, 404, 404, 302, 404, 404, 404]
OWNERS_ACT = [302, 403, 403, 404, 404, 404, 404]
TABLE: dict[str, tuple[list[int], list[int]]] = {
    "teams": (ALL_READ, NOT_READ),
    "new_team": (ALL_READ, [302] * 7),
    "join": (TO_ITS_PAGE, NOT_READ),
    "invitation": (INVITED_READS, NOT_READ),
    "accept_invitation": (TO_ITS_PAGE, INVITED_ACTS),
    "decline_invitation": (TO_ITS_PAGE, INVITED_ACTS),
    "team": (MEMBERS_READ, NOT_READ),
    "team_activity": (MEMBERS_READ, NOT_READ),
    "team_rename": (OWNERS_READ, OWNERS_ACT),
    "team_invite": (OWNERS_READ, OWNERS_ACT),
    "team_withdraw": (NOT_READ, OWNERS_ACT),
    "team_member_role": (OWNERS_READ, OWNERS_ACT),
    "team_member_remove": (OWNERS_READ, OWNERS_ACT),
    "team_leave": ([200, 200, 200, 404, 404, 404, 404], [302, 302, 302, 404, 404, 404, 404]),
    "team_delete": (OWNERS_READ, [200, 403, 403, 404, 404, 404, 404]),  # the team has an app
    "application_transfer": (OWNERS_READ, [200, 403, 403, 404, 404, 404, 404]),  # asks whether the owner is sure
    "withdraw_offer": (NOT_READ, OWNERS_ACT),
}
FORM = {
    "name": "Pier",
    "email": "new@example.org",
    "role": "DEVELOPER",
    "typed_name": "Harbour",
    "to": "person",
}


def patterns() -> dict[str, str]:
    """Return the URLs of teams and transfers, by name."""
    found = {str(one.name): f"/dashboard/teams/{one.pattern}" for one in urls.urlpatterns}
    direct = (one for one in dashboard_urls.urlpatterns if isinstance(one, URLPattern))
    module = "dashboard.teams.transfer_views"
    return found | {str(one.name): f"/{one.pattern}" for one in direct if one.callback.__module__ == module}


def path_of(name: str, people: People) -> str:
    values = {
        "str:token": people.token,
        "str:client_id": people.app.client_id,
        "int:team_id": people.team.pk,
        "int:member_id": people.member("viewer").pk,
        "int:invitation_id": people.invitation.pk,
    }
    return re.sub(r"<([^>]+)>", lambda found: str(values[found[1]]), patterns()[name])


def page_of(people: People) -> str:
    return f"/dashboard/apps/{people.app.client_id}/"


def clients_of(people: People) -> list[Client]:
    """A client without CSRF checks for each standing."""
    return [client_of(browser_of(people.by_standing[standing])) for standing in STANDINGS]


def rows() -> Any:
    """All of teams that a page could change."""
    return [list(model.objects.order_by("pk").values()) for model in (Team, TeamMember, Invitation, Application)]


def test_every_url_has_a_row() -> None:
    assert set(patterns()) == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_read_answers_each_standing_and_changes_nothing(people: People, name: str) -> None:
    path, before = path_of(name, people), rows()
    assert [client.get(path).status_code for client in clients_of(people)] == TABLE[name][0]
    assert rows() == before


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("number", range(len(STANDINGS)), ids=STANDINGS)
def test_a_write_answers_each_standing_and_changes_nothing_that_it_may_not(
    people: People, name: str, number: int
) -> None:
    invite("other@example.org", by=people.by_standing["owner"], application=people.app)
    client, path, before = clients_of(people)[number], path_of(name, people), rows()
    status = client.post(path, FORM).status_code
    assert status == TABLE[name][1][number]
    if status in {403, 404, 405}:
        assert rows() == before


@pytest.mark.parametrize("name", TABLE)
def test_a_visitor_is_sent_to_the_login_page(client: Client, people: People, name: str) -> None:
    path = path_of(name, people)
    answer = client.get(path)
    if name == "join":
        assert answer["Location"] == f"/dashboard/teams/invitations/{people.invitation.pk}/"
    elif TABLE[name][0] == NOT_READ:
        assert answer.status_code in {302, 405}
    else:
        assert (answer.status_code, answer["Location"][:22]) == (302, "/accounts/login/?next=")
    assert client.post(path, FORM).status_code in {302, 405}


ASK_FIRST = ("team_invite", "team_member_role", "team_member_remove", "team_delete", "application_transfer")


@pytest.mark.parametrize("name", ASK_FIRST)
def test_what_gives_or_takes_access_asks_for_the_password_again_after_5_minutes(people: People, name: str) -> None:
    path = path_of(name, people)
    old, before = browser_of(people.by_standing["owner"], password_age=301), rows()
    assert old.open(path).response.request["PATH_INFO"] == "/accounts/reauthenticate/"
    answer = client_of(old).post(path, FORM)
    assert answer["Location"].startswith("/accounts/reauthenticate/")
    assert rows() == before


def test_a_role_that_is_too_low_is_said_in_a_sentence(people: People) -> None:
    browser = browser_of(people.by_standing["viewer"])
    for name, back in (
        ("team_rename", f"/dashboard/teams/{people.team.pk}/"),
        ("application_transfer", page_of(people)),
    ):
        assert "Only an owner of the team may do this." in browser.open(path_of(name, people)).text
        assert browser.page.xpath("//main//a/@href") == [back, "/"]
        assert "Sign in with another account" not in browser.text
        assert browser.open(back).response.status_code == 200


def test_the_app_of_a_refused_page_is_named_as_text(people: People) -> None:
    Application.objects.filter(pk=people.app.pk).update(name="<b>Tidepool</b>")
    browser = browser_of(people.by_standing["viewer"]).open(f"{page_of(people)}settings/")
    assert "Back to <b>Tidepool</b>" in browser.text
    assert problems_of(browser.response) == []


def test_a_number_of_any_length_is_no_team(people: People) -> None:
    client = client_of(browser_of(people.by_standing["owner"]))
    for number in (0, 2**31, 2**63, 10**40):
        assert client.get(f"/dashboard/teams/{number}/").status_code == 404
        assert client.get(f"/dashboard/teams/invitations/{number}/").status_code == 404
        assert client.get(f"/dashboard/teams/{people.team.pk}/members/{number}/role/").status_code == 404


@pytest.mark.parametrize("name", ["team_member_role", "team_member_remove", "team_withdraw"])
def test_a_row_of_another_team_is_not_found(people: People, name: str) -> None:
    other = Team.objects.create(name="Quay")
    TeamMember.objects.create(team=other, user=people.by_standing["owner"], role="OWNER")
    path = path_of(name, people).replace(f"/teams/{people.team.pk}/", f"/teams/{other.pk}/")
    before = rows()
    assert client_of(browser_of(people.by_standing["owner"])).post(path, FORM).status_code == 404
    assert rows() == before
