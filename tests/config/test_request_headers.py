"""Headers that are too long are gone before Django or a pattern reads them, on every way to an answer."""

from __future__ import annotations

from typing import Any

import pytest

from config.web import request_headers, wsgi
from tests.config.test_embedded import Client

LONG_TYPE = f'text/plain;a="{";" * 60_000}'  # of which the standard library's parser makes six seconds


@pytest.mark.parametrize(
    ("name", "most"),
    [("CONTENT_TYPE", 1000), ("HTTP_ACCEPT", 1000), ("HTTP_USER_AGENT", 65_536), ("HTTP_COOKIE", 65_536)],
)
@pytest.mark.parametrize("further", [0, 1])
def test_one_character_too_many_takes_a_header_away(name: str, most: int, further: int) -> None:
    environ: dict[str, Any] = {name: "a" * (most + further), "HTTP_HOST": "a"}
    request_headers.clean(environ)
    assert (name in environ, environ["HTTP_HOST"]) == (further == 0, "a")


def test_nothing_else_of_a_request_has_that_limit() -> None:
    environ: dict[str, Any] = {"PATH_INFO": "/" + "a" * 70_000, "QUERY_STRING": "b" * 70_000, "wsgi.input": None}
    before = dict(environ)
    request_headers.clean(environ)
    assert environ == before


def test_wsgi_passes_none_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.append(environ)
        return []

    monkeypatch.setattr(wsgi, "django_application", application)
    wsgi.application({"CONTENT_TYPE": LONG_TYPE, "HTTP_ACCEPT": LONG_TYPE}, None)
    assert not {"CONTENT_TYPE", "HTTP_ACCEPT"} & seen[0].keys()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/lookup/user", "/.well-known/openid-configuration", "/accounts/login/"])
def test_the_embedded_default_passes_none_on(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Nor to the lane, which answers the first two on its event loop."""
    parsed: list[str] = []
    monkeypatch.setattr(
        "django.core.handlers.wsgi.WSGIRequest._set_content_type_params",
        lambda self, meta: parsed.append(meta.get("CONTENT_TYPE", "")),
    )
    client = Client()
    client.call(
        (b"content-type", LONG_TYPE.encode()), (b"host", b"elsewhere.example"), path=path, raw_path=path.encode()
    )
    assert (client.status, parsed) == (400, [""])


def test_an_event_stream_hears_of_none() -> None:
    kept = [(b"authorization", b"a" * 65_536)]
    others = [(b"cookie", b"a" * 65_537), (b"accept", b"a" * 1001), (b"x_a", b"1"), (b"expect", b"x")]
    assert request_headers.without_body([*kept, *others]) == kept
