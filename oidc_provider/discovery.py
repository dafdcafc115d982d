"""The discovery document and the key set: public, cached, readable from any origin."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.cache import get_conditional_response

from infrastructure.requests.request_context import Answer, Request
from oidc_provider import endpoints
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.endpoints import Endpoint
from oidc_provider.token import signing

_CONDITIONS = {"HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE"}
PATHS = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
SECRET_METHODS = ["client_secret_basic", "client_secret_post"]


def document() -> dict[str, Any]:
    """Return the document of OpenID Connect Discovery 1.0 and RFC 8414."""
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
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "claims_supported": [
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "sid"),
            *(claim for scope in SCOPES.values() for claim in scope.claims if claim != "sub"),
        ],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "prompt_values_supported": ["none", "login", "consent"],
        "ui_locales_supported": [settings.LANGUAGE_CODE],
        "service_documentation": f"{settings.BASE_URL}/docs",
    }


def _document(request: Request, body: bytes) -> Answer:
    """Return `body` with an ETag, cached and readable from any origin; 304 or 412 by Django's rules (RFC 9110 §13)."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    refusal = None
    if not _CONDITIONS.isdisjoint(request.meta):
        asked = HttpRequest()
        asked.META, asked.method, asked.path = dict(request.meta), request.method, request.meta["PATH_INFO"]
        refusal = get_conditional_response(asked, etag=etag)
    if refusal is None:
        answer = endpoints.answer(request, body, headers={"ETag": etag})
    else:
        headers = {} if refusal.status_code == HTTPStatus.PRECONDITION_FAILED else {"ETag": etag}
        answer = endpoints.answer(request, b"", refusal.status_code, headers)
        del answer.headers["Content-Type"]
    answer.headers["Cache-Control"] = f"public, max-age={int(settings.DISCOVERY_CACHE_TIME.total_seconds())}"
    answer.headers["Access-Control-Allow-Origin"] = "*"
    return answer


class Discovery(Endpoint):
    """Neither limited nor logged: clients mostly read it from a cache."""

    def respond(self, request: Request) -> Answer:
        answer = self.handled(request)
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"  # no page of a sign-in
        return answer

    def get(self, request: Request) -> Answer:
        return _document(request, endpoints.compact(document()))


class KeySet(Endpoint):
    """1 query. It answers during an outage of Redis too, so that apps can verify id_tokens."""

    endpoint = "jwks"
    is_for_apps = False
    is_answered_uncounted = True

    def get(self, request: Request) -> Answer:
        return _document(request, endpoints.compact(signing.key_set(timezone.now())))
