"""Uploads of profiles: the confined prober finds the type of a file, and `lookup.editing.uploads` stores it."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files import File

from accounts import rate_limits
from accounts.models import User
from imagehost import media
from imagehost.errors import CostlyUploads
from imagehost.examining import probing
from imagehost.examining.probing import InvalidMedia, ProberFailed
from imagehost.storing import turns
from imagehost.storing.storage import incoming_directory
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from lookup.editing import uploads
from lookup.editing.uploads import Facts, Kind
from lookup.models import Asset

MAX_SIDE = 8192  # pixels: what every browser can show
MAX_PIXELS = 40_000_000

_IMAGES = frozenset({media.PNG, media.JPEG, media.WEBP, media.GIF, media.AVIF})
_FILMS = frozenset({media.MP4, media.WEBM})
# The accepted types of files: their names, and their endings for file inputs.
_PICTURE_TYPES = {"PNG": ".png", "JPEG": ".jpg,.jpeg", "WebP": ".webp", "GIF": ".gif", "AVIF": ".avif"}
_ACCEPTED = {
    Kind.IMAGE: _PICTURE_TYPES,
    Kind.BADGE: _PICTURE_TYPES,
    Kind.BACKGROUND: {**_PICTURE_TYPES, "MP4": ".mp4", "WebM": ".webm"},
    Kind.AUDIO: {"MP3": ".mp3", "Ogg": ".ogg,.oga", "WAV": ".wav", "M4A": ".m4a"},
    Kind.FONT: {"WOFF2": ".woff2", "WOFF": ".woff", "TTF": ".ttf", "OTF": ".otf"},
}
ENDINGS = {kind: ",".join(types.values()) for kind, types in _ACCEPTED.items()}
TYPES = {kind: " or ".join([", ".join([*types][:-1]), [*types][-1]]) for kind, types in _ACCEPTED.items()}
# What pages call a type, by the ending with which its files are stored, and by the first part of its MIME type.
_NAMES = {
    ending: name for types in _ACCEPTED.values() for name, endings in types.items() for ending in endings.split(",")
}
_NOUNS = {"image": "picture", "video": "video", "audio": "sound", "font": "font"}
_SVG = "image/svg+xml"  # only imports and the demo bring drawings

_TROUBLE = "Files cannot be checked now. Please try again in a few minutes."

logger = logging.getLogger(__name__)


def store(*, user: User, kind: Kind, upload: File[Any], by: User | None) -> Asset:
    """Store a file as an upload of `user`. The type comes from the content. Private metadata of pictures and videos is
    removed. Raises ValidationError, with a sentence for the user: wrong type, broken, too large, over the quota, rate
    limited, or the prober or limit store is unavailable."""
    uploads.check_size(upload.size, kind)
    try:
        seconds_left = limits.hit(rate_limits.PROFILE_UPLOADS.of(user.pk))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise ValidationError(_TROUBLE) from None
    if seconds_left:
        amount = rate_limits.PROFILE_UPLOADS.amount
        raise ValidationError(f"At most {amount} files a minute. Try again in {seconds_left} s.")
    with _on_disk(upload) as path:
        try:
            with turns.charged(user.pk):
                facts = _facts(path, kind)
        except CostlyUploads as refusal:
            raise ValidationError(refusal.error) from None
        except InvalidMedia as reason:
            logger.info("An upload for a profile was refused: %s", reason)
            raise ValidationError(
                f"This file is broken, or of another type than {TYPES[kind]}. Only its content counts.",
                code="type",
            ) from None
        except ProberFailed:
            logger.exception("The prober failed on an upload for a profile.")
            raise ValidationError(_TROUBLE) from None
        return uploads.store(user=user, kind=kind, path=path, facts=facts, by=by)


def type_in_words(mime: str) -> str:
    """Return what pages call files of a MIME type, such as "PNG picture"; the MIME type where it has no name."""
    if mime == _SVG:
        return "SVG drawing"
    name = _NAMES.get(f".{media.EXTENSIONS.get(mime, '')}")
    return f"{name} {_NOUNS[mime.partition('/')[0]]}" if name else mime


@contextlib.contextmanager
def _on_disk(upload: File[Any]) -> Iterator[Path]:
    """Write a private copy in the incoming directory, from which the store can move it."""
    with tempfile.NamedTemporaryFile(prefix="profile-", dir=incoming_directory(), delete=False) as file:
        try:
            for chunk in upload.chunks():
                file.write(chunk)
            file.flush()
            yield Path(file.name)
        finally:
            Path(file.name).unlink(missing_ok=True)


def _facts(path: Path, kind: Kind) -> Facts:
    """Return what the prober finds. Raises ValidationError: too many pixels; InvalidMedia, ProberFailed."""
    if kind in (Kind.AUDIO, Kind.FONT):
        found = probing.sound(path) if kind is Kind.AUDIO else probing.font(path)
        return Facts(found.mime, found.extension, duration=_seconds(found.duration_ms))
    found = probing.probe(path)
    if found.media_type not in (_IMAGES | _FILMS if kind is Kind.BACKGROUND else _IMAGES):
        raise InvalidMedia(f"{found.mime} is none for {kind}")
    uploads.check_size(path.stat().st_size, kind, found.mime)
    if max(found.width, found.height) > MAX_SIDE or found.width * found.height > MAX_PIXELS:
        raise ValidationError(
            f"This picture has {found.width} by {found.height} pixels; at most {MAX_SIDE} on a side and "
            f"{MAX_PIXELS // 1_000_000} million together can be shown.",
            code="pixels",
        )
    probing.render(
        path, found.media_type, only_whole=True
    )  # only decoding shows that what is behind the header is whole
    return Facts(found.mime, found.extension, found.width, found.height, _seconds(found.duration_ms))


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
