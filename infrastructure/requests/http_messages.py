"""A request and its answer as small values. The busiest endpoints are functions from one to the other.

`config.web.lane` calls them, without Django's handler.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from django.http import HttpRequest, HttpResponse, QueryDict

MAX_PLAIN_PARAMETERS = 100
P = ParamSpec("P")
R = TypeVar("R")

_may_not_wait: ContextVar[bool] = ContextVar("may_not_wait", default=False)


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


class Request:
    """`meta`: a WSGI environ, or the META of a Django request, which have the same keys.

    `caller`: set once the view has checked the key. `now`: when the request arrived.
    """

    __slots__ = ("_body", "_query", "caller", "is_secure", "meta", "method", "now")

    def __init__(self, meta: Mapping[str, Any], *, is_secure: bool) -> None:
        self.meta = meta
        self.method: str = meta["REQUEST_METHOD"]
        self.is_secure = is_secure
        self.now = datetime.now(UTC)
        self.caller: Caller | None = None
        self._query: Query | None = None
        self._body: bytes | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """The request of a view that Django calls."""
        return cls(request.META, is_secure=request.is_secure())

    @property
    def query(self) -> Query:
        """The parameters of the query string. Raises SuspiciousOperation, as Django, where there are too many."""
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
        while len(self._body) < wanted and (piece := self.meta["wsgi.input"].read(wanted - len(self._body))):
            self._body += piece
        if length and len(self._body) < wanted:
            raise EOFError
        return self._body


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

    def single(self, name: str, default: str = "") -> str | None:
        """The value of a parameter, `default` without one, None where it is repeated: a bad value."""
        return self._values.get(name, default)

    def names_of(self, value: str) -> tuple[str, ...]:
        """The parameters that have this value and are not repeated."""
        return tuple([name for name, found in self._values.items() if found == value])


def _plain(text: str) -> dict[str, str | None]:
    """The values by name, None for one that is repeated."""
    pairs = [pair.partition("=") for pair in text.split("&") if pair]
    values: dict[str, str | None] = {name: value for name, _, value in pairs}
    if len(values) < len(pairs):
        counts = Counter([name for name, _, _ in pairs])
        values |= {name: None for name, count in counts.items() if count > 1}
    return values


def _decoded(text: str) -> dict[str, str | None]:
    """Return the values by name, as QueryDict decodes them; None for a repeated one.

    ASGI has decoded the sent bytes by UTF-8.
    """
    try:
        sent = text.encode("latin-1")
    except UnicodeEncodeError:
        sent = text.encode()
    return {name: values[0] if len(values) == 1 else None for name, values in QueryDict(sent).lists()}


class Answer(NamedTuple):
    """The body of an answer to HEAD is empty; `Content-Length` is always among the headers."""

    status: int
    headers: dict[str, str]
    body: bytes

    def to_django(self) -> HttpResponse:
        """Return the answer as a response of Django."""
        response = HttpResponse(self.body, status=self.status, headers=self.headers)
        if "Content-Type" not in self.headers:  # where Django names one: an answer without a body has none
            del response.headers["Content-Type"]
        return response
