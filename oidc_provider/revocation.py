"""Deletes codes and tokens, which revokes them, with or without approvals, and what has expired."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from oauth2_provider.settings import oauth2_settings

from accounts import audit
from accounts.models import User
from infrastructure.databases import batches
from infrastructure.hashing import digest
from oidc_provider.models import (
    AccessToken,
    Application,
    Approval,
    ClientSession,
    Grant,
    Invitation,
    PendingRequest,
    RefreshToken,
)

# Used codes are kept as long as their tokens and are most of the table: a search for unused ones reads only those that
# expired within this time.
UNUSED_CODES_LEAVE = timedelta(days=1)


def revoke(token: str, application_id: int) -> None:
    """Revoke a token of that app by its value: an access token, or a refresh token with its family."""
    mine = {"token_checksum": digest(token), "application_id": application_id}
    if AccessToken.objects.filter(**mine).delete()[0]:
        return
    found = RefreshToken.objects.filter(**mine).values_list("token_family", "user_id").first()
    if found is not None:
        family, user_id = found
        revoke_family(family, user_id, application_id)


@transaction.atomic
def revoke_access_token(*, token: AccessToken, by: User | None, reason: str) -> None:
    """Revoke this token, by staff; other tokens of the sign-in stay."""
    _record("access_token:revoked", token, by, reason)
    AccessToken.objects.filter(pk=token.pk).delete()


@transaction.atomic
def revoke_refresh_token(*, token: RefreshToken, by: User | None, reason: str) -> None:
    """Revoke the token's family, by staff."""
    _record("refresh_token:revoked", token, by, reason)
    revoke_family(token.token_family, token.user_id, token.application_id)


def revoke_family(family: uuid.UUID | str, user_id: str, application_id: int) -> None:
    """Delete every token of one sign-in of this user to this app. The index of the user's tokens finds them."""
    _delete(Q(token_family=family, user_id=user_id, application_id=application_id), with_codes=False)


def delete_of_application(application: Application, *, with_approvals: bool = False) -> None:
    """Delete every code and token of an app."""
    _delete(Q(application=application), with_approvals=with_approvals)


def delete_of_user(user: User) -> None:
    """Delete every code and token of a user."""
    _delete(Q(user=user))


def disconnect(user: User, application: Application) -> bool:
    """Delete the approval and every code and token that an app has for a user. Return whether there was an approval."""
    return _delete(Q(user=user, application=application), with_approvals=True)


@transaction.atomic
def _delete(which: Q, *, with_codes: bool = True, with_approvals: bool = False) -> bool:
    """Delete approvals first, then codes, refresh tokens, and access tokens. Return whether there were approvals.

    A concurrent exchange or refresh holds the lock of the row that it uses up, an exchange before it that of the
    approval. A DELETE waits for it; only a later statement sees the rows that it has inserted meanwhile. So refresh
    tokens are deleted until there are none.
    """
    has_approvals = with_approvals and bool(Approval.objects.filter(which).delete()[0])
    if with_codes:
        Grant.objects.filter(which).delete()
    while RefreshToken.objects.filter(which).delete()[0]:
        pass
    AccessToken.objects.filter(which).delete()
    return has_approvals


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete expired requests, codes, tokens and invitations in batches; return the number of rows.

    Used codes and rotated refresh tokens stay while a token of their family lives: their reuse must be recognized. An
    unused code that is left for longer than UNUSED_CODES_LEAVE leaves with the used ones. Requests stay twice as long
    as they can be answered, so that the page of a late one can name the app. Sessions at apps stay as long as a refresh
    token has their `sid`, and as long as one lives after the last code.
    """
    family = RefreshToken.objects.filter(user=OuterRef("user"), token_family=OuterRef("token_family"))
    family_lives = Exists(family.filter(expires_at__gt=now))
    used_until = now - timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
    # A code is used before it expires.
    latest_expiry = used_until + timedelta(seconds=oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS)
    carried = RefreshToken.objects.filter(user=OuterRef("user"), application=OuterRef("application"))
    is_carried = Exists(carried.filter(sid=OuterRef("sid"), expires_at__gt=now))
    requested_until = now - 2 * settings.AUTHORIZATION_REQUEST_LIFETIME
    kinds: tuple[tuple[QuerySet[Any], str], ...] = (
        (Grant.objects.filter(used_at__isnull=True, expires__lte=now, expires__gt=now - UNUSED_CODES_LEAVE), "expires"),
        (Grant.objects.filter(~family_lives, expires__lte=latest_expiry), "expires"),
        (AccessToken.objects.filter(expires__lte=now), "expires"),
        (RefreshToken.objects.filter(~family_lives, expires_at__lte=now), "expires_at"),
        (ClientSession.objects.filter(~is_carried, used_at__lte=used_until), "used_at"),
        (PendingRequest.objects.filter(created_at__lte=requested_until), "created_at"),
        (Invitation.objects.filter(expires_at__lte=now), "expires_at"),
    )
    return sum(batches.delete(rows, by=field, after_batch=after_batch) for rows, field in kinds)


def _record(verb: str, token: AccessToken | RefreshToken, by: User | None, reason: str) -> None:
    audit.record(verb, by=by, on=token, reason=reason, user_id=token.user_id, client_id=token.application.client_id)
