"""What receives traces and errors in tests: an OTLP collector and Sentry's ingest endpoint, over real HTTP."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

T = TypeVar("T")
PATIENCE = 60.0  # seconds


class Received:
    """What has come. `raw`: every body, for what must be in none of them. Any: JSON's values, here and below."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}"
        self.dsn = f"http://public@127.0.0.1:{port}/4"
        self.raw: list[bytes] = []
        self.spans: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def take(self, path: str, body: bytes) -> None:
        self.raw.append(body)
        if path == "/v1/traces":
            self.spans += _spans(body)
        elif path == "/api/4/envelope/":
            self.events += _events(body)
        else:
            raise AssertionError(path)

    def wait_for(self, find: Callable[[], T]) -> T:
        """What `find` returns once it is true."""
        give_up_at = time.monotonic() + PATIENCE
        while not (found := find()):
            assert time.monotonic() < give_up_at, (self.spans, self.events)
            time.sleep(0.05)
        return found


def _spans(body: bytes) -> Iterator[dict[str, Any]]:
    request = ExportTraceServiceRequest.FromString(body)
    for resource in request.resource_spans:
        service = {each.key: each.value.string_value for each in resource.resource.attributes}["service.name"]
        for span in (span for scope in resource.scope_spans for span in scope.spans):
            attributes = {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
            yield {
                "name": span.name,
                "service": service,
                "trace": span.trace_id.hex(),
                "id": span.span_id.hex(),
                "parent": span.parent_span_id.hex(),
                "is_error": span.status.code == 2,
                "nanoseconds": span.end_time_unix_nano - span.start_time_unix_nano,
                "attributes": attributes,
            }


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    """The envelope's events: a line that says what follows, and a line of JSON."""
    lines = body.splitlines()[1:]
    for header, payload in zip(lines[::2], lines[1::2], strict=False):
        if json.loads(header)["type"] == "event":
            yield json.loads(payload)


@contextmanager
def receiving() -> Iterator[Received]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received.take(self.path, body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received = Received(server.server_port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
