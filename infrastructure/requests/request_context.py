"""The request that this thread serves: what it asks, its answer, and its context, which a run of a job has too.

Requests and answers are small values. The busiest endpoints are functions from one to the other, which
`config.web.lane` calls without Django's handler. Log lines, answers, calls to other services and traces carry the id of
the context. The settings import this module for logging, so it reads none of them before a request.

A request counts under its address. Only the header named by `EDGE_CLIENT_ADDRESS_HEADER` is believed, and only where it
is set; otherwise the peer counts.
"""

from __future__ import annotations

import contextlib
import functools
import random
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address, ip_network
from itertools import compress, repeat
from operator import eq, methodcaller
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Self, TypeVar

from django.conf import settings
from django.core.exceptions import BadRequest

from infrastructure.settings_cache import from_settings

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

HEADER = "X-Request-Id"
MAX_PLAIN_PARAMETERS = 100
P = ParamSpec("P")
R = TypeVar("R")

_may_not_wait: ContextVar[bool] = ContextVar("may_not_wait", default=False)


class Request:
    """`meta`: a WSGI environ, or the META of a Django request, which have the same keys.

    `caller`: set once the view has checked the key. `now`: when the request arrived. `prefetch`: what its check
    sends along. `asked`: what the view has read from the query (Any: each view its own).
    """

    caller: Caller | None = None
    prefetch: Prefetch | None = None
    asked: Any = None
    _query: Query | None = None
    _body: bytes | None = None

    def __init__(self, meta: Mapping[str, Any], *, is_secure: bool) -> None:
        self.meta = meta
        self.method: str = meta["REQUEST_METHOD"]
        self.is_secure = is_secure
        self.now = datetime.now(UTC)

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """Return the context of a request of a view that Django calls."""
        return cls(request.META, is_secure=request.is_secure())

    @property
    def query(self) -> Query:
        """Return the parameters of the query string. Raises SuspiciousOperation where there are too many, as Django."""
        if self._query is None:
            self._query = Query(self.meta.get("QUERY_STRING", ""))
        return self._query

    def body(self, most: int) -> bytes:
        """Return the body; of one with more than `most` bytes, `most + 1` bytes.

        ValueError: its length is no number; EOFError: it ends before its length; OSError: its client is gone. What has
        come is kept: the next call returns that.
        """
        if self._body is not None:
            return self._body
        self._body = b""
        length = self.meta.get("CONTENT_LENGTH")
        wanted = most + 1 if "HTTP_TRANSFER_ENCODING" in self.meta else 0
        if length:
            wanted = min(int(length), most + 1)
        try:
            while len(self._body) < wanted and (piece := self.meta["wsgi.input"].read(wanted - len(self._body))):
                self._body += piece
        except BadRequest as error:  # of `config.web.received_body`
            raise OSError("The body does not come.") from error
        if length and len(self._body) < wanted:
            raise EOFError
        return self._body


class Prefetch:
    """What the check of an API key sends along, to save a wait: a command to the Redis of the limits, in their round
    trip, or something else by `send`, while Redis works.

    `reply`: to the command; None where it was not sent. Any: what Redis takes and answers.
    """

    command: tuple[Any, ...] = ()
    reply: Any = None

    def send(self) -> None:
        """Send what is no command of Redis."""

    def drop(self) -> None:
        """Drop what was sent and is not used: the request ends."""


class Caller(NamedTuple):
    """An accepted key and its owner. `is_premium`: at the time of the request."""

    key_id: int
    owner_id: str
    is_premium: bool


class Query:
    """The parameters of a query string, read as Django's QueryDict reads them."""

    __slots__ = ("_values",)

    def __init__(self, text: str) -> None:
        """`text`: as WSGI has it, a character for each byte."""
        is_plain = text.isascii() and "%" not in text and "+" not in text and text.count("&") < MAX_PLAIN_PARAMETERS
        self._values = _plain(text) if is_plain else _decoded(text)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def single(self, name: str, default: str = "") -> str | None:
        """Return the value of a parameter, `default` without one, None where it is repeated: a bad value."""
        return self._values.get(name, default)

    def names_of(self, value: str) -> tuple[str, ...]:
        """Return the names of the parameters that have this value and are not repeated."""
        return tuple(compress(self._values, map(eq, self._values.values(), repeat(value))))


