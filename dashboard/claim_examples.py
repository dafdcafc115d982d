"""What a scope gives an app, as an example in JSON. Made by the code that makes the real claims."""

from __future__ import annotations

import json

from django.conf import settings

from oidc_provider.applications.scopes import Scope
from oidc_provider.token import claims
from oidc_provider.token.claims import Subject


def json_of(scope: Scope) -> str:
    """The claims of `scope` alone, of a person who has every one of them. Empty for a scope without claims."""
    given = claims.of(_subject(), [scope.name])
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
