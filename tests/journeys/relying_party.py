"""An app that signs users in with Authlib, an independent library."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.discovery import OpenIDProviderMetadata
from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import KeySet

from tests.journeys.people import App

TIMEOUT = 15
JSON = dict[str, Any]  # Any: whatever the service answers; the tests look at it


def discover(base_url: str) -> JSON:
    """Return the discovery document, validated by Authlib.

    OpenID Connect Discovery §3 wants RS256 offered, and so does Authlib; this service signs with EdDSA alone.
    """
    response = requests.get(f"{base_url}/.well-known/openid-configuration", timeout=TIMEOUT)
    assert response.status_code == 200
    document: JSON = response.json()
    algorithms = document["id_token_signing_alg_values_supported"]
    assert algorithms == ["EdDSA"]
    OpenIDProviderMetadata({**document, "id_token_signing_alg_values_supported": [*algorithms, "RS256"]}).validate()
    assert document["issuer"] == base_url
    return document


class RelyingParty:
    """An app at a service, with its last sign-in."""

    def __init__(self, base_url: str, app: App, *, auth_method: str = "client_secret_basic") -> None:
        self.app = app
        self.metadata = discover(base_url)
        self.session = OAuth2Session(
            app.client_id,
            app.client_secret,
            redirect_uri=app.redirect_url,
            scope=" ".join(app.scopes),
            token_endpoint_auth_method=auth_method,
            code_challenge_method="S256",
            default_timeout=TIMEOUT,
        )
        self.nonce = self.state = self.verifier = ""

    def begin(self, **extra: str) -> str:
        """Return the authorization URL of a new sign-in; `extra` adds or replaces parameters."""
        self.nonce, self.verifier = secrets.token_urlsafe(16), secrets.token_urlsafe(48)
        url, self.state = self.session.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=self.verifier, nonce=self.nonce, **extra
        )
        return str(url)

    def answer(self, callback: str) -> dict[str, str]:
        """Return the parameters of the callback, after checking that each occurs once, and state and issuer."""
        place, _, _ = callback.partition("?")
        assert place == self.session.redirect_uri, f"The browser was sent to {place}"
        found = parse_qs(urlsplit(callback).query, strict_parsing=True, keep_blank_values=True)
        assert all(len(values) == 1 for values in found.values()), f"Repeated parameters: {sorted(found)}"
        answer = {name: values[0] for name, values in found.items()}
        assert answer.pop("state") == self.state
        assert answer.pop("iss") == self.metadata["issuer"]
        return answer

    def finish(self, callback: str) -> JSON:
        """Exchange the code at `callback` for tokens."""
        assert set(self.answer(callback)) == {"code"}
        return dict(
            self.session.fetch_token(
                self.metadata["token_endpoint"],
                authorization_response=callback,
                state=self.state,
                code_verifier=self.verifier,
            )
        )

    def refresh(self, refresh_token: str) -> JSON:
        return dict(self.session.refresh_token(self.metadata["token_endpoint"], refresh_token=refresh_token))

    def userinfo(self, access_token: str) -> requests.Response:
        """Read userinfo with any token, not only the session's newest."""
        headers = {"Authorization": f"Bearer {access_token}"}
        return requests.get(self.metadata["userinfo_endpoint"], headers=headers, timeout=TIMEOUT)

    def introspect(self, token: str) -> JSON:
        response = self.session.introspect_token(self.metadata["introspection_endpoint"], token=token)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def revoke(self, token: str) -> None:
        response = self.session.revoke_token(self.metadata["revocation_endpoint"], token=token)
        assert (response.status_code, response.content) == (200, b"")

    def claims(self, id_token: str, *, nonce: str | None) -> JSON:
        """Return the claims of an id_token after every check of OpenID Connect Core §3.1.3.7."""
        keys = KeySet.import_key_set(requests.get(self.metadata["jwks_uri"], timeout=TIMEOUT).json())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # RFC 9864 would call it Ed25519; the contract says EdDSA
            token = jwt.decode(id_token, keys, algorithms=["EdDSA"])
        assert token.header["alg"] == "EdDSA"
        needed: dict[str, Any] = {
            "iss": {"essential": True, "value": self.metadata["issuer"]},
            "aud": {"essential": True, "value": self.app.client_id},
            **{name: {"essential": True} for name in ("sub", "exp", "iat", "auth_time")},
        }
        if nonce is not None:
            needed["nonce"] = {"essential": True, "value": nonce}
        jwt.JWTClaimsRegistry(**needed).validate(token.claims)
        assert nonce is not None or "nonce" not in token.claims
        return dict(token.claims)


def error_of(act: Callable[[], object]) -> str:
    """Return the OAuth error code that `act` raises in Authlib."""
    from authlib.integrations.base_client import OAuthError

    try:
        act()
    except OAuthError as error:
        return str(error.error)
    raise AssertionError("The service did not refuse")
