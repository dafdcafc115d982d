"""Reads what client apps send: form parameters, strictly, and credentials (RFC 6749 §2.3.1, basic or post)."""

from __future__ import annotations

import base64
import contextlib
import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_plus

from infrastructure.requests.request_context import Request
from oidc_provider import request_log
from oidc_provider.errors import InvalidClient, InvalidRequest, ProtocolError
from oidc_provider.models import Application
from oidc_provider.models.applications import matching_secret

FORM = "application/x-www-form-urlencoded"
MAX_BODY = 65_536  # bytes
MAX_FIELDS = 64
# The parameters of the endpoints. Answers and the log name no others, which may hold secrets.
NAMES = frozenset(
    "client_id client_secret redirect_uri response_type scope state code_challenge code_challenge_method nonce prompt "
    "max_age login_hint id_token_hint request request_uri grant_type code code_verifier refresh_token token "
    "token_type_hint access_token".split()
)
_MAX_NAMES = 5
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CLIENT_ID = re.compile(r"[0-9a-f]{32}\Z")
_CLAIM = re.compile(r"client_id[\"'\s=:]+([0-9a-f]{32})\b")


class Parameters(NamedTuple):
    """Parameters by name, without empty ones (RFC 6749 §3.1), and with the first value of a repeated one.

    `is_malformed`: an escape sequence or UTF-8 is invalid, or there are too many fields.
    """

    values: dict[str, str]
    repeated: frozenset[str] = frozenset()
    is_malformed: bool = False

    def get(self, name: str) -> str:
        """Return the value, or the empty string."""
        return self.values.get(name, "")

    def only(self, names: frozenset[str]) -> dict[str, str]:
        """Return the values of the parameters in `names`."""
        return {name: value for name, value in self.values.items() if name in names}

    def repeated_names(self, known: frozenset[str] = NAMES) -> str:
        """Return the repeated parameters for an error's description: a few of `known`, else "a parameter"."""
        return ", ".join(sorted(self.repeated & known)[:_MAX_NAMES]) or "a parameter"


def parse_query(raw: str) -> Parameters:
    """Parse the query string of a WSGI environment, whose characters are the bytes of UTF-8."""
    try:
        return parse(raw.encode("latin-1").decode())
    except UnicodeError:
        return parse(raw)._replace(is_malformed=True)


def parse(text: str) -> Parameters:
    """Parse `text`; malformed text is marked, without an exception."""
    is_malformed, pairs = _pairs(text)
    values: dict[str, str] = {}
    seen: set[str] = set()
    repeated: set[str] = set()
    for name, value in pairs:
        (repeated if name in seen else seen).add(name)
        if value:
            values.setdefault(name, value)
    return Parameters(values, frozenset(repeated), is_malformed)


def _pairs(text: str) -> tuple[bool, list[tuple[str, str]]]:
    """Return whether the text is malformed, and its readable pairs."""
    if text.isascii() and text.count("&") < MAX_FIELDS:
        # In most requests one field has escapes, the redirect URI; this takes a third of the time of `parse_qsl`.
        parts = [field.partition("=") for field in text.split("&") if field]
        if "%" not in text and "+" not in text:
            return False, [(name, value) for name, _, value in parts]
        with contextlib.suppress(UnicodeDecodeError):
            return _BAD_PERCENT.search(text) is not None, [
                (_decoded(name), _decoded(value)) for name, _, value in parts
            ]
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except UnicodeDecodeError:
        return True, parse_qsl(text, keep_blank_values=True, errors="replace", max_num_fields=MAX_FIELDS)
    except ValueError:  # more than MAX_FIELDS
        return True, []
    return _BAD_PERCENT.search(text) is not None, pairs


def _decoded(part: str) -> str:
    """Return a name or value as `parse_qsl` decodes it. Raises UnicodeDecodeError."""
    return unquote_plus(part, errors="strict") if "%" in part or "+" in part else part


def required(form: Parameters, *names: str) -> None:
    """InvalidRequest if one of the parameters is missing or empty."""
    missing = [name for name in names if not form.get(name)]
    if missing:
        raise InvalidRequest(f"Missing parameter: {', '.join(missing)}.")


def is_form(request: Request) -> bool:
    """Whether the body's type is a form, with any charset."""
    content_type: str = request.meta.get("CONTENT_TYPE") or ""
    return content_type == FORM or content_type.partition(";")[0].strip().lower() == FORM


