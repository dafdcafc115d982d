"""What a sample of the corpus is."""

from collections.abc import Callable
from dataclasses import dataclass, field

from imagehost.media import MediaType


@dataclass(frozen=True)
class Sample:
    """A file, and what must come of it: `mime` is None where it is refused.

    Width and height are those after rotation. `frames` and `duration_ms` are what `media.FileFacts` says; encoders may
    round a duration by `duration_slack_ms`.
    """

    content: bytes = field(repr=False)
    mime: str | None = None
    extension: str | None = None
    width: int = 0
    height: int = 0
    frames: int | None = None
    duration_ms: int | None = None
    duration_slack_ms: int = 0


Maker = Callable[[], Sample]
Content = Callable[[], bytes]
PLACE = "+48.8577+002.2950/"
"""ISO 6709, as phones write it."""


def taken(type_: MediaType, make: Content, *, size: tuple[int, int], **facts: int | None) -> Maker:
    """Makes a file that must be taken."""
    return lambda: Sample(make(), type_.mime, type_.extension, *size, **facts)  # type: ignore[arg-type]  # slack: no None
