"""What people do with teams, with the letters about it."""

from __future__ import annotations

import logging

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import notifications, rate_limits
from accounts.models import User
from dashboard import handovers
from dashboard.teams.queries import Destination
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from oidc_provider.applications import invitations, roles, teams
from oidc_provider.applications.invitations import SentInvitation
from oidc_provider.models import Application, Invitation, Role, Team, TeamMember

logger = logging.getLogger(__name__)
UNAVAILABLE = "Invitations cannot be sent at the moment. Try again in a minute."


def invite(*, team: Team, email: str, role: str, by: User) -> Invitation:
    """Invite the reader of an address to the team, by a letter. Raises as `invitations.invite`, and ValidationError
    where `by` has sent as many as allowed."""
    check_rate(by)
    with transaction.atomic():
        sent = invitations.invite(team=team, email=email, role=Role(role), by=by)
        context = {"team": team.name, "role": Role(role).label.lower()}
        _write(sent, f"Invitation to the team {team.name}", "team_invited", by, **context)
    return sent.invitation


def offer(*, application: Application, email: str, by: User) -> Invitation:
    """Offer the app to the reader of an address, by a letter. Raises as `invitations.offer`, and as `invite`."""
    check_rate(by)
    with transaction.atomic():
        sent = invitations.offer(application=application, email=email, by=by)
        _write(sent, f"Take over the app {application.name}", "app_offered", by, application=application.name)
    return sent.invitation


def transfer(*, application: Application, to: Destination, by: User) -> str:
    """Move the app to a team or to `by`, or offer it to a person. Return a sentence for the page. Raises as
    `transfers.transfer` and `offer`."""
    if to.email:
        offer(application=application, email=to.email, by=by)
        return f"Offer sent to {to.email}. Nothing changes until it is accepted."
    application = handovers.transfer(application=application, team=to.team, by=by)
    return f"{application.name} belongs to {to.name} now."


@transaction.atomic
def accept(*, invitation: Invitation, by: User) -> str:
    """Accept as `invitations.accept`, and write to the owners. Return a sentence for the person."""
    givers = roles.owners_of(invitation.application) if invitation.application else []
    done = invitations.accept(invitation=invitation, by=by)
    if isinstance(done, Application):
        _write_of_take_over(done, [giver for giver in givers if giver != by], by)
        return f"{done.name} is yours now."
    _write_of_member(done)
    return f"You are in the team {done.team} now."


@transaction.atomic
def decline(*, invitation: Invitation, by: User) -> str:
    """Decline as `invitations.decline`. Return a sentence for the person."""
    invitations.decline(invitation=invitation, by=by)
    return "Invitation declined."


@transaction.atomic
def remove(*, member: TeamMember, by: User) -> None:
    """Remove as `teams.remove_member`, and write to the person."""
    teams.remove_member(member=member, by=by)
    notifications.send_after_commit(
        to=member.user,
        subject=f"You were removed from the team {member.team.name}",
        template="dashboard/letters/team_removed.txt",
        context={"team": member.team.name, "by": by.username},
    )


def check_rate(user: User) -> None:
    """Count an invitation of the user. Raises ValidationError: too many, or the store of limits does not answer."""
    try:
        seconds_left = limits.hit(rate_limits.INVITATIONS.of(user.pk))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise ValidationError(UNAVAILABLE) from None
    if seconds_left:
        most, minutes = rate_limits.INVITATIONS.amount, -(-seconds_left // 60)
        raise ValidationError(f"You can send {most} invitations a day. Try again in {minutes} min.", code="limit")


def _write(sent: SentInvitation, subject: str, letter: str, by: User, **context: str) -> None:
    """Send the letter with the link. `by` is named by username, which no other account has."""
    invitation = sent.invitation
    context |= {"sender": by.username, "email": invitation.email}
    notifications.send_to_address_after_commit(
        address=invitation.email,
        subject=subject,
        template=f"dashboard/letters/{letter}.txt",
        context={**context, "token": sent.token, "expires_at": invitation.expires_at},
    )


def _write_of_member(member: TeamMember) -> None:
    """Tell the owners of the team, without the new member, that somebody joined. 1 query."""
    owners = member.team.members.filter(role=Role.OWNER, user__is_active=True).exclude(pk=member.pk)
    context = {"team": member.team, "member": member.user.username, "role": member.get_role_display().lower()}
    for owner in owners.select_related("user").order_by("pk"):
        notifications.send_after_commit(
            to=owner.user,
            subject=f"{member.user.username} joined the team {member.team.name}",
            template="dashboard/letters/team_joined.txt",
            context=context,
        )


def _write_of_take_over(application: Application, givers: list[User], by: User) -> None:
    for giver in givers:
        notifications.send_after_commit(
            to=giver,
            subject=f"{by.username} took over {application.name}",
            template="dashboard/letters/app_taken_over.txt",
            context={"application": application, "by": by},
        )
