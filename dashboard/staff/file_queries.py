"""What staff search and see of files of the image host. The number of queries is constant."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.urls import reverse

from dashboard.staff import queries
from dashboard.staff.queries import FileState
from imagehost import names
from imagehost.models import File, PreviewState
from imagehost.pages.file_pages import MAX_TILE_PICTURE, clock
from infrastructure import text_rules


@dataclass(frozen=True)
class Shown:
    """A file in a list of staff. `title`: the name that it was uploaded with. `picture`: the address of a small one;
    empty where there is none yet, and in quarantine, where staff open it on the page of the file. `duration`: of a
    film."""

    file: File
    title: str
    picture: str
    duration: str

    @classmethod
    def of(cls, file: File) -> Shown:
        title = names.shown(file.original_name, otherwise=file.file_name)
        return cls(file, title, _picture_of(file), clock(file.duration_ms))


def _picture_of(file: File) -> str:
    if file.quarantined_at is not None:
        return ""
    if file.preview_state == PreviewState.MADE:
        return reverse("staff_file_preview", args=[file.pk])
    is_small = not file.media_type.is_video and file.size <= MAX_TILE_PICTURE
    return reverse("staff_file_picture", args=[file.pk]) if is_small else ""


def find_files(*, term: str, state: str, with_email: bool) -> QuerySet[File]:
    """Return stored files, the newest first, with their owner; all of them where `term` is empty.

    A term is the name of a file, also in its address and with its ending; the beginning of the name that it was
    uploaded with; or its owner, whose email address it may be `with_email`.
    """
    found = File.objects.ready().select_related("owner").defer("deletion_hash")
    if term:
        named = Q(name__upper=name_in(term).upper()) & Q(name=name_in(term))
        if folded := text_rules.folded(term):
            named |= Q(original_name_folded__startswith=folded)
        found = found.filter(named | Q(owner__in=queries.people_called(term, with_email=with_email)))
    if state == FileState.QUARANTINED:
        found = found.filter(quarantined_at__isnull=False)
    return found.newest_first()


def name_in(term: str) -> str:
    """Return the name of a file in its name with an ending, in its address or in that of its page."""
    path = term.partition("?")[0].partition("#")[0].rstrip("/")
    parts = [part for part in path.split("/") if part] or [""]
    return parts[-1].partition(".")[0]
