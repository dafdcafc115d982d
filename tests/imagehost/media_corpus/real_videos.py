"""Videos as programs write them: FFmpeg's encoders and muxers, one second each."""

import io
import struct
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import av
from PIL import Image

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.pieces import box_of
from tests.imagehost.media_corpus.real_images import encoded, from_image, of_brand, picture
from tests.imagehost.media_corpus.sample import PLACE, Content, Maker, taken

SIZE = (96, 64)
UPRIGHT = (64, 96)
_RATE = 10


@dataclass(frozen=True)
class Recipe:
    """What FFmpeg is asked for. `options` are the muxer's, `tune` the encoder's."""

    muxer: str
    codec: str | None
    pixels: str = "yuv420p"
    sound: str | None = None
    tag: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    tune: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    size: tuple[int, int] = SIZE
    frames: int = _RATE


def recorded(recipe: Recipe) -> bytes:
    if "faststart" in recipe.options.get("movflags", ""):  # the muxer reads again what it wrote
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "recorded")
            _record(str(path), recipe)
            return path.read_bytes()
    written = io.BytesIO()
    _record(written, recipe)
    return written.getvalue()


def _record(target: str | io.BytesIO, recipe: Recipe) -> None:
    with av.open(target, "w", format=recipe.muxer, container_options=recipe.options) as container:
        container.metadata.update(recipe.metadata)
        shown = None if recipe.codec is None else video(container, recipe)
        sound: Any = None if recipe.sound is None else container.add_stream(recipe.sound, rate=48000)
        if shown is not None:
            for frame in [*frames(recipe), None]:
                container.mux(shown.encode(frame))
        if sound is not None:
            for silent in [*silence(sound), None]:
                container.mux(sound.encode(silent))


def video(container: av.container.OutputContainer, recipe: Recipe) -> Any:
    stream: Any = container.add_stream(recipe.codec or "", rate=_RATE)
    stream.width, stream.height, stream.pix_fmt = *recipe.size, recipe.pixels
    stream.codec_context.thread_count = 1
    stream.codec_context.gop_size = 5
    stream.options = recipe.tune
    if recipe.tag:
        stream.codec_context.codec_tag = recipe.tag
    return stream


def frames(recipe: Recipe) -> list[av.VideoFrame]:
    return [_frame(number, recipe) for number in range(recipe.frames)]


