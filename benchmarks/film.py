"""A video of any size."""

from __future__ import annotations

import os
from pathlib import Path

import av
from PIL import Image


def make(path: Path, size: int) -> None:
    """Write a real MP4 of `size` bytes: its header first, then its last box, lengthened."""
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        for shade in range(50):
            picture = Image.new("RGB", (320, 180), (shade * 5, 80, 120))
            frame = av.VideoFrame.from_image(picture)  # type: ignore[no-untyped-call]  # untyped in av
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    content = path.read_bytes()
    at = content.rindex(b"mdat") - 4
    length = (len(content) - at + size - len(content)).to_bytes(4, "big")
    with path.open("wb") as file:
        file.write(content[:at] + length + content[at + 4 :])
        while (missing := size - file.tell()) > 0:
            file.write(os.urandom(min(missing, 1 << 20)))
