"""Requests that arrive together: an invitation is used once, and a team keeps an owner."""

from __future__ import annotations

import pytest

from accounts.models import User
from oidc_provider.applications import teams
from oidc_provider.models import Application, Invitation, Role
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import People, invite
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.threads import together

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_people_who_have_one_link_one_joins(people: People) -> None:
    clients = [client_of(browser_of(UserFactory.create())) for _ in range(4)]
    for client in clients:
        client.get(f"/dashboard/teams/join/{people.token}/")
    path = f"/dashboard/teams/invitations/{people.invitation.pk}/accept/"
    statuses = together(4, lambda number: clients[number].post(path).status_code)
    assert set(statuses) <= {302, 404}
    assert people.team.members.count() == 4
    assert not Invitation.objects.exists()


def test_two_owners_who_leave_at_once_leave_one_behind(people: People, user: User) -> None:
    teams.change_role(member=people.member("developer"), role=Role.OWNER, by=user)
    clients = [client_of(browser_of(owner)) for owner in (user, people.by_standing["developer"])]
    path = f"/dashboard/teams/{people.team.pk}/leave/"
    assert together(2, lambda number: clients[number].post(path).status_code) == [302, 302]
    (owner,) = people.team.members.filter(role=Role.OWNER)
    assert Application.objects.get().user_id == owner.user_id


def test_an_app_that_is_taken_over_and_moved_at_once_has_one_owner(people: People, user: User) -> None:
    own = ApplicationFactory.create(user=user, registered_scopes=["openid"])
    invited = people.by_standing["invited"]
    offer, _ = invite(invited.email, by=user, application=own)
    clients = [client_of(browser_of(person)) for person in (user, invited)]
    acts = [
        (f"/dashboard/apps/{own.client_id}/transfer/", {"to": str(people.team.pk), "is_sure": "True"}),
        (f"/dashboard/teams/invitations/{offer.pk}/accept/", {}),
    ]
    statuses = together(2, lambda number: clients[number].post(*acts[number]).status_code)
    assert set(statuses) <= {200, 302, 404}
    own.refresh_from_db()
    assert (own.user, own.team) in [(user, people.team), (invited, None)]
    assert not Invitation.objects.filter(application=own).exists()
