"""The observation of a request: its id, the ids in log lines, and its line in the access log."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import requests
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.test import AsyncClient, Client
from pytest_django import Settings

from accounts.models import Permission
from config.observability import access_log, tracing
from config.observability.logs import JsonFormatter
from config.web import door
from config.web.door import ObservedRequest
from imagehost.storing import storage
from infrastructure import http_client
from infrastructure.requests import request_context
from oidc_provider import request_log
from oidc_provider.models import RequestRecord
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.imagehost import FileFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support import wsgi

pytestmark = pytest.mark.django_db

EDGE = "X-Client-Address"
SECRET = "the-secret-of-a-key"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
LOOKUP = "/api/lookup/username/ada"
BY_DJANGO = "/healthz"


@pytest.fixture(autouse=True)
def _on(settings: Settings) -> None:
    settings.ACCESS_LOG = True


@pytest.fixture
def edge(settings: Settings) -> dict[str, str]:
    settings.EDGE_CLIENT_ADDRESS_HEADER = EDGE
    return {"X_CLIENT_ADDRESS": "203.0.113.77"}


class Lines(logging.Handler):
    def __init__(self, formatter: logging.Formatter | None = None) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


@pytest.fixture
def written() -> Iterator[Lines]:
    importlib.import_module("config.web.wsgi")  # sets logging up again when it is loaded
    handler = Lines()
    access_log.logger.addHandler(handler)
    yield handler
    access_log.logger.removeHandler(handler)


def lines(written: Lines) -> list[dict[str, Any]]:
    """The lines of the access log until now, without what differs each time. Any: JSON's values."""
    access_log.buffer.write()
    found = [json.loads(line) for text in written.texts for line in text.splitlines()]
    for line in found:
        assert line.pop("time").endswith("Z")
        assert 0 < line.pop("ms") < 60_000
        assert (line.pop("level"), line.pop("logger")) == ("INFO", "access")
    return found


# --- Ids ---


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"X_REQUEST_ID": "0123456789abcdef0123456789abcdef"}, "0123456789abcdef0123456789abcdef"),
        ({"X_REQUEST_ID": "a3bb189e-8bf9-3888-9912-ace4e6543002"}, "a3bb189e-8bf9-3888-9912-ace4e6543002"),
        ({"X_REQUEST_ID": "short"}, ""),
        ({"X_REQUEST_ID": "x" * 65}, ""),
        ({"X_REQUEST_ID": 'quoted"and spaced'}, ""),
        ({"X_REQUEST_ID": "several,of,them,at,once"}, ""),
        ({"TRACEPARENT": TRACEPARENT}, TRACE),
        ({"TRACEPARENT": TRACEPARENT, "X_REQUEST_ID": "from-the-edge"}, "from-the-edge"),
        ({"TRACEPARENT": TRACEPARENT.replace(TRACE, "0" * 32)}, ""),
        ({"TRACEPARENT": "01" + TRACEPARENT}, ""),
        ({}, ""),
    ],
)
def test_the_id_of_the_edge_proxy_is_kept_where_it_is_well_formed(
    edge: dict[str, str], sent: dict[str, str], kept: str
) -> None:
    _, headers, _ = wsgi.send(LOOKUP, headers={**edge, **sent})
    if kept:
        assert headers["X-Request-Id"] == kept
    else:
        assert len(headers["X-Request-Id"]) == 16
        assert headers["X-Request-Id"] not in sent.values()


@pytest.mark.parametrize("path", [BY_DJANGO, "/nowhere", "/api/auth/jwks", "/static/none.css"])
def test_every_kind_of_path_keeps_the_id_of_the_edge_proxy(edge: dict[str, str], path: str) -> None:
    assert wsgi.send(path, headers={**edge, "X_REQUEST_ID": "from-the-edge"})[1]["X-Request-Id"] == "from-the-edge"
    assert len(wsgi.send(path, headers={**edge, "X_REQUEST_ID": "short"})[1]["X-Request-Id"]) == 16


@pytest.mark.parametrize("path", [LOOKUP, BY_DJANGO])
def test_without_an_edge_proxy_no_id_is_believed(path: str) -> None:
    sent = {"X_REQUEST_ID": "chosen-by-the-client", "TRACEPARENT": TRACEPARENT}
    assert len(wsgi.send(path, headers=sent)[1]["X-Request-Id"]) == 16


