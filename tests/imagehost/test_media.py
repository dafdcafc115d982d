"""What the first bytes of a file claim: the table, row by row, and what is left out of it on purpose."""

from imagehost import media
from imagehost.media import MediaType
from tests.imagehost.media_corpus.pieces import box, ebml, ebml_header, ftyp, png_header, riff

_MP4_MAJORS = [
    *"isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 isoa isob isoc mp41 mp42 mp71 avc1 hvc1 hev1 av01".split(),
    *"dash msdh cmfc cmf2 M4VH M4VP MSNV NDSC XAVC CAEP niko pana dby1 mmp4 isml piff".split(),
    *("M4V ", "F4V ", "f4v "),
]
_OTHER_MAJORS = [*"heic heix hevc heim heis avci mjp2".split(), *("M4A ", "M4B ", "M4P ", "jp2 ", "crx ")]
_VOID = 0xEC

CLAIMED: dict[str, tuple[bytes, MediaType]] = {
    "PNG": (png_header(4, 4), media.PNG),
    "JPEG with JFIF": (b"\xff\xd8\xff\xe0", media.JPEG),
    "GIF 87a": (b"GIF87a", media.GIF),
    "GIF 89a": (b"GIF89a", media.GIF),
    "WebP": (riff((b"VP8 ", b"")), media.WEBP),
    "AVIF": (ftyp(b"avif"), media.AVIF),
    "AVIF, a sequence": (ftyp(b"avis", b"avif"), media.AVIF),
    "AVIF under mif1": (ftyp(b"mif1", b"miaf", b"avif"), media.AVIF),
    "AVIF under msf1": (ftyp(b"msf1", b"avis"), media.AVIF),
    "AVIF under miaf": (ftyp(b"miaf", b"avif"), media.AVIF),
    "MP4 of a telephone": (ftyp(b"3gp5", b"3gp5", b"isom"), media.MP4),
    "MP4 of a telephone, of the second version": (ftyp(b"3gp4", b"mp42"), media.MP4),
    "MP4 of a camera": (ftyp(b"pnvi", b"avc1"), media.MP4),
    "MP4 of brands that are all unknown": (ftyp(b"zzzz", b"yyyy", b"xxxx"), media.MP4),
    "MP4 of one unknown brand": (ftyp(b"pnvi"), media.MP4),
    "AVIF in its compact form": (ftyp(b"mif3", b"avif", b"mif3"), media.AVIF),
    "MOV": (ftyp(b"qt  ", b"qt  "), media.MOV),
    **{
        f"MOV that starts with {kind}": (box(kind.encode(), bytes(8)), media.MOV)
        for kind in "moov free skip pnot".split()
    },
    "MOV that starts with an empty wide": (box(b"wide"), media.MOV),
    "MOV that starts with 160 MB of frames": (box(b"mdat", size=160_000_000), media.MOV),
    "MOV that starts with frames of a long size": (box(b"mdat", size=1), media.MOV),
    "WebM": (ebml_header(b"webm"), media.WEBM),
    "WebM whose type is filled up": (ebml_header(b"webm\0\0"), media.WEBM),
    "WebM of one field": (ebml(media.EBML_HEADER, ebml(media.DOC_TYPE, b"webm")), media.WEBM),
    "WebM with a gap": (ebml(media.EBML_HEADER, ebml(_VOID, b"x") + ebml(media.DOC_TYPE, b"webm")), media.WEBM),
    "WebM with short lengths": (b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm", media.WEBM),
}

OTHER: dict[str, bytes] = {
    "nothing": b"",
    "PNG signature alone": b"\x89PNG\r\n\x1a\n",
    "PNG whose first chunk is no header": b"\x89PNG\r\n\x1a\n\0\0\0\0IDAT",
    "MNG": b"\x8aMNG\r\n\x1a\n",
    "JPEG's first two bytes": b"\xff\xd8\0\xff",
    "GIF of another version": b"GIF90a",
    "RIFF sound": b"RIFF\x04\0\0\0WAVE",
    "RIFF cut off": b"RIFF\x04\0\0\0WEB",
    "BMP": b"BM6\0\0\0",
    "mif1 without AVIF": ftyp(b"mif1", b"heic", b"miaf"),
    "3GP that is no MP4": ftyp(b"3gp5", b"3gp5", b"3gp4"),
    "3GP of an unknown brand": ftyp(b"zzzz", b"3gp5"),
    "a picture of an unknown brand": ftyp(b"zzzz", b"heic"),
    "mif3 without AVIF": ftyp(b"mif3", b"zzzz"),
    "3GP that is MP4 only behind the brands": ftyp(b"3gp5", b"3gp4") + b"isom",
    "AVIF only as minor version": box(b"ftyp", b"mif1avif", b"heic"),
    "AVIF only behind the brands": ftyp(b"mif1", b"heic") + b"avif",
    "brands that are cut off": ftyp(b"isom", b"mp42")[:-1],
    "a brand box without minor version": box(b"ftyp", b"isom"),
    "a brand box longer than the head": box(b"ftyp", b"isom", bytes(media.HEAD_LENGTH)),
    "a moov of text": b"<!--moov<html>",
    "a free of text": b"GET free",
    "a moov of four bytes": box(b"moov", size=4),
    "a box that is not QuickTime's first": box(b"trak", bytes(8)),
    "Matroska": ebml_header(b"matroska"),
    "WebM in upper case": ebml_header(b"WEBM"),
    "EBML without type": ebml(media.EBML_HEADER, ebml(0x4286, b"\1")),
    "EBML signature alone": b"\x1a\x45\xdf\xa3",
    "a type behind the EBML header": ebml(media.EBML_HEADER) + ebml(media.DOC_TYPE, b"webm"),
    "a type in another element": ebml(media.EBML_HEADER, ebml(_VOID, ebml(media.DOC_TYPE, b"webm"))),
    "an EBML header beyond the head": ebml(media.EBML_HEADER, ebml(media.DOC_TYPE, b"webm"), size=b"\x40\xff"),
    "an EBML length without marker": b"\x1a\x45\xdf\xa3\0" + ebml(media.DOC_TYPE, b"webm"),
    "HTML": b"<!DOCTYPE html>",
}  # fmt: skip


def test_a_signature_names_the_type_whatever_follows_and_wherever_it_is_cut_off() -> None:
    for name, (head, expected) in CLAIMED.items():
        assert media.of_signature(head) == expected, name
        assert media.of_signature((head + b"<script>")[: media.HEAD_LENGTH]) == expected, name
        assert {media.of_signature(head[:length]) for length in range(len(head))} <= {None, expected}, name


def test_anything_else_has_no_type() -> None:
    assert {media.of_signature(head[: media.HEAD_LENGTH]) for head in OTHER.values()} == {None}


def test_the_major_brands_of_films_are_those_of_a_list() -> None:
    films = {major: media.of_signature(ftyp(major.encode())) for major in _MP4_MAJORS}
    assert films == dict.fromkeys(_MP4_MAJORS, media.MP4)
    others = {major: media.of_signature(ftyp(major.encode(), b"isom", b"avif")) for major in _OTHER_MAJORS}
    assert others == dict.fromkeys(_OTHER_MAJORS)


def test_the_types_are_those_of_the_document() -> None:
    assert [(known.mime, known.extension, known.is_video) for known in media.ALL] == [
        ("image/png", "png", False),
        ("image/jpeg", "jpg", False),
        ("image/webp", "webp", False),
        ("image/gif", "gif", False),
        ("image/avif", "avif", False),
        ("video/mp4", "mp4", True),
        ("video/webm", "webm", True),
        ("video/quicktime", "mov", True),
    ]
