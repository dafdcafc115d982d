"""Traces for OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT is set.

Each request and each run of a job is a span, and below it each call of the database and of Redis.

The library's instrumentations of Django, psycopg and Redis are not used: the busiest endpoints go past what they wrap,
and they record paths with their queries. A span holds routes, statuses and ids; no path, no SQL, no value.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from multiprocessing.util import Finalize
from time import time_ns
from typing import TYPE_CHECKING

from django.conf import settings

from infrastructure.metrics import engine_time
from infrastructure.requests import request_context
from infrastructure.requests.request_context import RequestContext
from infrastructure.settings_cache import from_settings

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

END_SECONDS = 3.0  # that a process waits for the collector at its end


@from_settings
def is_on() -> bool:
    return bool(settings.TRACES_ENDPOINT)


def prepare() -> None:
    """Load the library, before a server forks its workers."""
    if not is_on():
        return
    from opentelemetry.exporter.otlp.proto.http import trace_exporter  # noqa: F401 - loaded only where it is used
    from opentelemetry.sdk import trace  # noqa: F401 - as above

    if _record not in engine_time.recorders:
        engine_time.recorders.append(_record)


def begin(context: RequestContext, traceparent: str, *, is_job: bool = False) -> None:
    """Begin the span of a request or job run. `traceparent`: well formed, of the edge proxy; "" for a new trace."""
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    before = TraceContextTextMapPropagator().extract({"traceparent": traceparent}) if traceparent else None
    kind = trace.SpanKind.INTERNAL if is_job else trace.SpanKind.SERVER
    context.span = _tracer().start_span(context.job or "request", context=before, kind=kind)
    made = context.span.get_span_context()
    context.traceparent = f"00-{made.trace_id:032x}-{made.span_id:016x}-{made.trace_flags:02x}"


def end(context: RequestContext, method: str, route: str, status: int) -> None:
    """End the span of a request."""
    span = context.span
    span.update_name(f"{method[:16]} {route}")
    span.set_attributes(
        {
            "http.request.method": method[:16],
            "http.route": route,
            "http.response.status_code": status,
            "hearth.request_id": context.request_id,
        }
    )
    if status >= 500:
        _mark_as_error(context)
    span.end()


@contextlib.contextmanager
def job(name: str) -> Iterator[None]:
    """Trace a run of the job `name`; its log lines have the run's id."""
    with request_context.job(name) as context:
        if is_on():
            begin(context, "", is_job=True)
        has_failed = True
        try:
            yield
            has_failed = False
        finally:
            if context.span is not None:
                context.span.set_attribute("hearth.run_id", context.request_id)
                if has_failed:
                    _mark_as_error(context)
                context.span.end()


def _mark_as_error(context: RequestContext) -> None:
    from opentelemetry.trace import StatusCode

    context.span.set_status(StatusCode.ERROR)


def _record(engine: str, call: str, seconds: float) -> None:
    """Record a call that has just ended, below the span of this thread's request."""
    context = request_context.current.get()
    if context is None or context.span is None or not context.span.is_recording():
        return
    from opentelemetry import trace

    ends_at = time_ns()
    span = _tracer().start_span(
        f"{engine} {call}",
        context=trace.set_span_in_context(context.span),
        kind=trace.SpanKind.CLIENT,
        attributes={"db.system.name": engine, "db.operation.name": call},
        start_time=ends_at - int(seconds * 1e9),
    )
    span.end(ends_at)


_starting = threading.Lock()


def _tracer() -> Tracer:
    with _starting:
        return _started()


@functools.cache
def _started() -> Tracer:
    """Start the library in this process. It sends from a thread, which no fork copies."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: settings.TRACES_SERVICE_NAME})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.TRACES_ENDPOINT)))
    # A server's worker is a child of multiprocessing, which runs this and no atexit function.
    Finalize(None, _end, (provider.shutdown,), exitpriority=0)
    return provider.get_tracer("hearth")


def _end(shutdown: object) -> None:
    """Send the rest, for at most END_SECONDS."""
    thread = threading.Thread(target=shutdown, daemon=True)  # type: ignore[arg-type]  # the provider's method
    thread.start()
    thread.join(END_SECONDS)


def _begin_anew() -> None:
    """Reset a forked process, which may have copied a held lock."""
    global _starting  # noqa: PLW0603 - of the process
    _starting = threading.Lock()
    _started.cache_clear()


os.register_at_fork(after_in_child=_begin_anew)
