"""HTTP for processes that serve no pages, `run_jobs` and gateway workers, where METRICS_PORT is set.

/metrics has what the processes of this host have counted, for callers with METRICS_TOKEN; the web servers' /metrics has
the state of the service as well. /healthz answers while the process runs.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from django.conf import settings
from django.core.management.base import CommandError

from accounts import metrics
from accounts.metrics import metric_text
from accounts.metrics.metric_files import CountsUnavailable

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Serves in a thread meanwhile, where METRICS_PORT is set. CommandError where the address is taken."""
    if not settings.METRICS_PORT:
        yield
        return
    address = (settings.METRICS_HOST, settings.METRICS_PORT)
    try:
        server = ThreadingHTTPServer(address, _Handler)
    except OSError as error:
        raise CommandError(f"METRICS_HOST and METRICS_PORT: {address[0]}:{address[1]}: {error.strerror}") from error
    threading.Thread(target=server.serve_forever, name="metrics-server", daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    timeout = 5  # seconds for a request to come in
    server_version, sys_version = "id", ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/healthz":
            self._answer(200, b'{"status": "ok"}', content_type="application/json")
        elif path == "/metrics" and settings.METRICS_TOKEN:
            self._metrics()
        else:
            self._answer(404, b"Not found.\n")

    def _metrics(self) -> None:
        if not metric_text.is_authorized(self.headers.get("Authorization", "")):
            self._answer(401, b"A bearer token is required.\n")
            return
        try:
            counts, _ = metrics.collected()
        except (CountsUnavailable, OSError) as error:
            logger.error("The counts of the processes cannot be read: %s", error)
            self._answer(503, b"The counts cannot be read: see the log.\n")
            return
        text = metric_text.text(metric_text.counted({**counts.totals, **counts.gauges}))
        self._answer(200, text, content_type=metric_text.CONTENT_TYPE)

    def _answer(self, status: int, body: bytes, *, content_type: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: scrapes are frequent."""
