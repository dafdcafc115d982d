"""The service as the world sees it, through the edge proxy: BASE_URL, certificate, the client-address header."""

import json
import socket
import ssl
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from django.conf import settings

from config.doctor import Finding, failure, measured, ok, warning
from infrastructure.http_client import NoAnswer

SECONDS = 5.0  # for an answer through the proxy
FORGED = "forged"  # no address: a request that arrives with it is refused
SOON = 14  # days before its end that a certificate should have been renewed
NO_PROXY = "Is the web server started, and does the proxy pass BASE_URL to it? deploy/nginx.conf is an example."
OVERWRITE = "Let the proxy overwrite it, whatever the client sent (deploy/nginx.conf)."


class Answer(NamedTuple):
    """`body`: any JSON; None where there is none. `location`: where it leads, if it does."""

    status: int
    body: Any
    location: str


def address() -> Iterator[Finding]:
    """Check that the service answers at BASE_URL, and that clients cannot choose the address that counts."""
    header = settings.EDGE_CLIENT_ADDRESS_HEADER
    try:
        answer = _asked("/healthz")
        if answer.status == 403 and header:
            yield failure(f"the proxy does not send {header}", OVERWRITE)
            return
        if answer.status != 200 or answer.body != {"status": "ok"}:
            yield failure(f"{settings.BASE_URL}/healthz answers {answer.status}", NO_PROXY)
            return
        issuer = _asked("/.well-known/openid-configuration").body["issuer"]
        for name in dict.fromkeys((header, header.replace("-", "_"))) if header else ():
            if _asked("/healthz", **{name: FORGED}).status != 200:
                yield failure(f"the proxy passes on the {name} of clients: they may choose their address", OVERWRITE)
                return
    except (NoAnswer, TypeError, KeyError) as error:
        yield failure(f"{settings.BASE_URL} does not answer as this service: {error}", NO_PROXY)
        return
    if issuer != settings.BASE_URL:
        yield failure(f"another service answers at {settings.BASE_URL}, whose issuer is {issuer}", NO_PROXY)
    else:
        yield ok(f"{settings.BASE_URL} answers{f'; {header} comes from the proxy alone' if header else ''}")


def certificate() -> Iterator[Finding]:
    """Check that it is trusted and lives on, and that plain http leads to https."""
    if not settings.HTTPS:
        yield ok("none: BASE_URL is not https")
        return
    host, port = str(urlsplit(settings.BASE_URL).hostname), urlsplit(settings.BASE_URL).port or 443
    trusted = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, port), timeout=SECONDS) as plain,
            trusted.wrap_socket(plain, server_hostname=host) as secured,
        ):
            ends_at = ssl.cert_time_to_seconds(str((secured.getpeercert() or {})["notAfter"]))
    except ssl.SSLError as error:
        yield failure(f"it is not trusted: {error.reason}", "Send the whole chain of a certificate for this host.")
        return
    days = (ends_at - time.time()) / 86_400
    text = f"the certificate of {host} ends in {days:.0f} days"
    yield measured(-days, most=-SOON, text=text, fix="Renew it, and let a timer do so (certbot.timer).")
    try:
        answer = _asked_at(f"http://{host}/")
    except NoAnswer:
        return  # nothing listens there
    if not answer.location.startswith("https://"):
        yield warning(f"http://{host}/ does not lead to https", "Let the proxy redirect it.")


def event_streams() -> Iterator[Finding]:
    """Check that the service itself refuses a request without a key; a proxy that cannot reach it answers 502."""
    try:
        answer = _asked("/api/lookup/presence/100000000000000000/events")
    except NoAnswer as error:
        yield failure(f"no answer: {error}", NO_PROXY)
        return
    if answer.status in {401, 503} and isinstance(answer.body, dict):
        yield ok("their address answers")
    else:
        fix = "Start granian with config.asgi:application (id-events.service), and let the proxy lead there."
        yield failure(f"the address answers {answer.status}", fix)


def _asked(path: str, **headers: str) -> Answer:
    return _asked_at(settings.BASE_URL + path, **headers)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        """Take a redirect as an answer."""


def _asked_at(url: str, **headers: str) -> Answer:
    """Ask with this host's trusted certificates, a company's own too, and without the environment's proxy."""
    opener = build_opener(_NoRedirects, ProxyHandler({}))
    try:
        with opener.open(Request(url, headers=headers), timeout=SECONDS) as response:  # noqa: S310 - BASE_URL
            return Answer(response.status, _json(response.read()), "")
    except HTTPError as error:
        with error:
            return Answer(error.code, _json(error.read()), error.headers.get("Location", ""))
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise NoAnswer(f"{type(reason).__name__}: {reason}") from None


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
