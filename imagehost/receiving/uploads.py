"""An upload, from the received bytes to a served file.

One transaction inserts the row (PENDING) and books its bytes; then the object is written, and the row becomes READY. A
failure undoes the previous steps; `manage.py sweep_uploads` does so after a crash.
"""

from __future__ import annotations

import logging
import secrets
import string
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError, transaction
from django.db import Error as DatabaseFailed
from prometheus_client import Counter

from accounts import jobs, users
from accounts.models import User
from accounts.plans import ALLOWANCES, Allowance
from imagehost.errors import FileTooLarge, InvalidMime, Unauthorized, UploadFailed, UploadsUnavailable
from imagehost.examining import probing
from imagehost.examining.probing import InvalidMedia, ProberFailed
from imagehost.media import FileFacts
from imagehost.models import FILES, NAME_LENGTH, File, Folder, FolderRule, State
from imagehost.storing import files, quotas, storage, turns
from imagehost.storing.storage import StorageFailed
from infrastructure import hashing
from infrastructure.requests.errors import ApiError

_ALPHABET = string.ascii_letters + string.digits
ATTEMPTS = 4  # to find an unused name and an existing folder

TAKING_BACK_SECONDS = 0.5  # then the database counts as unavailable

logger = logging.getLogger(__name__)

UPLOADS = Counter("hearth_uploads", "Uploads that came in whole, by `stored` or the error's code.", ("outcome",))
BYTES = Counter("hearth_upload_bytes", "Bytes of uploads that came in whole, as they were sent.")


@dataclass(frozen=True)
class Incoming:
    """A complete file at `path`, in the storage's incoming directory; the caller removes it if it still exists.

    `original_name`: as it was sent, without directories and control characters, 1 to 255 characters. `lifetime`: until
    the file expires, None: never.
    """

    path: Path
    size: int
    original_name: str
    lifetime: timedelta | None = None


@dataclass(frozen=True)
class Uploaded:
    """A stored file. `deletion_token`: of the deletion link, stored as a hash."""

    file: File
    deletion_token: str


@dataclass(frozen=True)
class UploadOwner:
    """The user whom an upload is stored for, with the sizes of their plan at the start of the upload."""

    pk: str
    allowance: Allowance


def owner_of(owner_id: str, now: datetime) -> UploadOwner:
    """Return the owner with the sizes of their plan at `now`. 1 query. Unauthorized: the owner has been deleted."""
    owner = User.objects.only("plan", "plan_expires_at").filter(pk=owner_id).first()
    if owner is None:
        raise Unauthorized
    return UploadOwner(owner.pk, ALLOWANCES[owner.current_plan(now)])


def store(owner: UploadOwner, incoming: Incoming, *, now: datetime) -> Uploaded:
    """Store the file after checks of size, type and quota, in this order.

    Raises FileTooLarge, CostlyUploads, InvalidMime, QuotaExceeded, UploadFailed, UploadsUnavailable; then nothing is
    stored or booked, at the latest after an hour where the database is unavailable.
    """
    BYTES.inc(incoming.size)
    try:
        uploaded = _store(owner, incoming, now)
    except ApiError as error:
        UPLOADS.labels(error.code or "other").inc()
        raise
    UPLOADS.labels("stored").inc()
    return uploaded


def _store(owner: UploadOwner, incoming: Incoming, now: datetime) -> Uploaded:
    if incoming.size > owner.allowance.max_file_size:
        raise FileTooLarge(owner.allowance.max_file_size)
    facts = _probed(owner, incoming.path)
    token = secrets.token_urlsafe(32)
    file = _book(owner, incoming, facts, hashing.digest(token), now)
    _write(file, incoming.path)
    return Uploaded(file, token)


def _probed(owner: UploadOwner, path: Path) -> FileFacts:
    try:
        with turns.charged(owner.pk):
            return probing.probe(path)
    except InvalidMedia as reason:
        logger.info("An upload was refused: %s", reason)
        raise InvalidMime from None
    except ProberFailed as error:
        logger.error("Uploads cannot be examined: %s.", error)
        raise UploadFailed from None
    except (OperationalError, InterfaceError):
        logger.exception("An upload could not be examined: the database does not answer.")
        raise UploadsUnavailable from None


