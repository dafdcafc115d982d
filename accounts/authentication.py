"""Authenticates requests by their API key: the checks, in the decided order, and the errors."""

from __future__ import annotations

import functools
import math
import time
from datetime import datetime

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest

from accounts import rate_limits
from accounts.api_keys import records, uses
from accounts.errors import (
    InvalidApiKey,
    KeyDisabled,
    KeyExpired,
    KeyNotFound,
    KeyRateLimited,
    MissingAccountKey,
    MissingApiKey,
    UsageExceeded,
)
from infrastructure import hashing, limits
from infrastructure.limits import KeyAnswer, KeyRecord, KeyRequest, Left, Verdict, Window
from infrastructure.requests import request_context
from infrastructure.requests.errors import AddressRateLimited, ApiError
from infrastructure.requests.request_context import Caller, Prefetch

MAX_LENGTH = 200  # characters; our own keys have 52


class ApiRequest(HttpRequest):
    """For annotations: the request that a handler of a view with a `permission` receives."""

    caller: Caller


def address_window() -> Window:
    """Return the window of the address that the request being served came from."""
    return rate_limits.API_ADDRESS.of(request_context.address())


def count_address() -> None:
    """Count a request that needs no key, or has none. AddressRateLimited; LimitsUnavailable as `limits`."""
    window = address_window()
    _refuse_if_used_up(window, limits.hit(window))


def look_at_address() -> None:
    """Refuse a request of an address whose window is used up, and count nothing. Raises as `count_address`."""
    window = address_window()
    _refuse_if_used_up(window, limits.peek(window))


def _refuse_if_used_up(window: Window, seconds_left: int) -> None:
    _note_budget(window.left)
    if seconds_left:
        raise _address_limited(seconds_left)


def _note_budget(address: Left | None, key: Left | None = None) -> None:
    """Have the answer name what is left: docs/spec/shared.md, "Budget". None: nothing is counted."""
    if address is None:
        return
    limit, requests, seconds = address
    if key is None:
        policy, left = _policy(limit.for_script, None), f'"address";r={requests};t={seconds}'
    else:
        policy = _policy(limit.for_script, key.limit.for_script)
        left = f'"key";r={key.requests};t={key.seconds}, "address";r={requests};t={seconds}'
    request_context.note_budget({"RateLimit-Policy": policy, "RateLimit": left})


@functools.lru_cache(maxsize=16)
def _policy(address: tuple[int, int], key: tuple[int, int] | None) -> str:
    """Return `RateLimit-Policy` for limits of these amounts and milliseconds."""
    named = (("key", key), ("address", address))
    return ", ".join(f'"{name}";q={limit[0]};w={limit[1] // 1000}' for name, limit in named if limit is not None)


def _address_limited(seconds_left: int) -> AddressRateLimited:
    """Return the refusal. `seconds_left`: until the address's window ends."""
    resets_at = math.ceil(time.time()) + seconds_left
    return AddressRateLimited(amount=rate_limits.API_ADDRESS.amount, seconds_left=seconds_left, resets_at=resets_at)


def header_credential(request: request_context.Request) -> str | None:
    """Return `X-API-Key`."""
    return request.meta.get("HTTP_X_API_KEY")


def earlier_credential(request: request_context.Request) -> str:
    """Return `key` of the query, or else `Authorization: Bearer <key>`.

    Raises, like `check`, once the request is counted: MissingAccountKey; InvalidApiKey where `key` is repeated;
    SuspiciousOperation as the query.
    """
    try:
        key = request.query.single("key")
    except SuspiciousOperation:
        count_address()
        raise
    if key == "":
        scheme, _, value = request.meta.get("HTTP_AUTHORIZATION", "").partition(" ")
        key = value.strip() if scheme.lower() == "bearer" else ""
    if not key:
        count_address()
        raise InvalidApiKey if key is None else MissingAccountKey
    return key


def check(
    secret: str | None, *, permission: str, now: datetime, prefetch: Prefetch | None = None, cost: int = 1
) -> Caller:
    """Count the request and return its caller; `permission` is a `Permission`. `prefetch` may be sent along.

    The key's window and quota count `cost` requests, the address's window one.

    Raises AddressRateLimited before anything else, and then, in this order: MissingApiKey, InvalidApiKey, KeyNotFound
    (revoked, or the owner is banned), KeyDisabled, KeyExpired, KeyNotFound (lacks the permission), KeyRateLimited,
    UsageExceeded. LimitsUnavailable as `limits`. A request that a limit refuses, as one that costs more than is left,
    counts for no limit and takes no use.
    """
    if not secret:
        count_address()
        raise MissingApiKey
    if len(secret) > MAX_LENGTH or not secret.isascii():
        count_address()
        raise InvalidApiKey
    return check_hash(hashing.digest(secret), permission=permission, now=now, prefetch=prefetch, cost=cost)


def check_hash(
    secret_hash: str, *, permission: str, now: datetime, prefetch: Prefetch | None = None, cost: int = 1
) -> Caller:
    """Check and count as `check` does, by the hash of the key, as `hashing.digest` makes it."""
    asked = _asked(secret_hash, permission, now)
    asked.prefetch = prefetch
    asked.cost = cost
    answer = limits.check_key(asked, _record_of)
    _note_budget(asked.address.left, asked.left)
    record = answer.record
    if record is not None:
        request_context.about(key_id=record.key_id)
    if record is None or answer.verdict is not Verdict.OK:
        raise _refusal(answer)
    if record.has_quota and not uses.take(record.key_id, now=now, cost=cost):
        limits.REFUSED.labels("key-uses").inc()
        raise UsageExceeded
    uses.buffer.note((record.key_id, now, cost))
    return Caller(record.key_id, record.owner_id, record.is_premium(asked.instant))


def _asked(secret_hash: str, permission: str, now: datetime, *, is_counted: bool = True) -> KeyRequest:
    windows = rate_limits.API_KEY, rate_limits.API_PREMIUM_KEY
    return KeyRequest(address_window(), secret_hash, permission, limits.microseconds(now), *windows, is_counted)


def _record_of(secret_hash: str) -> KeyRecord | None:
    """Read a key's record before the request counts: a use of a quota is an UPDATE, so it may have to wait."""
    record = records.load(secret_hash)
    if record is not None and record.has_quota:
        request_context.before_waiting()
    return record


def recheck(secret_hash: str, *, permission: str, now: datetime) -> ApiError | None:
    """Return what is wrong by now with a key that `check` let pass, for answers that go on for long; or None.

    `secret_hash`: as `hashing.digest` makes it. It counts neither against limits nor as a use of the key; a used-up
    quota is ignored. LimitsUnavailable as `limits`.
    """
    asked = _asked(secret_hash, permission, now, is_counted=False)
    answer = limits.check_key(asked, records.load)
    return None if answer.verdict is Verdict.OK else _refusal(answer)


_REFUSALS: dict[Verdict, type[ApiError]] = {
    Verdict.UNKNOWN: InvalidApiKey,
    Verdict.DEAD: KeyNotFound,
    Verdict.DISABLED: KeyDisabled,
    Verdict.EXPIRED: KeyExpired,
    Verdict.NOT_PERMITTED: KeyNotFound,
}


def _refusal(answer: KeyAnswer) -> ApiError:
    if answer.verdict is Verdict.ADDRESS_LIMITED:
        return _address_limited(answer.seconds_left)
    if answer.verdict is Verdict.KEY_LIMITED:
        return KeyRateLimited(seconds_left=answer.seconds_left)
    return _REFUSALS[answer.verdict]()
