"""`/metrics`: who may read it, what is counted, and that it answers while parts of the service are away."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, StreamingHttpResponse
from django.test import AsyncClient, Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from accounts import rate_limits
from accounts.models import JobRun, Permission, WebhookDelivery
from config import jobs
from config.observability import metrics as served
from config.operations import readiness
from imagehost import delivery
from imagehost.examining import probing
from imagehost.models import PreviewState
from infrastructure.databases.statements import Statement
from infrastructure.metrics import engine_time
from oidc_provider.token import signing
from presence.store import store
from tests.factories.accounts import ApiKeyFactory, UserFactory, WebhookEndpointFactory
from tests.factories.imagehost import FileFactory
from tests.presence import lookups
from tests.support import metric_values
from tests.support import wsgi as wsgi_requests

TOKEN = "a-token-of-the-scraper"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
PART = {"Range": "bytes=0-2"}
SECONDS = "hearth_http_request_seconds"

pytestmark = pytest.mark.django_db(transaction=True)  # a scrape reads in threads of its own


@pytest.fixture(autouse=True)
def _on(settings: Settings, tmp_path: Path) -> None:
    settings.METRICS_TOKEN, settings.METRICS_DIR = TOKEN, tmp_path / "metrics"
    metric_values.begin(settings.METRICS_DIR)


Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scraped(client: Client | None = None) -> Series:
    """Each series of a scrape, by name and sorted labels."""
    answer = (client or Client()).get("/metrics", headers=AUTHORIZED)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(series: Series, metric: str, /, **labels: str) -> float | None:
    return series.get((metric, tuple(sorted(labels.items()))))


def requests_of(series: Series) -> dict[tuple[str, str, str], float]:
    """The number of requests by route, method and status, without the scrapes and what earlier tests sent."""
    counts = [(dict(labels), number) for (name, labels), number in series.items() if name == f"{SECONDS}_count"]
    rows = {(row["route"], row["method"], row["status"]): number for row, number in counts if number}
    return {row: number for row, number in rows.items() if row[0] != "/metrics"}


# --- The guarded address ---


@pytest.mark.parametrize(
    ("token", "headers", "status"),
    [
        ("", {}, 404),
        ("", AUTHORIZED, 404),
        ("", {"Authorization": "Bearer "}, 404),
        (TOKEN, {}, 401),
        (TOKEN, {"Authorization": "Bearer "}, 401),
        (TOKEN, {"Authorization": f"Bearer {TOKEN}x"}, 401),
        (TOKEN, {"Authorization": f"Basic {TOKEN}"}, 401),
        (TOKEN, {"Authorization": TOKEN}, 401),
        (TOKEN, {"Authorization": "Bearer é"}, 401),
        (TOKEN, AUTHORIZED, 200),
        (TOKEN, {"Authorization": f"bearer {TOKEN}"}, 200),
        (f"new, {TOKEN}", AUTHORIZED, 200),
        (f"new, {TOKEN}", {"Authorization": "Bearer new"}, 200),
        (f"new, {TOKEN}", {"Authorization": f"Bearer new, {TOKEN}"}, 401),
        (f"new,,{TOKEN}", {"Authorization": "Bearer "}, 401),
        (",", {"Authorization": "Bearer "}, 401),
    ],
)
def test_only_the_bearer_of_the_token_reads_metrics(
    client: Client, settings: Settings, token: str, headers: dict[str, str], status: int
) -> None:
    settings.METRICS_TOKEN = token
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == status
    assert ("hearth_" in answer.content.decode()) == (status == 200)
    assert "no-store" in answer.headers["Cache-Control"] or status == 404
    assert answer.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)


def test_readiness_right_after_a_scrape_asks_for_itself(client: Client) -> None:
    scraped()
    parts = client.get("/readyz").json()["parts"]
    assert {type(state) for state in parts.values()} == {str}
    assert "presence" in parts


def test_the_process_for_event_streams_answers_too(async_client: AsyncClient) -> None:
    answer = async_to_sync(async_client.get)("/metrics", headers=AUTHORIZED)
    assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (200, "text/plain")


def test_nothing_is_counted_without_a_token(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    client.get("/healthz")
    wsgi_requests.send("/api/lookup/user")
    settings.METRICS_TOKEN = TOKEN
    assert requests_of(scraped()) == {}


# --- Requests ---


@pytest.mark.parametrize(
    ("path", "method", "counted"),
    [
        ("/healthz", "GET", ("/healthz", "GET", "200")),
        ("/healthz", "HEAD", ("/healthz", "HEAD", "200")),
        ("/files/some-name", "GET", ("/files/<name>", "GET", "404")),
        ("/nowhere/at/all", "GET", ("unmatched", "GET", "404")),
        ("/api/nowhere", "GET", ("unmatched", "GET", "404")),
        ("/api/lookup/user", "BREW", ("/api/lookup/user", "other", "405")),
        ("/static/none.css", "GET", ("/static/<path>", "GET", "404")),
        ("/admin/accounts/user/", "GET", ("/admin/", "GET", "302")),
        ("/api/lookup/presence/268473310986240001", "GET", ("/api/lookup/presence/<chat_id>", "GET", "401")),
        ("/api/lookup/username/ada", "GET", ("/api/lookup/username/<username>", "GET", "404")),
        ("/docs/quick-start", "GET", ("/docs/<slug>", "GET", "404")),
        ("/a\x00b", "GET", ("unmatched", "GET", "404")),
    ],
)
def test_a_request_is_counted_by_route_method_and_status(path: str, method: str, counted: tuple[str, str, str]) -> None:
    wsgi_requests.send(path, method=method)
    assert requests_of(scraped()) == {counted: 1}


def test_a_refused_request_is_counted(settings: Settings) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = "X-Client-Address"
    wsgi_requests.send("/healthz")
    settings.EDGE_CLIENT_ADDRESS_HEADER = ""
    assert requests_of(scraped()) == {("unmatched", "GET", "403"): 1}


@pytest.mark.parametrize("path", ["/{}", "/nowhere/{}", "/api/lookup/username/{}", "/files/{}", "/{}/links/x"])
def test_no_label_carries_what_a_caller_sent(path: str) -> None:
    UserFactory(username="Ada")
    for name in ("ada", 'x"}\n hearth_http 1', "secret-of-a-key", "\xc3\xa9" * 40):
        wsgi_requests.send(path.format(name), f"key={name}", headers={"X_API_KEY": "secret-of-a-key"})
    text = Client().get("/metrics", headers=AUTHORIZED).content.decode()
    assert not [line for line in text.splitlines() if "secret" in line or "ada" in line or "é" in line]
    assert len({route for route, _, _ in requests_of(scraped())}) <= 2


def test_a_sign_in_and_a_refused_password_are_counted(client: Client) -> None:
    UserFactory(username="Ada", password="a-long-password-of-ada")
    for password in ("wrong", "a-long-password-of-ada"):
        client.post("/accounts/login/", {"login": "Ada", "password": password})
    series = scraped()
    assert value(series, "hearth_sign_ins_total", outcome="refused") == 1
    assert value(series, "hearth_sign_ins_total", outcome="signed_in") == 1


def test_a_token_request_is_counted_by_grant_and_error(client: Client) -> None:
    form = "grant_type=refresh_token&refresh_token=x&client_id=unknown&client_secret=y"
    client.post("/api/auth/oauth2/token", form, content_type="application/x-www-form-urlencoded")
    assert value(scraped(), "hearth_provider_requests_total", kind="refresh", outcome="invalid_client") == 1


def test_the_time_of_database_and_redis_is_measured_by_engine_and_kind_of_call(settings: Settings) -> None:
    """Past Django's hooks in the lane, through them elsewhere; each call once."""
    UserFactory(username="Ada")
    ApiKeyFactory(secret="a-secret-of-a-key", permissions=list(Permission.values))
    connection.close()  # the next one is made while metrics are on
    metric_values.begin(settings.METRICS_DIR / "from-now-on")
    settings.METRICS_DIR /= "from-now-on"
    for _ in range(2):
        wsgi_requests.send("/api/lookup/username/ada", "key=a-secret-of-a-key")
    cache.get("nothing")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.execute("UPDATE accounts_user SET username = username")
        cursor.execute("RESET ALL")
    series = scraped()
    found = {name: dict(labels) for name, labels in series if name.startswith("hearth_engine")}
    assert set().union(*found.values()) <= {"engine", "call", "le"}

    def calls(engine: str, call: str) -> float:
        return value(series, "hearth_engine_seconds_count", engine=engine, call=call) or 0

    assert calls("postgresql", "write") == calls("postgresql", "other") == 1
    assert calls("postgresql", "read") >= 3
    assert calls("redis", "script") >= 2
    assert calls("redis", "command") >= 1


