"""The context of the request, or of the run of a job, that this thread serves: its id, its caller and its address.

Log lines, answers, calls to other services and traces carry the id. The settings import this module for logging, so it
reads none of them before a request.

A request counts under its address. Only the header named by `EDGE_CLIENT_ADDRESS_HEADER` is believed, and only where it
is set; otherwise the peer counts.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings

from infrastructure.settings_cache import from_settings

HEADER = "X-Request-Id"


class RequestContext:
    """`job`: its name, where this is the run of one. `route`: where it is known from the beginning. `error`: the code
    of the answer. `address`: as limits count it; empty in commands and jobs.

    `span`: OpenTelemetry's, of `config.observability.tracing`, with `traceparent` as W3C Trace Context writes it; None
    and "" without tracing.
    """

    __slots__ = (
        *("address", "client_id", "error", "job", "key_id", "request_id", "route", "span", "traceparent"),
        "user_id",
    )

    def __init__(self, request_id: str = "", job: str = "", address: str = "") -> None:
        self.request_id = request_id or new_id()
        self.job = job
        self.address = address
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
    """Return the id of the current request, or a new one."""
    context = current.get()
    return context.request_id if context is not None else new_id()


def address() -> str:
    """Return the address of the request that is served, for limits and audit events; empty outside one."""
    context = current.get()
    return context.address if context is not None else ""


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


def address_of(meta: Mapping[str, Any]) -> str | None:
    """Return the address that limits count: IPv4 whole, IPv6 by its /64, IPv4-mapped IPv6 as IPv4.

    `meta`: a WSGI environ, or the META of a request. None where the edge proxy's header is required and is missing or
    no address.
    """
    header = _header()
    if header:
        return normalized_address(meta.get(header, ""))
    return normalized_address(meta.get("REMOTE_ADDR", "")) or "unknown"


def has_edge_proxy() -> bool:
    """Whether all requests come from an edge proxy, whose headers are believed."""
    return bool(_header())


@from_settings
def _header() -> str:
    """Return the name of the edge proxy's header in WSGI, "" for none."""
    name = settings.EDGE_CLIENT_ADDRESS_HEADER
    return "HTTP_" + name.upper().replace("-", "_") if name else ""


@functools.lru_cache(maxsize=10_000)
def normalized_address(value: str) -> str | None:
    """Return `value` as it is counted, or None where it is no address."""
    value = value.strip()
    with contextlib.suppress(OSError, ValueError):
        socket.inet_pton(socket.AF_INET, value)  # a twentieth of the time of `ip_address`
        return value
    try:
        address = ip_address(value)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((address.packed, 64), strict=False))
    return str(address)


@functools.lru_cache(maxsize=1024)
def network_of(address: str) -> str:
    """Return the /24 or /48 that an address lies in; empty where it is none."""
    try:
        parsed = ip_address(address.partition("/")[0])  # an IPv6 address is counted by its /64 already
    except ValueError:
        return ""
    return str(ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))
