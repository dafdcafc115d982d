"""Send one request: with the key, kept answers, budgets and retries. A redirect is never followed."""

from __future__ import annotations

import json
import random
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import requests

from hearth_client.errors import AnswerError, NoAnswerError
from hearth_client.limits import Budgets, Wait, read_retry_after

CONNECT_SECONDS = 5.0
LARGEST_KEPT = 8 * 1024 * 1024  # bytes of all kept bodies
LONGEST_PAUSE = 30.0  # seconds before a retry for which the service named no time
NO_ANSWER = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
)


@dataclass(frozen=True)
class Call:
    """`is_read`: nothing changes when it arrives twice. `door`: the header that takes the key.

    `cost`: as how many requests of the key it counts.
    """

    method: Literal["GET", "POST"]
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None  # JSON
    files: Mapping[str, tuple[str, bytes]] | None = None
    is_read: bool = True
    cost: int = 1
    door: Literal["X-API-Key", "Authorization"] = "X-API-Key"


class Kept:
    """The latest `size` answers that have an ETag, by URL: what a 304 stands for."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes = 0

    def find(self, url: str) -> tuple[str, bytes] | None:
        """Return ETag and body."""
        with self._lock:
            return self._answers.get(url)

    def keep(self, url: str, etag: str, body: bytes) -> None:
        """Keep an answer in place of the oldest ones."""
        with self._lock:
            self._bytes -= len(self._answers.pop(url, ("", b""))[1])
            self._answers[url] = (etag, body)
            self._bytes += len(body)
            while len(self._answers) > self._size or self._bytes > LARGEST_KEPT:
                self._bytes -= len(self._answers.popitem(last=False)[1][1])


class _Key(requests.auth.AuthBase):
    """Puts the key into its header; requests then reads no password from a .netrc."""

    def __init__(self, name: str, value: str) -> None:
        self._name, self._value = name, value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers[self._name] = self._value
        return request


class Caller:
    """The connections, kept answers and budgets of one key. Threads may share it."""

    def __init__(self, base_url: str, key: str, *, timeout: float, tries: int, patience: float, kept: int) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise ValueError("The base URL is http or https, a host, and nothing secret.")
        if not key or not key.isascii() or not key.isprintable():
            raise ValueError("The API key is empty or has characters that no key has.")
        self._base_url, self._key = base_url.rstrip("/"), key
        self._timeout, self._tries, self._patience = timeout, tries, patience
        self._session = requests.Session()
        self._kept, self._budgets = Kept(kept), Budgets()

    def close(self) -> None:
        self._session.close()

    def json(self, call: Call) -> Any:
        """Return the body of the answer. Raises AnswerError, NoAnswerError, WaitTooLongError."""
        wait = Wait(self._patience)
        url = self._url(call)
        known = self._kept.find(url) if call.method == "GET" else None
        for attempt in range(1, self._tries + 1):
            pause = min(LONGEST_PAUSE, 2 ** (attempt - 1)) * random.uniform(0.5, 1)
            try:
                answer = self._send(call, url, known and known[0], wait)
            except NO_ANSWER as problem:
                if not call.is_read or attempt == self._tries:
                    raise NoAnswerError(f"No answer of {call.method} {call.path}: {type(problem).__name__}") from None
            else:
                if answer.status_code == 304 and known:
                    return _parsed(known[1])
                if answer.ok:
                    return self._body(call, url, answer)
                error = error_of(answer)
                may_help = error.status == 429 or (call.is_read and error.status >= 500)
                if not may_help or attempt == self._tries or (error.retry_after or 0) > wait.left:
                    raise error
                pause = pause if error.retry_after is None else error.retry_after
            wait.spend(min(pause, wait.left))
        raise AssertionError("tries is at least 1")

    def stream(self, call: Call, *, silence: float) -> requests.Response:
        """Open an event stream, once. `silence`: seconds without a byte. Raises AnswerError, NoAnswerError."""
        wait = Wait(self._patience)
        try:
            answer = self._send(call, self._url(call), None, wait, silence=silence)
            if answer.status_code == 200:
                return answer
            with answer:
                raise error_of(answer)
        except NO_ANSWER as problem:
            raise NoAnswerError(f"No stream of {call.path}: {type(problem).__name__}") from None

    def _url(self, call: Call) -> str:
        url = requests.Request("GET", f"{self._base_url}{call.path}", params=dict(call.query)).prepare().url
        return url or ""

    def _send(
        self, call: Call, url: str, etag: str | None, wait: Wait, *, silence: float | None = None
    ) -> requests.Response:
        self._budgets.take(wait, call.cost)
        headers = {"User-Agent": "hearth-client/1.0.0", **call.headers}
        answer = self._session.request(
            call.method,
            url,
            headers={**headers, "If-None-Match": etag} if etag else headers,
            json=call.body,
            files=call.files,
            auth=_Key(call.door, f"Bearer {self._key}" if call.door == "Authorization" else self._key),
            timeout=(CONNECT_SECONDS, silence or self._timeout),
            allow_redirects=False,
            stream=silence is not None,
        )
        self._budgets.note(answer.headers.get("RateLimit"))
        return answer

    def _body(self, call: Call, url: str, answer: requests.Response) -> Any:
        if not 200 <= answer.status_code < 300:
            raise error_of(answer)
        if call.method == "GET" and (etag := answer.headers.get("ETag")):
            self._kept.keep(url, etag, answer.content)
        return _parsed(answer.content)


def _parsed(body: bytes) -> Any:
    """Parse a body anew each time: what a caller does with the value changes no kept answer."""
    try:
        return json.loads(body)
    except ValueError:
        raise NoAnswerError("The answer is no JSON: is the base URL that of the service?") from None


def error_of(answer: requests.Response) -> AnswerError:
    """Read an error of any of the service's forms; a proxy's page has no `code`."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    found = body if isinstance(body, dict) else {}
    text = found.get("error") or found.get("message") or answer.reason or "no text"
    code, miss = found.get("code"), found.get("miss")
    return AnswerError(
        answer.status_code,
        str(text)[:500],
        code=code if isinstance(code, str) else None,
        miss=miss if isinstance(miss, str) else None,
        retry_after=read_retry_after(answer.headers.get("Retry-After")),
    )
