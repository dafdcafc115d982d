"""What the server hands to Django is put right first, below every middleware."""

import contextlib
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings

from accounts.plans import LARGEST_BODY
from config.web import request_body, wsgi


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The environments that reach Django."""
    environments: list[dict[str, Any]] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        environments.append(environ)
        return []

    monkeypatch.setattr(wsgi, "django_application", application)
    return environments


@pytest.mark.parametrize(
    ("content_type", "passed_on"),
    [
        ("text/plain; charset=hex", "text/plain"),
        ("application/json;Charset=rot13;x=y", "application/json;x=y"),
        ('application/x-www-form-urlencoded; charset="utf-8"', "application/x-www-form-urlencoded"),
        ("multipart/form-data; boundary=b", "multipart/form-data; boundary=b"),
        ("multipart/form-data; boundary=b; x*=klingon''%41", "multipart/form-data; boundary=b"),
        ("multipart/form-data; x*=1; boundary=a*b; x*1=2", "multipart/form-data; boundary=a*b"),
        ("", ""),
    ],
)
def test_no_charset_of_the_caller_reaches_a_codec(
    seen: list[dict[str, Any]], content_type: str, passed_on: str
) -> None:
    wsgi.application({"CONTENT_TYPE": content_type}, None)
    assert seen[0]["CONTENT_TYPE"] == passed_on


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_scheme_is_that_of_the_base_url(
    seen: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.setattr(wsgi, "SCHEME", scheme)
    wsgi.application({"wsgi.url_scheme": "ftp", "HTTP_X_FORWARDED_PROTO": "ftp"}, None)
    assert seen[0]["wsgi.url_scheme"] == scheme
    assert settings.SECURE_PROXY_SSL_HEADER is None


class Sent(BytesIO):
    """A body that remembers the largest piece that was asked of it."""

    largest = 0

    def read(self, size: int | None = -1) -> bytes:
        self.largest = max(self.largest, size or 0)
        return super().read(size)


@pytest.mark.parametrize("taken", [0, 3, 200_000])
@pytest.mark.parametrize("length", [{"CONTENT_LENGTH": "200000"}, {"HTTP_TRANSFER_ENCODING": "chunked"}])
def test_the_unread_rest_of_a_body_is_read_before_the_answer_goes_out(
    monkeypatch: pytest.MonkeyPatch, taken: int, length: dict[str, str]
) -> None:
    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert len(environ["wsgi.input"].read(taken)) == taken
        return [b"answer"]

    monkeypatch.setattr(wsgi, "django_application", application)
    sent = Sent(b"x" * 200_000)
    assert wsgi.application({"wsgi.input": sent, **length}, None) == [b"answer"]
    assert sent.tell() == 200_000
    assert sent.largest <= max(taken, 65_536)


def test_a_body_is_read_to_its_end_after_a_crash_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        raise LookupError

    monkeypatch.setattr(wsgi, "django_application", application)
    sent = Sent(b"x" * 10)
    with pytest.raises(LookupError):
        wsgi.application({"wsgi.input": sent, "CONTENT_LENGTH": "10"}, None)
    assert sent.tell() == 10


@pytest.mark.parametrize(
    "headers",
    [
        {"CONTENT_LENGTH": "10", "HTTP_EXPECT": "100-Continue"},  # the client has not sent it
        {"CONTENT_LENGTH": str(LARGEST_BODY + 1)},
    ],
)
def test_a_body_that_is_not_there_or_too_long_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    monkeypatch.setattr(wsgi, "django_application", lambda environ, start_response: [])
    sent = Sent(b"x" * 10)
    wsgi.application({"wsgi.input": sent, **headers}, None)
    assert sent.tell() == 0


def test_an_expected_body_that_was_read_in_part_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has asked the client to send it."""
    monkeypatch.setattr(wsgi, "django_application", lambda environ, start_response: [environ["wsgi.input"].read(3)])
    sent = Sent(b"x" * 10)
    headers = {"CONTENT_LENGTH": "10", "HTTP_EXPECT": "100-Continue"}
    assert wsgi.application({"wsgi.input": sent, **headers}, None) == [b"xxx"]
    assert sent.tell() == 10


def test_a_client_that_has_gone_takes_no_answer_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def read(self, size: int) -> bytes:
            raise ConnectionResetError

    monkeypatch.setattr(wsgi, "django_application", lambda environ, start_response: [b"answer"])
    assert wsgi.application({"wsgi.input": Gone(), "CONTENT_LENGTH": "10"}, None) == [b"answer"]


LARGE_BODIES = [{"CONTENT_LENGTH": "65537"}, {"HTTP_TRANSFER_ENCODING": "chunked"}]


@pytest.mark.parametrize(
    ("body", "has_place"),
    [
        (LARGE_BODIES[0], False),
        (LARGE_BODIES[1], False),
        ({"CONTENT_LENGTH": "1", "HTTP_EXPECT": "100-continue"}, False),
        ({"CONTENT_LENGTH": "65536"}, True),
        ({}, True),
    ],
)
def test_large_bodies_take_at_most_half_of_the_threads(
    seen: list[dict[str, Any]], body: dict[str, str], *, has_place: bool
) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(settings.WEB_THREADS // 2):
            environ: dict[str, Any] = dict(LARGE_BODIES[0])
            stack.enter_context(request_body.place(environ))
            assert request_body.HAS_NO_PLACE not in environ
        wsgi.application({"wsgi.input": BytesIO(), **body}, None)
    wsgi.application({"wsgi.input": BytesIO(), **body}, None)
    assert [request_body.HAS_NO_PLACE not in environ for environ in seen] == [has_place, True]
