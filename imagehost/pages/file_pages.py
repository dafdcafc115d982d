"""What the public pages of files and folders show, prepared for their templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.core.paginator import EmptyPage, Page, Paginator
from django.db.models import Q
from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from accounts.models import User
from imagehost import media, names
from imagehost.folders.folder_access import Viewer
from imagehost.models import File, FileQuerySet, Folder, PreviewState
from imagehost.storing import storage
from infrastructure.requests.content_security import origin_of
from lookup.page import embeds, url_policy
from lookup.page.embeds import Code, Embedded

MAX_CARD_PICTURE = 8 * 1024 * 1024  # bytes: many messengers leave larger ones out, so cards name the preview
MAX_TILE_PICTURE = 1024 * 1024  # bytes: a larger image without a preview is not loaded for a tile
PAGE_SIZE = 50
NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


@dataclass(frozen=True)
class Medium:
    """A picture or a video on a card. `url` is absolute; `width` and `height` in pixels."""

    url: str
    mime: str
    width: int
    height: int

    @property
    def is_secure(self) -> bool:
        return urlsplit(self.url).scheme == "https"


@dataclass(frozen=True)
class Card:
    """A page's metadata for messengers: the Open Graph protocol (ogp.me) and the Twitter card.

    `alt`: in place of the picture; empty: the title.
    """

    title: str
    summary: str
    url: str
    picture: Medium | None
    video: Medium | None = None
    alt: str = ""

    @property
    def oembed(self) -> str:
        return embeds.oembed_address(self.url)

    @property
    def kind(self) -> str:
        """The value of `twitter:card`. A player must be https."""
        if self.video and self.video.is_secure:
            return "player"
        return "summary_large_image" if self.picture else "summary"


@dataclass(frozen=True)
class Ways:
    """From a file on to its neighbors in a folder or an album. `previous`, `next`: names, empty at an end.

    `place`: the id of the folder or the link of the album, for the query of their pages.
    """

    place: str
    previous: str
    next: str


@dataclass(frozen=True)
class FilePage:
    """`folder`: the file's, where it is public. `src`, `poster`: URLs for the page; `poster` may be empty."""

    file: File
    title: str
    src: str
    poster: str
    duration: str
    folder: Folder | None
    card: Card
    codes: list[Code]
    ways: Ways | None = None


@dataclass(frozen=True)
class Tile:
    """`src`: empty where there is no picture that is small enough. `width`, `height`: of that picture, in pixels.

    `caption`: may be empty. `full`: the file itself; empty where a visitor needs a password first.
    """

    file: File
    title: str
    caption: str
    duration: str
    src: str
    width: int
    height: int
    full: str


@dataclass(frozen=True)
class FilesPage:
    """A page of files of one owner. `place`: the value of `in` in the addresses of their pages."""

    owner: str
    username: str
    place: str
    tiles: list[Tile]
    page: Page[File]
    card: Card

    @property
    def count(self) -> int:
        return self.page.paginator.count


@dataclass(frozen=True)
class FolderPage(FilesPage):
    """`in_archive`: how many files the archive holds."""

    folder: Folder
    in_archive: int


def find_file(name: str, *, is_taken_down: bool = False) -> File | None:
    """Return the public file of this name; None for unknown, of a banned owner, and quarantined: such ones are found by
    `is_taken_down`. 1 query."""
    rows = File.objects.kept().filter(quarantined_at__isnull=False) if is_taken_down else File.objects.delivered()
    found = rows.by_name(name).filter(owner__is_active=True)
    return found.select_related("owner", "folder").first()


def find_folder(folder_id: str, *, viewer: Viewer) -> Folder | None:
    """Return the folder if it is public or the viewer's own; None as well for a banned owner's. 1 query."""
    seen = Folder.objects.published()
    if not viewer.is_anonymous:
        seen |= Folder.objects.filter(owner=viewer)
    return seen.filter(pk=folder_id).select_related("owner").first()


def find_folder_taken_down(folder_id: str) -> Folder | None:
    """Return the folder if visitors saw it before staff took it down. 1 query."""
    rows = Folder.objects.filter(is_public=True, owner__is_active=True, quarantined_at__isnull=False)
    return rows.filter(pk=folder_id).select_related("owner").first()


def page_of_file(file: File, ways: Ways | None = None) -> FilePage:
    """Return the page of a file for a viewer with access to its folder. No query."""
    title = names.shown(file.original_name, otherwise=file.file_name)
    made = file.preview_state == PreviewState.MADE
    owner = file.owner.get_full_name() if file.owner else ""
    size = filesizeformat(file.size).replace("\xa0", " ")
    return FilePage(
        file=file,
        title=title,
        src=url_policy.on_page(file.url),
        poster=url_policy.on_page(file.preview_url) if made else "",
        duration=clock(file.duration_ms),
        folder=file.folder if file.folder and file.folder.is_public and not file.folder.quarantined_at else None,
        card=Card(
            title=title,
            summary=file.caption or f"{size}, {file.width} by {file.height} pixels, uploaded by {owner}",
            alt=file.caption,
            url=file.page_url,
            picture=picture_of(file),
            video=_original(file) if file.media_type.is_video else None,
        ),
        codes=codes_of(file),
        ways=ways,
    )


