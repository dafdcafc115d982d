"""HDR photos in JPEG: a picture, the marks of its gain map, an index (MPF), the gain map and what phones put behind."""

import struct

from PIL import Image

from imagehost import media
from tests.imagehost.media_corpus.pieces import jpeg_segment
from tests.imagehost.media_corpus.real_images import SIZE, encoded, phone_exif, picture
from tests.imagehost.media_corpus.sample import PLACE, Maker, taken

XMP = b"http://ns.adobe.com/xap/1.0/\0"
ISO = b"urn:iso:std:iso:ts:21496:-1\0"
ISO_VERSION = ISO + bytes(4)
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_NAMES = (
    'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" xmlns:c="http://ns.google.com/photos/1.0/container/" '
    'xmlns:i="http://ns.google.com/photos/1.0/container/item/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
    'xmlns:a="http://ns.apple.com/pixeldatainfo/1.0/" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/"'
)


def xmp(attributes: str, inside: str = "") -> bytes:
    """A packet in which a camera also says where it was."""
    private = f'tiff:Model="{PLACE}"'
    return (
        XMP
        + (
            f'<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="{PLACE}"><rdf:RDF xmlns:rdf="{_RDF}"><rdf:Description '
            f"{_NAMES} {private} {attributes}>{inside}</rdf:Description></rdf:RDF></x:xmpmeta>"
        ).encode()
    )


def primary_xmp(length: int = 1000) -> bytes:
    items = "".join(
        f'<rdf:li rdf:parseType="Resource"><c:Item i:Semantic="{semantic}" i:Mime="{mime}"{more}/></rdf:li>'
        for semantic, mime, more in (
            ("Primary", "image/jpeg", ""),
            ("GainMap", "image/jpeg", f' i:Length="{length}"'),
            ("MotionPhoto", "video/mp4", ' i:Length="999"'),
        )
    )
    return xmp('hdrgm:Version="1.0"', f"<c:Directory><rdf:Seq>{items}</rdf:Seq></c:Directory>")


MAP_XMP = xmp(
    'hdrgm:Version="1.0" hdrgm:GainMapMin="-0.5" hdrgm:Gamma="1.0" hdrgm:OffsetSDR="1e-07" hdrgm:OffsetHDR="0.015625" '
    'hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2.3219280948873623" hdrgm:BaseRenditionIsHDR="False"',
    "<hdrgm:GainMapMax><rdf:Seq><rdf:li>2</rdf:li><rdf:li>1.5</rdf:li><rdf:li>1</rdf:li></rdf:Seq></hdrgm:GainMapMax>",
)
APPLE_XMP = xmp(
    "",
    "<a:AuxiliaryImageType>urn:com:apple:photo:2020:aux:hdrgainmap</a:AuxiliaryImageType>"
    "<a:NativeFormat>1278226488</a:NativeFormat><HDRGainMap:HDRGainMapVersion>65536</HDRGainMap:HDRGainMapVersion>",
)
_ONE, _HALF = (1, 1), (1, 2)
ISO_METADATA = ISO + bytes(5) + struct.pack(">14i", 0, 1, 2, 1, 0, 1, 2, 1, *_ONE, *_HALF, *_HALF)


def index(lengths: list[int], starts: list[int], *, order: str = ">") -> bytes:
    """MPF of pictures: their lengths and starts, counted from its own header."""
    mark = b"MM\0*" if order == ">" else b"II*\0"
    count = len(lengths)
    entry = struct.Struct(order + "HHI4s")
    entries = b"".join(
        struct.pack(order + "IIIHH", 0, length, start, 0, 0) for length, start in zip(lengths, starts, strict=True)
    )
    number = struct.pack(order + "I", count)
    place = struct.pack(order + "I", 50)
    directory = entry.pack(0xB000, 7, 4, b"0100") + entry.pack(0xB001, 4, 1, number)
    directory += entry.pack(0xB002, 7, len(entries), place) + bytes(4)
    return b"MPF\0" + mark + struct.pack(order + "IH", 8, 3) + directory + entries


def gain_map(*marks: bytes) -> bytes:
    content = encoded(media.JPEG, Image.linear_gradient("L").resize((24, 16)))
    private = [jpeg_segment(0xE1, phone_exif(6).tobytes()), jpeg_segment(0xFE, PLACE.encode())]
    segments = b"".join(jpeg_segment(0xE2 if mark.startswith(ISO) else 0xE1, mark) for mark in marks)
    return content[:20] + segments + b"".join(private) + content[20:]


def photo(marks: list[bytes], *behind: bytes, order: str = ">", exif: bytes = b"", tail: bytes = b"") -> bytes:
    """A picture with `marks`, an index, and the pictures `behind` it."""
    plain = encoded(media.JPEG, picture(), **({"exif": exif} if exif else {}))
    segments = b"".join(jpeg_segment(0xE2 if mark.startswith(ISO) else 0xE1, mark) for mark in marks)
    head = plain[:20] + segments

    def with_index(lengths: list[int], starts: list[int]) -> bytes:
        return head + jpeg_segment(0xE2, index(lengths, starts, order=order)) + plain[20:]

    lengths = [0, *(len(one) for one in behind)]
    total = len(with_index(lengths, lengths))
    starts = [total - len(head) - 8 + sum(lengths[:number]) for number in range(1, len(lengths))]
    return with_index([total, *lengths[1:]], [0, *starts]) + b"".join(behind) + tail


def ultra_hdr(*, order: str = ">", tail: bytes = b"") -> bytes:
    second = gain_map(MAP_XMP)
    return photo([primary_xmp(len(second))], encoded(media.JPEG, picture("L")), second, order=order, tail=tail)


def maker_note(first: tuple[int, int], second: tuple[int, int]) -> bytes:
    """A TIFF of a maker, a place, and Apple's note with two fractions between texts."""
    entry = struct.Struct(">HHII")
    values = struct.pack(">4i", *first, *second) + PLACE.encode() + b"\0"
    note = b"Apple iOS\0\0\1MM" + struct.pack(">H", 3) + entry.pack(33, 10, 1, 56) + entry.pack(48, 10, 1, 64)
    note += entry.pack(43, 2, len(PLACE) + 1, 72) + bytes(4) + values
    root = struct.pack(">H", 3) + entry.pack(0x010F, 2, len(PLACE), 50) + entry.pack(0x0112, 3, 1, 6 << 16)
    root += entry.pack(0x8769, 4, 1, 80) + bytes(4)
    filler = PLACE.encode().ljust(80 - 8 - len(root), b"\0")
    return (
        b"MM\0*"
        + struct.pack(">I", 8)
        + root
        + filler
        + struct.pack(">H", 1)
        + entry.pack(0x927C, 7, len(note), 98)
        + bytes(4)
        + note
    )


def apple_hdr() -> bytes:
    exif = b"Exif\0\0" + maker_note((3, 2), (1, 100))
    return photo([], encoded(media.JPEG, picture("L")), gain_map(APPLE_XMP), exif=exif)


def iso_hdr() -> bytes:
    return photo([ISO_VERSION], gain_map(ISO_METADATA))


MAKERS: dict[str, Maker] = {
    "jpeg-ultra-hdr": taken(media.JPEG, ultra_hdr, size=SIZE, frames=1),
    "jpeg-apple-hdr": taken(media.JPEG, apple_hdr, size=SIZE[::-1], frames=1),
    "jpeg-iso-hdr": taken(media.JPEG, iso_hdr, size=SIZE, frames=1),
}
