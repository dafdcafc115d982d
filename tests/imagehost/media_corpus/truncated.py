"""Files that are cut off: within the header they are refused, within the body an image is taken as far as it goes."""

import random
from functools import partial

from PIL import Image

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.real_images import encoded
from tests.imagehost.media_corpus.real_videos import MOV, MP4, WEBM, recorded
from tests.imagehost.media_corpus.sample import Content, Maker, taken

_SIZE = (64, 48)
_FILMS = {media.MP4: MP4, media.WEBM: WEBM, media.MOV: MOV}
_IN_HEADER = {
    media.PNG: (16, 40), media.JPEG: (20, 600), media.WEBP: (16, 500), media.GIF: (10, 400), media.AVIF: (32, 250),
    media.MP4: (32, 1500), media.WEBM: (30, 400), media.MOV: (32, 1500),
}  # fmt: skip
_IN_BODY = {media.PNG: (0.2, 0.99), media.JPEG: (0.3, 0.95), media.GIF: (0.3, 0.95)}


def _whole(type_: MediaType) -> bytes:
    """A film, or noise, so that the body is much longer than the header; the same in each run."""
    if type_ in _FILMS:
        return recorded(_FILMS[type_])
    noise = random.Random(1).randbytes(3 * _SIZE[0] * _SIZE[1])  # noqa: S311  # no secret
    return encoded(type_, Image.frombytes("RGB", _SIZE, noise))


def _cut(type_: MediaType, length: float) -> bytes:
    """`length`: in bytes, or a part of the whole."""
    whole = _whole(type_)
    return whole[: length if isinstance(length, int) else round(len(whole) * length)]


REFUSED: dict[str, Content] = {
    f"{type_.extension}-cut-at-{length}": partial(_cut, type_, length)
    for type_, lengths in _IN_HEADER.items()
    for length in lengths
}
TAKEN: dict[str, Maker] = {
    f"{type_.extension}-cut-at-{part:.0%}": taken(type_, partial(_cut, type_, part), size=_SIZE, frames=1)
    for type_, parts in _IN_BODY.items()
    for part in parts
}