def test_nothing_of_the_database_is_measured_without_a_token(settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    connection.close()
    UserFactory(username="Ada")
    assert connection.execute_wrappers == []


def test_statements_by_hand_go_past_django_while_they_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    connection.ensure_connection()
    assert connection.execute_wrappers == [engine_time.timed]
    monkeypatch.setattr(Statement, "_through_django", None)
    assert Statement("SELECT 1", "i").one() == (1,)
    series, labels = scraped(), {"engine": "postgresql", "call": "read"}
    assert value(series, "hearth_engine_seconds_count", **labels) == 1
    assert 0 < (value(series, "hearth_engine_seconds_sum", **labels) or 0) < 5


# --- The state ---


def test_the_state_of_jobs_key_and_previews_is_read() -> None:
    signing.ensure_signing_key()
    jobs.scheduled()
    JobRun.objects.filter(name="fold_visits").update(succeeded_at=timezone.now(), duration_ms=1500)
    JobRun.objects.filter(name="sweep_assets").update(created_at=timezone.now() - timedelta(days=9), last_error="X: no")
    now = timezone.now()
    found = {**served._jobs(now), **served._signing_key(now), **served._previews(now)}
    late, failed = (dict(found[family]) for family in (served.JOB_LATE, served.JOB_FAILED))
    assert [labels for labels, is_late in late.items() if is_late] == [("sweep_assets",)]
    assert [labels for labels, has_failed in failed.items() if has_failed] == [("sweep_assets",)]
    assert found[served.JOB_SECONDS] == [(("fold_visits",), 1.5)]
    assert found[served.SIGNING_SINCE][0][1] == pytest.approx(now.timestamp(), abs=60)
    assert found[served.PREVIEWS_DUE] == [((), 0)]


def test_the_state_costs_four_queries() -> None:
    jobs.scheduled()
    now = timezone.now()
    with CaptureQueriesContext(connection) as queries:
        for ask in (served._jobs, served._signing_key, served._previews, served._webhooks):
            ask(now)
    assert len(queries) == 4  # the runs of jobs, the key that signs, the previews and webhooks that are due


def test_previews_that_are_due_are_counted_with_the_longest_wait() -> None:
    now = timezone.now()
    for minutes in (-7, -2, 3):
        FileFactory(preview_state=PreviewState.WAITING, preview_due_at=now + timedelta(minutes=minutes))
    found = served._previews(now)
    assert found[served.PREVIEWS_DUE] == [((), 2)]
    assert found[served.PREVIEWS_DUE_SINCE] == [((), 420)]


def test_deliveries_that_are_due_are_counted_with_the_longest_wait() -> None:
    now, endpoint = timezone.now(), WebhookEndpointFactory(user=UserFactory())
    for minutes in (-7, -2, 3):
        due_at = now + timedelta(minutes=minutes)
        WebhookDelivery.objects.create(endpoint=endpoint, type="test", due_at=due_at)
    WebhookDelivery.objects.create(endpoint=endpoint, type="test", due_at=None)
    found = served._webhooks(now)
    assert found[served.WEBHOOKS_DUE] == [((), 2)]
    assert found[served.WEBHOOKS_DUE_SINCE] == [((), 420)]


def test_the_feed_of_presence_is_dated(settings: Settings) -> None:
    assert served._presence(timezone.now()) == {served.FEED_EXPECTED: [((), 0)]}
    settings.CHAT = replace(settings.CHAT, guild_id="268473310000000000")
    opened = store.opened()
    assert served._presence(timezone.now())[served.FEED_ALIVE] == [((), 0)]
    lookups.alive(opened)
    opened.keep_stats({"members": 12, "reconnects": {"closed": 3}})
    found = served._presence(timezone.now())
    assert found[served.FEED_ALIVE][0][1] == pytest.approx(timezone.now().timestamp(), abs=60)
    assert found[served.MEMBERS] == [((), 12)]
    assert found[served.RECONNECTS] == [(("closed",), 3)]


# --- Parts that are away ---


def test_without_the_database_a_scrape_has_all_else(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """New threads, which read the state, get no connection; the thread of the test has one."""

    def refuse(self: object) -> None:
        raise OperationalError("the server does not answer")

    client.get("/healthz")
    monkeypatch.setattr(BaseDatabaseWrapper, "connect", refuse)
    series = scraped(client)
    assert requests_of(series) == {("/healthz", "GET", "200"): 1}
    parts = ("jobs", "signing_key", "previews", "webhooks", "presence")
    read = {part: value(series, "hearth_state_read", part=part) for part in parts}
    assert read == {"jobs": 0, "signing_key": 0, "previews": 0, "webhooks": 0, "presence": 1}
    assert value(series, "hearth_ready", part="database") == 0
    assert value(series, "hearth_job_late", name="fold_visits") is None


def test_without_redis_a_scrape_has_all_else(client: Client, settings: Settings) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="268473310000000000")
    backend = "presence.store.redis_cache.PresenceRedisCache"
    settings.CACHES = {**settings.CACHES, "presence": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:1/0"}}
    series = scraped(client)
    assert value(series, "hearth_state_read", part="presence") == 0
    assert value(series, "hearth_presence_feed_timestamp_seconds") is None


def test_a_database_that_hangs_holds_no_scrape(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()

    def hang() -> str:
        goes_on.wait(30)
        return ""

    monkeypatch.setattr(served, "GROUPS", ({"hanging": hang},))
    monkeypatch.setattr(readiness, "GROUPS", ({"hanging_too": hang},))
    began_at = time.perf_counter()
    try:
        series = scraped(client)
        assert time.perf_counter() - began_at < 3
        assert value(series, "hearth_state_read", part="hanging") == 0
        assert value(series, "hearth_ready", part="hanging_too") == 0
    finally:
        goes_on.set()


def test_a_directory_that_cannot_be_read_is_503_and_stops_no_request(client: Client, settings: Settings) -> None:
    settings.METRICS_DIR = settings.METRICS_DIR / "guard"
    assert client.get("/healthz").status_code == 200
    assert client.get("/metrics", headers=AUTHORIZED).status_code == 503


# --- Refusals, examinations, delivered bytes ---


def test_refusals_are_counted_by_the_limit_and_by_no_subject(client: Client) -> None:
    for _ in range(rate_limits.API_ADDRESS.amount + 2):
        client.get("/api/nowhere")
    assert value(scraped(), "hearth_refusals_total", limit="api") == 2


def test_an_examination_is_counted_by_task_and_outcome(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no picture")
    with pytest.raises(probing.InvalidMedia):
        probing.probe(tmp_path / "file")
    series = scraped()
    assert value(series, "hearth_examination_seconds_count", task="probe", outcome="invalid") == 1


def test_delivered_bytes_are_those_that_were_sent(client: Client) -> None:
    def content(request: HttpRequest) -> StreamingHttpResponse:
        wanted = delivery.Content(
            etag='"a"', changed_at=0, size=10, mime="image/png", disposition="inline", caching="no-store",
            read=lambda start, length: iter([b"0123456789"[start : start + length]]),
        )  # fmt: skip
        return cast("StreamingHttpResponse", delivery.content(request, wanted))

    whole, part, unread = (content(RequestFactory().get("/", headers=headers)) for headers in ({}, PART, {}))
    assert (b"".join(whole), b"".join(part)) == (b"0123456789", b"012")
    unread.close()
    assert value(scraped(), "hearth_delivered_bytes_total") == 13
