"""Something else under the name of a picture or a video, with and without a signature in front. All are refused."""

import io
import tarfile
import zipfile
from collections.abc import Callable

from imagehost import media
from tests.imagehost.media_corpus.pieces import PNG_SIGNATURE, box, ebml_header, ftyp, png, riff
from tests.imagehost.media_corpus.real_images import encoded, picture
from tests.imagehost.media_corpus.real_videos import MP4, WEBM, recorded
from tests.imagehost.media_corpus.sample import Maker, refused

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


def _image(name: str) -> bytes:
    return encoded(media.BY_MIME[f"image/{name}"], picture())


_PLAIN: dict[str, tuple[bytes, str, str]] = {
    "html-as-jpeg": (HTML, "photo.jpg", "image/jpeg"),
    "svg-as-png": (SVG, "drawing.png", "image/png"),
    "php-as-gif": (PHP, "x.php.gif", "image/gif"),
    "linux-program-as-png": (ELF, "x.png", "image/png"),
    "hls-playlist-as-mp4": (HLS, "x.mp4", "video/mp4"),
    "concat-playlist-as-webm": (CONCAT, "x.webm", "video/webm"),
    "empty": (b"", "x.png", "image/png"),
    "zeros": (bytes(4096), "x.mp4", "video/mp4"),
}
_MADE: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "zip-as-png": (archive, "x.png", "image/png"),
    "tar-as-gif": (tarball, "x.gif", "image/gif"),
    # a signature, and nothing behind it that keeps its promise
    "png-signature-and-html": (lambda: PNG_SIGNATURE + HTML, "x.png", "image/png"),
    "png-header-and-html": (lambda: png()[:33] + HTML, "x.png", "image/png"),
    "jpeg-comment-and-html": (lambda: b"\xff\xd8\xff\xfe\0\x02" + HTML, "x.jpg", "image/jpeg"),
    "gif-signature-and-script": (lambda: b"GIF89a=1;" + JAVASCRIPT, "x.gif", "image/gif"),
    "webp-signature-and-html": (lambda: b"RIFF" + b"\0\x02\0\0" + b"WEBPVP8 " + HTML, "x.webp", "image/webp"),
    "webp-of-script": (lambda: riff((b"VP8 ", SCRIPT)), "x.webp", "image/webp"),
    "avif-signature-and-html": (lambda: ftyp(b"avif", b"mif1") + HTML, "x.avif", "image/avif"),
    "mp4-signature-and-playlist": (lambda: ftyp(b"isom", b"mp42") + HLS, "x.mp4", "video/mp4"),
    "mov-signature-and-html": (lambda: box(b"wide") + HTML, "x.mov", "video/quicktime"),
    "mov-box-of-html": (lambda: box(b"mdat", HTML), "x.mov", "video/quicktime"),
    "text-that-reads-as-quicktime": (lambda: b"<!--moov" + HTML, "x.mov", "video/quicktime"),
    "text-that-reads-as-mp4": (lambda: b"\n<a ftypisom>" + HTML, "x.mp4", "video/mp4"),
    "webm-signature-and-html": (lambda: ebml_header(b"webm") + HTML, "x.webm", "video/webm"),
    # a whole picture, and something behind it
    "png-and-zip": (lambda: _image("png") + archive(), "x.png", "image/png"),
    "jpeg-and-zip": (lambda: _image("jpeg") + archive(), "x.jpg", "image/jpeg"),
    "jpeg-and-html": (lambda: _image("jpeg") + HTML, "x.jpg", "image/jpeg"),
    "gif-and-zip": (lambda: _image("gif") + archive(), "x.gif", "image/gif"),
    "webp-and-zip": (lambda: _image("webp") + archive(), "x.webp", "image/webp"),
    "avif-and-zip": (lambda: _image("avif") + archive(), "x.avif", "image/avif"),
    "mp4-and-zip": (lambda: recorded(MP4) + archive(), "x.mp4", "video/mp4"),
    "webm-and-zip": (lambda: recorded(WEBM) + archive(), "x.webm", "video/webm"),
    "zip-and-png": (lambda: archive() + _image("png"), "x.png", "image/png"),
}


def _of_plain(name: str) -> Maker:
    return lambda: refused(name, *_PLAIN[name])


def _of_made(name: str) -> Maker:
    make, claimed_name, claimed_mime = _MADE[name]
    return lambda: refused(name, make(), claimed_name, claimed_mime)


MAKERS: dict[str, Maker] = {
    **{name: _of_plain(name) for name in _PLAIN},
    **{name: _of_made(name) for name in _MADE},
}
