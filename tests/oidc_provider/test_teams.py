"""Teams: members, roles, the last owner, invitations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.mail import EmailMessage
from django.db import IntegrityError, connection, transaction

from accounts import bans, deletions, users
from accounts.models import AccountDeletion, AuditEvent, User
from oidc_provider import revocation
from oidc_provider.applications import applications, invitations, roles, staging, teams
from oidc_provider.models import Application, Invitation, Role, Team, TeamMember
from tests.accounts.clock import NOON
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.oidc_provider.memberships import app_of, code_of, join, member
from tests.support.threads import together

pytestmark = pytest.mark.django_db


def verbs() -> list[str]:
    return list(AuditEvent.objects.filter(verb__startswith="team:").order_by("pk").values_list("verb", flat=True))


# The team and its members


@pytest.mark.embedded
def test_who_creates_a_team_is_its_owner(team: Team, owner: User) -> None:
    assert roles.role_in(owner, team) == Role.OWNER
    assert roles.role_in(UserFactory.create(), team) is None
    assert verbs() == ["team:created"]


@pytest.mark.parametrize("name", ["", " Harbour", "a" * 65, "\u3164", "Har\u200bbour", "official harbour", "H3arth"])
def test_a_name_of_a_team_obeys_the_rules_of_names_of_apps(owner: User, team: Team, name: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        teams.create(name=name, by=owner)
    assert set(refusal.value.message_dict) == {"name"}
    with pytest.raises(ValidationError) as refusal:
        teams.rename(team=team, name=name, by=owner)
    assert set(refusal.value.message_dict) == {"name"}


def test_a_team_is_not_named_like_the_verified_app_of_another_person(owner: User) -> None:
    ApplicationFactory.create(name="Tidepool", is_verified=True)
    ApplicationFactory.create(name="Lantern", is_verified=True, user=owner)
    with pytest.raises(ValidationError):
        teams.create(name="T1depool", by=owner)
    assert teams.create(name="Lantern", by=owner).name == "Lantern"


def test_a_person_is_in_20_teams_at_most(owner: User) -> None:
    for number in range(teams.MAX_TEAMS):
        teams.create(name=f"Pier {number}", by=owner)
    with pytest.raises(ValidationError) as refusal:
        teams.create(name="One more", by=owner)
    assert code_of(refusal) == "too_many"


def test_a_team_has_50_members_at_most(team: Team, owner: User) -> None:
    for _ in range(teams.MAX_MEMBERS - 1):
        TeamMember.objects.create(team=team, user=UserFactory.create(), role=Role.VIEWER)
    sent = invitations.invite(team=team, email="more@example.org", role=Role.VIEWER, by=owner)
    with pytest.raises(ValidationError) as refusal:
        invitations.accept(invitation=sent.invitation, by=UserFactory.create())
    assert code_of(refusal) == "full"


OWNERS_ACTS: dict[str, Callable[[Team, User], object]] = {
    "rename": lambda team, by: teams.rename(team=team, name="Pier", by=by),
    "delete": lambda team, by: teams.delete(team=team, by=by),
    "invite": lambda team, by: invitations.invite(team=team, email="a@example.org", role=Role.VIEWER, by=by),
    "remove": lambda team, by: teams.remove_member(member=team.members.earliest("pk"), by=by),
    "promote": lambda team, by: teams.change_role(member=member(team, by), role=Role.OWNER, by=by),
    "withdraw": lambda team, by: invitations.withdraw(invitation=team.invitations.get(), by=by),
}


@pytest.mark.parametrize("act", [name for name in OWNERS_ACTS if name != "promote"])
@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER, None])
def test_only_owners_change_the_team(team: Team, owner: User, act: str, role: Role | None) -> None:
    invitations.invite(team=team, email="guest@example.org", role=Role.VIEWER, by=owner)
    by = join(team, "Dora", role) if role else StaffFactory.create()
    with pytest.raises(PermissionDenied):
        OWNERS_ACTS[act](team, by)


def test_no_developer_becomes_an_owner_by_themselves(team: Team) -> None:
    with pytest.raises(PermissionDenied):
        OWNERS_ACTS["promote"](team, join(team, "Dora"))


def test_a_team_with_an_app_is_not_deleted(team: Team, owner: User) -> None:
    app = app_of(team, owner)
    with pytest.raises(ValidationError) as refusal:
        teams.delete(team=team, by=owner)
    assert code_of(refusal) == "has_apps"
    applications.delete(application=app, by=owner)
    teams.delete(team=team, by=owner)
    assert not Team.objects.exists()


LAST_OWNER_ACTS: dict[str, Callable[[Team, User], object]] = {
    "leave": lambda team, by: teams.leave(team=team, by=by),
    "remove": lambda team, by: teams.remove_member(member=member(team, by), by=by),
    "demote": lambda team, by: teams.change_role(member=member(team, by), role=Role.DEVELOPER, by=by),
}


@pytest.mark.parametrize("act", LAST_OWNER_ACTS.values(), ids=LAST_OWNER_ACTS)
def test_the_last_owner_stays_and_owners_who_go_do_not_count(
    team: Team, owner: User, act: Callable[[Team, User], object]
) -> None:
    """Neither one who is banned nor one who has asked for the deletion of the account."""
    join(team, "Dora")
    other, another = join(team, "Otto", Role.OWNER), join(team, "Anna", Role.OWNER)
    User.objects.filter(pk=other.pk).update(is_active=False)
    deletions.ask(user=another, by=another)
    with pytest.raises(ValidationError) as refusal:
        act(team, owner)
    assert code_of(refusal) == "last_owner"
    team.members.get(user=another).delete()
    User.objects.filter(pk=other.pk).update(is_active=True)
    act(team, owner)
    assert list(team.members.filter(role=Role.OWNER).values_list("user", flat=True)) == [other.pk]


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_leave_at_once_one_stays(team: Team, owner: User) -> None:
    both = [owner, join(team, "Otto", Role.OWNER)]

    def leave(number: int) -> str:
        try:
            teams.leave(team=team, by=both[number])
        except ValidationError as refusal:
            return str(refusal.code)
        return "left"

    assert sorted(together(2, leave)) == ["last_owner", "left"]
    assert team.members.filter(role=Role.OWNER).count() == 1


def test_the_longest_standing_owner_takes_the_place_of_the_owner_of_record(team: Team, owner: User) -> None:
    join(team, "Dora")
    later, app = join(team, "Otto", Role.OWNER), app_of(team, owner)
    join(team, "Oleg", Role.OWNER)
    teams.leave(team=team, by=owner)
    app.refresh_from_db()
    assert (app.user, app.team) == (later, team)
    event = AuditEvent.objects.get(verb="application:transferred")
    assert (event.data["before"], event.data["after"]) == ({"owner": "Olga"}, {"owner": "Otto"})


def test_of_owners_whose_accounts_wait_for_their_deletion_the_one_who_is_deleted_last_is_the_heir(
    team: Team, owner: User
) -> None:
    """A ban of Otto has put the deletion off that Otto asked for first."""
    for name, asked_at, due_at in (("Oleg", 2, 9), ("Otto", 1, 20), ("Anna", 3, 10)):
        days = {"asked_at": NOON + timedelta(days=asked_at), "due_at": NOON + timedelta(days=due_at)}
        AccountDeletion.objects.create(user=join(team, name, Role.OWNER), **days)
    app = app_of(team, owner)
    users.delete(user=owner, by=None)
    assert Application.objects.get(pk=app.pk).user.username == "Otto"


def _leave(member: TeamMember) -> None:
    teams.leave(team=member.team, by=member.user)


def _delete_account(member: TeamMember) -> None:
    users.delete(user=member.user, by=None)


def _become_less(member: TeamMember) -> None:
    teams.change_role(member=member, role=Role.DEVELOPER, by=member.user)


def _be_removed(member: TeamMember) -> None:
    teams.remove_member(member=member, by=TeamMember.objects.get(user__username="Otto").user)


def _give_away(member: TeamMember) -> None:
    app = Application.objects.get(user=member.user, staging_of=None)
    offered = invitations.offer(application=app, email="otto@example.org", by=member.user)
    invitations.accept(invitation=offered.invitation, by=User.objects.get(username="Otto"))


@pytest.mark.parametrize("end", [_leave, _become_less, _be_removed, _give_away, _delete_account])
def test_a_verification_ends_with_the_ownership_of_whom_staff_vouched_for(
    team: Team, owner: User, end: Callable[[TeamMember], None]
) -> None:
    heir = join(team, "Otto", Role.OWNER)
    live = app_of(team, owner, is_verified=True)
    staging.create(application=live, by=owner)
    Application.objects.update(is_verified=True)
    of_heir = app_of(team, heir, is_verified=True)
    end(member(team, owner))
    assert list(Application.objects.filter(is_verified=True)) == [of_heir]
    reasons = AuditEvent.objects.filter(verb="application:unverified").values_list("reason", flat=True)
    assert list(reasons) == ["The app has another owner of record."] * 2


@pytest.mark.parametrize("end", [_leave, _delete_account])
def test_the_heir_gets_one_letter_with_the_names_of_the_apps(
    team: Team,
    owner: User,
    end: Callable[[TeamMember], None],
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    heir = join(team, "Otto", Role.OWNER)
    for number in range(teams.MAX_NAMES + 2):
        app = app_of(team, owner, name=f"App {number:02}")
    staging.create(application=app, by=owner)
    app_of(team, heir, name="Own app")
    with django_capture_on_commit_callbacks(execute=True):
        end(member(team, owner))
    (letter,) = (letter for letter in mailoutbox if letter.to == [heir.email])
    assert letter.subject == f"Hearth: You are the owner of record of apps of the team {team.name}"
    lines = [line for line in str(letter.body).splitlines() if line.startswith("- ")]
    assert lines == [*(f"- App {number:02}" for number in range(teams.MAX_NAMES)), "- and 2 more"]
    assert f"{owner.username} is no longer an owner of the team {team.name}." in letter.body


def test_who_inherits_nothing_or_is_banned_gets_no_letter(
    team: Team, owner: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    later, banned = join(team, "Otto", Role.OWNER), join(team, "Oleg", Role.OWNER)
    bans.ban(user=banned, by=None, reason="Spam.")
    with django_capture_on_commit_callbacks(execute=True):
        teams.leave(team=team, by=owner)
    app_of(team, later)
    mailoutbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        users.delete(user=later, by=None)
    assert Application.objects.get().user == banned
    assert [letter.to for letter in mailoutbox if letter.to == [banned.email]] == []


# Invitations


@pytest.mark.embedded
def test_an_invitation_is_accepted_once_by_whoever_has_its_link(team: Team, owner: User) -> None:
    sent = invitations.invite(team=team, email=" Guest@Example.org ", role=Role.VIEWER, by=owner)
    assert (sent.invitation.email, sent.invitation.role) == ("guest@example.org", Role.VIEWER)
    assert sent.token not in str(Invitation.objects.values().get())
    found = invitations.find(sent.token)
    assert found == sent.invitation
    assert invitations.find(f"{sent.token}x") is None
    guest = UserFactory.create()
    invitations.accept(invitation=sent.invitation, by=guest)
    assert roles.role_in(guest, team) == Role.VIEWER
    with pytest.raises(ValidationError) as refusal:
        invitations.accept(invitation=sent.invitation, by=UserFactory.create())
    assert code_of(refusal) == "ended"
    assert verbs() == ["team:created", "team:invited", "team:member_joined"]


def _withdraw(invitation: Invitation, owner: User) -> None:
    invitations.withdraw(invitation=invitation, by=owner)


def _decline(invitation: Invitation, owner: User) -> None:
    invitations.decline(invitation=invitation, by=UserFactory.create())


def _demote(invitation: Invitation, owner: User) -> None:
    assert invitation.team is not None
    other = join(invitation.team, "Otto", Role.OWNER)
    teams.change_role(member=member(invitation.team, owner), role=Role.VIEWER, by=other)


def _ban(invitation: Invitation, owner: User) -> None:
    bans.ban(user=owner, by=None, reason="Spam.")


@pytest.mark.parametrize("end", [_withdraw, _decline, _demote, _ban])
def test_an_invitation_ends_with_its_sender_and_its_answer(
    team: Team, owner: User, end: Callable[[Invitation, User], None]
) -> None:
    sent = invitations.invite(team=team, email="guest@example.org", role=Role.OWNER, by=owner)
    end(sent.invitation, owner)
    assert Invitation.objects.exists() == (end is _ban)  # a ban may be lifted
    guest = UserFactory.create()
    with pytest.raises(ValidationError) as refusal:
        invitations.accept(invitation=sent.invitation, by=guest)
    assert code_of(refusal) == "ended"
    assert roles.role_in(guest, team) is None


def test_an_invitation_ends_after_7_days_and_is_deleted(team: Team, owner: User, clock: time_machine.Traveller) -> None:
    sent = invitations.invite(team=team, email="guest@example.org", role=Role.VIEWER, by=owner)
    clock.move_to(NOON + timedelta(days=7) - timedelta(seconds=1))
    assert invitations.find(sent.token)
    clock.move_to(NOON + timedelta(days=7))
    assert invitations.find(sent.token) is None
    with pytest.raises(ValidationError):
        invitations.accept(invitation=sent.invitation, by=UserFactory.create())
    assert revocation.delete_past_use(NOON + timedelta(days=7)) == 1
    assert not Invitation.objects.exists()


def test_a_second_invitation_of_an_address_replaces_the_first_and_20_are_open(team: Team, owner: User) -> None:
    first = invitations.invite(team=team, email="g0@example.org", role=Role.VIEWER, by=owner)
    for number in range(invitations.MAX_OPEN):
        invitations.invite(team=team, email=f"g{number}@example.org", role=Role.VIEWER, by=owner)
    assert invitations.find(first.token) is None
    with pytest.raises(ValidationError) as refusal:
        invitations.invite(team=team, email="more@example.org", role=Role.VIEWER, by=owner)
    assert set(refusal.value.message_dict) == {"email"}
    for wrong in ("no address", '"guest"@example.org', "guest@straße.example"):
        with pytest.raises(ValidationError):
            invitations.invite(team=team, email=wrong, role=Role.VIEWER, by=owner)


def test_a_member_does_not_accept_again(team: Team, owner: User) -> None:
    viewer = join(team, "Vera", Role.VIEWER)
    sent = invitations.invite(team=team, email="guest@example.org", role=Role.OWNER, by=owner)
    with pytest.raises(ValidationError) as refusal:
        invitations.accept(invitation=sent.invitation, by=viewer)
    assert code_of(refusal) == "member"
    assert roles.role_in(viewer, team) == Role.VIEWER


# Roles in operations


CHANGES: dict[str, Callable[[Application, User], object]] = {
    "details": lambda app, by: applications.change_details(application=app, by=by, name="New"),
    "urls": lambda app, by: applications.change_redirect_urls(
        application=app, redirect_urls=["https://new.example.org/"], by=by
    ),
    "scopes": lambda app, by: applications.change_scopes(application=app, scopes=["openid", "identify"], by=by),
    "reset": lambda app, by: applications.reset_secret(application=app, by=by),
    "second secret": lambda app, by: applications.add_secret(application=app, by=by),
    "tokens": lambda app, by: applications.revoke_tokens(application=app, by=by),
    "staging": lambda app, by: staging.create(application=app, by=by),
}


@pytest.mark.parametrize("act", CHANGES.values(), ids=CHANGES)
def test_a_developer_changes_an_app_and_a_viewer_a_former_member_and_a_stranger_do_not(
    team: Team, owner: User, act: Callable[[Application, User], object]
) -> None:
    app, former = app_of(team, owner), join(team, "Fay")
    teams.remove_member(member=member(team, former), by=owner)
    for by in (join(team, "Vera", Role.VIEWER), former, UserFactory.create()):
        with pytest.raises(PermissionDenied), transaction.atomic():
            act(app, by)
    act(app, join(team, "Dora"))


def test_a_ban_of_the_owner_of_record_keeps_no_member_from_changing_the_apps_of_the_team(
    team: Team, owner: User
) -> None:
    developer = join(team, "Dora")
    of_team, alone = app_of(team, owner), ApplicationFactory.create(user=owner, registered_scopes=["openid"])
    bans.ban(user=owner, by=None, reason="Spam.")
    for act in CHANGES.values():
        act(Application.objects.get(pk=of_team.pk), developer)
    with pytest.raises(ValidationError) as refusal:
        staging.create(application=Application.objects.get(pk=alone.pk), by=owner)
    assert set(refusal.value.message_dict) == {"owner"}


def test_staff_change_apps_through_their_own_pages_but_decide_nothing_for_their_own_team(
    team: Team, owner: User
) -> None:
    app, keeper = app_of(team, owner), StaffFactory.create(is_superuser=False)
    applications.verify(application=app, by=keeper)
    applications.change_details(application=app, by=keeper, name="Renamed")
    TeamMember.objects.create(team=team, user=keeper, role=Role.VIEWER)
    with pytest.raises(PermissionDenied):
        applications.verify(application=app, by=keeper)
    with pytest.raises(PermissionDenied):
        applications.restore(application=app, by=keeper)
    with pytest.raises(PermissionDenied):
        applications.change_details(application=app, by=keeper, name="Again")


# What the database holds


CONSTRAINTS: list[tuple[str, type[TeamMember | Invitation], dict[str, Any]]] = [
    ("team_member_one_for_team_and_user", TeamMember, {"user": "other"}),
    ("team_member_role_is_known", TeamMember, {"role": "CAPTAIN"}),
    ("invitation_one_for_team_and_email", Invitation, {"email": "second@example.org"}),
    ("invitation_is_to_team_or_application", Invitation, {"team": None}),
    ("invitation_is_to_team_or_application", Invitation, {"role": ""}),
    ("invitation_is_to_team_or_application", Invitation, {"team": None, "application": "app"}),
    ("invitation_one_for_application", Invitation, {"team": None, "role": "", "application": "app"}),
]


@pytest.mark.embedded
@pytest.mark.parametrize(("constraint", "model", "change"), CONSTRAINTS)
def test_each_constraint_refuses_its_change(
    team: Team, owner: User, constraint: str, model: type[TeamMember | Invitation], change: dict[str, Any]
) -> None:
    other, app = join(team, "Dora"), app_of(team, owner)
    for email in ("first@example.org", "second@example.org"):
        invitations.invite(team=team, email=email, role=Role.VIEWER, by=owner)
    invitations.offer(application=app, email="third@example.org", by=owner)
    rows = {"other": other, "app": app}
    change = {name: rows.get(value, value) if isinstance(value, str) else value for name, value in change.items()}
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        model._base_manager.order_by("pk").filter(pk=model._base_manager.earliest("pk").pk).update(**change)
    assert constraint in str(refusal.value) or connection.vendor == "sqlite"


def test_every_constraint_of_teams_is_provoked_here() -> None:
    held = {constraint.name for model in (Team, TeamMember, Invitation) for constraint in model._meta.constraints}
    assert held == {name for name, _, _ in CONSTRAINTS}
