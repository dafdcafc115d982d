"""Back-channel logout: the sessions of people at apps, and the news of their end (docs/spec/sign-in.md).

The news is a row of the outbox, written in the transaction that ends the session; workers sign and send it. An app
without a `backchannel_logout_uri` has no sessions here and gets no news.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from accounts.webhooks import outbox
from accounts.webhooks.outbox import Logout
from infrastructure.databases.statements import Statement
from oidc_provider.models import Application, ClientSession

_OPEN = Statement(
    """
    INSERT INTO oidc_provider_clientsession (sid, user_id, application_id, session, created_at, used_at)
    VALUES ($1, $2, $3, $4, $5, $5)
    ON CONFLICT (user_id, session, application_id) DO UPDATE SET used_at = excluded.used_at RETURNING sid
    """,
    "s",
    is_read=False,
)


def open_session(*, user: User, application: Application, session: str, now: datetime) -> str:
    """Return the `sid` of the browser session named `session` at the app, made at the first sign-in there. 1 query."""
    row = _OPEN.one(secrets.token_urlsafe(16), user.pk, application.pk, session, now)
    return str(row[0]) if row else ""  # the statement always returns a row


@transaction.atomic
def sessions_ended(user: User, *, name: str = "", kept: str = "") -> None:
    """Tell apps that the session `name` of the user has ended; without a name, every session but `kept`.

    1 query, and 2 more where an app has signed in with one of them.
    """
    rows = ClientSession.objects.filter(user=user).exclude(session=kept)
    outbox.post_logouts(_ended(rows.filter(session=name) if name else rows))


@transaction.atomic
def disconnected(user: User, application: Application) -> None:
    """Tell the app that each session of the user has ended, and that the person has left. At most 3 queries."""
    logouts = _ended(ClientSession.objects.filter(user=user, application=application))
    if application.backchannel_logout_uri:
        logouts.append(Logout(application.client_id, user.pk))
    outbox.post_logouts(logouts)


@transaction.atomic
def left(user: User) -> None:
    """Tell each app that the user has allowed that the person has left: a ban, a deletion, the end of all access.

    At most 4 queries.
    """
    logouts = _ended(ClientSession.objects.filter(user=user))
    allowed = Application.objects.filter(approvals__user=user).exclude(backchannel_logout_uri="").order_by("pk")
    logouts += [Logout(client_id, user.pk) for client_id in allowed.values_list("client_id", flat=True)]
    outbox.post_logouts(logouts)


def _ended(rows: QuerySet[ClientSession]) -> list[Logout]:
    """Delete `rows`; return the logouts of those whose app has an address for them. At most 2 queries."""
    held = rows.select_for_update(of=("self",)).select_related("application").order_by("pk")
    found = list(held.only("sid", "user_id", "application__client_id", "application__backchannel_logout_uri"))
    if found:
        ClientSession.objects.filter(pk__in=[row.pk for row in found]).delete()
    return [
        Logout(row.application.client_id, row.user_id, row.sid)
        for row in found
        if row.application.backchannel_logout_uri
    ]
