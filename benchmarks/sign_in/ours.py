"""Our own tables: `python -m benchmarks.sign_in.ours`, with the service's settings and members in its database."""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchmarks.bench import ROOT, Bench
from benchmarks.sign_in import values
from benchmarks.sign_in.copying import copy
from benchmarks.sign_in.values import ACCESS, CODE, REFRESH, SCOPES, Plan

if TYPE_CHECKING:
    from django.db.models import Model

_SCOPE = " ".join(SCOPES)


def fill(bench: Bench, plan: Plan) -> None:
    """Write the apps, the approvals of the first members, and all codes and tokens."""
    counts = ["--users", str(plan.users), "--tokens", str(plan.tokens)]
    command = [sys.executable, "-m", "benchmarks.sign_in.ours", *counts]
    subprocess.run(command, cwd=ROOT, env=bench.environment, check=True, stdin=subprocess.DEVNULL)


def _write(plan: Plan) -> None:
    import django

    django.setup()
    from allauth.account.models import EmailAddress
    from django.db import transaction

    from accounts.models import User
    from oidc_provider.models import Approval
    from oidc_provider.token import signing

    users = list(User.objects.filter(is_active=True).order_by("uid").values_list("pk", flat=True)[: plan.users])
    if len(users) < plan.users:
        sys.exit(f"{plan.users} active members are needed; there are {len(users)}.")
    signing.ensure_signing_key()
    emails = [f"member-{number}@example.org" for number in range(plan.users)]
    with transaction.atomic():
        User.objects.bulk_update(
            [User(pk=user, email=email) for user, email in zip(users, emails, strict=True)], ["email"], batch_size=1000
        )
        EmailAddress.objects.filter(user__in=users).delete()
        _copy(
            EmailAddress(user_id=user, email=email, verified=True, primary=True)
            for user, email in zip(users, emails, strict=True)
        )
        apps = _register(plan, users[0])
        _copy(
            Approval(
                user_id=user,
                application_id=apps[values.app_of(number)],
                scopes=list(SCOPES),
                created_at=plan.now,
                updated_at=plan.now,
            )
            for number, user in enumerate(users)
        )
        _copy(_codes(plan, users, apps))
        _copy(_refresh_tokens(plan, users, apps))
        _copy(_access_tokens(plan, users, apps))


def _register(plan: Plan, owner: str) -> list[int]:
    """The primary keys of the apps."""
    from infrastructure.hashing import SecretHasher
    from oidc_provider.models import Application

    made = []
    for number in range(values.APPS):
        app = values.app(number)
        made.append(
            Application.objects.create(
                user_id=owner,
                client_id=app.client_id,
                client_secret=SecretHasher().encode(app.client_secret, ""),
                name=f"App {number}",
                redirect_uris=values.REDIRECT_URL,
                registered_scopes=list(SCOPES),
                secret_changed_at=plan.now,
            ).pk
        )
    return made


def _codes(plan: Plan, users: list[str], apps: list[int]) -> Iterable[Model]:
    from infrastructure.hashing import digest
    from oidc_provider.models import Grant

    for number in range(plan.tokens):
        yield Grant(
            code=digest(values.secret(CODE, number)),
            user_id=users[plan.user_of(number)],
            application_id=apps[plan.app_of(number)],
            redirect_uri=values.REDIRECT_URL,
            scope=_SCOPE,
            nonce=f"nonce-{number}",
            code_challenge=values.challenge(number),
            code_challenge_method="S256",
            auth_time=int(plan.now.timestamp()),
            token_family=uuid.uuid4(),
            expires=plan.now + values.CODE_LIFETIME,
        )


def _refresh_tokens(plan: Plan, users: list[str], apps: list[int]) -> Iterable[Model]:
    from infrastructure.hashing import digest
    from oidc_provider.models import RefreshToken

    for number in range(plan.tokens):
        yield RefreshToken(
            token_checksum=digest(values.secret(REFRESH, number)),
            user_id=users[plan.user_of(number)],
            application_id=apps[plan.app_of(number)],
            token_family=uuid.uuid4(),
            scope=_SCOPE,
            auth_time=int(plan.now.timestamp()),
            expires_at=plan.now + values.REFRESH_LIFETIME,
        )


def _access_tokens(plan: Plan, users: list[str], apps: list[int]) -> Iterable[Model]:
    from infrastructure.hashing import digest
    from oidc_provider.models import AccessToken

    for number in range(plan.tokens):
        yield AccessToken(
            token_checksum=digest(values.secret(ACCESS, number)),
            user_id=users[plan.user_of(number)],
            application_id=apps[plan.app_of(number)],
            token_family=uuid.uuid4(),
            scope=_SCOPE,
            expires=plan.now + values.ACCESS_LIFETIME,
        )


def _copy(instances: Iterable[Model]) -> None:
    """Insert new rows of one model by COPY, in the transaction that is open."""
    from django.db import connection

    instances = iter(instances)
    first = next(instances)
    fields = [field for field in first._meta.concrete_fields if not field.primary_key]
    rows = (
        tuple(field.get_db_prep_save(field.pre_save(instance, add=True), connection) for field in fields)
        for instance in itertools.chain([first], instances)
    )
    copy(connection.connection, first._meta.db_table, " ".join(str(field.column) for field in fields), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, required=True)
    parser.add_argument("--tokens", type=int, required=True)
    chosen = parser.parse_args()
    _write(Plan.of(chosen.users, chosen.tokens))
