"""Small pictures of other apps, such as the logos of client apps: examined and drawn in the confined prober."""

import logging
import tempfile
from pathlib import Path

from django.core.exceptions import ValidationError

from imagehost import media, probing
from imagehost.probing import InvalidMedia, ProberFailed
from imagehost.storage import incoming_directory

MAX_PIXELS = 4096 * 4096
_TYPES = frozenset({media.PNG, media.JPEG, media.WEBP, media.GIF})

logger = logging.getLogger(__name__)


def png_of(content: bytes, *, longest_side: int) -> bytes:
    """Draw a picture as a PNG, no side longer than `longest_side`. ValidationError, with a sentence for the user."""
    with tempfile.NamedTemporaryFile(prefix="small-", dir=incoming_directory()) as file:
        file.write(content)
        file.flush()
        try:
            return _drawn(Path(file.name), longest_side)
        except InvalidMedia as reason:
            logger.info("A small picture was refused: %s", reason)
            raise ValidationError("This is not a picture in PNG, JPEG, WebP or GIF format.") from None
        except ProberFailed:
            logger.exception("The prober failed on a small picture.")
            raise ValidationError("Pictures cannot be checked now. Please try again in a few minutes.") from None


def _drawn(path: Path, longest_side: int) -> bytes:
    found = probing.probe(path)
    if found.media_type not in _TYPES:
        raise InvalidMedia(f"{found.mime} is none for a small picture")
    if found.width * found.height > MAX_PIXELS:
        raise ValidationError("The picture has too many pixels; 4096x4096 is the most.")
    return probing.render(path, found.media_type, longest_side=longest_side, as_="PNG", only_whole=True).content
