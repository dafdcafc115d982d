"""Files of all eight types by several encoders, other formats and hostile files, with what must come of each.

Nothing is committed as binary: a file is made when it is asked for, and kept for the process. Names are known before:

    @pytest.mark.parametrize("name", media_corpus.HOSTILE_NAMES)
    def test_it_is_refused(name):
        sample = media_corpus.sample(name)
"""

import functools

from tests.imagehost.media_corpus import (
    disguises,
    hostile_images,
    hostile_videos,
    other_formats,
    real_images,
    real_videos,
    truncated,
)
from tests.imagehost.media_corpus.sample import Maker, Sample

__all__ = [
    "BROKEN_NAMES",
    "HOSTILE_NAMES",
    "REAL_NAMES",
    "REFUSED_NAMES",
    "TAKEN_NAMES",
    "Sample",
    "sample",
]

_REAL: dict[str, Maker] = {**real_images.MAKERS, **real_videos.MAKERS}
_HOSTILE: dict[str, Maker] = {
    **disguises.MAKERS,
    **other_formats.MAKERS,
    **hostile_images.MAKERS,
    **hostile_videos.MAKERS,
    **truncated.MAKERS,
}

REAL_NAMES = tuple(_REAL)
"""Well-formed files that must be taken, rightly labelled."""
HOSTILE_NAMES = tuple(_HOSTILE)
"""Everything else: most must be refused (`mime` is None), some are taken as what they are."""

TAKEN_NAMES = REAL_NAMES + tuple(hostile_images.TAKEN) + tuple(truncated.TAKEN)
BROKEN_NAMES = ("webp-of-zeros", *truncated.TAKEN)
"""Those of `TAKEN_NAMES` that give no preview."""
REFUSED_NAMES = tuple(name for name in HOSTILE_NAMES if name not in TAKEN_NAMES)


@functools.cache
def sample(name: str) -> Sample:
    return (_REAL | _HOSTILE)[name]()
