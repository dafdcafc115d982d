"""Who may do what with an app: its roles, its owners, and the scopes that its team has unlocked.

An app without a team has one owner, its `user`. Every operation on an app asks `check`, and every page `role_of`.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, Value, When

from accounts import users
from accounts.models import User
from oidc_provider.models import Application, Role, Team, TeamMember

TOO_LOW = {
    Role.OWNER: "Only an owner of the team may do this. Ask one of them.",
    Role.DEVELOPER: "Your role in the team is viewer. Only a developer or an owner may do this.",
    Role.VIEWER: "You are no member of the team of this app.",
}


def role_of(user: User, application: Application) -> Role | None:
    """Return the role of `user` for the app; None for all but members. 1 query for an app of a team, none else."""
    if application.team_id is None:
        return Role.OWNER if application.user_id == user.pk else None
    return role_in(user, application.team_id)


def role_in(user: User, team: Team | int) -> Role | None:
    """Return the role of `user` in the team; None for all but members. 1 query."""
    role = TeamMember.objects.filter(team=team, user=user).values_list("role", flat=True).first()
    return None if role is None else Role(role)


def check(*, application: Application, by: User | None, role: Role = Role.DEVELOPER) -> None:
    """Raise PermissionDenied unless `by` has `role` for the app, or acts as staff or as the system (None).

    Staff who are no members may as `users.check_authority` says, through their own pages. Members who are staff have
    their role alone, unless they are superusers.
    """
    if by is None:
        return
    held = role_of(by, application)
    if held is not None and held.includes(role):
        return
    if by.is_superuser or (by.is_staff and held is None):
        users.check_authority(user=application.user, by=by)
        return
    raise PermissionDenied(TOO_LOW[Role.VIEWER if held is None else role])


def check_is_impartial(*, application: Application, by: User | None) -> None:
    """Raise PermissionDenied where `by`, a member of staff, decides about an app of their own team; superusers may.
    1 query for an app of a team, none else: `users.check_staff_action` knows the owner of record."""
    if by is not None and not by.is_superuser and application.team_id and role_in(by, application.team_id):
        raise PermissionDenied("This is an app of your own team. Another member of staff decides about it.")


def check_in_team(*, team: Team, by: User | None, role: Role) -> None:
    """Raise PermissionDenied unless `by` has `role` in the team, or acts as the system (None). 1 query."""
    held = None if by is None else role_in(by, team)
    if by is not None and (held is None or not held.includes(role)):
        raise PermissionDenied(TOO_LOW[Role.VIEWER if held is None else role])


def readable_by(user: User) -> QuerySet[Application]:
    """Return the apps that `user` has a role for, each with it as `role`: their own and those of their teams."""
    own = Application.objects.filter(team=None, user=user).order_by().values("pk")
    of_teams = Application.objects.filter(team__members__user=user).order_by().values("pk")
    in_team = TeamMember.objects.filter(team=OuterRef("team"), user=user).values("role")
    role = Case(When(team=None, then=Value(str(Role.OWNER))), default=Subquery(in_team))
    found: QuerySet[Application] = Application.objects.filter(pk__in=own.union(of_teams, all=True)).annotate(role=role)
    return found


def allows(application: Application, role: Role | str) -> bool:
    """Return whether the reader of the app has `role` for it; False where the app was read without one."""
    return application.role is not None and Role(application.role).includes(Role(role))


def owners_of(application: Application) -> list[User]:
    """Return who owns the app; of a team's app the owners who are not banned, the longest standing first. 1 query for
    an app of a team."""
    if application.team_id is None:
        return [application.user]
    members = TeamMember.objects.filter(team=application.team_id, role=Role.OWNER, user__is_active=True)
    return [member.user for member in members.select_related("user").order_by("joined_at", "pk")]


def unlocked_scopes(owner: User, team: Team | None) -> set[str]:
    """Return the locked scopes that an app may register: those that staff unlocked for its owner, or for any member of
    its team. 1 query for a team, none else."""
    return set(owner.unlocked_scopes) if team is None else unlocked_in(team)


def unlocked_in(team: Team) -> set[str]:
    """Return the locked scopes that any member of the team has unlocked. 1 query."""
    held = TeamMember.objects.filter(team=team).values_list("user__unlocked_scopes", flat=True)
    return {scope for scopes in held for scope in scopes}


def losing(owner: User, scope: str) -> QuerySet[Application]:
    """Return the apps that may not have a locked scope once it is locked for `owner`: their own, and those of their
    teams where no other member has it unlocked. 1 query for the members of the teams."""
    teams = set(owner.team_memberships.values_list("team", flat=True))
    others = TeamMember.objects.filter(team__in=teams).exclude(user=owner)
    kept = {team for team, scopes in others.values_list("team", "user__unlocked_scopes") if scope in scopes}
    return Application.objects.filter(Q(team=None, user=owner) | Q(team__in=teams - kept))


def lock_teams(teams: Iterable[Team | int | None]) -> dict[int, Team]:
    """Lock the rows of these teams until the end of the transaction, in the order of their keys; return those that
    there are, by key. 1 query, none for no team.

    Everything that decides by the members of a team, or changes them, holds this lock. The order of all locks: users
    by key, teams by key, apps with the live one before its staging app, invitations; after them approvals, codes,
    tokens and sessions at apps, in this order.
    """
    keys = {team.pk if isinstance(team, Team) else team for team in teams if team is not None}
    if not keys:
        return {}
    return {team.pk: team for team in Team.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")}
