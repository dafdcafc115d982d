"""The URLs of a line, read back into what the tables hold of them."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings

from lookup import addresses
from lookup.models import Asset
from lookup.models.assets import PATH_PATTERN
from lookup.transfer.validators import Integer, OrNull, Real, column
from lookup.values import Object, Problems, Text

MAX_URL_LENGTH = 2000
_PATH = re.compile(PATH_PATTERN)
_MAX_PATH_LENGTH = 400
_BADGE = re.compile(r"([A-Za-z0-9_-]{1,32})/([A-Za-z0-9_-][A-Za-z0-9._-]{0,99})", re.ASCII)
_MIRRORED = {"mime": "image/png", "width": None, "height": None, "duration": None}


class AssetFacts(NamedTuple):
    """What a line says of an uploaded file."""

    path: str
    mime: str
    width: int | None
    height: int | None
    duration: float | None


@dataclass(frozen=True)
class Mirrored:
    """The picture of the chat platform. `is_usual`: with the facts that lookups show of it."""

    url: str
    is_usual: bool


_FIELDS = Object(
    {
        "url": Text(MAX_URL_LENGTH, min_length=1),
        "mime": column(Asset, "mime", min_length=1),
        "width": OrNull(Integer()),
        "height": OrNull(Integer()),
        "duration": OrNull(Real(minimum=0)),
    }
)


@dataclass(frozen=True, slots=True)
class Upload:
    """An asset object, read into `AssetFacts`; with `may_be_mirrored`, into `Mirrored` where it is."""

    may_be_mirrored: bool = False

    def read(self, value: Any, path: str, problems: Problems) -> AssetFacts | Mirrored | None:
        before = len(problems)
        fields = _FIELDS.read(value, path, problems)
        if len(problems) > before:
            return None
        url = fields.pop("url")
        if self.may_be_mirrored and is_mirrored(url):
            return Mirrored(url, is_usual=fields == _MIRRORED)
        try:
            return AssetFacts(upload_path(url), **fields)
        except ValueError as problem:
            problems.append((f"{path}.url", str(problem)))
        return None


def is_mirrored(url: str) -> bool:
    return url.startswith(addresses.mirrored_avatar(""))


def upload_path(url: str) -> str:
    """The path of the file that is uploaded there. ValueError, with a sentence: it is no URL of an upload."""
    prefix = addresses.upload("")
    if not url.startswith(prefix):
        raise ValueError(f"Must lie under UPLOAD_CDN_URL, which is set to {settings.UPLOAD_CDN_URL}.")
    path = url.removeprefix(prefix)
    if not _PATH.fullmatch(path) or len(path) > _MAX_PATH_LENGTH:
        raise ValueError("Behind UPLOAD_CDN_URL, use a path of letters, digits and . _ ~ - / (at most 400 characters).")
    return path


def badge_image(url: str) -> tuple[str, str]:
    """The catalogue and the file of badge artwork. ValueError, with a sentence: it is none."""
    prefix = addresses.badge_images()
    if not url.startswith(prefix):
        raise ValueError(f"Must lie under {prefix} (ASSET_URL).")
    found = _BADGE.fullmatch(url.removeprefix(prefix))
    if found is None:
        raise ValueError(f"Must be {prefix}<catalog>/<file>.")
    return found[1], found[2]


@dataclass(frozen=True, slots=True)
class BadgeImage:
    """Read into catalogue and file."""

    def read(self, value: Any, path: str, problems: Problems) -> tuple[str, str] | None:
        before = len(problems)
        Text(MAX_URL_LENGTH).read(value, path, problems)
        if len(problems) > before:
            return None
        try:
            return badge_image(value)
        except ValueError as problem:
            problems.append((path, str(problem)))
        return None


@dataclass(frozen=True, slots=True)
class Picture:
    """The URL of a user's picture, the only fact that is known of it; "" is read as None."""

    def read(self, value: Any, path: str, problems: Problems) -> AssetFacts | Mirrored | None:
        before = len(problems)
        Text(MAX_URL_LENGTH).read(value, path, problems)
        if len(problems) > before or not value:
            return None
        if is_mirrored(value):
            return Mirrored(value, is_usual=True)
        try:
            uploaded = upload_path(value)
        except ValueError as problem:
            problems.append((path, str(problem)))
            return None
        return AssetFacts(uploaded, mimetypes.guess_type(uploaded)[0] or "application/octet-stream", None, None, None)
