"""The marks of an HDR photo in JPEG: its gain map is a second picture, by which screens brighten the first.

Three forms are known: Ultra HDR (Adobe's `hdrgm` in XMP, with the container directory of Android), ISO 21496-1, and
Apple's. The index of pictures (CIPA DC-X007, "MPF") leads to the gain map. What was read of a mark is numbers; a clean
mark is written of these.
"""

import struct
from xml.etree import ElementTree

from imagehost.examining.stripping import exif

XMP = b"http://ns.adobe.com/xap/1.0/\x00"
ISO = b"urn:iso:std:iso:ts:21496:-1\x00"
INDEX = b"MPF\x00"
INDEX_LENGTH = 86  # bytes of the index of two pictures, as `index` writes it
_MOST_PICTURES = 16

_ADOBE, _APPLE, _PIXELS = "hdrgm", "HDRGainMap", "apdi"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_SPACES = {
    _ADOBE: "http://ns.adobe.com/hdr-gain-map/1.0/",
    _APPLE: "http://ns.apple.com/HDRGainMap/1.0/",
    _PIXELS: "http://ns.apple.com/pixeldatainfo/1.0/",
    "Container": "http://ns.google.com/photos/1.0/container/",
    "Item": "http://ns.google.com/photos/1.0/container/item/",
}
_NUMBERS = {
    _ADOBE: (
        "GainMapMin", "GainMapMax", "Gamma", "OffsetSDR", "OffsetHDR", "HDRCapacityMin", "HDRCapacityMax",
    ),
    _APPLE: ("HDRGainMapVersion", "HDRGainMapHeadroom"),
    _PIXELS: ("NativeFormat", "StoredFormat"),
}  # fmt: skip
_NEEDED = {_ADOBE: "GainMapMax", _APPLE: "HDRGainMapVersion"}
_APPLE_TYPE = "urn:com:apple:photo:2020:aux:hdrgainmap"
_LONGEST_NUMBER = 32  # characters
_LARGEST_NUMBER = 2.0**32


def offsets(body: bytes) -> list[int]:
    """Return the positions of pictures behind the first, from the header of the index on. Empty where it is broken."""
    tiff = body.removeprefix(INDEX)
    order = exif.byte_order(tiff)
    if order is None or len(body) < INDEX_LENGTH:
        return []
    (directory,) = struct.unpack_from(order + "I", tiff, 4)
    for tag, _, length, value in exif.directory(tiff, order, directory):
        if tag == 0xB002:
            (at,) = struct.unpack(order + "I", value)
            stop = min(at + min(length, 16 * _MOST_PICTURES), len(tiff) - 15)
            return [struct.unpack_from(order + "I", tiff, entry + 8)[0] for entry in range(at + 16, stop, 16)]
    return []


def index(primary: int, gain_map: int, offset: int) -> bytes:
    """Return the index of a photo and its gain map. `offset`: the position of the second, from the index' header on."""
    tags = [(0xB000, 7, 4, b"0100"), (0xB001, 4, 1, struct.pack(">I", 2)), (0xB002, 7, 32, struct.pack(">I", 50))]
    first, second = (0x30000, primary, 0, 0, 0), (0, gain_map, offset, 0, 0)
    pictures = struct.pack(">IIIHH", *first) + struct.pack(">IIIHH", *second)
    return INDEX + b"MM\x00*" + struct.pack(">I", 8) + exif.written_directory(tags) + pictures


def of_primary(packet: bytes, *, length: int) -> bytes | None:
    """Return the clean XMP of a photo with a gain map of `length` bytes; None where it does not announce one."""
    if _described(packet).get((_ADOBE, "Version")) != ["1.0"]:
        return None
    items = (("Primary", ""), ("GainMap", f' Item:Length="{length}"'))
    directory = "".join(
        f'<rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="{semantic}" Item:Mime="image/jpeg"{more}/>'
        "</rdf:li>"
        for semantic, more in items
    )
    directory = f"<Container:Directory><rdf:Seq>{directory}</rdf:Seq></Container:Directory>"
    return _packet((_ADOBE, "Container", "Item"), ['hdrgm:Version="1.0"'], directory)