def form_of(request: Request) -> Parameters:
    """Return the body's parameters. InvalidRequest: wrong type, too long, malformed, repeated, a query string."""
    form = parsed_body(request)
    if request.meta.get("QUERY_STRING"):
        raise InvalidRequest("Send the parameters in the body, none in the query string.")
    if form.is_malformed:
        raise InvalidRequest("The body cannot be decoded.")
    if form.repeated:
        raise InvalidRequest(f"The body repeats {form.repeated_names()}.")
    return form


def parsed_body(request: Request) -> Parameters:
    """Parse the body. InvalidRequest: wrong type, too long, or incomplete."""
    if not is_form(request):
        raise InvalidRequest(f"Send the parameters as {FORM}.")
    try:
        body = request.body(MAX_BODY)
        if len(body) > MAX_BODY:
            raise InvalidRequest(f"The body is longer than {MAX_BODY} bytes.")
        return parse(body.decode())
    except EOFError:
        raise InvalidRequest("The body ends before its announced length.") from None
    except (ValueError, OSError):  # not UTF-8, an invalid length, a lost connection
        raise InvalidRequest("The body cannot be read.") from None


class Credentials(NamedTuple):
    """The credentials in a request, not checked yet."""

    client_id: str
    client_secret: str


def authorization(request: Request) -> str:
    """Return the header `Authorization`, or the empty string."""
    header: str = request.meta.get("HTTP_AUTHORIZATION", "")
    return header


def credentials_of(authorization: str, form: Parameters) -> Credentials:
    """Read the credentials of header and body. InvalidRequest: both. InvalidClient: unreadable header."""
    if not authorization:
        return Credentials(form.get("client_id"), form.get("client_secret"))
    if form.get("client_secret"):
        raise InvalidRequest("Send the client secret in the Authorization header or in the body, not in both.")
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        raise InvalidClient("Authenticate the app with HTTP Basic or with client_secret in the body.")
    try:
        client_id, colon, client_secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not Base64, not ASCII, not UTF-8
        raise InvalidClient("The Authorization header cannot be read.") from None
    if not colon:
        raise InvalidClient("The Authorization header has no colon between client_id and client_secret.")
    credentials = Credentials(unquote_plus(client_id), unquote_plus(client_secret))
    if form.get("client_id") not in {"", credentials.client_id}:
        raise InvalidRequest("The body names another client_id than the Authorization header.")
    return credentials


def lookup_id(client_id: str) -> str:
    """Return a well-formed client_id as it is, another one as the empty string, which no app has."""
    return client_id if _CLIENT_ID.match(client_id) else ""


def claimed_client_id(request: Request) -> str:
    """Return the client id in a request, also a malformed one, for the log; the empty string if there is none."""
    with contextlib.suppress(ProtocolError):
        in_header = lookup_id(credentials_of(authorization(request), Parameters({})).client_id)
        if in_header:
            return in_header
    text: str = request.meta.get("QUERY_STRING", "")
    with contextlib.suppress(EOFError, ValueError, OSError):
        text += "\n" + request.body(MAX_BODY)[:4096].decode("latin-1")
    found = _CLAIM.search(text)
    return found[1] if found else ""


def refused() -> InvalidClient:
    """Return the error for an unknown app or a wrong secret; it does not say which."""
    return InvalidClient("The client_id or the client_secret is wrong.")


def suspended() -> InvalidClient:
    return InvalidClient("This app is suspended.")


def authenticate(credentials: Credentials, stored_secrets: tuple[str, ...], *, is_usable: bool) -> None:
    """InvalidClient for a wrong secret or a suspended app. Constant time, one SHA-256. The log learns which it was."""
    secret = matching_secret(credentials.client_secret, stored_secrets)
    if secret is None:
        raise refused()
    request_log.about(secret=secret)
    if not is_usable:
        raise suspended()


def authenticated_id(credentials: Credentials) -> int:
    """Return the primary key of the authenticated app. InvalidClient. 1 query."""
    named = Application.objects.filter(client_id=lookup_id(credentials.client_id))
    application = named.only("pk", "client_secret", "second_secret", "suspended_at").first()
    if application is None:
        raise refused()
    stored = application.client_secret, application.second_secret
    authenticate(credentials, stored, is_usable=application.is_usable())
    return int(application.pk)