def ways_in_folder(file: File) -> Ways | None:
    """Return links to the neighbors in the file's folder, if it is public. 2 queries."""
    folder = file.folder
    if folder is None or not folder.is_public or folder.quarantined_at:
        return None
    newer = Q(uploaded_at__gt=file.uploaded_at) | Q(uploaded_at=file.uploaded_at, id__gt=file.pk)
    older = Q(uploaded_at__lt=file.uploaded_at) | Q(uploaded_at=file.uploaded_at, id__lt=file.pk)
    rows = _files_of(folder)
    previous = rows.filter(newer).order_by("uploaded_at", "id").values_list("name", flat=True).first()
    following = rows.filter(older).values_list("name", flat=True).first()
    return Ways(folder.pk, previous or "", following or "")


def codes_of(file: File) -> list[Code]:
    """Return the codes that embed the file. The poster of a film needs the password of the film's folder."""
    film = file.url if file.media_type.is_video else ""
    is_shown = file.preview_state == PreviewState.MADE and not (file.folder and file.folder.is_password_enabled)
    poster = file.card_url if is_shown else ""
    return embeds.codes(
        Embedded(
            title=file.caption or names.shown(file.original_name, otherwise=file.file_name),
            page=file.page_url,
            direct=file.url,
            picture=poster if film else file.url,
            film=film,
            width=file.width,
            height=file.height,
        )
    )


def page_of_folder(folder: Folder, number: str) -> FolderPage | None:
    """Return the page for a viewer with access to the folder, or None. 2 queries: the count, the files."""
    page = page_at(_files_of(folder), number)
    if page is None:
        return None
    shown, count = list(page), page.paginator.count
    return FolderPage(
        folder=folder,
        owner=folder.owner.get_full_name(),
        username=folder.owner.username,
        place=folder.pk,
        # A preview's URL lies within the folder, so that the folder's password protects it.
        tiles=[tile(file, preview=reverse("folder_preview", args=[folder.pk, file.name])) for file in shown],
        page=page,
        in_archive=in_archive(count),
        card=card_of_files(names.shown(folder.name, otherwise="Folder"), folder.url, folder.owner, shown, count),
    )


def page_at(files: FileQuerySet | Sequence[File], number: str) -> Page[File] | None:
    """Return the page of this number of a list; None: there is no such page. 1 query for the count of a query set."""
    try:
        return Paginator(files, PAGE_SIZE).page(int(number)) if NUMBER.fullmatch(number) else None
    except EmptyPage:
        return None


def card_of_files(title: str, url: str, owner: User, shown: Sequence[File], count: int) -> Card:
    """Return the card of a list of `count` files, with the first picture in `shown`."""
    summary = f"{count:,} {'file' if count == 1 else 'files'} by {owner.get_full_name()}"
    return Card(title, summary, url, picture=next(filter(None, map(picture_of, shown)), None))


def file_in(folder: Folder, name: str) -> File | None:
    """Return the file of this name, if it is in the folder. 1 query."""
    return _files_of(folder).by_name(name).first()


def in_archive(count: int) -> int:
    """Return how many of `count` files the archive holds."""
    return min(count, settings.MAX_FILES_IN_ARCHIVE)


def archived(folder: Folder) -> Sequence[File]:
    """Return the newest files, as many as an archive may hold. 1 query."""
    return list(_files_of(folder)[: settings.MAX_FILES_IN_ARCHIVE])


def tile(file: File, *, preview: str) -> Tile:
    """Return the file's tile. `preview`: the URL of the file's preview, used once the preview exists."""
    title = names.shown(file.original_name, otherwise=file.file_name)
    if file.preview_state == PreviewState.MADE:
        src, size = preview, (file.preview_width or 0, file.preview_height or 0)
    elif not file.media_type.is_video and file.size <= MAX_TILE_PICTURE:
        src, size = url_policy.on_page(file.url), (file.width, file.height)
    else:
        src, size = "", (0, 0)
    clip = clock(file.duration_ms)
    return Tile(file, title, file.caption, clip, src, *size, full=url_policy.on_page(file.url))


def clock(duration_ms: int | None) -> str:
    """Return `0:07`, `12:30`, `1:02:03`, at least `0:01`; empty where the duration is unknown."""
    if duration_ms is None:
        return ""
    minutes, seconds = divmod(max(round(duration_ms / 1000), 1), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def picture_of(file: File) -> Medium | None:
    """Return the image itself where all messengers show it, else its preview as a PNG; None where there is none yet."""
    if file.media_type.is_on_cards and file.size <= MAX_CARD_PICTURE:
        return _original(file)
    if file.preview_state == PreviewState.MADE:
        size = file.preview_width or 0, file.preview_height or 0
        return Medium(file.card_url, media.PNG.mime, *size)
    return None


def origins_of(file: File) -> tuple[str, ...]:
    """Return the origins that files are loaded from, without our own, for the page's policy.

    A policy is applied to redirects as well, so the store is one of them where delivery redirects to it.
    """
    urls = [file.url]
    if settings.FILE_DELIVERY == "redirect":
        link = storage.bucket().link(file.key, mime=file.mime, download_name=file.download_name)
        urls += [link] if link else []
    found = dict.fromkeys(origin_of(url) for url in urls)
    return tuple(origin for origin in found if origin != origin_of(settings.BASE_URL))


def _files_of(folder: Folder) -> FileQuerySet:
    return File.objects.delivered().filter(folder=folder).newest_first()


def _original(file: File) -> Medium:
    return Medium(file.url, file.mime, file.width, file.height)
