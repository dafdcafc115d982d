"""Which bytes a request asks for (RFC 9110 §14). Pure rules."""

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"(?P<first>[0-9]{1,30})-(?P<last>[0-9]{0,30})|-(?P<suffix>[0-9]{1,30})", re.ASCII)


@dataclass(frozen=True)
class Part:
    """`length` bytes from `start`."""

    start: int
    length: int


class Unsatisfiable(ValueError):
    """None of the bytes that are asked for exists."""


def part_of(header: str, size: int) -> Part | None:
    """The one range of a Range header, cut to what `size` bytes hold; None: answer with the whole.

    That is so for another unit, for nonsense, and for several ranges, which a server need not answer (§14.2).
    Unsatisfiable: answer 416.
    """
    unit, is_range, ranges = header.partition("=")
    asked = [item for item in map(str.strip, ranges.split(",")) if item]
    if not is_range or unit.strip().lower() != "bytes" or len(asked) != 1:
        return None
    found = _ONE_RANGE.fullmatch(asked[0])
    if found is None:
        return None
    if found["suffix"] is not None:
        length = min(int(found["suffix"]), size)
        start, end = size - length, size
    else:
        start = int(found["first"])
        end = min(int(found["last"]) + 1, size) if found["last"] else size
        if found["last"] and int(found["last"]) < start:
            return None
    if start >= end:
        raise Unsatisfiable
    return Part(start, end - start)
