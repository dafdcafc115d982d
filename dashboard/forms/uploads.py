"""The form field of an upload for a profile."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard import media
from lookup import uploads
from lookup.uploads import MIB, Kind

_ACCEPT = {
    Kind.IMAGE: ".png,.jpg,.jpeg,.webp,.gif,.avif",
    Kind.BADGE: ".png,.jpg,.jpeg,.webp,.gif,.avif",
    Kind.BACKGROUND: ".png,.jpg,.jpeg,.webp,.gif,.avif,.mp4,.webm",
    Kind.AUDIO: ".mp3,.ogg,.oga,.wav,.m4a",
    Kind.FONT: ".woff2,.woff,.ttf,.otf",
}


class UploadField(forms.FileField):
    """`UploadField(Kind.AUDIO)`: says what may be sent. What the file really is, `media.store` finds out."""

    def __init__(self, kind: Kind, **kwargs: Any) -> None:
        """Any: arguments of Django's field."""
        self.kind = kind
        kwargs.setdefault("help_text", told(kind))
        kwargs.setdefault("widget", forms.FileInput(attrs={"accept": _ACCEPT[kind]}))
        kwargs.setdefault("error_messages", {"empty": "This file is empty."})
        super().__init__(**kwargs)

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Any: an uploaded file, or None."""
        upload = super().clean(data, initial)
        if upload:
            uploads.check_size(upload.size, self.kind)
        return upload


def told(kind: Kind) -> str:
    """Which types and sizes are taken."""
    size = uploads.most(kind) // MIB
    if kind is Kind.BACKGROUND:
        return f"{media.TYPES[kind]}; a picture of at most {uploads.MAX_SIZE[kind] // MIB} MiB, a film of {size} MiB."
    text = f"{media.TYPES[kind]}, at most {size} MiB."
    if kind is Kind.AUDIO:  # its tags are not removed
        text += " Everybody can read what the file says of itself: title, artist, comments, a cover."
    return text