def test_the_log_of_apps_has_the_id_of_the_answer(edge: dict[str, str]) -> None:
    application = ApplicationFactory()
    form = f"grant_type=refresh_token&refresh_token=x&client_id={application.client_id}&client_secret=y".encode()
    sent = {**edge, "X_REQUEST_ID": "0123456789abcdef" * 4, "CONTENT_TYPE": "application/x-www-form-urlencoded"}
    _, headers, _ = wsgi.send("/api/auth/oauth2/token", method="POST", body=form, headers=sent)
    request_log.buffer.write()
    assert RequestRecord.objects.get().request_id == headers["X-Request-Id"] == "0123456789abcdef" * 4


@pytest.mark.parametrize("path", ["/api/lookup/username/ada", "/api/auth/jwks"])
def test_each_log_line_of_a_request_has_its_id(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    def fail(*_: object, **__: object) -> None:
        logging.getLogger("somewhere").error("Failed with key=%s", SECRET)
        raise RuntimeError(f"client_secret={SECRET}")

    monkeypatch.setattr("infrastructure.limits.hit", fail)
    handler = Lines(JsonFormatter())
    names = ("somewhere", "django.request")
    for name in names:
        logging.getLogger(name).addHandler(handler)
    try:
        status, headers, _ = wsgi.send(path)
    finally:
        for name in names:
            logging.getLogger(name).removeHandler(handler)
    assert status == "500 Internal Server Error"
    assert [json.loads(text)["request_id"] for text in handler.texts] == [headers["X-Request-Id"]] * 2
    assert SECRET not in "".join(handler.texts)


def test_a_line_outside_a_request_has_no_id() -> None:
    assert "request_id" not in json.loads(JsonFormatter().format(logging.makeLogRecord({"msg": "x"})))


def test_a_job_has_an_id_of_its_run_in_the_log_and_in_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(self: object) -> str:
        context = request_context.current.get()
        assert context is not None
        line = json.loads(JsonFormatter().format(logging.makeLogRecord({"msg": "x"})))
        assert (line["job"], line["run_id"]) == ("fold_visits", context.request_id)
        seen.append(context.request_id)
        return "done"

    monkeypatch.setattr("lookup.management.commands.fold_visits.Command.perform", noted)
    call_command("fold_visits")
    with tracing.job("fold_visits"):
        call_command("fold_visits")
    assert len(set(seen)) == 2
    assert request_context.current.get() is None


def test_a_call_to_another_service_carries_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, str]] = []

    def noted(self: object, method: str, url: str, **options: Any) -> None:
        sent.append(dict(options["headers"] or {}))
        raise requests.ConnectionError

    monkeypatch.setattr(requests.Session, "request", noted)
    with pytest.raises(http_client.NoAnswer):
        http_client.read("GET", "http://127.0.0.1/", headers={"Accept": "x"})
    with request_context.job("a_job") as context, pytest.raises(http_client.NoAnswer):
        http_client.read("GET", "http://127.0.0.1/", headers={"Accept": "x"})
    assert sent == [{"Accept": "x"}, {"X-Request-Id": context.request_id, "Accept": "x"}]


# --- The access log ---


def test_a_request_of_the_lane_is_one_line(written: Lines, edge: dict[str, str]) -> None:
    key = ApiKeyFactory(secret=SECRET, permissions=list(Permission.values))
    _, headers, body = wsgi.send(LOOKUP, f"key={SECRET}", headers=edge)
    assert lines(written) == [
        {
            "method": "GET",
            "route": "/api/lookup/username/<username>",
            "path": LOOKUP,
            "status": 404,
            "bytes": len(body),
            "client": "203.0.113.0/24",
            "request_id": headers["X-Request-Id"],
            "key_id": key.pk,
            "error": json.loads(body).get("code") or json.loads(body)["error"],
        }
    ]


def test_a_request_of_django_is_one_line(written: Lines, client: Client) -> None:
    user = UserFactory(username="Ada")
    client.force_login(user)
    answer = client.get("/dashboard/?token=x")
    assert lines(written) == [
        {
            "method": "GET",
            "route": "/dashboard/",
            "path": "/dashboard/",
            "status": 200,
            "bytes": len(answer.content),
            "client": "127.0.0.0/24",
            "request_id": answer.headers["X-Request-Id"],
            "user_id": str(user.pk),
        }
    ]


