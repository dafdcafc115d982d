"""The context of the request, or of the run of a job, that this thread serves: its id and its caller.

Log lines, answers, calls to other services and traces carry the id. Imports nothing of Django: logging needs it early.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

HEADER = "X-Request-Id"


class RequestContext:
    """`job`: its name, where this is the run of one. `route`: where it is known from the beginning. `error`: the code
    of the answer.

    `span`: OpenTelemetry's, of `config.observability.tracing`, with `traceparent` as W3C Trace Context writes it; None
    and "" without tracing.
    """

    __slots__ = ("client_id", "error", "job", "key_id", "request_id", "route", "span", "traceparent", "user_id")

    def __init__(self, request_id: str = "", job: str = "") -> None:
        self.request_id = request_id or new_id()
        self.job = job
        self.client_id = self.user_id = self.error = self.route = self.traceparent = ""
        self.key_id: int | None = None
        self.span: Any = None

    def headers(self) -> dict[str, str]:
        """What a call to another service carries."""
        found = {HEADER: self.request_id}
        if self.traceparent:
            found["traceparent"] = self.traceparent
        return found


current: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)


def new_id() -> str:
    return os.urandom(8).hex()


def request_id() -> str:
    """Of the request that is served, or of a new one."""
    context = current.get()
    return context.request_id if context is not None else new_id()


def about(*, key_id: int | None = None, client_id: str = "", user_id: str = "") -> None:
    """Note the caller of the current request. Does nothing outside a request."""
    context = current.get()
    if context is not None:
        context.key_id = key_id or context.key_id
        context.client_id = client_id or context.client_id
        context.user_id = user_id or context.user_id


def failed(error: str) -> None:
    """Note the error code of the current request. Does nothing outside a request."""
    context = current.get()
    if context is not None:
        context.error = error


@contextlib.contextmanager
def job(name: str) -> Iterator[RequestContext]:
    """One run of the job `name`, with an id of its own; inside a run, that run."""
    context = current.get()
    if context is not None and context.job == name:
        yield context
        return
    context = RequestContext(job=name)
    token = current.set(context)
    try:
        yield context
    finally:
        current.reset(token)
