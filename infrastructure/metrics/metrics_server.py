"""HTTP for processes that serve no pages, `run_jobs` and gateway workers, where METRICS_PORT is set.

/metrics has what the processes of this host have counted, for callers with METRICS_TOKEN; the web servers' /metrics has
the state of the service as well. /healthz answers while the process runs. `prometheus_client.start_http_server` asks
for no token, so its server gets an application of ours.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from http.client import responses
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.core.management.base import CommandError
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.registry import Collector

from infrastructure import metrics
from infrastructure.metrics.process_files import ProcessCollector

PLAIN = "text/plain; charset=utf-8"

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Serve in a thread while the block runs, where METRICS_PORT is set. CommandError where the address is taken."""
    if not settings.METRICS_PORT:
        yield
        return
    address = (settings.METRICS_HOST, settings.METRICS_PORT)
    try:
        server = make_server(*address, _application, ThreadingWSGIServer, _Handler)
    except OSError as error:
        raise CommandError(f"METRICS_HOST and METRICS_PORT: {address[0]}:{address[1]}: {error.strerror}") from error
    threading.Thread(target=server.serve_forever, name="metrics-server", daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class _Handler(WSGIRequestHandler):
    timeout = 5  # seconds for a request to come in

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: scrapes are frequent."""


def _application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    status, content_type, body = 404, PLAIN, b"Not found.\n"
    if environ["PATH_INFO"] == "/healthz":
        status, content_type, body = 200, "application/json", b'{"status": "ok"}'
    elif environ["PATH_INFO"] == "/metrics" and settings.METRICS_TOKEN:
        status, content_type, body = scraped(environ.get("HTTP_AUTHORIZATION", ""))
    challenge = [("WWW-Authenticate", "Bearer")] if status == 401 else []
    headers = [("Content-Type", content_type), ("Cache-Control", "no-store"), *challenge]
    start_response(f"{status} {responses[status]}", headers)
    return [body]


def scraped(authorization: str, state: Callable[[ProcessCollector], Collector] | None = None) -> tuple[int, str, bytes]:
    """Return status, content type and body of a scrape: 401 without a token of METRICS_TOKEN in the header, 503 where
    the counts cannot be read. `state`: what the answer has besides the counts."""
    if not metrics.is_authorized(authorization):
        return 401, PLAIN, b"A bearer token is required.\n"
    try:
        counted = ProcessCollector(settings.METRICS_DIR)
    except OSError as error:
        logger.error("The counts of the processes cannot be read: %s", error)
        return 503, PLAIN, b"The counts cannot be read: see the log.\n"
    return 200, metrics.CONTENT_TYPE, metrics.text(counted, *([state(counted)] if state else []))
