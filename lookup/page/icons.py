"""Icons that users drew, drawings of platforms, QR codes: an <img> runs nothing and loads nothing from a drawing."""

from __future__ import annotations

import functools
from base64 import b64encode
from xml.etree import ElementTree as ET

from lookup.shapes import platforms
from lookup.shapes.svg import svg_problems

NAMESPACE = "http://www.w3.org/2000/svg"
VISIBLE = "#6d7d75"  # at least 3:1 on the light and on the dark ground of an icon
TEXT, MAIL, WEB = "text", "mail", "web"  # drawings of static/img/platforms.svg


@functools.lru_cache(maxsize=256)
def picture(svg: str, color: str = "") -> str:
    """Return a data URL of the icon; empty for an icon that may not be stored.

    Parts of the drawing without a color of their own get `color`: black would not be seen on a dark page.
    """
    if not svg or svg_problems(svg):
        return ""
    root = ET.fromstring(svg)  # noqa: S314 - it was examined just now
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if name.endswith("}href")]:
            element.set("href", element.attrib.pop(name))
    root.set("xmlns", NAMESPACE)
    for name in ("color", "fill"):
        root.attrib.setdefault(name, color or VISIBLE)
    return "data:image/svg+xml;base64," + b64encode(ET.tostring(root)).decode()


@functools.lru_cache(maxsize=1_000)
def drawing(platform: str, host: str) -> str:
    """Return the id of the drawing that stands for a link without an icon of its own.

    `host`: of the link, a mail address, or "" for a text to copy.
    """
    return platforms.drawing_of(platform, host) or (TEXT if not host else MAIL if "@" in host else WEB)


@functools.lru_cache(maxsize=256)
def qr_code(address: str) -> bytes:
    """Return the SVG document: one path on white, which cameras read in dark mode too."""
    from qrcode.constants import ERROR_CORRECT_M  # with lxml and a part of Pillow, so not before the first code
    from qrcode.image.svg import SvgPathFillImage
    from qrcode.main import QRCode

    code: QRCode[SvgPathFillImage] = QRCode(error_correction=ERROR_CORRECT_M, image_factory=SvgPathFillImage)
    code.add_data(address)
    svg: bytes = code.make_image().to_string(encoding="utf-8")
    return svg
