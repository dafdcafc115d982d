"""The chat platform's REST routes that readers need: membership, and banners.

Presence comes only from the gateway. All processes together send at most ten requests a second, at most seven of them
for banners, which can wait longer than memberships.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from enum import Enum
from http import HTTPStatus

from django.conf import settings

from accounts import rate_limits
from infrastructure import http_client, limits
from infrastructure.http_client import Answer, NoAnswer
from infrastructure.limits import LimitsUnavailable, Window
from infrastructure.once import once

BUCKET, BANNER_BUCKET = rate_limits.CHAT_REST.of(), rate_limits.CHAT_REST_USERS.of()
UNKNOWN_MEMBER, UNKNOWN_ACCOUNT = 10007, 10013  # the platform's error codes
REFUSED_PAUSE = 60.0  # seconds: 10,000 answers of 401, 403 or 429 in ten minutes bar the address altogether
_HASH = re.compile("[A-Za-z0-9_]{1,128}")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")

logger = logging.getLogger(__name__)


class Membership(Enum):
    """The platform's answer about an id."""

    MEMBER = "member"
    NOT_MEMBER = "notMember"
    NOT_FOUND = "notFound"


class RestUnavailable(Exception):
    """The platform did not answer, must not be asked now, or sent an unusable answer.

    `retry_after`: in how many whole seconds it may.
    """

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def membership(chat_id: int) -> Membership:
    """Return whether the account is a member. One call."""
    answer = _read(f"/guilds/{settings.CHAT.guild_id}/members/{chat_id}", BUCKET)
    if answer.status == HTTPStatus.OK:
        return Membership.MEMBER
    code = answer.body.get("code") if isinstance(answer.body, dict) else None
    if answer.status == HTTPStatus.NOT_FOUND and code == UNKNOWN_MEMBER:
        return Membership.NOT_MEMBER
    if answer.status == HTTPStatus.NOT_FOUND and code == UNKNOWN_ACCOUNT:
        return Membership.NOT_FOUND
    logger.warning("The chat platform answered %s, code %r, where a member was asked for.", answer.status, code)
    raise RestUnavailable("An answer that says nothing of the member.", retry_after=5)


def banner(chat_id: int) -> str | None:
    """Return the hash of the account's banner; None without one. One call."""
    answer = _read(f"/users/{chat_id}", BUCKET, BANNER_BUCKET)
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    if answer.status != HTTPStatus.OK:
        raise RestUnavailable(f"{answer.status} where an account was asked for.", retry_after=5)
    found = answer.body.get("banner")
    return found if isinstance(found, str) and _HASH.fullmatch(found) else None


def _read(path: str, *buckets: Window) -> Answer:
    """Return the answer, whose body is an object where it is 200."""
    chat = settings.CHAT
    if not chat.guild_id:
        raise RestUnavailable("There is no chat server.", retry_after=60)
    circuit = _circuit(chat.api_url)
    if left := circuit.enter():
        raise RestUnavailable("The chat platform is left alone for a while.", retry_after=left)
    try:
        seconds_left = limits.take(*buckets)  # one of each bucket, or none
    except LimitsUnavailable as error:
        raise RestUnavailable("The limit store does not answer.", retry_after=1) from error
    if seconds_left:
        raise RestUnavailable("The bucket is empty.", retry_after=seconds_left)
    headers = {"Authorization": f"Bot {chat.bot_token}", "User-Agent": f"DiscordBot ({settings.BASE_URL}, 1.0)"}
    try:
        answer = http_client.read("GET", chat.api_url + path, headers=headers)
    except NoAnswer as error:
        circuit.fail()
        raise RestUnavailable(str(error), retry_after=5) from error
    _judge(answer, circuit)
    return answer


def _judge(answer: Answer, circuit: Circuit) -> None:
    """Note in the circuit what the answer means. Raises RestUnavailable where it is unusable."""
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        logger.error("The chat platform refuses the bot: %s.", answer.status)
        circuit.pause(REFUSED_PAUSE)
    elif answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        said = answer.headers.get("Retry-After", "")
        circuit.pause(max(float(said), 1.0) if _SECONDS.fullmatch(said) else 1.0)
    elif answer.status >= 500 or (answer.status == HTTPStatus.OK and not isinstance(answer.body, dict)):
        circuit.fail()
    else:
        circuit.succeed()
        return
    raise RestUnavailable(f"The chat platform answered {answer.status}.", retry_after=circuit.seconds_left() or 5)


@once
def _circuit(api_url: str) -> Circuit:
    """Return the circuit of the platform at this address."""
    return Circuit()


FAILURES = 5  # in a row
PAUSE = 5.0  # seconds after them, and that the one call has which tries again
LONGEST_PAUSE = 600.0  # seconds, also where the server asks for more


class Circuit:
    """Circuit breaker for one server: after a pause one trial call reopens or closes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    def seconds_left(self) -> int:
        """Return the whole seconds during which no request should be sent; 0 where one may be."""
        left = self._open_until - time.time()
        return math.ceil(left) if 0 < left <= LONGEST_PAUSE else 0  # longer: the clock was set back

    def enter(self) -> int:
        """Return the seconds to wait before a call. After a pause one call is let through, and the rest wait."""
        with self._lock:
            left = self.seconds_left()
            if not left and self._failures >= FAILURES:
                self._open(PAUSE)
            return left

    def succeed(self) -> None:
        with self._lock:
            if self._failures >= FAILURES:
                self._open_until = 0.0
            self._failures = 0

    def fail(self) -> None:
        """Note a missing or unusable answer."""
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._open(PAUSE)

    def pause(self, seconds: float) -> None:
        """Open for so long, as the server's answer demands."""
        with self._lock:
            self._open(seconds)

    def _open(self, seconds: float) -> None:
        self._open_until = max(self._open_until, time.time() + min(seconds, LONGEST_PAUSE))
