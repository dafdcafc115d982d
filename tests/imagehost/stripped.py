"""Files before and after the strip: what is left of the bytes, and what a viewer sees."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import av
import pytest
from PIL import Image, ImageOps, ImageSequence

from imagehost.examining import stripping
from imagehost.media import MediaType

SECRET = b"SECRET 48.8577 N"
"""Planted where private or foreign bytes can be."""


def stripped(content: bytes, media_type: MediaType) -> bytes:
    file = io.BytesIO(content)
    stripping.strip(file, media_type)
    return file.getvalue()


def refusal(content: bytes, media_type: MediaType) -> type[ValueError]:
    """Why it is refused. The file stays as it was."""
    file = io.BytesIO(content)
    with pytest.raises(stripping.Refusal) as refused:
        stripping.strip(file, media_type)
    assert file.getvalue() == content
    return refused.type


def pictures(content: bytes) -> dict[str, Any]:
    """What a viewer shows: every frame upright, its time, the color profile and the loop."""
    with Image.open(io.BytesIO(content)) as image:
        frames = [
            (ImageOps.exif_transpose(frame).convert("RGBA").tobytes(), frame.info.get("duration"))
            for frame in ImageSequence.Iterator(image)
        ]
        shown = {name: image.info.get(name) for name in ("icc_profile", "loop", "gamma", "transparency")}
        return {"frames": frames, "mode": image.mode, "size": image.size, **shown}


def film(content: bytes) -> dict[str, Any]:
    """What a player plays: the streams, each packet, each picture. A cover in the metadata is not part of it."""
    with av.open(io.BytesIO(content), "r") as container:
        streams = [one for one in container.streams if not one.disposition & av.stream.Disposition.attached_pic]
        packets = [
            (packet.stream_index, packet.pts, packet.dts, packet.duration, _content(packet))
            for packet in container.demux(streams)
        ]
        duration = container.duration
        shapes = [(stream.type, stream.codec_context.name, stream.duration, stream.time_base) for stream in streams]
    with av.open(io.BytesIO(content), "r") as container:
        decoded = [_shown(frame) for frame in container.decode(video=0)]
    return {"duration": duration, "streams": shapes, "packets": packets, "pictures": decoded}


def pictures_and_sound(content: bytes) -> tuple[dict[int, list[Any]], list[Any]]:
    """The packets of each stream of pictures or sound, in their order, and the decoded pictures of the first."""
    packets: dict[int, list[Any]] = {}
    with av.open(io.BytesIO(content), "r") as container:
        streams = [one for one in container.streams if one.type in {"video", "audio"}]
        for packet in container.demux(streams):
            packets.setdefault(streams.index(packet.stream), []).append((packet.pts, packet.dts, _content(packet)))
    with av.open(io.BytesIO(content), "r") as container:
        return packets, [_shown(frame) for frame in container.decode(video=0)]


def _content(packet: av.Packet[Any]) -> bytes | list[bytes]:
    """The bytes of a packet; of H.264 and HEVC its units without SEI, in which user data is blanked."""
    kinds = {"h264": (31, 0, {6}), "hevc": (63, 1, {39, 40})}.get(packet.stream.codec_context.name)
    if kinds is None:
        return bytes(packet)
    (mask, shift, unwanted), rest, units = kinds, bytes(packet), []
    while rest:
        length = int.from_bytes(rest[:4], "big")
        units.append(rest[4 : 4 + length])
        rest = rest[4 + length :]
    return [unit for unit in units if not unit or unit[0] >> shift & mask not in unwanted]


def _shown(frame: Any) -> tuple[int, int, bytes]:  # PyAV types half of its frames
    return frame.pts, frame.rotation, frame.to_image().tobytes()


def metadata(content: bytes) -> set[str]:
    """Names of all that FFmpeg finds said about the file and its streams."""
    with av.open(io.BytesIO(content), "r") as container:
        return {*container.metadata, *(name for stream in container.streams for name in stream.metadata)}


def survives(content: bytes, media_type: MediaType) -> bool:
    """Whether it is taken; a refusal must be of the class that is promised."""
    try:
        once = stripped(content, media_type)
    except stripping.Refusal:
        return False
    assert stripped(once, media_type) == once
    return True


def cut_off(content: bytes) -> Iterator[bytes]:
    """The file, broken off at every seventh byte."""
    return (content[:length] for length in range(0, len(content), 7))


def mutated(content: bytes, *, rounds: int) -> Iterator[bytes]:
    """With a few bytes changed, a piece missing, or a piece twice; the same ones each time."""
    chance = random.Random(20260102)  # noqa: S311 (nothing secret: a repeatable series)
    for _ in range(rounds):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 6)):
            changed[chance.randrange(len(changed))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        start = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                del changed[start : start + chance.randint(1, 20)]
            case 1:
                changed[start:start] = changed[start : start + chance.randint(1, 20)]
            case _:
                pass
        yield bytes(changed)
