"""The access log, traces and errors of the real server with two workers, and that libraries are loaded on demand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from accounts.models import Permission
from oidc_provider.token import signing
from tests.config import telemetry_receiver
from tests.config.telemetry_receiver import Received
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.presence import served

ROOT = Path(__file__).parents[2]
TWO_WORKERS = ("--workers", "2", *served.INTERFACES["wsgi"])
SECRET = "ik_abcd1234_the0secret0of0a0key"
LOOKUP = "/api/lookup/username/lovelace"  # no name that the hexadecimal ids of spans can hold by chance
ROUTE = "/api/lookup/username/<username>"
REQUESTS = 30
LIBRARIES = {"opentelemetry.exporter", "sentry_sdk"}  # the client of Redis loads the rest of OpenTelemetry itself

live = [pytest.mark.live, pytest.mark.django_db(transaction=True)]


def get(base_url: str, path: str) -> requests.Response:
    """By a connection of its own: any worker may answer."""
    return requests.get(f"{base_url}{path}", headers={"Connection": "close"}, timeout=30)


@pytest.fixture
def _key() -> None:
    signing.ensure_signing_key()
    UserFactory(username="Lovelace")
    ApiKeyFactory(secret=SECRET, permissions=list(Permission.values))


@pytest.mark.usefixtures("_key")
class TestServed:
    pytestmark = live

    def test_no_line_is_lost_at_a_graceful_end(self, tmp_path: Path) -> None:
        with served.service(tmp_path, TWO_WORKERS, ACCESS_LOG="1") as server:
            ids = {get(server.base_url, f"{LOOKUP}?key={SECRET}").headers["X-Request-Id"] for _ in range(REQUESTS)}
            ids |= {
                get(server.base_url, f"/nowhere/at/all?key={SECRET}").headers["X-Request-Id"] for _ in range(REQUESTS)
            }
            server.stop()
            log = server.log.read_text()
        lines = [json.loads(line) for line in log.splitlines() if '"logger":"access"' in line]
        logged = [line["request_id"] for line in lines if line["route"] in {ROUTE, "unmatched"}]
        assert len(ids) == len(logged) == 2 * REQUESTS
        assert set(logged) == ids
        assert "the0secret0of0a0key" not in log

    def test_spans_arrive_with_route_and_calls_below_them(self, tmp_path: Path) -> None:
        with telemetry_receiver.receiving() as received:
            variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": received.base_url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
            with served.service(tmp_path, TWO_WORKERS, **variables) as server:
                answer = get(server.base_url, f"{LOOKUP}?key={SECRET}")
                page = get(server.base_url, f"/lovelace?key={SECRET}")
                server.stop()  # what is not sent yet is sent now
        assert answer.status_code == 200
        check_spans(received, answer)
        assert span_of(received, page)["attributes"]["http.response.status_code"] == page.status_code
        assert b"the0secret" not in b"".join(received.raw)
        assert b"lovelace" not in b"".join(received.raw)

    def test_errors_arrive_with_route_and_id_and_without_secrets(self, tmp_path: Path) -> None:
        """`broken_wsgi` raises what is no outage, in the lane and in Django."""
        command = (*TWO_WORKERS[:-1], "tests.config.broken_wsgi:application")
        with (
            telemetry_receiver.receiving() as received,
            served.service(tmp_path, command, SENTRY_DSN=received.dsn) as server,
        ):
            answer = get(server.base_url, f"{LOOKUP}?key={SECRET}")
            page = get(server.base_url, f"/docs?key={SECRET}")
            received.wait_for(lambda: len(received.events) >= 2)
        assert (answer.status_code, page.status_code) == (500, 500)
        found = {event["transaction"]: event for event in received.events}
        assert found.keys() == {ROUTE, "/docs"}
        assert found[ROUTE]["tags"] == {"request_id": answer.headers["X-Request-Id"]}
        assert found["/docs"]["tags"] == {"request_id": page.headers["X-Request-Id"]}
        assert (
            found[ROUTE]["exception"]["values"][-1]["value"]
            == "client_secret=[redacted] in postgres://id:[redacted]@db/id"
        )
        text = b"".join(received.raw)
        assert not [word for word in (b"the0secret", b"s3cret", b"User-Agent") if word in text]
        assert not re.search(rb'[^\\]"HTTP_', text)  # in our own lines, which events quote, a backslash is before it


def span_of(received: Received, answer: requests.Response) -> dict[str, Any]:
    """Any: as `outside` has it."""
    request_id = answer.headers["X-Request-Id"]
    (found,) = [span for span in received.spans if span["attributes"].get("hearth.request_id") == request_id]
    return found


def check_spans(received: Received, answer: requests.Response) -> None:
    request = span_of(received, answer)
    assert (request["name"], request["service"]) == (f"GET {ROUTE}", "hearth")
    assert (request["parent"], request["is_error"]) == ("", False)
    assert request["attributes"] == {
        "http.request.method": "GET",
        "http.route": ROUTE,
        "http.response.status_code": 200,
        "hearth.request_id": answer.headers["X-Request-Id"],
    }
    below = [span for span in received.spans if span["parent"] == request["id"]]
    assert {span["trace"] for span in below} == {request["trace"]}
    assert {span["name"] for span in below} >= {"postgresql read", "redis script"}
    assert all(set(span["attributes"]) == {"db.system.name", "db.operation.name"} for span in below)
    assert 0 < sum(span["nanoseconds"] for span in below) < request["nanoseconds"]


def loaded(tmp_path: Path, **variables: str) -> Any:
    """The libraries that a web process has loaded. Any: JSON's values."""
    unset = {"DATABASE_URL", "REDIS_URL", "SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path), **variables}
    script = "from config import wsgi; import json, sys; print(json.dumps([*sys.modules]))"
    command = [sys.executable, "-W", "ignore", "-c", script]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.once
@pytest.mark.parametrize(
    ("variables", "libraries"),
    [
        ({}, set()),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, {"opentelemetry.exporter"}),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}, {"opentelemetry.exporter"}),
        ({"SENTRY_DSN": "http://public@127.0.0.1:9/4"}, {"sentry_sdk"}),
    ],
)
def test_a_library_is_loaded_where_its_variable_is_set(
    tmp_path: Path, variables: dict[str, str], libraries: set[str]
) -> None:
    found = loaded(tmp_path, **variables)
    assert LIBRARIES & set(json.loads(found.stdout)) == libraries


@pytest.mark.once
@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"SENTRY_DSN": "no-dsn"}, "SENTRY_DSN cannot be used"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "127.0.0.1:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT must be a URL"),
    ],
)
def test_a_value_that_cannot_be_used_stops_the_start(tmp_path: Path, variables: dict[str, str], sentence: str) -> None:
    found = loaded(tmp_path, **variables)
    assert found.returncode != 0
    assert sentence in found.stderr
