"""The consent screen as it would look for what stands in a form, whether or not it could be saved."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files import File
from django.utils import timezone

from accounts.models import User
from oidc_provider.applications import application_rules, logos, redirects
from oidc_provider.applications.scopes import in_order
from oidc_provider.authorize import consent_page
from oidc_provider.models import Application

_NAMELESS = "Your app"


def of_values(
    *,
    user: User,
    name: str,
    links: dict[str, str],
    redirect_urls: Sequence[str],
    scopes: Sequence[str],
    existing: Application | None = None,
    user_count: int = 0,
) -> dict[str, Any]:
    """For the template of the preview. `existing`: the app that the form edits. Any: a template's context."""
    application = Application(user=user, name=name[: application_rules.MAX_NAME_LENGTH] or _NAMELESS)
    application.created = existing.created if existing else timezone.now()
    application.is_verified = existing is not None and existing.is_verified and existing.name == name
    refused = application_rules.link_problems(links)
    for link, url in links.items():
        setattr(application, link, "" if link in refused else url)  # a refused one may be javascript:
    good = [url for url in redirect_urls if redirects.problem_of(url) is None]
    return consent_page.preview(
        application,
        scopes=in_order(scopes),
        redirect_uri=good[0] if good else "",
        user_count=user_count,
        user=user,
    )


def logo_url_of(upload: File[bytes] | None) -> str:
    """The picture as it would be stored, as a `data:` URL; empty where there is none, or none that can be used."""
    if upload is None:
        return ""
    upload.seek(0)  # saving it may have read it
    content = io.BytesIO(upload.read(logos.MAX_BYTES + 1))
    upload.seek(0)
    try:
        return logos.data_url(logos.encode(content))
    except ValidationError:
        return ""
