"""Rules for SVG icons that may be stored: drawings without active content. Pure rules.

Clients of the API may put an icon into an HTML page as it is, and HTML is parsed by other rules than XML. Markup that
could be parsed in two ways (comments with markup in them, CDATA, processing instructions) is refused with the rest.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from infrastructure import text_rules

MAX_BYTES = 20 * 1024
MAX_DEPTH = 64  # elements in elements, references followed
MAX_DRAWN = 5000  # elements drawn, each as often as it is used: a few nested `use` would draw billions

ELEMENTS = frozenset(
    "svg g path circle rect ellipse line polyline polygon defs linearGradient radialGradient stop title desc "
    "clipPath mask use symbol text tspan".split()
)
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"

# May be written as attributes and as properties in `style`. Nothing here places an element outside of the drawing.
_PRESENTATION = frozenset(
    "fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray "
    "stroke-dashoffset stroke-opacity opacity color display visibility clip-path clip-rule mask mask-type stop-color "
    "stop-opacity vector-effect paint-order shape-rendering text-rendering color-interpolation enable-background "
    "transform transform-origin font-family font-size font-style font-weight letter-spacing word-spacing text-anchor "
    "text-decoration dominant-baseline alignment-baseline baseline-shift writing-mode isolation mix-blend-mode "
    "width height x y cx cy r rx ry d".split()
)
_ATTRIBUTES = _PRESENTATION | frozenset(
    "viewBox preserveAspectRatio version baseProfile points x1 y1 x2 y2 dx dy fx fy fr rotate textLength lengthAdjust "
    "pathLength gradientTransform gradientUnits spreadMethod offset clipPathUnits maskUnits maskContentUnits".split()
)
_WORDS = frozenset(  # plain words for people and style sheets
    "class role focusable aria-hidden aria-label aria-labelledby data-name data-slot data-icon data-prefix "
    "{http://www.w3.org/XML/1998/namespace}space".split()
)
_FUNCTIONS = frozenset(
    "rgb rgba hsl hsla matrix translate translatex translatey scale scalex scaley rotate skewx skewy url".split()
)

_HARMLESS_COMMENT = re.compile(r"<!--[^<>]*-->")
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,99}")
_NO_NAME = re.compile(r"[\s:;,)]")
_URL = re.compile(r"url\s*\(", re.IGNORECASE)
_URL_INSIDE = re.compile(r"url\(\s*(['\"]?)#([A-Za-z_][A-Za-z0-9_.:-]{0,99})\1\s*\)", re.IGNORECASE)


class _TooMuch(Exception):
    """Drawing the icon would be more work than an icon is worth; the text says why."""


def svg_problems(svg: str) -> list[str]:
    """Return why the icon is refused, in sentences; empty when it may be stored."""
    if (length := len(svg.encode("utf-8", "surrogatepass"))) > MAX_BYTES:
        return [f"The SVG has {length} bytes; at most {MAX_BYTES} are allowed."]
    if text_rules.find_unstorable(svg):
        return ["The SVG contains a character that cannot be stored."]
    if "<!" in _HARMLESS_COMMENT.sub("", svg) or "<?" in svg:
        return ["Remove everything in <!...> and <?...?>: document types, entities, CDATA, processing instructions."]
    try:
        root = ET.fromstring(svg)  # noqa: S314  # without a document type there are no entities to expand
    except ET.ParseError as error:
        return [f"The SVG is not well-formed XML: {error}."]
    if _local_name(root) != "svg":
        return ["The outermost element must be svg."]
    # Each problem is reported once, not for each of a thousand elements.
    return list(dict.fromkeys(_problems_of_elements(root))) or _problems_of_references(root)


def _local_name(element: ET.Element) -> str:
    """Return the name without the namespace of SVG; any other namespace stays, and is in no list."""
    return element.tag.removeprefix(_SVG)


def _problems_of_elements(root: ET.Element) -> Iterator[str]:
    ids: set[str] = set()
    for element in root.iter():
        name = _local_name(element)
        if name not in ELEMENTS:
            yield f"The element {name[:64]} is not allowed."
        elif name in {"title", "desc"} and len(element):
            yield f"The element {name} may hold text only."
        for attribute, value in element.attrib.items():
            yield from _problems_of_attribute(attribute, value)
        if (own := element.get("id")) is not None:
            if own in ids:
                yield f"The id {own[:64]} is used on two elements."
            ids.add(own)


def _problems_of_attribute(name: str, value: str) -> Iterator[str]:
    shown = name[:64]
    if name in {"href", _XLINK_HREF}:
        if not (value.startswith("#") and _ID.fullmatch(value[1:])):
            yield "References (href) may only name an id of the drawing, such as #a."
    elif name == "id":
        if not _ID.fullmatch(value):
            yield "An id begins with a letter or _ and has up to 100 letters, digits, and _ . : - in it."
    elif name == "style":
        yield from _problems_of_style(value)
    elif name in _WORDS:
        if _URL.search(value):
            yield f"The attribute {shown} must not hold an address."
    elif name not in _ATTRIBUTES:
        yield f"The attribute {shown} is not allowed."
    elif not _is_plain_value(value):
        yield f"The value of the attribute {shown} is not allowed."


def _problems_of_style(style: str) -> Iterator[str]:
    for declaration in filter(None, map(str.strip, style.split(";"))):
        name, _, value = declaration.partition(":")
        name = name.strip().lower()
        if name not in _PRESENTATION:
            yield f"The property {name[:64]} is not allowed in style."
        elif not _is_plain_value(value):
            yield f"The value of the property {name} is not allowed."


def _is_plain_value(value: str) -> bool:
    """Return whether all functions are colors or transforms, all addresses `url(#id)`, and none is disguised."""
    if "\\" in value or "/*" in value or "@" in value:
        return False
    if any(_NO_NAME.split(before.rstrip())[-1].lower() not in _FUNCTIONS for before in value.split("(")[:-1]):
        return False
    return len(_URL.findall(value)) == len(_URL_INSIDE.findall(value))


def _problems_of_references(root: ET.Element) -> list[str]:
    """Return problems of references: each must end in the drawing, after few steps."""
    targets = {own: element for element in root.iter() if (own := element.get("id"))}
    unknown = {name for element in root.iter() for name in _references(element) if name not in targets}
    if unknown:
        return [f"The drawing refers to #{name}, which it does not have." for name in sorted(unknown)[:5]]
    try:
        _count_drawn(root, targets, {}, depth=1)
    except _TooMuch as problem:
        return [str(problem)]
    return []


def _references(element: ET.Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name in {"href", _XLINK_HREF}:
            yield value[1:]
        elif name not in _WORDS:
            yield from (found[1] for found in _URL_INSIDE.findall(value))


def _count_drawn(element: ET.Element, targets: dict[str, ET.Element], known: dict[ET.Element, int], depth: int) -> int:
    """Return how many elements are drawn for one. Circular references exceed MAX_DEPTH."""
    if depth > MAX_DEPTH:
        raise _TooMuch(f"Elements are nested, or refer to one another, more than {MAX_DEPTH} deep.")
    if element not in known:
        drawn = [*element, *(targets[name] for name in _references(element))]
        total = 1 + sum(_count_drawn(child, targets, known, depth + 1) for child in drawn)
        if total > MAX_DRAWN:
            raise _TooMuch(f"More than {MAX_DRAWN} elements would be drawn; use fewer references.")
        known[element] = total
    return known[element]
