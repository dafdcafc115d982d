"""Queries of the gallery and the folder endpoints, each on the rows of one owner.

They include quarantined files, which the owner sees only here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from django.db.models import Count, FilteredRelation, IntegerField, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from imagehost.errors import FolderNotFound
from imagehost.models import NAME, File, FileQuerySet, Folder, State, unexpired
from infrastructure import text_rules

MAX_LIMIT = 100
_MAX_ROW = 2**53 - 1  # no file has a higher place in a list, and every database reads this number


class InFolder(TypedDict):
    """The files of a folder. `total_size` in bytes."""

    file_count: int
    total_size: int


if TYPE_CHECKING:  # a type only for mypy
    from django_stubs_ext import WithAnnotations

    CountedFolder = WithAnnotations[Folder, InFolder]


@dataclass(frozen=True)
class Page:
    """At most `limit` files after the first `offset`."""

    limit: int = MAX_LIMIT
    offset: int = 0


@dataclass(frozen=True)
class Files:
    """A page of files, newest first, and how many there are in all."""

    files: Sequence[File]
    total: int


def gallery(*, owner_id: str, page: Page) -> Files:
    """Return a page of the owner's files. 1 query; 2 for a page after the last file."""
    rows = File.objects.kept().filter(owner_id=owner_id)
    return _page(rows, rows.select_related("folder"), page)


@dataclass(frozen=True)
class FileFilters:
    """Filters of the gallery; an empty value or None does not filter.

    `text`: a part of the original name, or a link to the file. `folder_id`: None: any, "": the root. `kind`: image,
    video, or a MIME type. `since` is inclusive, `until` exclusive.
    """

    text: str = ""
    folder_id: str | None = None
    kind: str = ""
    is_favorite: bool = False
    since: datetime | None = None
    until: datetime | None = None


def search(*, owner_id: str, filters: FileFilters) -> FileQuerySet:
    """Return the owner's stored files that match, newest first, with their folders. No query yet."""
    rows = File.objects.kept().filter(owner_id=owner_id).select_related("folder")
    if filters.text:
        rows = rows.filter(_has_text(filters.text))
    if filters.folder_id is not None:
        rows = rows.filter(folder_id=filters.folder_id) if filters.folder_id else rows.filter(folder=None)
    if filters.kind:
        rows = (
            rows.filter(mime=filters.kind) if "/" in filters.kind else rows.filter(mime__startswith=f"{filters.kind}/")
        )
    if filters.is_favorite:
        rows = rows.filter(is_favorite=True)
    if filters.since:
        rows = rows.filter(uploaded_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(uploaded_at__lt=filters.until)
    return rows.newest_first()


def named(*, owner_id: str, names: Sequence[str]) -> list[File]:
    """Return the owner's stored files of these names, newest first, at most MAX_LIMIT. 1 query."""
    names = [name for name in names if NAME.fullmatch(name)]
    rows = File.objects.kept().filter(owner_id=owner_id, name__in=names).select_related("folder")
    return list(rows.newest_first()[:MAX_LIMIT])


def folder_with_files(*, owner_id: str, folder_id: str, page: Page) -> tuple[Folder, Files]:
    """Return a folder of the owner and its files. 2 queries; 3 for a page after the last file.

    FolderNotFound: unknown, or another owner's. 1 query.
    """
    folder = Folder.objects.filter(pk=folder_id, owner_id=owner_id).first()
    if folder is None:
        raise FolderNotFound
    rows = File.objects.kept().filter(folder=folder)
    found = _page(rows, rows, page)
    for file in found.files:
        file.folder = folder
    return folder, found


def folders(*, owner_id: str) -> QuerySet[CountedFolder]:
    """Return the folders of the owner, oldest first, with `file_count` and `total_size`. 1 query."""
    kept = Q(files__state=State.READY) & unexpired(timezone.now(), "files__")
    stored = FilteredRelation("files", condition=kept)
    counted = Folder.objects.filter(owner_id=owner_id).annotate(
        stored=stored, file_count=Count("stored"), total_size=Coalesce(Sum("stored__size"), 0)
    )
    return counted.order_by("created_at", "pk")  # type: ignore[return-value]  # mypy counts the relation as a third annotation


def folder(*, owner_id: str, folder_id: str) -> CountedFolder:
    """Return a folder of the owner with `file_count` and `total_size`. 1 query. Raises FolderNotFound."""
    found = folders(owner_id=owner_id).filter(pk=folder_id).first()
    if found is None:
        raise FolderNotFound
    return found


def _has_text(text: str) -> Q:
    """Match a part of the original name, without case and accents, or the generated name in `text`."""
    folded = text_rules.folded(text)
    found = Q(original_name_folded__contains=folded) if folded else Q()
    # A file that the previous release stored in the minutes of an update.
    found |= Q(original_name_folded=None, original_name__icontains=text)
    return found | Q(name=text.rstrip("/").rpartition("/")[2].partition(".")[0])  # of a link to the file


def _page(rows: FileQuerySet, shown: FileQuerySet, page: Page) -> Files:
    """Return the page of `rows`, selected as in `shown`, and the total, in one query."""
    counted = rows.order_by().annotate(of=Value(1)).values("of").annotate(total=Count("pk")).values("total")
    total = Subquery(counted, output_field=IntegerField())
    rows_shown = shown.newest_first().annotate(total=total)
    start = min(page.offset, _MAX_ROW)
    files: list[Any] = list(rows_shown[start : start + page.limit])  # files annotated with the total
    if files:
        return Files(files, files[0].total)
    # No file is at the offset, so the total is at most the offset, despite later uploads.
    return Files([], min(rows.count(), page.offset) if page.offset else 0)
