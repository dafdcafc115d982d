"""A video of any size."""

from __future__ import annotations

import os
from pathlib import Path

import av
from PIL import Image

SIDES = (320, 180)


def make(path: Path, size: int) -> None:
    """Write an MP4 of at least `size` bytes, as a camera does: its frames take all but the tables behind them.

    One frame of noise, 90 kB, comes again and again. Bytes that are of no frame would be blanked.
    """
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=25, options={"preset": "ultrafast", "qp": "12", "g": "1"})
        (stream.width, stream.height), stream.pix_fmt = SIDES, "yuv420p"
        picture = Image.frombytes("RGB", SIDES, os.urandom(3 * SIDES[0] * SIDES[1]))
        frame = av.VideoFrame.from_image(picture)  # type: ignore[no-untyped-call]  # untyped in av
        _, first = [*stream.encode(frame), *stream.encode(frame), *stream.encode()]
        for number in range(-(-size // first.size)):
            packet = av.Packet(bytes(first))
            packet.stream, packet.time_base, packet.is_keyframe = stream, first.time_base, True
            packet.pts = packet.dts = number
            container.mux(packet)
