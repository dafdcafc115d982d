"""The page of a folder: what of it is seen by whom, in pages of fifty."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.paginator import EmptyPage, Page, Paginator
from django.urls import reverse

from imagehost import addresses, original_names
from imagehost.folder_access import Viewer
from imagehost.models import File, FileQuerySet, Folder, PreviewState
from imagehost.page import cards, files
from imagehost.page.cards import Card
from lookup.page import url_policy

PAGE_SIZE = 50
MAX_OWN_PICTURE = 1024 * 1024  # bytes: a larger image without a preview is not loaded for a tile
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


@dataclass(frozen=True)
class Tile:
    """`src`: empty where there is no picture that is small enough. `width`, `height`: of that picture, in pixels."""

    file: File
    title: str
    duration: str
    src: str
    width: int
    height: int


@dataclass(frozen=True)
class FolderPage:
    """`in_archive`: how many files the archive holds."""

    folder: Folder
    owner: str
    tiles: list[Tile]
    page: Page[File]
    in_archive: int
    card: Card

    @property
    def count(self) -> int:
        return self.page.paginator.count


def find(folder_id: str, *, viewer: Viewer) -> Folder | None:
    """The folder, if it is public or the viewer's own. Missing, private and a banned owner's are the same. 1 query."""
    seen = Folder.objects.published()
    if not viewer.is_anonymous:
        seen |= Folder.objects.filter(owner=viewer)
    return seen.filter(pk=folder_id).select_related("owner").first()


def page_of(folder: Folder, number: str) -> FolderPage | None:
    """For a viewer who may see it; None: there is no such page. 2 queries: the count, the files."""
    pages = Paginator(_files_of(folder), PAGE_SIZE)
    if not _NUMBER.fullmatch(number):
        return None
    try:
        page = pages.page(int(number))
    except EmptyPage:
        return None
    shown = list(page)
    return FolderPage(
        folder=folder,
        owner=folder.owner.get_full_name(),
        tiles=[tile(file, preview=_preview_path(file)) for file in shown],
        page=page,
        in_archive=in_archive(pages.count),
        card=_card(folder, pages.count, shown),
    )


def file_in(folder: Folder, name: str) -> File | None:
    """The file of this name, if it is in the folder. 1 query."""
    return _files_of(folder).by_name(name).first()


def in_archive(count: int) -> int:
    """How many of so many files the archive holds."""
    return min(count, settings.MAX_FILES_IN_ARCHIVE)


def archived(folder: Folder) -> Sequence[File]:
    """The newest files, as many as an archive may hold. 1 query."""
    return list(_files_of(folder)[: settings.MAX_FILES_IN_ARCHIVE])


def _files_of(folder: Folder) -> FileQuerySet:
    return File.objects.delivered().filter(folder=folder).newest_first()


def tile(file: File, *, preview: str) -> Tile:
    """`preview`: where the page loads its preview from, once there is one."""
    title = original_names.shown(file.original_name, otherwise=file.file_name)
    if file.preview_state == PreviewState.MADE:
        src, size = preview, (file.preview_width or 0, file.preview_height or 0)
    elif not file.media_type.is_video and file.size <= MAX_OWN_PICTURE:
        src, size = url_policy.on_page(addresses.file_url(file)), (file.width, file.height)
    else:
        src, size = "", (0, 0)
    return Tile(file, title, files.clock(file.duration_ms), src, *size)


def _preview_path(file: File) -> str:
    """Within the folder, so that the folder's rules are the preview's."""
    return reverse("folder_preview", args=[file.folder_id, file.name])


def _card(folder: Folder, count: int, shown: Sequence[File]) -> Card:
    noun = "file" if count == 1 else "files"
    return Card(
        title=original_names.shown(folder.name, otherwise="Folder"),
        summary=f"{count:,} {noun} by {folder.owner.get_full_name()}",
        url=addresses.folder_url(folder),
        picture=next(filter(None, map(cards.picture_of, shown)), None),
    )
