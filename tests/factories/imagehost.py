"""Folders, rules and files. Rows alone: the objects of files are a storage's, and a test puts them there itself."""

from typing import Any

import factory
from django.contrib.auth.hashers import make_password
from django.db.models import F

from imagehost import media
from imagehost.models import FILES, File, Folder, FolderRule, MatchKind, PreviewState, State, Usage
from infrastructure import hashing
from tests.factories import ModelFactory
from tests.factories.accounts import UserFactory

DELETION_TOKEN = "the-deletion-token-of-the-files-of-the-tests"


class FolderFactory(ModelFactory[Folder]):
    """A private folder. `password="..."` sets one: it makes the folder public, as only those have one."""

    class Meta:
        model = Folder

    class Params:
        password = ""

    owner = factory.SubFactory(UserFactory)
    name = factory.Sequence(lambda number: f"Folder {number}")
    is_public = factory.LazyAttribute(lambda folder: bool(folder.password))
    password_hash = factory.LazyAttribute(lambda folder: make_password(folder.password) if folder.password else "")


class FolderRuleFactory(ModelFactory[FolderRule]):
    """Everything with the extension `png`. It is the folder's owner's: `FolderRuleFactory(folder__owner=user)`."""

    class Meta:
        model = FolderRule

    folder = factory.SubFactory(FolderFactory)
    owner = factory.SelfAttribute("folder.owner")
    position = factory.Sequence(lambda number: number)
    kind = MatchKind.EXTENSION
    pattern = "png"


class FileFactory(ModelFactory[File]):
    """A stored PNG of 1,000 bytes in the root, whose deletion link carries DELETION_TOKEN.

    `media=media.MP4`: of another type. `folder=folder` puts it there, and `owner` is then the folder's. Its bytes are
    in its owner's usage; `booked=False`: they are not. `preview_state=PreviewState.MADE` comes with a size.
    """

    class Meta:
        model = File
        skip_postgeneration_save = True

    class Params:
        media = media.PNG
        token = DELETION_TOKEN

    folder: Any = None
    owner = factory.Maybe("folder", factory.SelfAttribute("folder.owner"), factory.SubFactory(UserFactory))
    name = factory.Sequence(lambda number: f"F{number:07d}")
    mime = factory.LazyAttribute(lambda file: file.media.mime)
    extension = factory.LazyAttribute(lambda file: file.media.extension)
    key = factory.LazyAttribute(
        lambda file: f"{FILES}{file.owner.pk if file.owner else 'nobody'}/{file.name}.{file.extension}"
    )
    size = 1000
    width = 640
    height = 480
    frames = factory.LazyAttribute(lambda file: None if file.media.is_video else 1)
    duration_ms = factory.LazyAttribute(lambda file: 2000 if file.media.is_video else None)
    original_name = factory.LazyAttribute(lambda file: f"holiday.{file.extension}")
    state = State.READY
    deletion_hash = factory.LazyAttribute(lambda file: hashing.digest(file.token))
    preview_width = factory.LazyAttribute(lambda file: 320 if file.preview_state == PreviewState.MADE else None)
    preview_height = factory.LazyAttribute(lambda file: 240 if file.preview_state == PreviewState.MADE else None)
    preview_state = PreviewState.WAITING

    @factory.post_generation  # type: ignore[untyped-decorator]  # factory_boy gives it no type
    def booked(self: Any, create: bool, extracted: bool | None) -> None:
        """`self` is the new file; factory_boy leaves `extracted` None unless the caller says something."""
        if not create or extracted is False or self.owner_id is None or self.state == State.DELETED:
            return
        Usage.objects.get_or_create(pk=self.owner_id)
        Usage.objects.filter(pk=self.owner_id).update(used_bytes=F("used_bytes") + self.size)
