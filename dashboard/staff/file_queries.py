"""What staff search and see of files of the image host. The number of queries is constant."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from dashboard.staff import queries
from dashboard.staff.queries import FileState
from imagehost.models import File
from infrastructure import text_rules


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
