"""Invitations: to a team in a role, or to take over one app. The link in the letter holds the only copy of the token.

Whoever has the link and signs in may accept: the letter is the proof, as an account may have another address. An
invitation ends with its answer, with INVITATIONS_LAST, and when its sender is no longer an owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from accounts import audit, mail, users
from accounts.models import User
from infrastructure.hashing import digest, new_secret
from oidc_provider.applications import roles, teams, transfers
from oidc_provider.models import INVITATIONS_LAST, Application, Invitation, Role, Team, TeamMember
from oidc_provider.models.teams import MAX_EMAIL_LENGTH

MAX_OPEN = 20  # of a team
ENDED = "This invitation was answered or withdrawn, or it has expired. Ask for another one."


@dataclass(frozen=True)
class SentInvitation:
    """A new invitation. `token` is not stored: send it once, in the letter to `invitation.email`."""

    invitation: Invitation
    token: str


@transaction.atomic
def invite(*, team: Team, email: str, role: Role, by: User) -> SentInvitation:
    """Invite whoever reads mail at `email` to the team, by an owner. The caller sends the letter.

    An earlier invitation of the address ends. ValidationError by argument: a bad address, one of a member, MAX_OPEN
    invitations; PermissionDenied.
    """
    found = roles.lock_teams([team]).get(team.pk)
    if found is None:
        raise ValidationError(teams.GONE, code="changed")
    roles.check_in_team(team=found, by=by, role=Role.OWNER)
    email = _address(email)
    _check_is_no_member(found, email, by)
    found.invitations.filter(email=email).delete()
    if found.invitations.open(timezone.now()).count() >= MAX_OPEN:
        raise ValidationError({"email": f"A team has at most {MAX_OPEN} open invitations; withdraw one first."})
    sent = _sent(by, email, team=found, role=role)
    teams.record("invited", found, by, role=role.label)
    return sent


@transaction.atomic
def offer(*, application: Application, email: str, by: User) -> SentInvitation:
    """Invite whoever reads mail at `email` to take the app over, by an owner. The caller sends the letter.

    An earlier offer of the app ends. ValidationError by argument: a bad address, a staging app, which goes with its
    live one; PermissionDenied.
    """
    application = transfers.hold_live(application)
    roles.check(application=application, by=by, role=Role.OWNER)
    email = _address(email)
    Invitation.objects.filter(application=application).delete()
    sent = _sent(by, email, application=application)
    audit.record("application:offered", by=by, on=application, client_id=application.client_id)
    return sent


def find(token: str) -> Invitation | None:
    """Return the open invitation of the link, with its team or app and who sent it; None. 1 query."""
    rows = Invitation.objects.open(timezone.now()).select_related("team", "application", "invited_by")
    return rows.filter(digest=digest(token)).first()


def offer_of(application: Application, now: datetime) -> Invitation | None:
    """Return the open offer of the app to another person, or None. 1 query."""
    return Invitation.objects.open(now).filter(application=application).first()


@transaction.atomic
def accept(*, invitation: Invitation, by: User) -> TeamMember | Application:
    """Join the team, or take the app over: `by` is its only owner then. Return the membership or the app.

    ValidationError: the invitation has ended; `by` is a member or the owner already, has no room for another team or
    app; the team is full.
    """
    if invitation.team is None:
        return transfers.take_over(invitation=invitation, by=by)
    person = users.lock_active(by)
    team = roles.lock_teams([invitation.team]).get(invitation.team.pk)
    invitation = transfers.lock_invitation(invitation)
    if team is None or roles.role_in(invitation.invited_by, team) != Role.OWNER:
        raise ValidationError(ENDED, code="ended")
    member = teams.add(team, person, Role(invitation.role), by)
    invitation.delete()
    return member


@transaction.atomic
def decline(*, invitation: Invitation, by: User) -> None:
    """End the invitation, by whoever has its link. ValidationError: it has ended."""
    invitation = transfers.lock_invitation(invitation, ends_with_sender=False)
    _record_end("declined", invitation, by)
    invitation.delete()


@transaction.atomic
def withdraw(*, invitation: Invitation, by: User) -> None:
    """End the invitation, by an owner of its team or app. ValidationError: it has ended; PermissionDenied."""
    if invitation.team is not None:
        roles.check_in_team(team=invitation.team, by=by, role=Role.OWNER)
    elif invitation.application is not None:
        roles.check(application=invitation.application, by=by, role=Role.OWNER)
    invitation = transfers.lock_invitation(invitation, ends_with_sender=False)
    _record_end("invitation_withdrawn", invitation, by)
    invitation.delete()


def _record_end(verb: str, invitation: Invitation, by: User) -> None:
    on = invitation.team or invitation.application
    if on is None:
        raise PermissionDenied
    kind = "team" if invitation.team else "application"
    audit.record(f"{kind}:{verb}", by=by, on=on)  # without the address: the trail outlives accounts


def _address(email: str) -> str:
    email = email.strip().lower()
    if len(email) > MAX_EMAIL_LENGTH:
        raise ValidationError({"email": f"Use at most {MAX_EMAIL_LENGTH} characters."})
    try:
        validate_email(email)
        mail.check_spelling(email)
    except ValidationError as error:
        raise ValidationError({"email": error}) from error
    return email


def _check_is_no_member(team: Team, email: str, by: User) -> None:
    """Raise ValidationError for a confirmed address of a member. 1 query, of members alone: the answer tells nothing of
    accounts outside the team."""
    members = TeamMember.objects.filter(team=team, user__emailaddress__email=email, user__emailaddress__verified=True)
    found = members.values_list("user", flat=True).first()
    if found == by.pk:
        raise ValidationError({"email": "This is your own address, and you are a member of this team already."})
    if found is not None:
        raise ValidationError({"email": "The person with this address is a member of this team already."})


def _sent(
    by: User, email: str, *, team: Team | None = None, application: Application | None = None, role: str = ""
) -> SentInvitation:
    token, now = new_secret(), timezone.now()
    invitation = Invitation.objects.create(
        team=team,
        application=application,
        role=role,
        email=email,
        digest=digest(token),
        invited_by=by,
        created_at=now,
        expires_at=now + INVITATIONS_LAST,
    )
    return SentInvitation(invitation, token)
