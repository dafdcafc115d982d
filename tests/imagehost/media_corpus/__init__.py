"""Files of all eight types by several encoders, other formats and hostile files, with what must come of each.

Nothing is committed as binary: a file is made when it is asked for, and kept for the process.
"""

import functools

from tests.imagehost.media_corpus import (
    disguises,
    hdr_photos,
    hostile_files,
    many_tracks,
    odd_files,
    real_images,
    real_videos,
)
from tests.imagehost.media_corpus.sample import Content, Maker, Sample

__all__ = ["BROKEN_NAMES", "LARGE_NAMES", "REFUSED_NAMES", "TAKEN_NAMES", "Sample", "sample"]

_TAKEN: dict[str, Maker] = {
    **real_images.MAKERS,
    **hdr_photos.MAKERS,
    **real_videos.MAKERS,
    **many_tracks.MAKERS,
    **odd_files.MAKERS,
    **hostile_files.TAKEN,
}
_REFUSED: dict[str, Content] = {
    **disguises.REFUSED,
    **hostile_files.REFUSED,
}

TAKEN_NAMES = tuple(_TAKEN)
BROKEN_NAMES = ("webp-of-zeros",)
"""Those of `TAKEN_NAMES` that give no preview."""
LARGE_NAMES = tuple(name for name in TAKEN_NAMES if name.endswith("megapixels"))
REFUSED_NAMES = tuple(_REFUSED)


@functools.cache
def sample(name: str) -> Sample:
    return _TAKEN[name]() if name in _TAKEN else Sample(_REFUSED[name]())
