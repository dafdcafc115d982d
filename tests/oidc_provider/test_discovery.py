"""The discovery document at both paths. test_answers.py has its headers."""

from __future__ import annotations

import pytest
from django.conf import settings as configured
from django.test import Client
from django.urls import resolve

from tests.oidc_provider.protocol import DISCOVERY, DISCOVERY_OF_RFC_8414, ISSUER

BOTH = pytest.mark.parametrize("path", [DISCOVERY, DISCOVERY_OF_RFC_8414])
SECRET = ["client_secret_basic", "client_secret_post"]

DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/api/auth/oauth2/authorize",
    "token_endpoint": f"{ISSUER}/api/auth/oauth2/token",
    "userinfo_endpoint": f"{ISSUER}/api/auth/oauth2/userinfo",
    "jwks_uri": f"{ISSUER}/api/auth/jwks",
    "introspection_endpoint": f"{ISSUER}/api/auth/oauth2/introspect",
    "revocation_endpoint": f"{ISSUER}/api/auth/oauth2/revoke",
    "end_session_endpoint": f"{ISSUER}/api/auth/oauth2/end-session",
    "scopes_supported": ["openid", "identify", "email", "connections", "offline_access"],
    "response_types_supported": ["code"],
    "response_modes_supported": ["query"],
    "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["EdDSA"],
    "token_endpoint_auth_methods_supported": SECRET,
    "introspection_endpoint_auth_methods_supported": SECRET,
    "revocation_endpoint_auth_methods_supported": SECRET,
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
    "claims_supported": [
        *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce"),
        *("uid", "name", "preferred_username", "picture", "profile", "email", "email_verified", "connections"),
    ],
    "claims_parameter_supported": False,
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
    "prompt_values_supported": ["none", "login", "consent"],
    "ui_locales_supported": ["en"],
    "service_documentation": f"{ISSUER}/docs",
}


@BOTH
def test_the_document_is_the_documented_one(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert answer.json() == DOCUMENT


def test_a_trailing_slash_is_another_path(client: Client) -> None:
    assert client.get(f"{DISCOVERY}/").status_code == 404


@pytest.mark.parametrize("name", [name for name in DOCUMENT if name.endswith(("_endpoint", "_uri"))])
def test_every_advertised_endpoint_exists(name: str) -> None:
    path = str(DOCUMENT[name]).removeprefix(configured.BASE_URL)
    assert resolve(path).func.__module__.startswith("oidc_provider.")


@pytest.mark.django_db
def test_the_advertised_documentation_can_be_read(client: Client) -> None:
    path = str(DOCUMENT["service_documentation"]).removeprefix(configured.BASE_URL)
    assert client.get(path, follow=True).status_code == 200
