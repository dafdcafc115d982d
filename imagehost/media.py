"""The types of files that the image host accepts, and their signatures.

The signature decides what a file claims to be; the prober checks the claim. The client's header and file name are
ignored. A new type needs a row here, its stripper in `stripping`, and a migration of the constraint
`imagehost_file_mime_is_known`; a new format of animation also a counter of frames in `prober.images`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

HEAD_LENGTH = 4096
"""Bytes of a file that `of_signature` needs: the compatible brands of any `ftyp` box fit."""


@dataclass(frozen=True)
class MediaType:
    """One type of files.

    `label`: its name in error messages. `extension`: as stored, without a dot; `other_extensions`: further ones of
    uploaded files. `signature`: a pattern of the first bytes, where one suffices. `pillow`: the decoder of an image.
    `demuxer`: FFmpeg's, of a video, and of an image that Pillow may refuse. `max_pixels`: of one picture or frame.
    `is_on_cards`: all messengers show it, so that cards name the file itself.
    """

    mime: str
    label: str
    extension: str
    other_extensions: tuple[str, ...] = ()
    signature: re.Pattern[bytes] | None = None
    pillow: str = ""
    demuxer: str = ""
    max_pixels: int = 101_000_000  # 100 million, and the screenshot of 1440x70000 that is a little more
    is_on_cards: bool = False

    @property
    def is_video(self) -> bool:
        return self.mime.startswith("video/")


def _pattern(signature: bytes) -> re.Pattern[bytes]:
    return re.compile(signature, re.DOTALL)


PNG = MediaType(
    mime="image/png",
    label="png",
    extension="png",
    other_extensions=("apng",),
    signature=_pattern(rb"\x89PNG\r\n\x1a\n.{4}IHDR"),
    pillow="PNG",
    is_on_cards=True,
)
JPEG = MediaType(
    mime="image/jpeg",
    label="jpeg",
    extension="jpg",
    other_extensions=("jpeg", "jpe", "jfif"),
    signature=_pattern(rb"\xff\xd8\xff"),
    pillow="JPEG",
    max_pixels=250_000_000,  # decoded at a fraction of its size
    is_on_cards=True,
)
WEBP = MediaType(
    mime="image/webp",
    label="webp",
    extension="webp",
    signature=_pattern(rb"RIFF.{4}WEBP"),
    pillow="WEBP",
    demuxer="webp_pipe",
)
GIF = MediaType(
    mime="image/gif",
    label="gif",
    extension="gif",
    signature=_pattern(rb"GIF8[79]a"),
    pillow="GIF",
    is_on_cards=True,
)
AVIF = MediaType(mime="image/avif", label="avif", extension="avif", pillow="AVIF", demuxer="mov")
MP4 = MediaType(mime="video/mp4", label="mp4", extension="mp4", other_extensions=("m4v",), demuxer="mov")
WEBM = MediaType(mime="video/webm", label="webm", extension="webm", demuxer="matroska")
MOV = MediaType(mime="video/quicktime", label="mov", extension="mov", other_extensions=("qt",), demuxer="mov")

ALL = (PNG, JPEG, WEBP, GIF, AVIF, MP4, WEBM, MOV)
BY_MIME: Mapping[str, MediaType] = MappingProxyType({media.mime: media for media in ALL})
SOUNDS_AND_FONTS = {  # only profiles accept these
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/mp4": "m4a",
    "font/woff": "woff",
    "font/woff2": "woff2",
    "font/otf": "otf",
    "font/ttf": "ttf",
}
EXTENSIONS: Mapping[str, str] = MappingProxyType({media.mime: media.extension for media in ALL} | SOUNDS_AND_FONTS)
"""Of files as they are stored, without a dot, by MIME type."""
LABELS = f"{', '.join(type_.label for type_ in ALL[:-1])} and {ALL[-1].label}"

# Major brands (ISO/IEC 14496-12 §4.3). With any other one, such as a telephone's 3gp5 or a camera's own, a file is an
# MP4 if one of its compatible brands is, or if none of them is known: its boxes decide.
AVIF_BRANDS = frozenset({b"avif", b"avis"})
HEIF_BRANDS = frozenset({b"mif1", b"mif3", b"msf1", b"miaf"})  # an AVIF only if a compatible brand is
MOV_BRAND = b"qt  "
MP4_BRANDS = frozenset(
    b"""isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 isoa isob isoc mp41 mp42 mp71 avc1 hvc1 hev1 av01 dash msdh cmfc
    cmf2 M4VH M4VP MSNV NDSC XAVC CAEP niko pana dby1 mmp4 isml piff""".split()
) | {b"M4V ", b"F4V ", b"f4v "}
OTHER_BRANDS = frozenset(b"heic heix heim heis hevc hevx hevm hevs avci avcs jpeg mjp2".split()) | {
    b"M4A ", b"M4B ", b"M4P ", b"jp2 ", b"jpx ", b"jpm ", b"crx ",
}  # fmt: skip
"""Other types, with any compatible brands: pictures, sounds, raw photographs."""
MOV_FIRST_BOXES = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"})  # QuickTime before `ftyp` existed

EBML_HEADER = 0x1A45DFA3
DOC_TYPE = 0x4282


@dataclass(frozen=True)
class FileFacts:
    """The prober's findings about a file.

    `width`, `height`: pixels as shown, after rotation; 0 for sounds and fonts. `duration_ms`: of videos, animations and
    sounds; None where the file does not contain it. `frames`: of images, 1 or more; else None.
    """

    mime: str
    width: int = 0
    height: int = 0
    duration_ms: int | None = None
    frames: int | None = None

    @property
    def extension(self) -> str:
        return EXTENSIONS[self.mime]

    @property
    def media_type(self) -> MediaType:
        return BY_MIME[self.mime]


def of_signature(head: bytes) -> MediaType | None:
    """Return the type with the signature of `head`, a file's first `HEAD_LENGTH` bytes; None for anything else."""
    for type_ in ALL:
        if type_.signature and type_.signature.match(head):
            return type_
    if head.startswith(b"\x1aE\xdf\xa3"):
        return WEBM if _doc_type(head) == b"webm" else None
    if head[4:8] == b"ftyp":
        return _of_brands(head)
    return MOV if _opens_quicktime(head) else None