def cut_parameter(text: str, name: str) -> tuple[str | None, str]:
    """Cut a parameter out of a query string: return the first value of this name, and the rest. The value is None,
    where there is none, or it has to be decoded."""
    before, found, after = text.partition(f"{name}=")
    value, _, rest = after.partition("&")
    if not found or (before and before[-1] != "&") or not value.isascii() or "%" in value or "+" in value:
        return None, text
    return value, before + rest


def _plain(text: str) -> dict[str, str | None]:
    """The values by name, None for one that is repeated."""
    sent = text.split("&")
    found: dict[str, str | None]
    try:
        found = dict(map(_halves, sent))
    except ValueError:  # an entry without "="
        found = {}
    if len(found) == len(sent):
        return found
    pairs = [pair.partition("=") for pair in sent if pair]
    counts = Counter([name for name, _, _ in pairs])
    return {name: value if counts[name] == 1 else None for name, _, value in pairs}


_halves = methodcaller("split", "=", 1)


def _decoded(text: str) -> dict[str, str | None]:
    """Return the values by name, as QueryDict decodes them; None for a repeated one.

    ASGI has decoded the sent bytes by UTF-8.
    """
    from django.http import QueryDict  # programs without pages do not load it

    try:
        sent = text.encode("latin-1")
    except UnicodeEncodeError:
        sent = text.encode()
    return {name: values[0] if len(values) == 1 else None for name, values in QueryDict(sent).lists()}


class Answer(NamedTuple):
    """A whole answer. The body of one to HEAD is not sent. `Content-Length` is among the headers, but for 304."""

    status: int
    headers: dict[str, str]
    body: bytes

    def to_django(self) -> HttpResponse:
        """Return the answer as a response of Django."""
        from django.http import HttpResponse  # as above

        response = HttpResponse(self.body, status=self.status, headers=self.headers)
        if "Content-Type" not in self.headers:  # where Django names one: an answer without a body has none
            del response.headers["Content-Type"]
        return response


class MustWait(BaseException):
    """Raised where an event loop answers and the view must write; a thread then answers again.

    It is no Exception, so that `except Exception` does not catch it.
    """


def without_waiting(answer: Callable[[], R]) -> R:
    """`answer()`. Raises MustWait where it has to write, or to wait for another answer that writes."""
    token = _may_not_wait.set(True)
    try:
        return answer()
    finally:
        _may_not_wait.reset(token)


def before_waiting() -> None:
    """Call this before what may take long in a view that `is_read`; the request is then answered again in a thread."""
    if _may_not_wait.get():
        raise MustWait


def waits(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: calls `before_waiting()` before the function."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        before_waiting()
        return function(*args, **kwargs)

    return call


class RequestContext:
    """`job`: its name, where this is the run of one. `route`: where it is known from the beginning. `error`: the code
    of the answer. `address`: as limits count it; empty in commands and jobs. `budget`: headers of the answer, which
    name what the limits have left.

    `span`: OpenTelemetry's, of `config.observability.tracing`, with `traceparent` as W3C Trace Context writes it; None
    and "" without tracing.
    """

    job = route = client_id = user_id = error = traceparent = ""
    key_id: int | None = None
    budget: Mapping[str, str] = MappingProxyType({})
    span: Any = None

    def __init__(self, request_id: str = "", job: str = "", address: str = "") -> None:
        self.request_id = request_id or new_id()
        self.address = address
        if job:
            self.job = job

    def headers(self) -> dict[str, str]:
        """What a call to another service carries."""
        found = {HEADER: self.request_id}
        if self.traceparent:
            found["traceparent"] = self.traceparent
        return found


current: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)


def new_id() -> str:
    """Return 16 hexadecimal characters, which name a request and protect nothing."""
    return f"{random.getrandbits(64):016x}"


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
    if context is None:
        return
    if key_id:
        context.key_id = key_id
    if client_id:
        context.client_id = client_id
    if user_id:
        context.user_id = user_id


def failed(error: str) -> None:
    """Note the error code of the current request. Does nothing outside a request."""
    context = current.get()
    if context is not None:
        context.error = error


def note_budget(headers: Mapping[str, str]) -> None:
    """Note the headers that name what the limits have left. Does nothing outside a request."""
    context = current.get()
    if context is not None:
        context.budget = headers


def budget() -> Mapping[str, str]:
    """Return the headers that name what the limits have left; none before the request is counted."""
    context = current.get()
    return RequestContext.budget if context is None else context.budget


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
