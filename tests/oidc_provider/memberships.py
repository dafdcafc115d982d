"""Members of teams, and their apps."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.models import User
from oidc_provider.models import Application, Role, Team, TeamMember
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory


def join(team: Team, username: str, role: Role = Role.DEVELOPER, **columns: Any) -> User:
    """Return a new member."""
    user = UserFactory.create(username=username, **columns)
    TeamMember.objects.create(team=team, user=user, role=role)
    return user


def member(team: Team, user: User) -> TeamMember:
    return TeamMember.objects.get(team=team, user=user)


def app_of(team: Team, owner: User, **columns: Any) -> Application:
    return ApplicationFactory.create(team=team, user=owner, **{"registered_scopes": ["openid"], **columns})


def code_of(refusal: pytest.ExceptionInfo[ValidationError]) -> str:
    return str(refusal.value.code)
