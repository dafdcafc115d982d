"""The handler of Django's test client: requests enter by the WSGI application, as in production."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import setting_changed
from django.http import HttpResponse
from django.test import client


class Handler(client.ClientHandler):
    """Answers by `config.web.wsgi.serve`, in which Django's own handler of its client answers what the lane leaves."""

    def __call__(self, environ: dict[str, Any]) -> Any:
        from config.web import wsgi  # loads Django

        responses: list[Any] = []  # those of Django's handler, which have no type that fits
        begun: list[Any] = []

        def django(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            responses.append(super(Handler, self).__call__(environ))
            return []

        pieces = wsgi.serve(environ, lambda status, headers: begun.extend([status, headers]), django)
        return responses[0] if responses else _response(environ, begun[0], dict(begun[1]), b"".join(pieces))


def _response(environ: dict[str, Any], status: str, headers: dict[str, str], body: bytes) -> HttpResponse:
    """Return an answer of the lane as Django's client expects one."""
    response: Any = HttpResponse(body, status=int(status[:3]), headers=headers)  # any, for the attribute set below
    if "Content-Type" not in headers:
        del response.headers["Content-Type"]
    response.wsgi_request = WSGIRequest(environ)
    return cast("HttpResponse", client.conditional_content_removal(response.wsgi_request, response))


@pytest.fixture(scope="session", autouse=True)
def _clients_enter_as_in_production() -> None:
    """The application is loaded here, not in the middle of a test, since it sets logging up again."""
    import config.web.wsgi  # noqa: F401

    client.ClientHandler = Handler  # type: ignore[misc]  # Django's client makes one of this name


@pytest.fixture(autouse=True)
def _urls_are_those_of_the_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """pytest-django's mark `urls` changes the setting without Django's signal, by which kept values are forgotten."""

    def tell() -> None:
        if request.node.get_closest_marker("urls"):
            setting_changed.send(sender=None, setting="ROOT_URLCONF", value=None, enter=True)

    tell()
    yield
    tell()
