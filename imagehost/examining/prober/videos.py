"""Header parse and poster of videos, and of AVIF pictures, by PyAV. Runs in the confined child."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from PIL import Image

from imagehost.examining.prober import colors
from imagehost.examining.prober.errors import Refused, believable, check_size
from imagehost.media import FileFacts, MediaType

av.logging.set_level(av.logging.PANIC)

_NOT_SHOWN = Disposition.attached_pic | Disposition.dependent  # a cover, a tile of a larger picture
_PACKETS = 2000  # to look for a frame in
_POSTER_SECONDS = 5.0  # for decoding from the keyframe to the wanted time; after it the current frame is taken


def facts(file: BinaryIO, type_: MediaType) -> FileFacts:
    """Return the facts of a video, of which one frame must decode. Raises Refused or one of `errors.BROKEN`."""
    with _opened(file, type_) as container:
        frame = next(_frames(container, _picture(container, type_)))
        width, height = check_size(frame.width, frame.height, type_)
        if frame.rotation % 180 == 90:
            width, height = height, width
        return FileFacts(type_.mime, width, height, _duration_ms(container))


def poster(file: BinaryIO, type_: MediaType, longest_side: int) -> Image.Image:
    """Return the frame at one second, or at a third of a shorter video, upright, no side over `longest_side`."""
    with _opened(file, type_) as container:
        stream = _picture(container, type_)
        wanted = min(1.0, (_duration_ms(container) or 0) / 3000)
        if wanted:
            container.seek(int(wanted * 1_000_000))  # to the keyframe before
        frame = _frame_at(_frames(container, stream), wanted + (container.start_time or 0) / 1_000_000)
        width, height = check_size(frame.width, frame.height, type_)
        scale = min(1.0, longest_side / max(width, height))
        small = frame.reformat(
            width=max(1, round(width * scale)),
            height=max(1, round(height * scale)),
            format="rgb24",
            interpolation="AREA",
            threads=1,  # a child may not start threads
        )
        drawn: Image.Image = small.to_image()  # type: ignore[no-untyped-call]  # untyped in PyAV
        picture = colors.to_srgb(drawn, colors.of_codes(int(frame.color_primaries), int(frame.color_trc)))
        return picture.rotate(frame.rotation, expand=True) if frame.rotation % 90 == 0 else picture


def coded_colors(file: BinaryIO, type_: MediaType) -> bytes | None:
    """Return the profile of the code points of an AVIF; None where FFmpeg cannot read it."""
    try:
        with _opened(file, type_) as container:
            context = _picture(container, type_).codec_context
            return colors.of_codes(int(context.color_primaries), int(context.color_trc))
    except (av.FFmpegError, Refused):
        return None


def _opened(file: BinaryIO, type_: MediaType) -> InputContainer:
    """Open a file object in a forced format, so that FFmpeg uses no protocol, probing or other file."""
    file.seek(0)
    return av.open(file, mode="r", format=type_.demuxer)


def _picture(container: InputContainer, type_: MediaType) -> VideoStream:
    """Return the stream that is shown."""
    for stream in container.streams.video:
        if not stream.disposition & _NOT_SHOWN:
            stream.codec_context.thread_count = 1
            with_padding = type_.max_pixels * 5 // 4  # as FFmpeg counts them
            stream.codec_context.options = {"max_pixels": str(with_padding)}
            return stream
    raise Refused("no video in it")


def _frames(container: InputContainer, stream: VideoStream) -> Iterator[VideoFrame]:
    """Yield the frames that can be decoded, without damaged packets. Raises Refused where there is none."""
    found = False
    for number, packet in enumerate(container.demux(stream)):
        with contextlib.suppress(av.InvalidDataError):
            frames = packet.decode()
            found |= bool(frames)
            yield from frames
        if number >= _PACKETS and not found:
            break
    if not found:
        raise Refused("not one frame of the video can be decoded")


def _frame_at(frames: Iterator[VideoFrame], seconds: float) -> VideoFrame:
    give_up_at = time.monotonic() + _POSTER_SECONDS
    frame = next(frames)
    for later in frames:
        reached: float | None = frame.time  # None is missing in PyAV's type
        if reached is None or reached >= seconds or time.monotonic() > give_up_at:
            break
        frame = later
    return frame


def _duration_ms(container: InputContainer) -> int | None:
    duration: Any = container.duration  # microseconds; None for a live WebM
    return None if duration is None or duration <= 0 else believable(duration / 1000)
