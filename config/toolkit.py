"""Options of django-oauth-toolkit (docs/decisions/0002-what-the-toolkit-does.md)."""

from datetime import timedelta
from typing import Any

# RFC 9700, as far as the toolkit can enforce it.
GATES = (
    *("IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT", "AUTHZ_RESPONSE_ISS"),
    *("TOKEN_STORAGE", "REFRESH_TOKEN", "REDIRECT_URI_MATCHING", "PKCE_REQUIRED"),
)


def options(
    *, issuer: str, code: timedelta, access: timedelta, refresh: timedelta, id_token: timedelta
) -> dict[str, Any]:
    """The setting OAUTH2_PROVIDER. Any: each option has a type of its own."""
    return {
        "OIDC_ENABLED": True,
        "OIDC_ISS_ENDPOINT": issuer,
        "SCOPES_BACKEND_CLASS": "oidc_provider.applications.scopes.RegisteredScopes",
        "DEFAULT_SCOPES": [],
        "AUTHORIZATION_CODE_EXPIRE_SECONDS": int(code.total_seconds()),
        "ACCESS_TOKEN_EXPIRE_SECONDS": int(access.total_seconds()),
        "REFRESH_TOKEN_EXPIRE_SECONDS": int(refresh.total_seconds()),
        "ID_TOKEN_EXPIRE_SECONDS": int(id_token.total_seconds()),
        "ROTATE_REFRESH_TOKEN": True,
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
        "PKCE_REQUIRED": True,
        "REQUEST_APPROVAL_PROMPT": "force",
        "ALLOW_URI_WILDCARDS": False,
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
        "ALLOW_LOCALHOST_LOOPBACK": False,
        "OIDC_RESPONSE_TYPES_SUPPORTED": ["code"],
        "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
        "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token", "client_credentials"],
        "CLIENT_SECRET_HASHER": "secret_sha256",
        "APPLICATION_ADMIN_CLASS": "oidc_provider.applications.admin.ApplicationAdmin",
        "ACCESS_TOKEN_ADMIN_CLASS": "oidc_provider.token.admin.AccessTokenAdmin",
        "REFRESH_TOKEN_ADMIN_CLASS": "oidc_provider.token.admin.RefreshTokenAdmin",
        "GRANT_ADMIN_CLASS": "oidc_provider.token.admin.HiddenAdmin",
        "ID_TOKEN_ADMIN_CLASS": "oidc_provider.token.admin.HiddenAdmin",
        "OAUTH2_VALIDATOR_CLASS": "oidc_provider.authorize.validation.Validator",
        "OAUTH2_SERVER_CLASS": "oidc_provider.authorize.validation.Server",
        "OAUTH2_BACKEND_CLASS": "oidc_provider.authorize.validation.Backend",
        **{f"COMPLIANT_BCP_RFC9700_{gate}": True for gate in GATES},
    }
