"""Reads the form in a request's body, and finds the app that a broken request names."""

from __future__ import annotations

import contextlib
import re

from accounts.hot import Request
from oidc_provider import clients, parameters, request_log
from oidc_provider.clients import Credentials
from oidc_provider.errors import InvalidRequest, ProtocolError
from oidc_provider.parameters import Parameters

FORM = "application/x-www-form-urlencoded"
MAX_BODY = 65_536  # bytes
_CLAIM = re.compile(r"client_id[\"'\s=:]+([0-9a-f]{32})\b")
_NOTHING = Parameters({}, frozenset(), is_malformed=False)


def is_form(request: Request) -> bool:
    """Whether the body says that it is one, whatever its charset."""
    content_type: str = request.meta.get("CONTENT_TYPE") or ""
    return content_type == FORM or content_type.partition(";")[0].strip().lower() == FORM


def form_of(request: Request) -> Parameters:
    """The body's parameters. InvalidRequest: another type, too long, a broken or repeated one, a query string."""
    form = parsed_body(request)
    if request.meta.get("QUERY_STRING"):
        raise InvalidRequest("Send the parameters in the body, none in the query string.")
    if form.is_malformed:
        raise InvalidRequest("The body cannot be decoded.")
    if form.repeated:
        raise InvalidRequest(f"The body repeats {form.repeated_names()}.")
    return form


def parsed_body(request: Request) -> Parameters:
    """What the body holds. InvalidRequest: it has another type, is too long, or does not come whole."""
    if not is_form(request):
        raise InvalidRequest(f"Send the parameters as {FORM}.")
    try:
        body = request.body(MAX_BODY)
        if len(body) > MAX_BODY:
            raise InvalidRequest(f"The body is longer than {MAX_BODY} bytes.")
        return parameters.parse(body.decode())
    except EOFError:
        raise InvalidRequest("The body ends before its announced length.") from None
    except (ValueError, OSError):  # no UTF-8, no number as its length, a lost connection
        raise InvalidRequest("The body cannot be read.") from None


def credentials_of(request: Request, form: Parameters) -> Credentials:
    """`clients.credentials_of`, noted as what the request is about."""
    credentials = clients.credentials_of(authorization(request), form)
    request_log.about(client_id=clients.lookup_id(credentials.client_id))
    return credentials


def authorization(request: Request) -> str:
    """The header `Authorization`, or the empty string."""
    header: str = request.meta.get("HTTP_AUTHORIZATION", "")
    return header


def claimed_client_id(request: Request) -> str:
    """The app that a request names, however broken it is; for the log alone. Empty: none can be found."""
    with contextlib.suppress(ProtocolError):
        in_header = clients.lookup_id(clients.credentials_of(authorization(request), _NOTHING).client_id)
        if in_header:
            return in_header
    text: str = request.meta.get("QUERY_STRING", "")
    with contextlib.suppress(EOFError, ValueError, OSError):
        text += "\n" + request.body(MAX_BODY)[:4096].decode("latin-1")
    found = _CLAIM.search(text)
    return found[1] if found else ""
