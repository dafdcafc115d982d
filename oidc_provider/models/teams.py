"""Teams of people who share apps, their roles, and invitations."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

MAX_TEAM_NAME_LENGTH = 64
MAX_EMAIL_LENGTH = 254
INVITATIONS_LAST = timedelta(days=7)


class Role(models.TextChoices):
    """What a member may do with the apps of a team. Each role may do all that the next one may."""

    OWNER = "OWNER", "Owner"
    DEVELOPER = "DEVELOPER", "Developer"
    VIEWER = "VIEWER", "Viewer"

    def includes(self, role: Role) -> bool:
        """Return whether this role may do all that `role` may."""
        order = list(Role)
        return order.index(self) <= order.index(role)


class Team(models.Model):  # type: ignore[django-manager-missing]  # untyped models of the toolkit
    """People who share apps. A team has an owner, who is not banned, for as long as it has apps or members."""

    name = models.CharField(max_length=MAX_TEAM_NAME_LENGTH)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name


STAYS = Q(user__is_active=True, user__deletion=None)
"""Of a member whose account is neither banned nor waits for its deletion."""


class TeamMember(models.Model):
    """A person in a team. `joined_at`: the earliest owner takes the place of an owner of record who leaves."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="team_memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="team_member_one_for_team_and_user"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="team_member_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self, now: datetime) -> InvitationQuerySet:
        """Return those that can still be accepted."""
        return self.filter(expires_at__gt=now)


class Invitation(models.Model):
    """An invitation to a team in a role, or to take over one app: exactly one of `team` and `application`.

    `email`: where it was sent, in lower case. `digest`: the SHA-256 of the token in its link, which is stored nowhere.
    Answered and withdrawn ones are deleted; `delete_expired` deletes expired ones.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, blank=True, related_name="invitations")
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="invitations",
    )
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    email = models.EmailField(max_length=MAX_EMAIL_LENGTH)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField(db_index=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "email"], name="invitation_one_for_team_and_email"),
            models.UniqueConstraint(fields=["application"], name="invitation_one_for_application"),
            models.CheckConstraint(
                condition=Q(team__isnull=False, application=None, role__in=Role.values)
                | Q(team=None, application__isnull=False, role=""),
                name="invitation_is_to_team_or_application",
            ),
        ]

    def __str__(self) -> str:
        return f"Invitation of {self.email}"

    def is_open(self, now: datetime) -> bool:
        """Return whether it can still be accepted."""
        return now < self.expires_at
