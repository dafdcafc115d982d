"""The HTTP client for JSON of other services: bounded in time and size, with one error for every failure."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from infrastructure import text_rules
from infrastructure.requests import request_context

SECONDS = 2.0  # to connect, for each piece of the head, and for the whole body
MOST_BYTES = 256 * 1024
MAX_NAME = 128  # characters of a linked account's name
_AT_ONCE = 16 * 1024
_CONNECTIONS = 16  # kept open for each server


class NoAnswer(Exception):
    """No usable answer. The message names the failure, without data of the request or answer."""


@dataclass(frozen=True)
class Answer:
    """`body` is any JSON, None of an error without one: what is in it has to be looked at by the caller."""

    status: int
    body: Any
    headers: Mapping[str, str]


def read(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> Answer:
    """Return the answer, of any status. NoAnswer: it is late or too long, or a success is not JSON.

    `seconds`: instead of SECONDS. Redirects are returned and not followed, since they would take the secrets along.
    Proxies and password files of the machine are ignored, and no cookie is kept. The call carries the id of the request
    or job that makes it.
    """
    seconds = SECONDS if seconds is None else seconds
    context = request_context.current.get()
    if context is not None:
        headers = {**context.headers(), **(headers or {})}
    try:
        with _session().request(
            method, url, headers=headers, data=form, timeout=seconds, allow_redirects=False, stream=True
        ) as response:
            body = _content(response, seconds)
            try:
                return Answer(response.status_code, json.loads(body), response.headers)
            except (ValueError, RecursionError):
                if response.status_code < 400:
                    raise NoAnswer(f"status {response.status_code} without JSON") from None
                return Answer(response.status_code, None, response.headers)  # an error page
    except (requests.RequestException, HTTPError, OSError, UnicodeError) as error:  # requests does not wrap them all
        raise NoAnswer(type(error).__name__) from None


def name_of(value: object) -> str:
    """Return a name from an answer without characters that cannot be stored or shown; "" where there is none."""
    if not isinstance(value, str):
        return ""
    kept = text_rules.cleaned_line(value).encode("utf-8", "ignore").decode()  # half of a surrogate pair is no character
    return kept.strip()[:MAX_NAME]


@functools.cache
def _session() -> requests.Session:
    """Return the session of all threads: it holds connections and nothing else."""
    session = requests.Session()
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_connections=4, pool_maxsize=_CONNECTIONS))
    return session


def _content(response: requests.Response, seconds: float) -> bytes:
    """Return the whole body, unless it is too long or too slow."""
    ends_at = time.monotonic() + seconds
    parts, length = [], 0
    while part := response.raw.read1(_AT_ONCE, decode_content=True):
        length += len(part)
        if length > MOST_BYTES:
            raise NoAnswer(f"more than {MOST_BYTES} bytes")
        if time.monotonic() > ends_at:
            raise NoAnswer(f"the body takes more than {seconds:g} s")
        parts.append(part)
    return b"".join(parts)
