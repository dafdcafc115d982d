"""Creates, renames and deletes teams, and changes their members. `invitations` brings members in, `transfers` apps.

Every operation locks the team's row (`roles.lock_teams`), so that two owners cannot both leave as the other one stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F

from accounts import audit, notifications, users
from accounts.models import User
from oidc_provider.applications import application_rules, applications, roles
from oidc_provider.applications.scopes import LOCKED_SCOPES
from oidc_provider.models import STAYS, Application, Invitation, Role, Team, TeamMember

MAX_TEAMS = 20  # of a person
MAX_MEMBERS = 50  # of a team
MAX_NAMES = 10  # of apps in a letter
GONE = "This team was deleted, or you are no longer a member of it."
NO_MEMBER = "This person is no longer a member of the team."
LAST_OWNER = "A team needs an owner whose account stays. Make another member an owner first, or delete the team."
TOO_MANY_TEAMS = f"A person can be in at most {MAX_TEAMS} teams."


@transaction.atomic
def create(*, name: str, by: User) -> Team:
    """Create a team whose owner is `by`. ValidationError by argument: a bad name; by has MAX_TEAMS, or is banned."""
    by = users.lock_active(by)
    check_room_of(by)
    _check_name(name, by, None)
    team = Team.objects.create(name=name)
    TeamMember.objects.create(team=team, user=by, role=Role.OWNER)
    record("created", team, by)
    return team


@transaction.atomic
def rename(*, team: Team, name: str, by: User) -> Team:
    """Rename the team, by an owner. ValidationError({"name": ...}); PermissionDenied."""
    team = _held(team, by, Role.OWNER)
    if name != team.name:
        _check_name(name, by, team)
        before, team.name = team.name, name
        team.save(update_fields=["name"])
        record("renamed", team, by, before={"name": before}, after={"name": name})
    return team


@transaction.atomic
def delete(*, team: Team, by: User) -> None:
    """Delete a team without apps, by an owner. ValidationError: it has apps. PermissionDenied."""
    team = _held(team, by, Role.OWNER)
    if team.applications.exists():
        raise ValidationError("This team has apps. Transfer or delete them first.", code="has_apps")
    record("deleted", team, by)
    team.delete()


@transaction.atomic
def change_role(*, member: TeamMember, role: Role, by: User) -> TeamMember:
    """Give a member another role, by an owner. ValidationError: the last owner would be none. PermissionDenied.

    An owner who becomes less is no longer the owner of record of any of the team's apps, and their invitations end.
    """
    team = _held(member.team, by, Role.OWNER)
    member = _current(member)
    before = Role(member.role)
    if before != role:
        _check_owner_stays(member)
        member.role = role
        member.save(update_fields=["role"])
        _record_of(member, "role_changed", by, before={"role": before.label}, after={"role": role.label})
        if before == Role.OWNER:
            end_ownership(team, member.user, by)
    return member


@transaction.atomic
def remove_member(*, member: TeamMember, by: User) -> None:
    """Remove a member, by an owner. ValidationError: they are the last owner, or no member. PermissionDenied.

    The team's apps lose scopes that only this member had unlocked.
    """
    _held(member.team, by, Role.OWNER)
    _remove(_current(member), "member_removed", by)


@transaction.atomic
def leave(*, team: Team, by: User) -> None:
    """Leave the team. ValidationError: `by` is its last owner. As `remove_member` for scopes."""
    team = _held(team, by, Role.VIEWER)
    _remove(team.members.select_related("team", "user").get(user=by), "member_left", by)


@transaction.atomic
def take_over(*, team: Team, user: User, by: User) -> TeamMember:
    """Make another member an owner, before the last owner, `by`, deletes their account. As `change_role`.

    `by` stays an owner until the account is deleted, since the deletion may be stopped.
    """
    member = team.members.select_related("team", "user").filter(user=user).exclude(user=by).first()
    if member is None:
        raise ValidationError(NO_MEMBER, code="changed")
    return change_role(member=member, role=Role.OWNER, by=by)


def add(team: Team, user: User, role: Role, by: User) -> TeamMember:
    """Add a member to the team, which the caller has locked, after `user`. ValidationError: they are one, or there is
    no room in the team or for the person."""
    if team.members.filter(user=user).exists():
        raise ValidationError("You are a member of this team already.", code="member")
    if team.members.count() >= MAX_MEMBERS:
        raise ValidationError(f"A team has at most {MAX_MEMBERS} members.", code="full")
    check_room_of(user)
    member = TeamMember.objects.create(team=team, user=user, role=role)
    _record_of(member, "member_joined", by, role=role.label)
    return member


def check_room_of(user: User) -> None:
    """Raise ValidationError where the person is in MAX_TEAMS teams. 1 query."""
    if user.team_memberships.count() >= MAX_TEAMS:
        raise ValidationError(TOO_MANY_TEAMS, code="too_many")


def end_ownership(team: Team, user: User, by: User | None) -> None:
    """After `user` is no longer an owner of the locked team: end their invitations, and give the apps of which they
    were the owner of record to `heir_of` the team, with a letter; the verification of these apps ends."""
    team.invitations.filter(invited_by=user).delete()
    Invitation.objects.filter(application__team=team, invited_by=user).delete()
    heir = heir_of(team)
    if heir is None:
        return
    inherited = [application for application in _locked_apps(team) if application.user_id == user.pk]
    for application in inherited:
        application.user = heir
        application.save(update_fields=["user", "updated"])
        _record_app(application, "transferred", by, before={"owner": user.username}, after={"owner": heir.username})
        applications.drop_verified(application=application, by=by, reason=applications.NEW_OWNER)
    _write_to_heir(team, heir, user, sorted(each.name for each in inherited if not each.is_staging))


def _write_to_heir(team: Team, heir: User, former: User, names: Sequence[str]) -> None:
    """Tell the heir the names of the apps; a banned one gets no letter."""
    if names and heir.is_active:
        notifications.send_after_commit(
            to=heir,
            subject=f"You are the owner of record of apps of the team {team.name}",
            template="dashboard/letters/apps_inherited.txt",
            context={
                "former": former.username,
                "team": team,
                "names": names[:MAX_NAMES],
                "more": len(names[MAX_NAMES:]),
            },
        )


def heir_of(team: Team) -> User | None:
    """Return the owner who answers for the team's apps after the present one: the longest standing whose account
    stays; else one whose account waits for its deletion; else one who is banned. 1 query."""
    owners = team.members.filter(role=Role.OWNER).select_related("user")
    waits_last = F("user__deletion__due_at").desc(nulls_first=True)  # the one whose account is deleted last
    found = owners.order_by("-user__is_active", waits_last, "joined_at", "pk").first()
    return None if found is None else found.user


def drop_locked_scopes(team: Team, by: User | None, reason: str) -> None:
    """Take locked scopes that no member has unlocked from the apps of the locked team."""
    allowed = roles.unlocked_in(team)
    for application in _locked_apps(team):
        drop_scopes_of(application, allowed, by, reason)


def drop_scopes_of(application: Application, allowed: set[str], by: User | None, reason: str) -> list[str]:
    """Take the locked scopes from the locked app that are not `allowed`; return those that it lost."""
    before = application.registered_scopes
    after = [scope for scope in before if scope not in LOCKED_SCOPES or scope in allowed]
    if after != before:
        application.registered_scopes = after
        application.save(update_fields=["registered_scopes", "updated"])
        _record_app(application, "scopes_changed", by, reason, before=before, after=after)
    return [scope for scope in before if scope not in after]


def record(verb: str, team: Team, by: User | None, reason: str = "", **data: Any) -> None:
    """Write the audit event of a step in a team."""
    audit.record(f"team:{verb}", by=by, on=team, reason=reason, **data)


def _remove(member: TeamMember, verb: str, by: User | None, reason: str = "") -> None:
    """Remove a member of a locked team."""
    team, user = member.team, member.user
    _check_owner_stays(member)
    member.delete()
    record(verb, team, by, reason, user_id=user.pk, username=user.username)
    end_ownership(team, user, by)
    drop_locked_scopes(team, by, f"{user.username} had unlocked it and is no longer in the team.")


def _check_owner_stays(member: TeamMember) -> None:
    others = TeamMember.objects.filter(STAYS, team=member.team, role=Role.OWNER).exclude(pk=member.pk)
    if member.role == Role.OWNER and not others.exists():
        raise ValidationError(LAST_OWNER, code="last_owner")


def _held(team: Team, by: User, role: Role) -> Team:
    """Return the team as it is now, locked. ValidationError: it was deleted. PermissionDenied: too low a role."""
    found = roles.lock_teams([team]).get(team.pk)
    if found is None:
        raise ValidationError(GONE, code="changed")
    roles.check_in_team(team=found, by=by, role=role)
    return found


def _current(member: TeamMember) -> TeamMember:
    found = TeamMember.objects.select_related("team", "user").filter(pk=member.pk).first()
    if found is None:
        raise ValidationError(NO_MEMBER, code="changed")
    return found


def _locked_apps(team: Team) -> list[Application]:
    return list(Application.objects.select_for_update(no_key=True).filter(team=team).order_by("pk"))


def _check_name(name: str, by: User, team: Team | None) -> None:
    problems = application_rules.name_problems(name, by, team)
    if problems:
        raise ValidationError({"name": problems})


def _record_of(member: TeamMember, verb: str, by: User | None, **data: Any) -> None:
    record(verb, member.team, by, user_id=member.user_id, username=member.user.username, **data)


def _record_app(application: Application, verb: str, by: User | None, reason: str = "", **data: Any) -> None:
    audit.record(f"application:{verb}", by=by, on=application, reason=reason, client_id=application.client_id, **data)
