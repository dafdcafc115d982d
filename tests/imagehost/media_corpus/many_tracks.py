"""Films with more than one picture and one sound: every kind of stream that FFmpeg reads beside them."""

from __future__ import annotations

import io
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import av

from imagehost import media
from tests.imagehost.media_corpus.pieces import ebml_header
from tests.imagehost.media_corpus.real_videos import MOV, MP4, WEBM, Recipe, film_facts, frames, silence, video
from tests.imagehost.media_corpus.sample import PLACE, Maker, taken

Addition = Callable[[av.container.OutputContainer], "list[av.Packet[Any]]"]
"""Adds a stream before the first packet; answers the packets that it carries."""
STYLE = b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n[Events]\n"
_FONT = b"\0\1\0\0" + bytes(100)


def _of(stream: Any, content: bytes) -> list[av.Packet[Any]]:
    packet: av.Packet[Any] = av.Packet(content)
    packet.stream, packet.pts, packet.dts, packet.duration, packet.time_base = stream, 0, 0, 500, Fraction(1, 1000)
    return [packet]


def timed_text(container: av.container.OutputContainer) -> list[av.Packet[Any]]:
    stream: Any = container.add_stream("mov_text")
    stream.codec_context.subtitle_header = STYLE
    return _of(stream, len(PLACE).to_bytes(2, "big") + PLACE.encode())


def web_captions(container: av.container.OutputContainer) -> list[av.Packet[Any]]:
    return _of(container.add_mux_stream("webvtt"), b"Hello")


def data(container: av.container.OutputContainer) -> list[av.Packet[Any]]:
    return _of(container.add_data_stream("bin_data"), PLACE.encode())


def timecode(container: av.container.OutputContainer) -> list[av.Packet[Any]]:
    container.streams.video[0].metadata["timecode"] = "01:00:00:00"
    return []


def chapters(container: av.container.OutputContainer) -> list[av.Packet[Any]]:
    title = {"title": PLACE}
    container.set_chapters([{"id": 1, "start": 0, "end": 500, "time_base": Fraction(1, 1000), "metadata": title}])
    return []


def attachment(container: av.container.OutputContainer) -> list[av.Packet[Any]]:
    container.add_attachment("font.ttf", "font/ttf", _FONT)
    return []


def filmed(recipe: Recipe, *additions: Addition, sound: str) -> bytes:
    """Two pictures, two sounds, and what each of `additions` adds."""
    written = io.BytesIO()
    with av.open(written, "w", format=recipe.muxer) as container:
        pictures = [video(container, recipe) for _ in range(2)]
        sounds: list[Any] = [container.add_stream(sound, rate=48000) for _ in range(2)]
        added = [packet for add in additions for packet in add(container)]
        for shown in pictures:
            for frame in [*frames(recipe), None]:
                container.mux(shown.encode(frame))
        for heard in sounds:
            for silent in [*silence(heard), None]:
                container.mux(heard.encode(silent))
        container.mux(added)
    return written.getvalue()


def webm_with_attachment() -> bytes:
    """As a tool writes it that turns the Matroska of an editor into WebM by its name alone."""
    content = filmed(Recipe("matroska", WEBM.codec, tune=WEBM.tune), attachment, sound="libopus")
    return ebml_header(b"webm") + content[content.index(b"\x18\x53\x80\x67") :]


def _film(type_: media.MediaType, recipe: Recipe, *additions: Addition) -> Maker:
    sound = "libopus" if recipe.muxer == "webm" else "aac"
    return taken(type_, lambda: filmed(recipe, *additions, sound=sound), **film_facts())


MAKERS: dict[str, Maker] = {
    "mp4-subtitles": _film(media.MP4, MP4, timed_text),
    "mp4-chapters": _film(media.MP4, MP4, chapters),
    "mp4-data": _film(media.MP4, MP4, data),
    "mp4-timecode": _film(media.MP4, MP4, timecode),
    "mov-subtitles-chapters-timecode": _film(media.MOV, MOV, timed_text, chapters, timecode),
    "webm-subtitles-chapters": _film(media.WEBM, WEBM, web_captions, chapters),
    "webm-attachment": taken(media.WEBM, webm_with_attachment, **film_facts()),
}
