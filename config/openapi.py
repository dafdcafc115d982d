"""Settings of the OpenAPI document (drf-spectacular)."""

from typing import Any

SECURITY_SCHEMES = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "A key with the permission that the endpoint names.",
    },
    "accountKeyQuery": {"type": "apiKey", "in": "query", "name": "key", "description": "An account API key."},
    "accountKeyBearer": {"type": "http", "scheme": "bearer", "description": "An account API key."},
}


def options(*, title: str, server: str) -> dict[str, Any]:
    """The setting SPECTACULAR_SETTINGS. Any: each option has a type of its own."""
    return {
        "TITLE": title,
        "DESCRIPTION": "User lookup, leaderboards.",
        "VERSION": "1.0.0",
        "SERVERS": [{"url": server}],
        "SERVE_INCLUDE_SCHEMA": False,
        "SCHEMA_PATH_PREFIX": "/api",
        "COMPONENT_SPLIT_REQUEST": True,
        "COMPONENT_NO_READ_ONLY_REQUIRED": False,
        "APPEND_COMPONENTS": {"securitySchemes": SECURITY_SCHEMES},
        "ENUM_NAME_OVERRIDES": {
            "AlignmentEnum": "lookup.sections.Alignment",
            "WidthEnum": "lookup.models.GalleryItem.Width",
            "MusicKindEnum": "lookup.models.MusicItem.Kind",
        },
    }
