"""Hands apps over: to a team, to one person by an invitation, and what becomes of them when an account is deleted.

`client_id`, secrets, redirect URLs, approvals and tokens stay. A staging app goes with its live one. An app loses a
locked scope that its new owners have not unlocked, and its verification with a new owner of record.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts import audit, users
from accounts.models import User
from oidc_provider import revocation
from oidc_provider.applications import application_rules, applications, roles, teams
from oidc_provider.models import STAYS, Application, Invitation, Role, Team, TeamMember

ENDED = "This invitation was answered or withdrawn, or it has expired. Ask for another one."
_DELETED = "The owner's account was deleted."


@dataclass(frozen=True)
class TeamToHandOver:
    """A team with no other owner whose account stays. `apps`: live ones; `heirs`: members who can become an owner."""

    team: Team
    apps: list[Application]
    heirs: list[TeamMember]


@dataclass(frozen=True)
class Estate:
    """What is deleted with an account unless somebody else takes it: live apps of the person alone, and teams."""

    apps: list[Application]
    teams: list[TeamToHandOver]


def estate_of(user: User) -> Estate:
    """Return what is deleted with the account as things are. 2 queries; 2 more for each team with no other owner."""
    apps = list(user.applications.filter(team=None, staging_of=None).order_by("name", "pk"))
    owned = TeamMember.objects.filter(user=user, role=Role.OWNER).select_related("team").order_by("team__name", "pk")
    others = TeamMember.objects.filter(STAYS, role=Role.OWNER).exclude(user=user).values("team")
    return Estate(apps, [_to_hand_over(member) for member in owned.exclude(team__in=others)])


def _to_hand_over(member: TeamMember) -> TeamToHandOver:
    heirs = member.team.members.filter(STAYS).exclude(pk=member.pk).select_related("user")
    apps = member.team.applications.filter(staging_of=None).order_by("name", "pk")
    return TeamToHandOver(member.team, list(apps), list(heirs.order_by("joined_at", "pk")))


@transaction.atomic
def transfer(*, application: Application, team: Team | None, by: User) -> Application:
    """Move the app to a team, at once; None: to `by` alone. `by` is an owner of the app, and of the team.

    The owner of record stays where they are an owner there, else `by` is it from now on. ValidationError: the app is a
    staging app, is there already, or `by` has no room for it; PermissionDenied.
    """
    application = hold_live(application, team=team, taker=by)
    roles.check(application=application, by=by, role=Role.OWNER)
    if team is not None:
        roles.check_in_team(team=team, by=by, role=Role.OWNER)
    stays = team is not None and roles.role_in(application.user, team) == Role.OWNER
    owner = application.user if stays else by
    if (application.user_id, application.team) == (owner.pk, team):
        raise ValidationError("The app belongs there already.", code="same")
    return _hand_over(application, owner=owner, team=team, by=by)


@transaction.atomic
def take_over(*, invitation: Invitation, by: User) -> Application:
    """Accept an invitation to take an app over (`invitations.accept`)."""
    if invitation.application is None:
        raise ValueError("This invitation is to a team.")
    application = hold_live(invitation.application, taker=by)  # with its owner, in the order of all locks
    person = users.lock_active(by)
    invitation = lock_invitation(invitation)
    if roles.role_of(invitation.invited_by, application) != Role.OWNER:
        raise ValidationError(ENDED, code="ended")
    if application.team_id is None and application.user_id == by.pk:
        raise ValidationError("This app is yours already.", code="same")
    return _hand_over(application, owner=person, team=None, by=by)


def delete_of_user(user: User) -> None:
    """Before an account is deleted: leave its teams, delete the apps that nobody else owns, and its codes and tokens of
    all apps. The caller has locked the user's row.

    Another owner of a team takes its apps; a team without another owner is deleted, with its apps.
    """
    memberships = list(TeamMember.objects.filter(user=user).select_related("team", "user").order_by("team"))
    held = roles.lock_teams(member.team_id for member in memberships)
    apps = Application.objects.filter(Q(user=user, team=None) | Q(team__in=held))
    list(apps.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    for member in memberships:
        member.delete()
        teams.record("member_left", member.team, None, _DELETED, user_id=user.pk, username=user.username)
        if teams.heir_of(member.team) is None:
            _delete_team(member.team)
        else:
            teams.end_ownership(member.team, user, None)
            teams.drop_locked_scopes(member.team, None, f"{user.username} had unlocked it.")
    for application in user.applications.filter(staging_of=None).order_by("pk"):
        applications.delete(application=application, by=None, reason=_DELETED)
    # Before codes, like an exchange. They are deleted with the account: `logouts.left` still reads them.
    list(user.approvals.select_for_update().order_by("pk").values_list("pk"))
    revocation.delete_of_user(user)


def hold_live(application: Application, *, team: Team | None = None, taker: User | None = None) -> Application:
    """Return the live app, locked with its owner and team, and with the team and the person that it goes to.

    ValidationError: it is a staging app; it has got another owner or team since it was read.
    """
    people = {application.user_id, *([taker.pk] if taker else [])}
    list(User.objects.select_for_update(no_key=True).filter(pk__in=people).order_by("pk").values_list("pk"))
    roles.lock_teams([application.team_id, team])
    application = applications.hold(application)
    if application.is_staging:
        raise ValidationError("A staging app goes with its live app. Hand that one over.", code="staging")
    return application


def lock_invitation(invitation: Invitation, *, ends_with_sender: bool = True) -> Invitation:
    """Return the invitation as it is now, locked. ValidationError: it has ended, or its sender is banned and it
    `ends_with_sender`."""
    rows = Invitation.objects.open(timezone.now()).select_for_update(of=("self",))
    found = rows.select_related("team", "application", "invited_by").filter(pk=invitation.pk).first()
    if found is None or (ends_with_sender and not found.invited_by.is_active):
        raise ValidationError(ENDED, code="ended")
    return found


def _hand_over(application: Application, *, owner: User, team: Team | None, by: User) -> Application:
    """Change owner of record and team of a locked live app and of its staging app."""
    is_other = application.user_id != owner.pk
    if is_other:
        _check_room(owner)
    Invitation.objects.filter(application=application).delete()
    before = _whose(application)
    allowed = roles.unlocked_scopes(owner, team)
    for each in [application, *Application.objects.select_for_update(no_key=True).filter(staging_of=application)]:
        each.user, each.team = owner, team
        each.save(update_fields=["user", "team", "updated"])
        after = _whose(each)
        audit.record("application:transferred", by=by, on=each, client_id=each.client_id, before=before, after=after)
        teams.drop_scopes_of(each, allowed, by, "The new owners have not unlocked it.")
        if is_other:
            applications.drop_verified(application=each, by=by, reason=applications.NEW_OWNER)
    application.refresh_from_db()
    return application


def _whose(application: Application) -> dict[str, str]:
    return {"owner": application.user.username, "team": application.team.name if application.team else ""}


def _check_room(owner: User) -> None:
    if not owner.is_active:
        raise ValidationError("This account is banned.")
    if owner.applications.filter(staging_of=None).count() >= application_rules.MAX_APPLICATIONS:
        raise ValidationError(application_rules.TOO_MANY, code="too_many")


def _delete_team(team: Team) -> None:
    for application in team.applications.filter(staging_of=None).order_by("pk"):
        applications.delete(application=application, by=None, reason=_DELETED)
    teams.record("deleted", team, None, _DELETED)
    team.delete()
