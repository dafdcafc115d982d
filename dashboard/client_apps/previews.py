"""Previews of the consent screen for the values of a form, and examples of the claims of each scope."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from oidc_provider import redirects
from oidc_provider.applications import application_rules
from oidc_provider.applications.scopes import Scope, in_order
from oidc_provider.authorize import consent_page
from oidc_provider.models import Application
from oidc_provider.models.applications import MAX_NAME_LENGTH
from oidc_provider.token.token_queries import Subject

_NAMELESS = "Your app"


def consent_screen(
    *,
    user: User,
    name: str,
    links: dict[str, str],
    redirect_urls: Sequence[str],
    scopes: Sequence[str],
    existing: Application | None = None,
    user_count: int = 0,
) -> dict[str, Any]:
    """Return the context of the preview's template. `existing`: the app that the form edits."""
    application = Application(user=user, name=name[:MAX_NAME_LENGTH] or _NAMELESS)
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


def claims_json(scope: Scope) -> str:
    """Return an example of the claims of `scope`; empty for a scope without claims."""
    given = _subject().claims([scope.name])
    example = {name: given[name] for name in scope.claims}
    return json.dumps(example, indent=2, ensure_ascii=False) if example else ""


def _subject() -> Subject:
    return Subject(
        id="5b0f6a3c9d2e4f7a8b1c2d3e4f5a6b7c",
        is_active=True,
        uid=1,
        username="ada",
        display_name="Ada Example",
        email="ada@mail.example",
        is_email_verified=True,
        picture=f"{settings.UPLOAD_CDN_URL}/demo/avatar-1.svg",
        connections=[
            {"type": "chat", "id": "268473310986240001", "name": "ada"},
            {"type": "scrobbler", "id": "ada-listens", "name": "ada-listens"},
        ],
    )
