"""The limits of everything under /api/ but the protocol's endpoints, which have their own (document 2, "Limits")."""

from __future__ import annotations

import math
import time

from accounts import client_address, limits
from accounts.errors import AddressRateLimited
from accounts.limits import Limit

ADDRESS_AMOUNT = 60  # requests a minute from one address, whatever it asks for
KEY_AMOUNT = 30  # requests a minute with one key
PREMIUM_KEY_AMOUNT = 60  # the same, while its owner has premium


def address_limit() -> Limit:
    """The limit of the address that the request being served came from."""
    return Limit(f"api:{client_address.current.get()}", ADDRESS_AMOUNT)


def count() -> None:
    """Count a request that needs no key, or has none. AddressRateLimited; LimitsUnavailable as `limits`."""
    for outcome in limits.hit(address_limit()):
        if not outcome.is_allowed:
            raise refusal(outcome.seconds_left)


def refusal(seconds_left: int) -> AddressRateLimited:
    """`seconds_left`: until the address's window ends."""
    resets_at = math.ceil(time.time()) + seconds_left
    return AddressRateLimited(amount=ADDRESS_AMOUNT, seconds_left=seconds_left, resets_at=resets_at)
