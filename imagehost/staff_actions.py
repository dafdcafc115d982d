"""Actions of staff on files, albums and the used storage of a user."""

from __future__ import annotations

from django.db import transaction

from accounts import audit
from accounts.models import User
from accounts.staff_actions import StaffAction, through
from imagehost.folders import albums
from imagehost.models import State, Usage
from imagehost.receiving import quarantine
from imagehost.storing import files, quotas

_QUARANTINE = "imagehost.quarantine_file"
FILE_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "quarantine",
        "Quarantine",
        "Stops serving the file, its page and its preview. It stays stored and counted, and can be restored.",
        _QUARANTINE,
        through(quarantine.impose, "file"),
        offer=lambda file: file.is_delivered,
    ),
    StaffAction(
        "restore",
        "Restore",
        "The file, its page and its preview are served again.",
        _QUARANTINE,
        through(quarantine.lift, "file"),
        offer=lambda file: file.state == State.READY and file.quarantined_at is not None and not file.moves_from,
    ),
    StaffAction(
        "delete",
        "Delete",
        "Deletes the file and its preview, and returns its bytes to its owner's quota. This cannot be undone.",
        "imagehost.delete_file",
        through(files.delete, "file"),
        offer=lambda file: file.state == State.READY,
    ),
)
ALBUM_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "delete",
        "Delete",
        "Deletes the album and ends its link. Its files stay stored. This cannot be undone.",
        "imagehost.delete_album",
        through(albums.delete_by_staff, "album"),
    ),
)


@transaction.atomic
def _recount(usage: Usage, *, by: User, reason: str) -> None:
    wrong_by = quotas.recount(owner_id=usage.pk)
    audit.record("usage:recounted", by=by, on=usage.owner, reason=reason, wrong_by=wrong_by)


USAGE_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "recount",
        "Count again",
        "Sets the used storage to the sum of the user's files.",
        "imagehost.change_usage",
        _recount,
    ),
)
