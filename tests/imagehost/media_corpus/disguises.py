"""Something else than a picture or a video of ours, with and without a signature in front. All are refused."""

import io
import tarfile
import zipfile

from imagehost import media
from tests.imagehost.media_corpus.pieces import PNG_SIGNATURE, box, ebml_header, ftyp, png, riff
from tests.imagehost.media_corpus.real_images import encoded, of_brand, picture
from tests.imagehost.media_corpus.real_videos import Recipe, recorded
from tests.imagehost.media_corpus.sample import Content

SCRIPT = b"<script>alert(document.domain)</script>"
HTML = b"<!DOCTYPE html><html><head><title>x</title></head><body>" + SCRIPT + b"</body></html>"
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">' + SCRIPT + b"</svg>"
PHP = b"<?php system($_GET['c']); ?>"
ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0\x3e\0\x01\0\0\0" + bytes(40)
HLS = b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
CONCAT = b"ffconcat version 1.0\nfile '/etc/passwd'\n"
JAVASCRIPT = b"/* x */ fetch('/api').then(r => r.json());\n" * 4


def archive() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        packed.writestr("index.html", HTML)
    return written.getvalue()


def tarball() -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as packed:
        member = tarfile.TarInfo("GIF89a")  # a name at the very start, and a signature
        member.size = len(HTML)
        packed.addfile(member, io.BytesIO(HTML))
    return written.getvalue()


def heic() -> bytes:
    """The box that tells an iPhone's photo apart, before a meta box as it has."""
    return ftyp(b"heic", b"mif1", b"heic") + box(b"meta", bytes(4)) + box(b"mdat", bytes(64))


def compact_avif() -> bytes:
    """A picture in a MinimizedImageBox (ISO/IEC 23008-12:2025): sizes by bits, the decoder's settings, the data."""
    content = _image("avif")
    settings, data = content.index(b"av1C") + 4, content.index(b"mdat") + 4
    length = int.from_bytes(content[data - 8 : data - 4], "big") - 8
    fields = [(0, 4), (1, 1), (0, 6), (1, 2), (0, 4), (47, 7), (31, 7), (0, 5), (4, 3), (length - 1, 15)]
    bits = "".join(format(value, f"0{width}b") for value, width in fields)
    bits += "0" * (-len(bits) % 8)
    head = int(bits, 2).to_bytes(len(bits) // 8, "big")
    mini = box(b"mini", head, content[settings : settings + 4], content[data : data + length])
    return ftyp(b"mif3", b"avif") + mini


def _image(name: str) -> bytes:
    return encoded(media.BY_MIME[f"image/{name}"], picture())


REFUSED: dict[str, Content] = {
    "html-as-jpeg": lambda: HTML,
    "svg-as-png": lambda: SVG,
    "php-as-gif": lambda: PHP,
    "linux-program-as-png": lambda: ELF,
    "hls-playlist-as-mp4": lambda: HLS,
    "concat-playlist-as-webm": lambda: CONCAT,
    "empty": lambda: b"",
    "zeros": lambda: bytes(4096),
    "zip-as-png": archive,
    "tar-as-gif": tarball,
    # a signature, and nothing behind it that keeps its promise
    "png-signature-and-html": lambda: PNG_SIGNATURE + HTML,
    "png-header-and-html": lambda: png()[:33] + HTML,
    "jpeg-comment-and-html": lambda: b"\xff\xd8\xff\xfe\0\x02" + HTML,
    "gif-signature-and-script": lambda: b"GIF89a=1;" + JAVASCRIPT,
    "webp-signature-and-html": lambda: b"RIFF" + b"\0\x02\0\0" + b"WEBPVP8 " + HTML,
    "webp-of-script": lambda: riff((b"VP8 ", SCRIPT)),
    "avif-signature-and-html": lambda: ftyp(b"avif", b"mif1") + HTML,
    "mp4-signature-and-playlist": lambda: ftyp(b"isom", b"mp42") + HLS,
    "mov-signature-and-html": lambda: box(b"wide") + HTML,
    "mov-box-of-html": lambda: box(b"mdat", HTML),
    "webm-signature-and-html": lambda: ebml_header(b"webm") + HTML,
    # a whole picture, and something behind it
    "jpeg-and-zip": lambda: _image("jpeg") + archive(),
    "jpeg-and-html": lambda: _image("jpeg") + HTML,
    "zip-and-png": lambda: archive() + _image("png"),
    # formats that are not ours, in containers that could be
    "bmp": lambda: encoded(media.PNG, picture(), format="BMP"),
    "heic-of-brand-mif1": lambda: of_brand(heic(), b"mif1"),
    "avif-in-its-compact-form": compact_avif,
    "avif-of-brand-heic": lambda: of_brand(_image("avif"), b"heic"),
    "mkv": lambda: recorded(Recipe("matroska", "libx264", tune={"preset": "ultrafast"})),
    "m4a": lambda: recorded(Recipe("ipod", None, sound="aac")),
    "sound-only-mp4": lambda: recorded(Recipe("mp4", None, sound="aac")),
    "sound-only-mov": lambda: recorded(Recipe("mov", None, sound="aac")),
    "sound-only-webm": lambda: recorded(Recipe("webm", None, sound="libopus")),
}
