"""Values out of unvalidated JSON: the platform promises no types, and its users write parts of it.

A value of the wrong type counts as absent; nothing here raises.
"""

from __future__ import annotations

import re
from typing import Any

Json = dict[str, Any]  # Any: a JSON value

MAX_ID = 2**63 - 1  # the platform's ids have 64 bits; the database's numbers have a sign
MOST = 2**53 - 1  # RFC 8259 §6: the greatest whole number that every reader of JSON takes exactly

_SNOWFLAKE = re.compile("[0-9]{1,20}")


def mapping(value: object) -> Json:
    """Return the object; {} for anything else."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Json]:
    """Return the objects of a list, in its order, and skip other values."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: object) -> str | None:
    """Return the text, None for an empty one. Lone surrogates become U+FFFD; a pair in two halves its character."""
    if not isinstance(value, str) or not value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def whole(value: object) -> int | None:
    """Return the whole number, also one that was written `2.0`. Truth values are no numbers."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -MOST <= value <= MOST:
        return value
    return None


def snowflake(value: object) -> str | None:
    """Return an id of the platform, in digits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64:
        return str(value)
    return value if isinstance(value, str) and _SNOWFLAKE.fullmatch(value) else None
