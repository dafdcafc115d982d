"""Actions of owners on their apps by one form: all of it is saved or nothing; edits of an older state are refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core import signing
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import notifications
from accounts.models import User
from dashboard import versions
from dashboard.client_apps import queries
from oidc_provider import redirects
from oidc_provider.applications import applications, logos, roles
from oidc_provider.applications.applications import RegisteredApp
from oidc_provider.models import Application, new_client_id

_TICKET = "dashboard.app_edits.ticket"
_TICKET_LIFETIME = 24 * 3600  # seconds
STALE_TICKET = "This form is older than a day or from another account. Your input is below; send it again."
DELETED_MEANWHILE = (
    "This form has created its app already, and that app was deleted. Your input is below; send it again to create a "
    "new app, with a new client id."
)
RESET_MEANWHILE = "The secret was reset after you opened this page. It was not reset again."
ADDED_MEANWHILE = "The secrets changed after you opened this page. No secret was added."


def new_ticket(owner: User) -> str:
    """Return a signed client id for the form of a new app, so that a form sent twice makes one app."""
    return signing.dumps([owner.pk, new_client_id()], salt=_TICKET)


def client_id_of(ticket: str, owner: User) -> str:
    """Return the client id. Raises ValidationError: the ticket is old, invalid, or another user's."""
    try:
        owner_id, client_id = signing.loads(ticket, salt=_TICKET, max_age=_TICKET_LIFETIME)
    except signing.BadSignature:
        raise ValidationError(STALE_TICKET) from None
    if owner_id != owner.pk:
        raise ValidationError(STALE_TICKET)
    return str(client_id)


@transaction.atomic
def register(*, owner: User, logo: bytes | None = None, **values: Any) -> RegisteredApp:
    """Register an app with its logo, a small PNG. Raises ValidationError, by argument of `applications.register`, which
    takes `values`.

    Raises AlreadyRegistered: the form has made its app, which may be deleted by now.
    """
    registered = applications.register(owner=owner, by=owner, **values)
    if logo is not None:
        logos.change(application=registered.application, png=logo, by=owner)
    return registered


@transaction.atomic
def change(
    *,
    application: Application,
    by: User,
    version: str,
    is_sure: bool,
    redirect_urls: Sequence[str],
    scopes: Sequence[str],
    logo: bytes | None,
    **details: str,
) -> Application:
    """Change the app. `logo`: a small PNG, empty to remove it, None to keep it. `details`: name, links and
    logout URL.

    Raises ValidationError: by argument as `register`; `changed`, for an older state; code `recently_used` unless
    `is_sure`, for a removed URL that sign-ins of the last 7 days used.
    """
    application = applications.hold(application)
    versions.check(version, application.updated)
    if not is_sure:
        _check_removals(application, redirect_urls, timezone.now())
    applications.change_details(application=application, by=by, **details)
    applications.change_redirect_urls(application=application, redirect_urls=redirect_urls, by=by)
    applications.change_scopes(application=application, scopes=scopes, by=by)
    if logo:
        logos.change(application=application, png=logo, by=by)
    elif logo is not None:
        logos.remove(application=application, by=by)
    application.refresh_from_db()
    return application


@transaction.atomic
def reset_secret(*, application: Application, by: User, version: str) -> str:
    """Return the new secret, to be shown once. The owners get an email. Raises ValidationError: reset in between."""
    application = applications.hold(application)
    if version != version_of_secrets(application):
        raise ValidationError(RESET_MEANWHILE, code="changed")
    secret = applications.reset_secret(application=application, by=by)
    _tell_owners(application, by, f"The secret of {application.name} was reset", "secret_reset")
    return secret


@transaction.atomic
def add_secret(*, application: Application, by: User, version: str) -> str:
    """Return the second secret, to be shown once. The owners get an email. Raises ValidationError: the app has two, or
    they changed in between."""
    application = applications.hold(application)
    if version != version_of_secrets(application):
        raise ValidationError(ADDED_MEANWHILE, code="changed")
    secret = applications.add_secret(application=application, by=by)
    _tell_owners(application, by, f"{application.name} has a second secret", "secret_added")
    return secret


@transaction.atomic
def remove_secret(*, application: Application, by: User, version: str) -> None:
    """Remove the secret of this version. The owners get an email. Raises what `applications.remove_secret` raises."""
    application = applications.hold(application)
    found = [secret.changed_at for secret in application.secrets if versions.of(secret.changed_at) == version]
    removed = applications.remove_secret(application=application, changed_at=found[0] if found else None, by=by)
    _tell_owners(application, by, f"A secret of {application.name} was removed", "secret_removed", hint=removed.hint)


def version_of_secrets(application: Application) -> str:
    """Return the version for forms that reset or add a secret."""
    return versions.of(application.secrets[-1].changed_at)


def _tell_owners(application: Application, by: User, subject: str, letter: str, **context: str) -> None:
    """Send the letter to all owners of the app, and to who did it. 1 query for an app of a team."""
    people = {person.pk: person for person in [*roles.owners_of(application), by]}
    for person in people.values():
        notifications.send_after_commit(
            to=person,
            subject=subject,
            template=f"dashboard/letters/{letter}.txt",
            context={"application": application, "by": by, **context},
        )


def _check_removals(application: Application, kept: Sequence[str], now: datetime) -> None:
    removed = [url for url in application.redirect_urls if not redirects.is_registered(url, kept)]
    used = queries.recently_used(application, removed, now) if removed else []
    if used:
        raise ValidationError(
            "Sign-ins of the last 7 days went to %(urls)s. Without it they fail.",
            code="recently_used",
            params={"urls": " and ".join(used)},
        )
