"""The operator's console: a process beside the server that runs the actions of staff at a shell.

It reads one JSON object `{"do": name, ...arguments}` a line from standard input and answers with one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import django

Answer = dict[str, Any]


def prepare() -> Answer:
    """The commands of a new production installation before its first start."""
    from django.core.management import call_command

    from oidc_provider.models import SigningKey

    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("signing_keys", "publish", stdout=sys.stderr)
    call_command("signing_keys", "sign", SigningKey.objects.get().kid, "--force", stdout=sys.stderr)
    return {}


def new_person(username: str, email: str, password: str) -> Answer:
    from accounts import users

    user = users.create(username=username, email=email, password=password, by=None, has_verified_email=True)
    return {"id": user.pk, "uid": user.uid}


def new_app(owner: str, name: str, redirect_urls: list[str], scopes: list[str]) -> Answer:
    """Register an app, and unlock its locked scopes."""
    from oidc_provider.applications import applications
    from oidc_provider.applications.scopes import LOCKED_SCOPES

    user = _user(owner)
    for scope in LOCKED_SCOPES:
        if scope in scopes:
            user = applications.unlock_scope(owner=user, scope=scope, by=None, reason="A journey")
    made = applications.register(owner=user, name=name, redirect_urls=redirect_urls, scopes=scopes, by=None)
    return {"client_id": made.application.client_id, "client_secret": made.client_secret}


def suspend(client_id: str) -> Answer:
    from oidc_provider.applications import applications

    applications.suspend(application=_application(client_id), by=None, reason="A journey")
    return {}


def restore(client_id: str) -> Answer:
    from oidc_provider.applications import applications

    applications.restore(application=_application(client_id), by=None, reason="A journey")
    return {}


def reset_secret(client_id: str) -> Answer:
    from oidc_provider.applications import applications

    return {"client_secret": applications.reset_secret(application=_application(client_id), by=None)}


def ban(username: str) -> Answer:
    from accounts import bans

    bans.ban(user=_user(username), by=None, reason="A journey")
    return {}


def link_account(username: str, kind: str, external_id: str, name: str) -> Answer:
    from accounts.models import LinkedAccount

    LinkedAccount.objects.create(
        user=_user(username), kind=LinkedAccount.Kind[kind], external_id=external_id, name=name
    )
    return {}


def make_busy(username: str, client_id: str) -> Answer:
    """Count views of a profile in 30 days and requests of an app in 24 hours, in waves."""
    from datetime import timedelta

    from django.utils import timezone

    from lookup.models import Profile, ProfileDay
    from oidc_provider.models.log import OK, RequestKind, UsageCount

    profile, now = Profile.objects.get(user=_user(username), is_main=True), timezone.now()
    hour, today = now.replace(minute=0, second=0, microsecond=0), now.date()
    hosts = {"": 40, "forum.example": 24, "chat.example": 15, "search.example": 9}
    ProfileDay.objects.bulk_create(
        ProfileDay(profile=profile, day=today - timedelta(days=ago), host=host, views=most * (4 + ago * 5 % 7) // 10)
        for host, most in hosts.items()
        for ago in range(30)
    )
    kinds = {(RequestKind.CODE, OK): 26, (RequestKind.REFRESH, OK): 18, (RequestKind.CODE, "invalid_grant"): 2}
    UsageCount.objects.bulk_create(
        UsageCount(
            application_id=_application(client_id).pk,
            hour=hour - timedelta(hours=ago),
            kind=kind,
            outcome=outcome,
            count=1 + most * (3 + ago * 3 % 8) // 10,
        )
        for (kind, outcome), most in kinds.items()
        for ago in range(24)
    )
    return {}


def _user(username: str) -> Any:
    """Any: the models exist only once Django is set up."""
    from accounts.models import User

    return User.objects.get(username=username)


def _application(client_id: str) -> Any:
    """Any: the models exist only once Django is set up."""
    from oidc_provider.models import Application

    return Application.objects.get(client_id=client_id)


DEEDS: tuple[Callable[..., Answer], ...] = (
    *(prepare, new_person, new_app, suspend, restore, reset_secret, ban, link_account, make_busy),
)


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from django.db import connections

    by_name = {deed.__name__: deed for deed in DEEDS}
    for line in sys.stdin:
        arguments = json.loads(line)
        answer = by_name[arguments.pop("do")](**arguments)
        connections.close_all()  # the database may restart before the next deed
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
