"""Pictures to upload."""

import io

from PIL import Image


def png(width: int, height: int) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(content, "PNG")
    return content.getvalue()
