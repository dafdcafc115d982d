"""QR codes as SVG, for addresses of profiles."""

from __future__ import annotations

import functools

from qrcode.constants import ERROR_CORRECT_M
from qrcode.image.svg import SvgPathFillImage
from qrcode.main import QRCode


@functools.lru_cache(maxsize=256)
def picture(address: str) -> bytes:
    """Return the SVG document: one path on white, which cameras read in dark mode too."""
    code: QRCode[SvgPathFillImage] = QRCode(error_correction=ERROR_CORRECT_M, image_factory=SvgPathFillImage)
    code.add_data(address)
    svg: bytes = code.make_image().to_string(encoding="utf-8")
    return svg
