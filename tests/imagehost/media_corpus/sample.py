"""What a sample of the corpus is."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from imagehost.media import MediaType


@dataclass(frozen=True)
class Sample:
    """A file as a client sends it, and what must come of it.

    `mime` is the detected type, None where the file must be refused as `INVALID_MIME`. Width and height are those after
    rotation. `frames` and `duration_ms` are what `probing.Probe` says; a duration that encoders round differently is
    within `duration_slack_ms`.
    """

    name: str
    content: bytes = field(repr=False)
    claimed_name: str
    claimed_mime: str
    mime: str | None = None
    extension: str | None = None
    width: int = 0
    height: int = 0
    frames: int | None = None
    duration_ms: int | None = None
    duration_slack_ms: int = 0
    has_gps: bool = False  # a place is in its metadata; `PLACE` in plain text

    @property
    def is_taken(self) -> bool:
        return self.mime is not None


Maker = Callable[[], Sample]
PLACE = "+48.8577+002.2950/"
"""ISO 6709, as phones write it."""


def taken(media: MediaType, name: str, content: bytes, *, size: tuple[int, int], **facts: object) -> Sample:
    """A file that must be taken; labelled rightly unless `facts` say otherwise."""
    return replace(
        Sample(name, content, f"{name}.{media.extension}", media.mime, media.mime, media.extension, *size),
        **facts,  # type: ignore[arg-type]  # checked by the dataclass, at run time
    )


def refused(name: str, content: bytes, claimed_name: str, claimed_mime: str) -> Sample:
    return Sample(name, content, claimed_name, claimed_mime)
