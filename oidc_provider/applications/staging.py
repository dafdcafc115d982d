"""Staging apps: a second app beside a live one, with its own id, secret, redirect URLs, approvals and tokens.

Name, links, scopes and logo are copied between the two, in either direction; nothing else is. Each has its own logout
URL.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from oidc_provider.applications import application_rules, applications, logos
from oidc_provider.applications.applications import RegisteredApp
from oidc_provider.models import Application

# For a program on the developer's own device, at any port (RFC 8252 §7.3).
FIRST_REDIRECT_URL = "http://127.0.0.1/callback"
CHANGED = "One of the two apps was changed after you opened this page. Nothing was copied."
_DETAILS = ("name", *application_rules.LINKS)


@dataclass(frozen=True)
class Difference:
    """A setting that a copy changes. `setting`: a column, or "logo", whose values are digests, empty without a logo."""

    setting: str
    before: str
    after: str


@transaction.atomic
def create(*, application: Application, by: User) -> RegisteredApp:
    """Register the staging app of a live one, with its settings and FIRST_REDIRECT_URL.

    Raises ValidationError: the app has one, is one, or is suspended; PermissionDenied as `applications.register`.
    """
    application = applications.hold(application)
    if application.is_staging or application.other is not None:
        raise ValidationError("This app has a staging app already, or is one.")
    if application.is_suspended:
        raise ValidationError("A suspended app gets no staging app.")
    registered = applications.register(
        owner=application.user,
        redirect_urls=[FIRST_REDIRECT_URL],
        scopes=application.registered_scopes,
        by=by,
        staging_of=application,
        **{name: getattr(application, name) for name in _DETAILS},
    )
    png = logos.of(application)
    if png is not None:
        logos.change(application=registered.application, png=png, by=by)
    return registered


def differences(*, source: Application, target: Application) -> list[Difference]:
    """Return what a copy from `source` to `target` changes. 2 queries."""
    found = [(name, getattr(target, name), getattr(source, name)) for name in _DETAILS]
    found.append(("registered_scopes", " ".join(target.registered_scopes), " ".join(source.registered_scopes)))
    found.append(("logo", _digest(logos.of(target)), _digest(logos.of(source))))
    return [Difference(*each) for each in found if each[1] != each[2]]


def version_of(changes: list[Difference]) -> str:
    """Return the version of what a page shows, for its form."""
    return _digest(repr(changes).encode())


@transaction.atomic
def copy(*, source: Application, target: Application, by: User, version: str) -> None:
    """Copy name, links, scopes and logo. `version`: of the differences that the user has seen.

    A new name or logo drops the verification of `target`. Raises ValidationError: `code="changed"` for other
    differences, by argument as `applications.change_details` and `change_scopes`.
    """
    first, second = sorted((source, target), key=lambda app: int(app.pk))
    held = {app.pk: applications.hold(app) for app in (first, second)}
    source, target = held[source.pk], held[target.pk]
    changes = differences(source=source, target=target)
    if version != version_of(changes):
        raise ValidationError(CHANGED, code="changed")
    details = {name: getattr(source, name) for name in _DETAILS}
    applications.change_details(application=target, by=by, **details)
    applications.change_scopes(application=target, scopes=source.registered_scopes, by=by)
    if any(change.setting == "logo" for change in changes):
        png = logos.of(source)
        if png is None:
            logos.remove(application=target, by=by)
        else:
            logos.change(application=target, png=png, by=by)


def _digest(value: bytes | None) -> str:
    return "" if value is None else hashlib.sha256(value).hexdigest()[:20]
