"""Requests that arrive together: an invitation is used once, and a team keeps an owner."""

from __future__ import annotations

import threading

import pytest
from django.db import transaction

from accounts import users
from accounts.models import AccountDeletion, User
from dashboard.account import actions
from oidc_provider.applications import applications, invitations, teams
from oidc_provider.models import Application, Invitation, Role
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.teams.people import People, invite
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.threads import GIVE_UP, together, wait_for_a_blocked_statement

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


def test_who_deletes_their_account_waits_for_who_changes_an_app_of_the_team(people: People, user: User) -> None:
    """Both lock the person before the team."""
    (app,) = people.team.applications.all()
    own = ApplicationFactory.create(user=user, registered_scopes=["openid"])
    developer = people.by_standing["developer"]
    is_between = threading.Event()

    def act(number: int) -> None:
        if number == 1:
            assert is_between.wait(GIVE_UP)
            heirs, takers = [(people.team, developer)], [(own, people.team)]
            actions.ask_for_deletion(user=user, by=user, heirs=heirs, takers=takers)
            return
        with transaction.atomic():
            users.lock(user.pk)  # as the change begins
            is_between.set()
            wait_for_a_blocked_statement()
            applications.change_scopes(application=app, scopes=["openid"], by=developer)

    together(2, act)
    assert people.member("developer").role == Role.OWNER
    assert AccountDeletion.objects.filter(user=user).exists()


def test_two_who_take_over_an_app_of_each_other_at_once_both_do(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each locks both people, in one order."""
    people = [user, UserFactory.create()]
    apps = [ApplicationFactory.create(user=person, registered_scopes=["openid"]) for person in people]
    offers = [invite("taker@example.org", by=app.user, application=app)[0] for app in apps]
    is_between, lock = threading.Event(), users.lock_active

    def pause_after(person: User) -> User:
        found = lock(person)
        if not is_between.is_set():
            is_between.set()
            wait_for_a_blocked_statement()
        return found

    monkeypatch.setattr(users, "lock_active", pause_after)

    def act(number: int) -> None:
        assert number == 0 or is_between.wait(GIVE_UP)
        invitations.accept(invitation=offers[1 - number], by=people[number])

    together(2, act)
    assert [Application.objects.get(pk=app.pk).user for app in apps] == people[::-1]


def test_an_owner_whose_app_is_taken_over_meanwhile_moves_it_no_more(people: People, user: User) -> None:
    own = ApplicationFactory.create(user=user, registered_scopes=["openid"])
    invited = people.by_standing["invited"]
    offer, _ = invite(invited.email, by=user, application=own)
    client = client_of(browser_of(user))
    is_between = threading.Event()

    def act(number: int) -> str:
        if number == 0:
            with transaction.atomic():
                invitations.accept(invitation=offer, by=invited)
                is_between.set()
                wait_for_a_blocked_statement()
            return ""
        assert is_between.wait(GIVE_UP)
        answer = client.post(f"/dashboard/apps/{own.client_id}/transfer/", {"to": people.team.pk, "is_sure": "True"})
        return answer.content.decode()

    assert applications.MOVED in together(2, act)[1]
    own.refresh_from_db()
    assert (own.user, own.team) == (invited, None)