def _frame(number: int, recipe: Recipe) -> av.VideoFrame:
    """A red field that travels to the right on a grey ground: the time can be read from it."""
    width, height = recipe.size
    drawn = Image.new("RGB", recipe.size, (60, 60, 60))
    left = (width - width // 8) * number // max(1, recipe.frames - 1)
    drawn.paste("red", (left, 0, left + width // 8, height // 2))
    frame = from_image(drawn).reformat(format=recipe.pixels)
    frame.pts = number
    return frame


def silence(stream: Any) -> list[av.AudioFrame]:
    codec = stream.codec_context
    samples = codec.frame_size or 1024
    silent = []
    for number in range(codec.sample_rate // samples):
        frame = av.AudioFrame(format=codec.format.name, layout=codec.layout.name, samples=samples)
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        frame.sample_rate, frame.pts = codec.sample_rate, number * samples
        silent.append(frame)
    return silent


def turned(content: bytes, *, quarter_turns: int) -> bytes:
    """The same MP4 or MOV with a rotation in the matrix of its track header, as a phone writes it."""
    cosine, sine = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter_turns % 4]
    start = content.index(b"tkhd") + 4
    matrix = start + (52 if content[start] else 40)
    fixed = struct.pack(">9i", cosine << 16, sine << 16, 0, -sine << 16, cosine << 16, 0, 0, 0, 1 << 30)
    return content[:matrix] + fixed + content[matrix + 36 :]


def without_ftyp(content: bytes) -> bytes:
    """As QuickTime wrote before 2001; offsets into the file stay as they are."""
    start, end = box_of(content, b"ftyp")
    assert start == 0
    return content[:4] + b"free" + content[8:end] + content[end:]


def with_cover(recipe: Recipe) -> bytes:
    """A video with a cover picture, which is a video stream to FFmpeg."""
    written = io.BytesIO()
    with av.open(written, "w", format=recipe.muxer) as container:
        cover: Any = container.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 48, 32, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        shown = video(container, recipe)
        packet = av.Packet(encoded(media.JPEG, picture()))
        packet.stream, packet.pts, packet.dts, packet.time_base = cover, 0, 0, Fraction(1, 1)
        for frame in [*frames(recipe), None]:
            container.mux(shown.encode(frame))
        container.mux(packet)
    return written.getvalue()


_FAST = {"preset": "ultrafast"}
_QUIET = {"preset": "ultrafast", "x265-params": "log-level=none:pools=none:frame-threads=1"}
_AV1 = {"preset": "12", "svtav1-params": "lp=1"}
_VPX = {"deadline": "realtime", "cpu-used": "8"}
_LOCATION = {"location": PLACE, "comment": PLACE}
MP4 = Recipe("mp4", "libx264", tune=_FAST)
MOV = Recipe("mov", "libx264", tune=_FAST)
WEBM = Recipe("webm", "libvpx", tune=_VPX)

_RECIPES: dict[str, tuple[MediaType, Recipe, dict[str, Any]]] = {
    "mp4-h264": (media.MP4, MP4, {}),
    "mp4-h264-aac": (media.MP4, Recipe("mp4", "libx264", sound="aac", tune=_FAST), {}),
    "mp4-h264-10-bit": (media.MP4, Recipe("mp4", "libx264", "yuv420p10le", tune=_FAST), {}),
    "mp4-faststart": (media.MP4, Recipe("mp4", "libx264", options={"movflags": "faststart"}, tune=_FAST), {}),
    "mp4-fragmented": (
        media.MP4,
        Recipe("mp4", "libx264", options={"movflags": "frag_keyframe+empty_moov"}, tune=_FAST),
        {},
    ),
    "mp4-hevc": (media.MP4, Recipe("mp4", "libx265", tag="hvc1", tune=_QUIET), {}),
    "mp4-av1": (media.MP4, Recipe("mp4", "libsvtav1", tune=_AV1), {}),
    "mp4-mpeg4": (media.MP4, Recipe("mp4", "mpeg4"), {}),
    "mp4-gps": (media.MP4, Recipe("mp4", "libx264", tune=_FAST, metadata=_LOCATION), {}),
    "mov-h264": (media.MOV, MOV, {}),
    "mov-h264-pcm": (media.MOV, Recipe("mov", "libx264", sound="pcm_s16le", tune=_FAST), {}),
    "mov-prores": (media.MOV, Recipe("mov", "prores_ks", "yuv422p10le"), {}),
    "mov-mjpeg": (media.MOV, Recipe("mov", "mjpeg", "yuvj420p"), {}),
    "mov-gps": (media.MOV, Recipe("mov", "libx264", tune=_FAST, metadata=_LOCATION), {}),
    "webm-vp8": (media.WEBM, WEBM, {}),
    "webm-vp9": (media.WEBM, Recipe("webm", "libvpx-vp9", tune=_VPX), {}),
    "webm-vp9-opus": (media.WEBM, Recipe("webm", "libvpx-vp9", sound="libopus", tune=_VPX), {}),
    "webm-av1": (media.WEBM, Recipe("webm", "libsvtav1", tune=_AV1), {}),
    "webm-live": (media.WEBM, Recipe("webm", "libvpx", options={"live": "1"}, tune=_VPX), {"duration_ms": None}),
    "webm-gps": (media.WEBM, Recipe("webm", "libvpx", tune=_VPX, metadata=_LOCATION), {}),
}


def film_facts(**facts: Any) -> dict[str, Any]:
    """What is found out about a film of one second, unless `facts` say otherwise."""
    return {"size": SIZE, "duration_ms": 1000, "duration_slack_ms": 200, **facts}


_MADE: dict[str, tuple[MediaType, Content, dict[str, Any]]] = {
    "mp4-turned-right": (media.MP4, lambda: turned(recorded(MP4), quarter_turns=1), {"size": UPRIGHT}),
    "mp4-turned-over": (media.MP4, lambda: turned(recorded(MP4), quarter_turns=2), {}),
    "mp4-turned-left": (media.MP4, lambda: turned(recorded(MP4), quarter_turns=3), {"size": UPRIGHT}),
    "mp4-brand-m4v": (media.MP4, lambda: of_brand(recorded(MP4), b"M4V "), {}),
    "mp4-brand-msnv": (media.MP4, lambda: of_brand(recorded(MP4), b"MSNV"), {}),
    "mp4-brand-avc1": (media.MP4, lambda: of_brand(recorded(MP4), b"avc1"), {}),
    "mp4-cover": (media.MP4, lambda: with_cover(MP4), {}),
    "mov-turned-right": (media.MOV, lambda: turned(recorded(MOV), quarter_turns=1), {"size": UPRIGHT}),
    "mov-without-ftyp": (media.MOV, lambda: without_ftyp(recorded(MOV)), {}),
}

MAKERS: dict[str, Maker] = {
    **{
        name: taken(type_, partial(recorded, recipe), **film_facts(**facts))
        for name, (type_, recipe, facts) in _RECIPES.items()
    },
    **{name: taken(type_, make, **film_facts(**facts)) for name, (type_, make, facts) in _MADE.items()},
}
