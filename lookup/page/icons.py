"""Icons that users drew, as pictures: an <img> runs nothing and loads nothing from the drawing."""

from __future__ import annotations

import functools
from base64 import b64encode
from xml.etree import ElementTree as ET

from lookup.shapes.svg import svg_problems

NAMESPACE = "http://www.w3.org/2000/svg"
VISIBLE = "#6d7d75"  # at least 3:1 on the light and on the dark ground of an icon


@functools.lru_cache(maxsize=256)
def picture(svg: str, color: str = "") -> str:
    """Return a data URL of the icon; empty for an icon that may not be stored.

    Parts of the drawing without a colour of their own get `color`: black would not be seen on a dark page.
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
