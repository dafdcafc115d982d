"""Deletes codes and tokens. Deleting is revoking."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from accounts import audit
from accounts.models import User
from infrastructure.databases import batches
from infrastructure.hashing import digest
from oidc_provider.models import AccessToken, Application, Grant, RefreshToken


def revoke(token: str, application_id: int) -> None:
    """Revoke a token of that app by its value: an access token, or a refresh token with its family."""
    mine = {"token_checksum": digest(token), "application_id": application_id}
    if AccessToken.objects.filter(**mine).delete()[0]:
        return
    family = RefreshToken.objects.filter(**mine).values_list("token_family", flat=True).first()
    if family is not None:
        revoke_family(family, application_id)


@transaction.atomic
def revoke_access_token(*, token: AccessToken, by: User | None, reason: str) -> None:
    """Revoke this token, by staff; other tokens of the sign-in stay."""
    _record("access_token:revoked", token, by, reason)
    AccessToken.objects.filter(pk=token.pk).delete()


@transaction.atomic
def revoke_refresh_token(*, token: RefreshToken, by: User | None, reason: str) -> None:
    """Revoke the token's family, by staff."""
    _record("refresh_token:revoked", token, by, reason)
    revoke_family(token.token_family, token.application_id)


def revoke_family(family: uuid.UUID | str, application_id: int) -> None:
    """Delete every token of one sign-in."""
    _delete(Q(token_family=family, application_id=application_id), with_codes=False)


def delete_of_application(application: Application) -> None:
    """Delete every code and token of an app."""
    _delete(Q(application=application))


def delete_of_user(user: User) -> None:
    """Delete every code and token of a user."""
    _delete(Q(user=user))


def delete_of_user_and_application(user: User, application: Application) -> None:
    """Delete every code and token that an app has for a user."""
    _delete(Q(user=user, application=application))


@transaction.atomic
def _delete(which: Q, *, with_codes: bool = True) -> None:
    """Delete codes first, then refresh tokens twice, then access tokens.

    A concurrent exchange or refresh holds the lock of the row that it uses up. The first DELETE waits for it; only a
    second statement sees the rows that it has inserted meanwhile.
    """
    if with_codes:
        Grant.objects.filter(which).delete()
    RefreshToken.objects.filter(which).delete()
    RefreshToken.objects.filter(which).delete()
    AccessToken.objects.filter(which).delete()


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete expired codes and tokens in batches; return the number of rows. The models' querysets hold the rules."""
    kinds = (
        (Grant.objects.unused_past_use(now), "expires"),
        (Grant.objects.used_past_use(now), "expires"),
        (AccessToken.objects.past_use(now), "expires"),
        (RefreshToken.objects.past_use(now), "expires_at"),
    )
    return sum(batches.delete(rows, by=field, after_batch=after_batch) for rows, field in kinds)


def _record(verb: str, token: AccessToken | RefreshToken, by: User | None, reason: str) -> None:
    audit.record(verb, by=by, on=token, reason=reason, user_id=token.user_id, client_id=token.application.client_id)
