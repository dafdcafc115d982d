"""The URLs that answers hold, and addresses as people type them."""

import re

from django.conf import settings

from infrastructure.settings_cache import from_settings

_ADDRESS = re.compile(r"(?P<host>[^\s:/?#@]+)(?::\d{1,5})?(?:[/?#]\S*)?")
_MAILBOX = re.compile(r"[^\s:/?#@]+@(?P<host>[^\s:/?#@]+)")


def upload(path: str) -> str:
    """Return the URL of an uploaded file."""
    return f"{_of('UPLOAD_CDN_URL')}/{path}"


def card(path: str) -> str:
    """Return the URL of an uploaded picture as a PNG."""
    return f"{_of('BASE_URL')}/uploads/{path}/card.png"


def badge_image(catalog: str, image: str) -> str:
    """Return the URL of artwork of the badge catalogue."""
    return f"{badge_images()}{catalog}/{image}"


def badge_images() -> str:
    """Return the prefix of URLs of artwork."""
    return f"{_of('ASSET_URL')}/badges/"


def mirrored_avatar(user_id: str) -> str:
    """Return the URL that redirects to the user's current picture on the chat platform."""
    return f"{_of('BASE_URL')}/api/chat/avatar/{user_id}"


def avatar(user_id: str, *, path: str, mirrors_chat: bool) -> str | None:
    """Return the picture of a profile; `path`: its uploaded one, or ""."""
    if mirrors_chat:
        return mirrored_avatar(user_id)
    return upload(path) if path else None


@from_settings
def _of(setting: str) -> str:
    return str(getattr(settings, setting))


def with_scheme(text: str) -> str:
    """Return the address with https:// or mailto: where it was typed without. A host has a dot inside."""
    if (found := _ADDRESS.fullmatch(text)) and "." in found["host"][1:-1]:
        return f"https://{text}"
    if (found := _MAILBOX.fullmatch(text)) and "." in found["host"][1:-1]:
        return f"mailto:{text}"
    return text
