"""The discovery document and the key set: public, cached, readable from any origin."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response

from oidc_provider import signing
from oidc_provider.scopes import SCOPES
from oidc_provider.tokens import seconds
from oidc_provider.views.protocol import JsonView, LimitedView

SECRET_METHODS = ["client_secret_basic", "client_secret_post"]


def document() -> dict[str, Any]:
    """OpenID Connect Discovery 1.0 and RFC 8414. It names what works, and what document 1 wants named."""
    oauth2 = f"{settings.BASE_URL}/api/auth/oauth2"
    return {
        "issuer": settings.BASE_URL,
        "authorization_endpoint": f"{oauth2}/authorize",
        "token_endpoint": f"{oauth2}/token",
        "userinfo_endpoint": f"{oauth2}/userinfo",
        "jwks_uri": f"{settings.BASE_URL}/api/auth/jwks",
        "introspection_endpoint": f"{oauth2}/introspect",
        "revocation_endpoint": f"{oauth2}/revoke",
        "end_session_endpoint": f"{oauth2}/end-session",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
        "token_endpoint_auth_methods_supported": SECRET_METHODS,
        "introspection_endpoint_auth_methods_supported": SECRET_METHODS,
        "revocation_endpoint_auth_methods_supported": SECRET_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "claims_supported": [
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce"),
            *(claim for scope in SCOPES.values() for claim in scope.claims if claim != "sub"),
        ],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "prompt_values_supported": ["none", "login", "consent"],
        "ui_locales_supported": [settings.LANGUAGE_CODE],
        "service_documentation": f"{settings.BASE_URL}/docs",
    }


def _cached(request: HttpRequest, body: dict[str, Any]) -> HttpResponse:
    content = json.dumps(body, separators=(",", ":")).encode()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    response = HttpResponse(content, content_type="application/json", headers={"ETag": etag})
    response = get_conditional_response(request, etag=etag, response=response) or response
    response.headers["Cache-Control"] = f"public, max-age={seconds(settings.DISCOVERY_CACHE_TIME)}"
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


class Discovery(JsonView):
    """Not limited: clients read it whenever they like, mostly from a cache."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return _cached(request, document())


class KeySet(LimitedView):
    """1 query."""

    endpoint = "jwks"

    def get(self, request: HttpRequest) -> HttpResponse:
        return _cached(request, signing.key_set(timezone.now()))
