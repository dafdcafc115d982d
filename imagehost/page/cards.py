"""What a page says of itself to messengers: the Open Graph protocol (ogp.me) and its Twitter relatives."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from imagehost import addresses, media
from imagehost.models import File, PreviewState

MAX_PICTURE = 8 * 1024 * 1024  # bytes: what is larger is left out by many, so that they get the preview


@dataclass(frozen=True)
class Medium:
    """A picture or a video. `url` is whole; `width` and `height` in pixels."""

    url: str
    mime: str
    width: int
    height: int

    @property
    def is_secure(self) -> bool:
        return urlsplit(self.url).scheme == "https"


@dataclass(frozen=True)
class Card:
    title: str
    summary: str
    url: str
    picture: Medium | None
    video: Medium | None = None

    @property
    def kind(self) -> str:
        """Of `twitter:card`. A player must be https."""
        if self.video and self.video.is_secure:
            return "player"
        return "summary_large_image" if self.picture else "summary"


def picture_of(file: File) -> Medium | None:
    """The image itself where messengers show it, else its preview as a PNG; None: there is none yet."""
    if file.media_type.is_on_cards and file.size <= MAX_PICTURE:
        return _whole(file)
    if file.preview_state == PreviewState.MADE:
        size = file.preview_width or 0, file.preview_height or 0
        return Medium(addresses.card_url(file), media.PNG.mime, *size)
    return None


def video_of(file: File) -> Medium | None:
    return _whole(file) if file.media_type.is_video else None


def _whole(file: File) -> Medium:
    return Medium(addresses.file_url(file), file.mime, file.width, file.height)
