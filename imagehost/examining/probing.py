"""Finds the type of an uploaded file by its content, and renders its preview.

A confined child of `prober` reads the file; this process does not.
"""

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Literal

from django.core.exceptions import ValidationError
from prometheus_client import Histogram

from imagehost import media
from imagehost.examining.prober import client, wire
from imagehost.examining.prober.client import InvalidMedia, ProberFailed
from imagehost.media import FileFacts, MediaType
from imagehost.storing.storage import incoming_directory

__all__ = ["InvalidMedia", "Preview", "ProberFailed", "font", "metered", "png_of", "probe", "render", "sound"]

EXAMINATIONS = Histogram(
    "hearth_examination_seconds",
    "Seconds of the prober for a file, by task and outcome: ok, invalid, killed (a bomb), failed (the service).",
    ("task", "outcome"),
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
LONGEST_SIDE = 640
"""Pixels of a preview."""
MAX_SMALL_PIXELS = 4096 * 4096
_SMALL_PICTURES = frozenset({media.PNG, media.JPEG, media.WEBP, media.GIF})

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Preview:
    """A rendered picture; `width`, `height` in pixels. `seconds`: of a processor, that it took."""

    content: bytes
    width: int
    height: int
    seconds: float


@dataclass
class Meter:
    """`seconds`: of a processor, that the prober took."""

    seconds: float = 0.0


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextlib.contextmanager
def metered() -> Iterator[Meter]:
    """Yield a meter of what the prober takes for the files of the block, refused ones too."""
    meter = Meter()
    before = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(before)


def probe(path: Path) -> FileFacts:
    """Examine a file and remove its private metadata IN PLACE, which may shorten it.

    A file that is cut off after its header is accepted. Raises InvalidMedia and ProberFailed; after either the file is
    unusable.
    """
    return FileFacts(**_ask(path, {"task": "probe"}, writable=True).message)


def render(
    path: Path,
    type_: MediaType,
    *,
    longest_side: int = LONGEST_SIDE,
    as_: Literal["WEBP", "PNG"] = "WEBP",
    only_whole: bool = False,
) -> Preview:
    """Return a thumbnail, or the poster of a video: upright, its longer side at most `longest_side`, never enlarged.

    Of a picture that is cut off or damaged it shows what decodes; with `only_whole` it is refused. Raises InvalidMedia
    where nothing decodes, and ProberFailed.
    """
    request = {
        "task": "render", "mime": type_.mime, "longest_side": longest_side, "as": as_, "only_whole": only_whole,
    }  # fmt: skip
    answer = _ask(path, request, writable=False)
    return Preview(answer.content, answer.message["width"], answer.message["height"], answer.seconds)


def sound(path: Path) -> FileFacts:
    """Examine an MP3, Ogg, WAV or M4A, which must decode. Raises InvalidMedia and ProberFailed."""
    return FileFacts(**_ask(path, {"task": "sound"}, writable=False).message)


def font(path: Path) -> FileFacts:
    """Examine a TrueType, OpenType, WOFF or WOFF2 font. Raises InvalidMedia and ProberFailed."""
    return FileFacts(**_ask(path, {"task": "font"}, writable=False).message)


def png_of(content: bytes, *, longest_side: int) -> bytes:
    """Return a small picture of another app, such as a logo, as a PNG, no side longer than `longest_side`.

    Raises ValidationError, with a sentence for the user.
    """
    with tempfile.NamedTemporaryFile(prefix="small-", dir=incoming_directory()) as file:
        file.write(content)
        file.flush()
        path = Path(file.name)
        try:
            found = probe(path)
            if found.media_type not in _SMALL_PICTURES:
                raise InvalidMedia(f"{found.mime} is none for a small picture")
            if found.width * found.height > MAX_SMALL_PIXELS:
                raise ValidationError("The picture has too many pixels; 4096x4096 is the most.")
            return render(path, found.media_type, longest_side=longest_side, as_="PNG", only_whole=True).content
        except InvalidMedia as reason:
            logger.info("A small picture was refused: %s", reason)
            raise ValidationError("This is not a picture in PNG, JPEG, WebP or GIF format.") from None
        except ProberFailed:
            logger.exception("The prober failed on a small picture.")
            raise ValidationError("Pictures cannot be checked now. Please try again in a few minutes.") from None


def _ask(path: Path, request: wire.Message, *, writable: bool) -> client.Answer:
    began_at, outcome, spent = perf_counter(), "failed", 0.0
    try:
        answer = client.ask(path, request, writable=writable)
        outcome, spent = "ok", answer.seconds
        return answer
    except InvalidMedia as error:
        outcome, spent = "killed" if isinstance(error, client.Killed) else "invalid", error.seconds
        raise
    finally:
        if meter := _meter.get():
            meter.seconds += spent
        EXAMINATIONS.labels(request["task"], outcome).observe(perf_counter() - began_at)