def _book(owner: UploadOwner, incoming: Incoming, facts: FileFacts, deletion_hash: str, now: datetime) -> File:
    """Insert the PENDING row and book its bytes. A used name or a deleted folder leads to another attempt."""
    size = incoming.path.stat().st_size  # after the strip of private metadata
    for attempt in range(ATTEMPTS):
        name = "".join(secrets.choice(_ALPHABET) for _ in range(NAME_LENGTH))
        file = File(
            owner_id=owner.pk,
            name=name,
            key=f"{FILES}{owner.pk}/{name}.{facts.extension}",
            extension=facts.extension,
            mime=facts.mime,
            size=size,
            width=facts.width,
            height=facts.height,
            duration_ms=facts.duration_ms,
            frames=facts.frames,
            original_name=incoming.original_name,
            deletion_hash=deletion_hash,
            uploaded_at=now,
            expires_at=now + incoming.lifetime if incoming.lifetime else None,
        )
        try:
            file.folder = _folder_of(owner.pk, file)
            _insert(file, owner)
        except IntegrityError:
            logger.info("Booking an upload collided, attempt %s of %s.", attempt + 1, ATTEMPTS)
            continue
        except (OperationalError, InterfaceError):
            logger.exception("An upload could not be booked: the database does not answer.")
            _take_back(file)  # it may have committed without an answer
            raise UploadsUnavailable from None
        except DatabaseError:
            logger.exception("An upload could not be booked.")
            raise UploadFailed from None
        return file
    raise UploadFailed


def _folder_of(owner_id: str, file: File) -> Folder | None:
    """Return the folder of the first matching rule. Raises UploadsUnavailable; nothing is booked yet."""
    try:
        rule = next((rule for rule in FolderRule.objects.of(owner_id) if rule.matches(file)), None)
    except (OperationalError, InterfaceError):
        logger.exception("An upload could not be booked: the database does not answer.")
        raise UploadsUnavailable from None
    return rule.folder if rule else None


@transaction.atomic
def _insert(file: File, owner: UploadOwner) -> None:
    """Insert the row and book its bytes. Raises Unauthorized for a deleted owner, QuotaExceeded."""
    if not users.lock(owner.pk):
        raise Unauthorized
    quotas.reserve(owner_id=owner.pk, size=file.size, most=owner.allowance.max_storage)
    file.save(force_insert=True)


def _write(file: File, path: Path) -> None:
    """Write the object, then set READY."""
    try:
        storage.bucket().keep(file.key, path, mime=file.mime, download_name=file.download_name)
        is_ready = File.objects.filter(pk=file.pk, state=State.PENDING).update(state=State.READY)
    except Exception as error:  # of the store or of the database
        is_known = isinstance(error, StorageFailed | DatabaseFailed)
        logger.error("The upload %s could not be stored: %s.", file.pk, error, exc_info=not is_known)
        _take_back(file)
        raise UploadFailed from None
    if not is_ready:
        logger.error("The upload %s took so long that it was swept up.", file.pk)
        try:
            files.remove_objects(file)
        except StorageFailed as error:
            logger.error(
                "The objects of %s could not be removed; sweep_uploads or reconcile_files will: %s.", file.pk, error
            )
        raise UploadFailed
    file.state = State.READY


def _take_back(file: File) -> None:
    """Undo the row, its booking and its object, as far as they exist.

    `sweep_uploads` does it where the database is unavailable: without the row's state the object must stay.
    """
    give_up_at = time.monotonic() + TAKING_BACK_SECONDS
    while True:
        jobs.let_go_of_connections()
        try:
            _ = files.undo(file=file) or files.delete(file=file, by=None)  # READY: the UPDATE's answer was lost
        except DatabaseFailed:
            if time.monotonic() < give_up_at:  # a restart of the database breaks all connections of the pool
                continue
            logger.exception("The upload %s could not be taken back; sweep_uploads will.", file.pk)
        return
