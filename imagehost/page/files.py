"""The page of one file."""

from __future__ import annotations

from dataclasses import dataclass

from django.template.defaultfilters import filesizeformat

from imagehost import addresses, original_names
from imagehost.models import File, Folder, PreviewState
from imagehost.page import cards
from imagehost.page.cards import Card
from lookup.page import url_policy


@dataclass(frozen=True)
class FilePage:
    """`folder`: the one that the page names. `src`, `poster` as the page names them; `poster` may be empty."""

    file: File
    title: str
    src: str
    poster: str
    duration: str
    folder: Folder | None
    card: Card


def find(name: str) -> File | None:
    """The file that the public sees under this name; None: unknown, quarantined, or of a banned owner. 1 query."""
    found = File.objects.delivered().by_name(name).filter(owner__is_active=True)
    return found.select_related("owner", "folder").first()


def page_of(file: File) -> FilePage:
    """For a viewer who may see what its folder holds. No query."""
    title = original_names.shown(file.original_name, otherwise=file.file_name)
    made = file.preview_state == PreviewState.MADE
    folder = file.folder if file.folder and file.folder.is_public else None
    return FilePage(
        file=file,
        title=title,
        src=url_policy.on_page(addresses.file_url(file)),
        poster=url_policy.on_page(addresses.preview_url(file)) if made else "",
        duration=clock(file.duration_ms),
        folder=folder,
        card=Card(
            title=title,
            summary=_summary(file),
            url=addresses.page_url(file),
            picture=cards.picture_of(file),
            video=cards.video_of(file),
        ),
    )


def clock(duration_ms: int | None) -> str:
    """`0:07`, `12:30`, `1:02:03`; empty where the duration is not known. A second is the least that is said."""
    if duration_ms is None:
        return ""
    minutes, seconds = divmod(max(round(duration_ms / 1000), 1), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _summary(file: File) -> str:
    owner = file.owner.get_full_name() if file.owner else ""
    size = filesizeformat(file.size).replace("\xa0", " ")
    return f"{size}, {file.width} by {file.height} pixels, uploaded by {owner}"