def _of_brands(head: bytes) -> MediaType | None:
    size = int.from_bytes(head[:4], "big")
    if not 16 <= size <= len(head):
        return None
    major, compatible = head[8:12], {head[at : at + 4] for at in range(16, size - 3, 4)}
    if major in AVIF_BRANDS:
        return AVIF
    if major in HEIF_BRANDS:
        return AVIF if compatible & AVIF_BRANDS else None
    if major == MOV_BRAND:
        return MOV
    if major in MP4_BRANDS:
        return MP4
    if major in OTHER_BRANDS:
        return None
    brands = {major, *compatible}
    is_known = brands & (AVIF_BRANDS | HEIF_BRANDS | OTHER_BRANDS) or any(
        brand.startswith((b"3gp", b"3g2"))
        for brand in brands  # of telephones; they end with a version (3gp4, 3g2a)
    )
    return MP4 if compatible & MP4_BRANDS or not is_known else None


def _opens_quicktime(head: bytes) -> bool:
    """Limit the first box to 16 MiB, except the one with the frames, so that no text passes as its size."""
    size, kind = int.from_bytes(head[:4], "big"), head[4:8]
    if kind not in MOV_FIRST_BOXES:
        return False
    return kind == b"mdat" or 8 <= size < 1 << 24


def _doc_type(head: bytes) -> bytes | None:
    """Return the DocType of an EBML header (RFC 8794 §11.2.4), without the NUL bytes that may fill it up."""
    for element, body in _elements(head):
        if element == EBML_HEADER:
            return next((value.rstrip(b"\0") for name, value in _elements(body) if name == DOC_TYPE), None)
    return None


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the EBML elements of `data`, up to the first that is cut off."""
    at = 0
    while at < len(data):
        name, at = _variable_integer(data, at, keeps_marker=True)
        size, at = _variable_integer(data, at, keeps_marker=False)
        if name is None or size is None or at + size > len(data):
            return
        yield name, data[at : at + size]
        at += size


def _variable_integer(data: bytes, at: int, *, keeps_marker: bool) -> tuple[int | None, int]:
    """Return the integer at `at` (RFC 8794 §4) and the position after it; None where it is cut off or too long."""
    if at >= len(data) or not data[at]:
        return None, at
    length = 9 - data[at].bit_length()
    raw = data[at : at + length]
    if len(raw) < length:
        return None, at
    value = int.from_bytes(raw, "big")
    return (value if keeps_marker else value & ((1 << 7 * length) - 1)), at + length
