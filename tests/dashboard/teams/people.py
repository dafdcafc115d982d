"""A team, one person for each standing towards it, and its app with an invitation to each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from infrastructure.hashing import digest
from oidc_provider.models import Application, Invitation, Role, Team, TeamMember
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory

STANDINGS = ("owner", "developer", "viewer", "invited", "former", "stranger", "staff")


@dataclass(frozen=True)
class People:
    """`by_standing`: a person for each of STANDINGS. `invitation`: of "invited" to the team, with `token`."""

    team: Team
    app: Application
    by_standing: dict[str, User]
    invitation: Invitation
    token: str

    def member(self, standing: str) -> TeamMember:
        return self.team.members.get(user=self.by_standing[standing])


def team_of(owner: User) -> People:
    team = Team.objects.create(name="Harbour")
    found = {name: UserFactory.create(username=name.title()) for name in STANDINGS if name not in {"owner", "staff"}}
    found |= {"owner": owner, "staff": StaffFactory.create(username="Keeper", is_superuser=False)}
    for standing, role in (("owner", Role.OWNER), ("developer", Role.DEVELOPER), ("viewer", Role.VIEWER)):
        TeamMember.objects.create(team=team, user=found[standing], role=role)
    app = ApplicationFactory.create(user=owner, name="Tidepool", team=team, registered_scopes=["openid", "identify"])
    invitation, token = invite(found["invited"].email, by=owner, team=team, role=Role.VIEWER)
    return People(team, app, found, invitation, token)


def invite(email: str, *, by: User, **about: Any) -> tuple[Invitation, str]:
    """Return an open invitation and its token. `about`: columns."""
    token, now = f"token-of-the-tests-{Invitation.objects.count()}-{email}", timezone.now()
    made = Invitation.objects.create(
        email=email,
        digest=digest(token),
        invited_by=by,
        **{"created_at": now, "expires_at": now + timedelta(days=7), **about},
    )
    return made, token


def link_of(text: str) -> str:
    """Return the path of the link of an invitation in a letter."""
    (path,) = re.findall(r"^https?://[^/\s]+(/dashboard/teams/join/\S+)$", text, re.MULTILINE)
    return str(path)