@pytest.mark.parametrize(
    ("path", "route", "logged"),
    [
        ("/files/Ab12/delete/s3cret", "/files/<name>/delete/<token>", "/files/Ab12/delete/[redacted]"),
        ("/consent/s3cret", "/consent/<pending_id>", "/consent/[redacted]"),
        (
            "/accounts/password/reset/key/1a-s3cret/",
            "/accounts/password/reset/key/<uidb36>-<key>/",
            "/accounts/password/reset/key/[redacted]/",
        ),
        ("/nowhere/token=s3cret", "unmatched", "/nowhere/token=[redacted]"),
        ("/api/nowhere\n{}", "unmatched", "/api/nowhere\n{}"),
        ("/" + "x" * 5000, "unmatched", "/" + "x" * 999),
    ],
)
def test_a_path_is_logged_without_query_and_secrets(written: Lines, path: str, route: str, logged: str) -> None:
    wsgi.send(path, "key=s3cret&client_secret=s3cret", headers={"COOKIE": "sessionid=s3cret"})
    (line,) = lines(written)
    assert (line["route"], line["path"]) == (route, logged)
    assert "s3cret" not in "".join(written.texts)
    assert len(written.texts) == len("".join(written.texts).splitlines()) == 1


def test_a_request_of_an_app_names_it_and_its_error(written: Lines) -> None:
    application = ApplicationFactory()
    form = f"grant_type=refresh_token&refresh_token=s3cret&client_id={application.client_id}&client_secret=s3cret"
    sent = {"CONTENT_TYPE": "application/x-www-form-urlencoded"}
    wsgi.send("/api/auth/oauth2/token", method="POST", body=form.encode(), headers=sent)
    (line,) = lines(written)
    assert (line["client_id"], line["error"], line["status"]) == (application.client_id, "invalid_client", 401)
    assert "s3cret" not in "".join(written.texts)


def test_a_download_is_logged_once_with_its_bytes(written: Lines) -> None:
    file = FileFactory(size=300_000)
    storage.bucket().keep_bytes(file.key, b"a" * 300_000, mime=file.mime)
    _, headers, body = wsgi.send(f"/media/{file.file_name}")
    (line,) = lines(written)
    assert (line["status"], line["bytes"]) == (200, len(body))
    assert line["request_id"] == headers["X-Request-Id"]


class Ended(ObservedRequest):
    """A request that notes the sizes of its answer and nothing else."""

    def __init__(self) -> None:
        super().__init__({"REMOTE_ADDR": "192.0.2.1"})
        self.sizes: list[int] = []

    def end(self, size: int) -> None:
        self.sizes.append(size)


def test_a_download_that_its_client_leaves_is_logged_with_what_was_sent() -> None:
    ended = Ended()
    pieces = door.CountedIterator(iter([b"abc", b"de"]), ended)
    assert next(pieces) == b"abc"
    pieces.close()
    pieces.close()
    assert ended.sizes == [3]


def test_an_event_stream_is_logged_at_its_end_and_its_log_lines_have_its_id() -> None:
    ended = Ended()
    seen: list[str] = []

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"abc", b"de"):
            seen.append(request_context.request_id())
            yield piece

    async def read() -> list[bytes]:
        return [piece async for piece in stream]

    stream = door.CountedAsyncIterator(pieces(), ended)
    assert asyncio.run(read()) == [b"abc", b"de"]
    assert ended.sizes == []
    stream.close()
    assert (ended.sizes, seen) == ([5], [ended.request_id] * 2)


def test_the_process_for_event_streams_logs_too(written: Lines, async_client: AsyncClient) -> None:
    answer = async_to_sync(async_client.get)("/healthz")
    (line,) = lines(written)
    assert (line["route"], line["status"], line["bytes"]) == ("/healthz", 200, len(answer.content))


def test_a_refused_request_is_logged(written: Lines, settings: Settings) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = EDGE
    wsgi.send(LOOKUP)
    (line,) = lines(written)
    assert (line["status"], line["client"], line["error"]) == (403, "", "errors.forbidden")


def test_nothing_is_logged_where_it_is_off(written: Lines, settings: Settings) -> None:
    settings.ACCESS_LOG = False
    wsgi.send(LOOKUP)
    wsgi.send(BY_DJANGO)
    assert len(access_log.buffer) == 0
    assert lines(written) == []


def test_lines_are_written_in_pieces_that_a_pipe_takes_at_once(written: Lines) -> None:
    for _ in range(50):
        wsgi.send(BY_DJANGO)
    assert len(lines(written)) == 50
    assert 1 < len(written.texts) < 10
    assert max(map(len, written.texts)) <= access_log.AT_ONCE
