"""The image host of the demo user ada: folders, a rule for three of them, and some files. Any user's file is stored as
an upload stores it."""

import secrets
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.staticfiles import finders
from django.utils import timezone

from accounts.models import User
from accounts.plans import ALLOWANCES
from imagehost.folders import folders
from imagehost.folders.folders import Changes
from imagehost.models import FILES, File, Folder, FolderRule, MatchKind, State
from imagehost.storing import quotas, storage
from infrastructure import hashing

# In the rules' order: kind, pattern, folder, and whether the folder is public.
RULES = (
    (MatchKind.FILENAME, "*secret*", "Private", False),
    (MatchKind.MIME, "video/*", "Clips", True),
    (MatchKind.EXTENSION, "png", "Screenshots", True),
)
LOCKED = Changes(name="Guests (password: tea)", is_public=True, is_password_enabled=True, password="tea")  # noqa: S106  # it says so itself


@dataclass(frozen=True)
class Sample:
    """A file. `source`: name of a static file; `size` in pixels; `folder`: empty for the root."""

    source: str
    original_name: str
    mime: str = "image/png"
    size: tuple[int, int] = (64, 64)
    duration_ms: int | None = None
    folder: str = ""
    is_favorite: bool = False
    caption: str = ""

    @property
    def path(self) -> Path:
        return Path(str(finders.find(self.source)))


SAMPLES = (
    Sample("status/online.png", "online.png", folder="Screenshots", is_favorite=True),
    Sample("status/streaming.png", "streaming.png", folder="Screenshots"),
    Sample("status/idle.png", "secret plan.png", folder="Private"),
    Sample("status/offline.png", "offline.png", caption="The mark of members who are away"),
    Sample("status/dnd.png", "For my guests.png", folder=str(LOCKED.name)),
    Sample("uploads/demo/film-1.mp4", "The tide.mp4", "video/mp4", (480, 270), 4000, folder="Clips"),
)
PAINTING = Sample("uploads/demo/card-2.png", "My painting.png", size=(1200, 630))  # of another user


def furnish(ada: User) -> None:
    """Make the files where ada has no folder yet, in the caller's transaction."""
    if Folder.objects.filter(owner=ada).exists():
        return
    for position, (kind, pattern, name, is_public) in enumerate(RULES):
        folder = Folder.objects.create(owner=ada, name=name, is_public=is_public)
        FolderRule.objects.create(owner=ada, folder=folder, position=position, kind=kind, pattern=pattern)
    folders.create(owner_id=ada.pk, changes=LOCKED, now=timezone.now())
    for days, sample in enumerate(SAMPLES):
        store(ada, sample, timezone.now() - timedelta(days=days))


def store(owner: User, sample: Sample, uploaded_at: datetime) -> File:
    """Store a file as an upload does, without probing it, and return it."""
    name, extension = secrets.token_hex(4), sample.path.suffix.removeprefix(".")
    file = File(
        owner=owner,
        folder=Folder.objects.filter(owner=owner, name=sample.folder).first(),
        name=name,
        key=f"{FILES}{owner.pk}/{name}.{extension}",
        extension=extension,
        mime=sample.mime,
        size=sample.path.stat().st_size,
        width=sample.size[0],
        height=sample.size[1],
        duration_ms=sample.duration_ms,
        frames=1 if sample.duration_ms is None else None,
        original_name=sample.original_name,
        is_favorite=sample.is_favorite,
        caption=sample.caption,
        state=State.READY,
        uploaded_at=uploaded_at,
        deletion_hash=hashing.digest(secrets.token_urlsafe(32)),
    )
    incoming = storage.incoming_directory() / secrets.token_hex(16)
    shutil.copyfile(sample.path, incoming)
    storage.bucket().keep(file.key, incoming, mime=file.mime, download_name=file.download_name)
    incoming.unlink(missing_ok=True)
    quotas.reserve(owner_id=owner.pk, size=file.size, most=ALLOWANCES[owner.current_plan(uploaded_at)].max_storage)
    file.save(force_insert=True)
    return file
