"""What requests to the gallery and the folders carry."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.http.request import UnreadablePostError
from rest_framework import serializers

from accounts.http import single_parameter
from imagehost.errors import InvalidBody, InvalidLimit, InvalidOffset
from imagehost.folders import Changes
from imagehost.listing import MAX_LIMIT, MAX_OFFSET, Page

MAX_BODY = 64 * 1024  # bytes
_LIMIT = re.compile(r"[0-9]{1,3}")
_OFFSET = re.compile(r"[0-9]+")


def page_of(request: HttpRequest) -> Page:
    """`limit` and `offset`; without them the first hundred. InvalidLimit, InvalidOffset.

    An offset that no JSON reader keeps exactly becomes the largest that one does: there is no file at either.
    """
    limit = single_parameter(request.GET, "limit", str(MAX_LIMIT))
    if limit is None or not _LIMIT.fullmatch(limit) or not 1 <= int(limit) <= MAX_LIMIT:
        raise InvalidLimit
    offset = single_parameter(request.GET, "offset", "0")
    if offset is None or not _OFFSET.fullmatch(offset):
        raise InvalidOffset
    digits = offset.lstrip("0") or "0"
    return Page(int(limit), min(int(digits[:17]), MAX_OFFSET))


def changes_of(request: HttpRequest, form: type[serializers.Serializer[Any]]) -> Changes:
    """What the body says of a folder, whose types are those of `form`; any: serializers' own. InvalidBody."""
    body = _object_of(request)
    reader = form(data=body)
    unknown = sorted(set(body) - set(reader.fields))
    if unknown:
        raise InvalidBody(f"{_shown(unknown[0])}: Is no field of a folder.")
    if not reader.is_valid():
        name, problems = next(iter(reader.errors.items()))
        raise InvalidBody(f"{name}: {problems[0]}")
    return Changes(**reader.validated_data)


def _object_of(request: HttpRequest) -> dict[str, Any]:
    """The JSON object that is the body, whatever its type is said to be; Any: JSON."""
    try:
        body = request.read(MAX_BODY + 1)
    except UnreadablePostError:
        raise InvalidBody("The body did not arrive whole.") from None
    if len(body) > MAX_BODY:
        raise InvalidBody(f"The body is longer than {MAX_BODY} bytes.")
    try:
        value = json.loads(body.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):  # deeper than anybody needs
        raise InvalidBody from None
    if not isinstance(value, dict):
        raise InvalidBody
    return value


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. InvalidBody: it has a key twice, and readers differ in which one counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidBody("The body has a key twice.")
    return found


def _no_number(name: str) -> None:
    """NaN and the infinities, which Python reads and JSON has not (RFC 8259 §6)."""
    raise ValueError(name)


def _shown(name: str) -> str:
    """What a client sent, cut and made ASCII."""
    return name[:64].encode("unicode_escape").decode()
