"""Files that are cut off: within the header they are refused, within the body an image is taken without a preview."""

import random
from collections.abc import Callable
from typing import Any

from PIL import Image

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.real_images import encoded
from tests.imagehost.media_corpus.real_videos import MOV, MP4, WEBM, recorded
from tests.imagehost.media_corpus.sample import Maker, Sample, refused, taken

_SIZE = (64, 48)


def _noise() -> Image.Image:
    """So that the body is much longer than the header; the same in each run."""
    return Image.frombytes("RGB", _SIZE, random.Random(1).randbytes(3 * _SIZE[0] * _SIZE[1]))  # noqa: S311  # no secret


_WHOLE: dict[MediaType, Callable[[], bytes]] = {
    media.PNG: lambda: encoded(media.PNG, _noise()),
    media.JPEG: lambda: encoded(media.JPEG, _noise()),
    media.WEBP: lambda: encoded(media.WEBP, _noise()),
    media.GIF: lambda: encoded(media.GIF, _noise()),
    media.AVIF: lambda: encoded(media.AVIF, _noise()),
    media.MP4: lambda: recorded(MP4),
    media.WEBM: lambda: recorded(WEBM),
    media.MOV: lambda: recorded(MOV),
}
_IN_HEADER: dict[MediaType, tuple[int, ...]] = {
    media.PNG: (16, 40),
    media.JPEG: (20, 600),
    media.WEBP: (16, 500),
    media.GIF: (10, 400),
    media.AVIF: (32, 250),
    media.MP4: (32, 1500),
    media.WEBM: (30, 400),
    media.MOV: (32, 1500),
}
_IN_BODY: dict[MediaType, tuple[float, ...]] = {
    media.PNG: (0.2, 0.99),
    media.JPEG: (0.3, 0.95),
    media.GIF: (0.3, 0.95),
}


def _in_header(type_: MediaType, length: int) -> tuple[str, Maker]:
    name = f"{type_.extension}-cut-at-{length}"
    label = f"{name}.{type_.extension}", type_.mime
    return name, lambda: refused(name, _WHOLE[type_]()[:length], *label)


def _in_body(type_: MediaType, part: float) -> tuple[str, Maker]:
    name = f"{type_.extension}-cut-at-{part:.0%}"
    facts: dict[str, Any] = {"size": _SIZE, "frames": 1}

    def make() -> Sample:
        whole = _WHOLE[type_]()
        return taken(type_, name, whole[: round(len(whole) * part)], **facts)

    return name, make


TAKEN: dict[str, Maker] = dict(_in_body(type_, part) for type_, parts in _IN_BODY.items() for part in parts)
MAKERS: dict[str, Maker] = {
    **dict(_in_header(type_, length) for type_, lengths in _IN_HEADER.items() for length in lengths),
    **TAKEN,
}