def of_map(packet: bytes) -> bytes | None:
    """Return the clean XMP of a gain map, of the numbers in `packet`; None where it describes no gain map."""
    found = _described(packet)
    if found.get((_ADOBE, "Version")) == ["1.0"]:
        space, attributes = _ADOBE, ['hdrgm:Version="1.0"']
        base = found.get((_ADOBE, "BaseRenditionIsHDR"))
        attributes += [f'hdrgm:BaseRenditionIsHDR="{value}"' for value in ("True", "False") if base == [value]]
    elif found.get((_PIXELS, "AuxiliaryImageType")) == [_APPLE_TYPE]:
        space, attributes = _APPLE, [f'apdi:AuxiliaryImageType="{_APPLE_TYPE}"']
    else:
        return None
    if (space, _NEEDED[space]) not in found:
        return None
    spaces = (_ADOBE,) if space == _ADOBE else (_APPLE, _PIXELS)
    elements = ""
    for prefix, name in ((one, name) for one in spaces for name in _NUMBERS[one]):
        numbers = [_number(text) for text in found.get((prefix, name), ())]
        if None in numbers or len(numbers) not in {0, 1, 3}:
            return None
        if len(numbers) == 1:
            attributes.append(f'{prefix}:{name}="{numbers[0]}"')
        elif numbers:
            listed = "".join(f"<rdf:li>{number}</rdf:li>" for number in numbers)
            elements += f"<{prefix}:{name}><rdf:Seq>{listed}</rdf:Seq></{prefix}:{name}>"
    return _packet(spaces, attributes, elements)


def _described(packet: bytes) -> dict[tuple[str, str], list[str]]:
    """Return the texts of properties and of their lists by prefix and name; empty where the packet is broken."""
    packet = packet.removeprefix(XMP).rstrip(b"\x00")
    if b"<!" in packet:  # a declaration could define entities, which grow
        return {}
    try:
        root = ElementTree.fromstring(packet)  # noqa: S314  # in the confined child, at most 64 KiB, no entities
    except (ElementTree.ParseError, ValueError, LookupError):
        return {}
    prefixes = {space: prefix for prefix, space in _SPACES.items()}
    found: dict[tuple[str, str], list[str]] = {}
    for description in root.iter(f"{{{_RDF}}}Description"):
        properties = [(name, [text]) for name, text in description.items()]
        for part in description:  # a list, or one text
            items = [item.text or "" for item in part.iter(f"{{{_RDF}}}li")]
            properties.append((part.tag, items or [part.text or ""]))
        for full, texts in properties:
            space, _, name = full.removeprefix("{").partition("}")
            if space in prefixes:
                found[prefixes[space], name] = texts
    return found


def _number(text: str) -> str | None:
    """Return the number as it is written in a clean mark; None for anything else."""
    try:
        value = float(text[: _LONGEST_NUMBER + 1])
    except ValueError:
        return None
    if len(text) > _LONGEST_NUMBER or not abs(value) <= _LARGEST_NUMBER:
        return None
    return str(int(value)) if value.is_integer() else format(value, ".9g")


def _packet(spaces: tuple[str, ...], attributes: list[str], elements: str) -> bytes:
    declared = " ".join([*(f'xmlns:{prefix}="{_SPACES[prefix]}"' for prefix in spaces), *attributes])
    return (
        XMP
        + (
            f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="{_RDF}"><rdf:Description {declared}>{elements}'
            "</rdf:Description></rdf:RDF></x:xmpmeta>"
        ).encode()
    )


_MANY, _BASE_COLOR, _BACKWARD, _COMMON = 0x80, 0x40, 0x04, 0x08


def iso_version(body: bytes) -> bytes | None:
    """Return the clean mark of ISO 21496-1 of a photo, which is only a version; None for another one."""
    mark = body[: len(ISO) + 4]
    return mark if mark[len(ISO) :][:2] == bytes(2) and len(mark) == len(ISO) + 4 else None


def iso_metadata(body: bytes) -> bytes | None:
    """Return the clean mark of ISO 21496-1 (annex C) of a gain map: fixed fields, each in its range, or None."""
    start = len(ISO) + 5
    if iso_version(body) is None or len(body) < start:
        return None
    flags = body[start - 1]
    channels = 3 if flags & _MANY else 1
    if flags & ~(_MANY | _BASE_COLOR | _BACKWARD | _COMMON):
        return None
    form = ">III" + "iiIii" * channels if flags & _COMMON else ">IIII" + "iIiIIIiIiI" * channels
    if len(body) < start + struct.calcsize(form):
        return None
    numbers = struct.unpack_from(form, body, start)
    above, below = (numbers[1:], numbers[:1] * len(numbers[1:])) if flags & _COMMON else (numbers[::2], numbers[1::2])
    if not all(below) or any(abs(one / other) > _LARGEST_NUMBER for one, other in zip(above, below, strict=True)):
        return None
    return body[: start + struct.calcsize(form)]
