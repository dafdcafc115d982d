"""Hands apps and teams over to others, with the letters about it."""

from __future__ import annotations

from django.db import transaction

from accounts import notifications
from accounts.models import User
from oidc_provider.applications import roles, teams, transfers
from oidc_provider.models import Application, Team, TeamMember


@transaction.atomic
def transfer(*, application: Application, team: Team | None, by: User) -> Application:
    """Move the app as `transfers.transfer`, and write to all of its owners, before and after."""
    told = {owner.pk: owner for owner in roles.owners_of(application)}
    before = _whose(application)
    application = transfers.transfer(application=application, team=team, by=by)
    told |= {owner.pk: owner for owner in roles.owners_of(application)}
    context = {"application": application, "by": by, "before": before, "after": _whose(application)}
    for owner in told.values():
        notifications.send_after_commit(
            to=owner,
            subject=f"{application.name} was transferred",
            template="dashboard/letters/app_transferred.txt",
            context={**context, "is_reader": roles.role_of(owner, application) is not None},
        )
    return application


@transaction.atomic
def make_owner(*, team: Team, user: User, by: User) -> TeamMember:
    """Make a member an owner as `teams.take_over`, and write to them."""
    member = teams.take_over(team=team, user=user, by=by)
    notifications.send_after_commit(
        to=member.user,
        subject=f"You are an owner of the team {team.name}",
        template="dashboard/letters/team_owner.txt",
        context={"team": team, "by": by.username},
    )
    return member


def _whose(application: Application) -> str:
    """Return whose the app is: a team's, or a person's."""
    return f"the team {application.team.name}" if application.team else application.user.username
