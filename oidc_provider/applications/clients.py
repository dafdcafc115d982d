"""Client authentication at the token, introspection and revocation endpoints.

`client_secret_basic` or `client_secret_post` (RFC 6749 §2.3.1), one of the two.
"""

from __future__ import annotations

import base64
import contextlib
import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from infrastructure.hashing import SecretHasher
from infrastructure.requests.request_context import Request
from oidc_provider.errors import InvalidClient, InvalidRequest, ProtocolError
from oidc_provider.models import Application
from oidc_provider.parameters import MAX_BODY, Parameters

_CLAIM = re.compile(r"client_id[\"'\s=:]+([0-9a-f]{32})\b")
_NOTHING = Parameters({}, frozenset(), is_malformed=False)
_CLIENT_ID = re.compile(r"[0-9a-f]{32}\Z")


@dataclass(frozen=True)
class Credentials:
    """The credentials in a request, not checked yet."""

    client_id: str
    client_secret: str


def credentials_of(authorization: str, form: Parameters) -> Credentials:
    """Read the credentials of header and body. InvalidRequest: both. InvalidClient: unreadable header."""
    if not authorization:
        return Credentials(form.get("client_id"), form.get("client_secret"))
    if form.get("client_secret"):
        raise InvalidRequest("Send the client secret in the Authorization header or in the body, not in both.")
    credentials = _basic(authorization)
    if form.get("client_id") not in {"", credentials.client_id}:
        raise InvalidRequest("The body names another client_id than the Authorization header.")
    return credentials


def _basic(header: str) -> Credentials:
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        raise InvalidClient("Authenticate the app with HTTP Basic or with client_secret in the body.")
    try:
        client_id, colon, client_secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not Base64, not ASCII, not UTF-8
        raise InvalidClient("The Authorization header cannot be read.") from None
    if not colon:
        raise InvalidClient("The Authorization header has no colon between client_id and client_secret.")
    return Credentials(unquote_plus(client_id), unquote_plus(client_secret))


def lookup_id(client_id: str) -> str:
    """Return a well-formed client_id as it is, another one as the empty string, which no app has."""
    return client_id if _CLIENT_ID.match(client_id) else ""


def refused() -> InvalidClient:
    """Return the error for an unknown app or a wrong secret; it does not say which."""
    return InvalidClient("The client_id or the client_secret is wrong.")


def suspended() -> InvalidClient:
    return InvalidClient("This app is suspended.")


def check(credentials: Credentials, stored_secret: str, *, is_usable: bool) -> None:
    """InvalidClient for a wrong secret or a suspended app. Constant time, one SHA-256."""
    if not SecretHasher().verify(credentials.client_secret, stored_secret):
        raise refused()
    if not is_usable:
        raise suspended()


def authenticated_id(credentials: Credentials) -> int:
    """Return the primary key of the authenticated app. InvalidClient. 1 query."""
    named = Application.objects.filter(client_id=lookup_id(credentials.client_id))
    application = named.only("pk", "client_secret", "suspended_at").first()
    if application is None:
        raise refused()
    check(credentials, application.client_secret, is_usable=application.is_usable())
    return int(application.pk)


def authorization(request: Request) -> str:
    """Return the header `Authorization`, or the empty string."""
    header: str = request.meta.get("HTTP_AUTHORIZATION", "")
    return header


def claimed_client_id(request: Request) -> str:
    """Return the client id in a request, also a malformed one, for the log; the empty string if there is none."""
    with contextlib.suppress(ProtocolError):
        in_header = lookup_id(credentials_of(authorization(request), _NOTHING).client_id)
        if in_header:
            return in_header
    text: str = request.meta.get("QUERY_STRING", "")
    with contextlib.suppress(EOFError, ValueError, OSError):
        text += "\n" + request.body(MAX_BODY)[:4096].decode("latin-1")
    found = _CLAIM.search(text)
    return found[1] if found else ""
