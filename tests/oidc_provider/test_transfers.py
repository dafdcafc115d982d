"""What becomes of the apps of teams: transfers, locked scopes, the end of accounts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from accounts import bans, users
from accounts.models import AuditEvent, User
from oidc_provider.applications import application_rules, applications, invitations, roles, staging, teams, transfers
from oidc_provider.models import Application, Approval, Role, Team, TeamMember
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.oidc_provider.memberships import app_of, code_of, join, member
from tests.oidc_provider.protocol import App
from tests.support.threads import together

pytestmark = pytest.mark.django_db


def _to_team(app: Application) -> None:
    transfers.transfer(application=app, team=teams.create(name="Harbour", by=app.user), by=app.user)


def _to_person(app: Application) -> None:
    sent = invitations.offer(application=app, email="heir@example.org", by=app.user)
    invitations.accept(invitation=sent.invitation, by=UserFactory.create(username="Heir"))


@pytest.mark.embedded
@pytest.mark.parametrize("move", [_to_team, _to_person])
def test_a_transfer_keeps_client_id_secrets_approvals_and_tokens(
    app: App, browser: Client, move: Callable[[Application], None]
) -> None:
    held = app.application
    before = (held.client_id, held.client_secret, held.redirect_uris)
    first = app.sign_in(browser, "openid identify offline_access")
    second = app.refresh(first["refresh_token"])
    assert second.status_code == 200
    move(held)
    held.refresh_from_db()
    assert (held.client_id, held.client_secret, held.redirect_uris) == before
    assert app.is_live(second.json()["access_token"])
    assert app.refresh(second.json()["refresh_token"]).status_code == 200
    assert Approval.objects.filter(application=held).count() == 1
    event = AuditEvent.objects.get(verb="application:transferred")
    assert event.data["before"] != event.data["after"]


def test_a_staging_app_goes_with_its_live_app_and_not_by_itself(owner: User, team: Team) -> None:
    live = ApplicationFactory.create(user=owner, registered_scopes=["openid"])
    beside = staging.create(application=live, by=owner).application
    with pytest.raises(ValidationError) as refusal:
        transfers.transfer(application=beside, team=team, by=owner)
    assert code_of(refusal) == "staging"
    transfers.transfer(application=live, team=team, by=owner)
    beside.refresh_from_db()
    assert beside.team == team
    live.refresh_from_db()
    other = join(team, "Otto", Role.OWNER)
    sent = invitations.offer(application=live, email="otto@example.org", by=owner)
    invitations.accept(invitation=sent.invitation, by=other)
    beside.refresh_from_db()
    assert (beside.team, beside.user) == (None, other)


def test_a_staging_app_of_a_team_belongs_to_the_team(owner: User, team: Team) -> None:
    live = app_of(team, owner)
    developer = join(team, "Dora")
    beside = staging.create(application=live, by=developer).application
    assert (beside.team, beside.user) == (team, owner)


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER, None])
def test_an_app_is_transferred_only_to_a_team_of_which_one_is_an_owner(team: Team, role: Role | None) -> None:
    person = join(team, "Dora", role) if role else UserFactory.create()
    app = ApplicationFactory.create(user=person)
    with pytest.raises(PermissionDenied):
        transfers.transfer(application=app, team=team, by=person)


@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER, None])
def test_only_an_owner_gives_an_app_of_a_team_away(team: Team, owner: User, role: Role | None) -> None:
    app, person = app_of(team, owner), join(team, "Dora", role) if role else UserFactory.create()
    mine = teams.create(name="Mine", by=person)
    for act in (
        lambda: transfers.transfer(application=app, team=mine, by=person),
        lambda: transfers.transfer(application=app, team=None, by=person),
        lambda: invitations.offer(application=app, email="a@example.org", by=person),
        lambda: applications.delete(application=app, by=person),
    ):
        with pytest.raises(PermissionDenied):
            act()


def test_an_app_comes_back_to_one_owner_alone(team: Team, owner: User) -> None:
    app = app_of(team, owner)
    other = join(team, "Otto", Role.OWNER)
    transfers.transfer(application=app, team=None, by=other)
    app.refresh_from_db()
    assert (app.user, app.team) == (other, None)
    assert roles.role_of(owner, app) is None
    with pytest.raises(ValidationError) as refusal:
        transfers.transfer(application=app, team=None, by=other)
    assert code_of(refusal) == "same"


def test_the_verification_ends_with_another_owner_of_record_and_stays_with_the_same(team: Team, owner: User) -> None:
    app = ApplicationFactory.create(user=owner, is_verified=True)
    transfers.transfer(application=app, team=team, by=owner)
    app.refresh_from_db()
    assert app.is_verified
    sent = invitations.offer(application=app, email="a@example.org", by=owner)
    invitations.accept(invitation=sent.invitation, by=UserFactory.create())
    app.refresh_from_db()
    assert not app.is_verified


def test_who_has_50_apps_takes_no_other_one(owner: User) -> None:
    taker = UserFactory.create()
    ApplicationFactory.create_batch(application_rules.MAX_APPLICATIONS, user=taker)
    sent = invitations.offer(application=ApplicationFactory.create(user=owner), email="a@example.org", by=owner)
    with pytest.raises(ValidationError) as refusal:
        invitations.accept(invitation=sent.invitation, by=taker)
    assert code_of(refusal) == "too_many"


def test_an_offer_ends_with_a_transfer(team: Team, owner: User) -> None:
    app = ApplicationFactory.create(user=owner)
    sent = invitations.offer(application=app, email="a@example.org", by=owner)
    transfers.transfer(application=app, team=team, by=owner)
    with pytest.raises(ValidationError) as refusal:
        invitations.accept(invitation=sent.invitation, by=UserFactory.create())
    assert code_of(refusal) in {"ended", "changed"}
    app.refresh_from_db()
    assert (app.user, app.team) == (owner, team)


# Locked scopes


def locked_scopes(app: Application) -> list[str]:
    app.refresh_from_db()
    return [scope for scope in app.registered_scopes if scope != "openid"]


def test_an_app_of_a_team_registers_what_any_member_has_unlocked(team: Team, owner: User) -> None:
    app = app_of(team, owner)
    with pytest.raises(ValidationError):
        applications.change_scopes(application=app, scopes=["openid", "email"], by=owner)
    join(team, "Vera", Role.VIEWER, unlocked_scopes=["email"])
    applications.change_scopes(application=app, scopes=["openid", "email"], by=owner)
    assert locked_scopes(app) == ["email"]


LOSSES: dict[str, Callable[[Team, User, User], object]] = {
    "leaves": lambda team, owner, user: teams.leave(team=team, by=user),
    "is removed": lambda team, owner, user: teams.remove_member(member=member(team, user), by=owner),
    "is deleted": lambda team, owner, user: users.delete(user=user, by=None),
    "is relocked": lambda team, owner, user: applications.relock_scope(owner=user, scope="email", by=None, reason="x"),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_the_team_loses_a_scope_with_the_last_member_who_has_it_unlocked(
    team: Team, owner: User, loss: Callable[[Team, User, User], object]
) -> None:
    both = [join(team, name, Role.VIEWER, unlocked_scopes=["email"]) for name in ("Vera", "Vito")]
    app = app_of(team, owner, registered_scopes=["openid", "email"])
    other = ApplicationFactory.create(registered_scopes=["openid", "email"])
    loss(team, owner, both[0])
    assert locked_scopes(app) == ["email"]
    loss(team, owner, both[1])
    assert locked_scopes(app) == []
    assert locked_scopes(other) == ["email"]
    assert AuditEvent.objects.filter(verb__in=["application:scopes_changed", "user:scope_relocked"]).exists()


def test_a_transfer_takes_the_scopes_that_the_new_owners_have_not_unlocked(team: Team, owner: User) -> None:
    person = UserFactory.create(unlocked_scopes=["email", "connections"])
    TeamMember.objects.create(team=team, user=person, role=Role.OWNER)
    app = ApplicationFactory.create(user=person, registered_scopes=["openid", "email", "connections"])
    transfers.transfer(application=app, team=team, by=person)
    assert locked_scopes(app) == ["email", "connections"]
    sent = invitations.offer(application=app, email="a@example.org", by=owner)
    invitations.accept(invitation=sent.invitation, by=UserFactory.create(unlocked_scopes=["connections"]))
    assert locked_scopes(app) == ["connections"]


@pytest.mark.django_db(transaction=True)
def test_a_scope_is_not_registered_while_the_last_who_has_it_unlocked_leaves(team: Team, owner: User) -> None:
    for number in range(5):
        leaver = join(team, f"Vera{number}", Role.VIEWER, unlocked_scopes=["email"])
        app = app_of(team, owner)

        def act(number: int, leaver: User = leaver, app: Application = app) -> None:
            if number == 0:
                teams.leave(team=team, by=leaver)
                return
            with contextlib.suppress(ValidationError):
                applications.change_scopes(application=app, scopes=["openid", "email"], by=owner)

        together(2, act)
        assert locked_scopes(app) == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_steps_in_two_teams_end_without_a_deadlock(owner: User) -> None:
    """Every operation locks people, teams and apps in one order."""
    two = [teams.create(name=f"Pier {number}", by=owner) for number in range(2)]
    other = UserFactory.create(unlocked_scopes=["email"])
    for each in two:
        TeamMember.objects.create(team=each, user=other, role=Role.OWNER)
    apps = [app_of(each, owner) for each in two]
    steps: list[Callable[[], object]] = [
        lambda: transfers.transfer(application=apps[0], team=two[1], by=other),
        lambda: transfers.transfer(application=apps[1], team=two[0], by=owner),
        lambda: applications.relock_scope(owner=other, scope="email", by=None, reason="x"),
        lambda: teams.leave(team=two[0], by=other),
        lambda: applications.change_scopes(application=apps[0], scopes=["openid"], by=owner),
        lambda: users.delete(user=other, by=None),
    ]

    def act(number: int) -> None:
        # Another step may come first.
        with contextlib.suppress(ValidationError, PermissionDenied, User.DoesNotExist, TeamMember.DoesNotExist):
            steps[number]()

    together(len(steps), act)
    for app in apps:
        app.refresh_from_db()
        assert app.team in two
        assert roles.role_in(app.user, app.team) == Role.OWNER


# Deleted and banned accounts


def test_the_app_of_a_team_outlives_its_owner_of_record(team: Team, owner: User) -> None:
    app, alone = app_of(team, owner), ApplicationFactory.create(user=owner)
    other = join(team, "Otto", Role.OWNER)
    users.delete(user=owner, by=None)
    app.refresh_from_db()
    assert (app.user, app.team) == (other, team)
    assert not Application.objects.filter(pk=alone.pk).exists()


def test_what_no_other_owner_takes_is_deleted_with_the_account(team: Team, owner: User) -> None:
    join(team, "Dora")
    app_of(team, owner)
    ApplicationFactory.create(user=owner)
    estate = transfers.estate_of(owner)
    assert [len(estate.apps), [each.team for each in estate.teams]] == [1, [team]]
    assert [heir.user.username for heir in estate.teams[0].heirs] == ["Dora"]
    users.delete(user=owner, by=None)
    assert not Application.objects.exists()
    assert not Team.objects.exists()


def test_a_member_takes_over_before_the_account_is_deleted(team: Team, owner: User) -> None:
    developer, app = join(team, "Dora"), app_of(team, owner)
    teams.take_over(team=team, user=developer, by=owner)
    assert transfers.estate_of(owner).teams == []
    assert roles.role_in(owner, team) == Role.OWNER  # the deletion may be stopped
    users.delete(user=owner, by=None)
    app.refresh_from_db()
    assert app.user == developer


def test_a_ban_leaves_the_apps_of_a_team_as_they_are(team: Team, owner: User) -> None:
    app = app_of(team, owner)
    bans.ban(user=owner, by=None, reason="Spam.")
    app.refresh_from_db()
    assert (app.user, app.team, app.is_usable()) == (owner, team, True)


def test_a_banned_owner_takes_an_app_before_nobody_does(team: Team, owner: User) -> None:
    app, banned = app_of(team, owner), join(team, "Otto", Role.OWNER)
    bans.ban(user=banned, by=None, reason="Spam.")
    users.delete(user=owner, by=None)
    app.refresh_from_db()
    assert app.user == banned


def test_a_banned_person_joins_no_team_and_takes_no_app(team: Team, owner: User) -> None:
    guest = UserFactory.create()
    to_team = invitations.invite(team=team, email="a@example.org", role=Role.VIEWER, by=owner)
    to_app = invitations.offer(application=ApplicationFactory.create(user=owner), email="a@example.org", by=owner)
    bans.ban(user=guest, by=None, reason="Spam.")
    for sent in (to_team, to_app):
        with pytest.raises(ValidationError):
            invitations.accept(invitation=sent.invitation, by=guest)


def test_an_invitation_whose_sender_is_banned_can_be_withdrawn_and_declined(team: Team, owner: User) -> None:
    """Else it would be open once more when the ban is lifted."""
    banned, guest = join(team, "Otto", Role.OWNER), UserFactory.create()
    one, other = (invitations.invite(team=team, email=f"{n}@example.org", role=Role.OWNER, by=banned) for n in "ab")
    bans.ban(user=banned, by=None, reason="Spam.")
    with pytest.raises(ValidationError):
        invitations.accept(invitation=one.invitation, by=guest)
    invitations.withdraw(invitation=one.invitation, by=owner)
    invitations.decline(invitation=other.invitation, by=guest)
    assert not team.invitations.exists()
