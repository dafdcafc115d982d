"""The claimed type of a file, by the signatures of `media`; libmagic may veto it."""

import importlib.util

from imagehost import media
from imagehost.examining.prober.errors import Refused
from imagehost.media import MediaType

if importlib.util.find_spec("pylibmagic") is not None:
    import pylibmagic  # noqa: F401  # makes `magic` use the libmagic of this wheel instead of the system's

import magic

_CLEARLY_OTHER = frozenset(
    """image/svg+xml image/heic image/heic-sequence audio/x-m4a application/zip application/gzip application/pdf
    application/x-rar application/x-7z-compressed application/java-archive application/x-executable
    application/x-pie-executable application/x-sharedlib application/x-mach-binary application/x-dosexec
    application/vnd.microsoft.portable-executable application/x-shockwave-flash application/x-php
    application/javascript application/json application/x-mpegurl application/vnd.apple.mpegurl application/postscript
    application/x-shellscript application/x-tar""".split()
)
"""Types that refuse a file with one of our signatures. Other contradictions are known mistakes of libmagic: AVIF as
image/heif, M4V and MSNV as audio/mp4, newer brands as application/octet-stream."""

_magic = magic.Magic(mime=True)


def of_head(head: bytes) -> MediaType:
    """Return the type by the first `media.HEAD_LENGTH` bytes of a file. Raises Refused."""
    first = _magic.from_buffer(head)
    found = media.of_signature(head)
    if found is None:
        raise Refused(f"no signature of an allowed type (libmagic: {first})")
    if first.startswith("text/") or first in _CLEARLY_OTHER:
        raise Refused(f"looks like {found.mime}, but libmagic knows it as {first}")
    return found
