"""Files that profiles show, in our own store: kept, counted, and removed when nothing shows them any more.

`dashboard.profile.media` examines a file before. The row is written first, then the object: a crash leaves a row
without its object, or an object without its row, and the job `sweep_assets` removes both.
"""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Protocol, cast

from django.core.exceptions import ValidationError
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Exists, ForeignObjectRel, OuterRef, Q, Sum
from django.utils import timezone

from accounts import audit, users
from accounts.models import User
from lookup.models import Asset

MIB = 1024 * 1024
QUOTA = 200 * MIB  # bytes of one user
PREFIX = "uploads/"  # of every key: one bucket may hold other things too
CARD = ".card.png"  # after the key of a picture: its PNG for messengers
REMOVED_AT_ONCE = 100  # objects of a deleted account, removed before the answer is sent
UNUSED_FOR = timedelta(days=1)  # of a file, and of an object without a row, before the job removes it
BATCH = 200

logger = logging.getLogger(__name__)


class Kind(StrEnum):
    """The purpose of a file."""

    IMAGE = "image"
    BADGE = "badge"  # a picture too, a small one
    BACKGROUND = "background"  # a picture or a film
    AUDIO = "audio"
    FONT = "font"


MAX_VIDEO = 50 * MIB
MAX_SIZE = {
    Kind.IMAGE: 10 * MIB,
    Kind.BADGE: 2 * MIB,
    Kind.BACKGROUND: 10 * MIB,
    Kind.AUDIO: 20 * MIB,
    Kind.FONT: 2 * MIB,
}


@dataclass(frozen=True)
class Facts:
    """Facts about a file, found in its content. `extension` without a dot; `duration` in seconds."""

    mime: str
    extension: str
    width: int | None = None
    height: int | None = None
    duration: float | None = None


class Entry(Protocol):
    """An object of the store."""

    @property
    def key(self) -> str: ...

    @property
    def changed_at(self) -> datetime: ...


class Store(Protocol):
    """The store of uploads, `STORAGES["uploads"]`: of the image host's kind."""

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None: ...

    def remove(self, key: str) -> None: ...

    def entries(self, prefix: str) -> Iterator[Entry]: ...


def bucket() -> Store:
    return cast("Store", storages["uploads"])


def key_of(path: str) -> str:
    """Return the key of an asset's file in the store."""
    return f"{PREFIX}{path}"


def card_key_of(path: str) -> str:
    """Return the key of the picture as a PNG, which the first request for it stores."""
    return f"{key_of(path)}{CARD}"


def most(kind: Kind, mime: str = "") -> int:
    """Return the maximal size in bytes; without a MIME type, the largest of any type of the kind."""
    is_film = kind is Kind.BACKGROUND and (not mime or mime.startswith("video/"))
    return MAX_VIDEO if is_film else MAX_SIZE[kind]


def check_size(size: int, kind: Kind, mime: str = "") -> None:
    """Raise ValidationError, with a sentence, for a file that is too large."""
    if size > most(kind, mime):
        allowed = most(kind, mime) // MIB
        raise ValidationError(f"This file has {size / MIB:.1f} MB; at most {allowed} MB are allowed.", code="large")


def used_by(user: User) -> int:
    """Return the bytes of the user's files. 1 query."""
    return Asset.objects.filter(owner=user).aggregate(sum=Sum("size"))["sum"] or 0


def store(*, user: User, kind: Kind, path: Path, facts: Facts, by: User | None) -> Asset:
    """Keep the file at `path`, which is moved away or copied, as an upload of the user.

    Raises ValidationError, with a sentence: too large, over the quota, or the store does not answer; PermissionDenied
    as `users.check_may_act_for`; User.DoesNotExist if the account was deleted. Call it outside of a transaction: a
    rollback does not remove the object.
    """
    size = path.stat().st_size
    check_size(size, kind, facts.mime)
    asset = _book(user, kind, facts, size, by)
    try:
        name = asset.path.rpartition("/")[2]
        bucket().keep(key_of(asset.path), path, mime=facts.mime, download_name=name)
    except Exception:
        logger.exception("The upload %s could not be written.", asset.path)
        asset.delete()
        raise ValidationError(
            "The file could not be stored. Please try again in a few minutes.", code="store"
        ) from None
    return asset


@transaction.atomic
def _book(user: User, kind: Kind, facts: Facts, size: int, by: User | None) -> Asset:
    users.check_may_act_for(owner=user, by=by)
    if not users.lock(user.pk):
        raise User.DoesNotExist
    left = QUOTA - used_by(user)
    if size > left:
        unwanted = Asset.objects.filter(owner=user, unused_since__isnull=False)
        release(*unwanted.values_list("pk", flat=True))
        left = QUOTA - used_by(user)
    if size > left:
        raise ValidationError(
            f"Your files may have {QUOTA // MIB} MB together, and {max(left, 0) / MIB:.1f} MB are left: this one has "
            f"{size / MIB:.1f}. Remove some that you do not need.",
            code="quota",
        )
    asset = Asset.objects.create(
        owner=user,
        path=f"{user.pk}/{secrets.token_hex(8)}.{facts.extension}",
        mime=facts.mime,
        width=facts.width,
        height=facts.height,
        duration=facts.duration,
        size=size,
    )
    audit.record("asset:uploaded", by=by, on=user, asset=asset.pk, kind=str(kind), mime=facts.mime, size=size)
    return asset


def unused() -> Q:
    """Return the condition of assets in our store that nothing shows."""
    shown = Q()
    for relation in Asset._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            rows = relation.field.model._base_manager.filter(**{relation.field.name: OuterRef("pk")})
            shown |= Q(Exists(rows))
    return Q(size__isnull=False) & ~shown


@transaction.atomic
def release(*asset_ids: str | None) -> int:
    """Remove files that nothing shows any more, object and row; return their number.

    Call it after the change that stopped showing them, in its transaction or after it. None means no file.
    """
    wanted = sorted({pk for pk in asset_ids if pk is not None})
    list(Asset.objects.select_for_update().filter(pk__in=wanted).order_by("pk").values_list("pk"))
    unshown = list(Asset.objects.filter(unused(), pk__in=wanted))  # locked: no other row can name them again
    Asset.objects.filter(pk__in=[asset.pk for asset in unshown]).delete()
    _remove_after_commit([asset.path for asset in unshown])
    return len(unshown)


def discard(asset: Asset) -> None:
    """Delete a locked file that profiles may show: the row now, the object after the commit."""
    path, is_kept = asset.path, asset.size is not None
    asset.delete()
    _remove_after_commit([path] if is_kept else [])


def mark_unused(*asset_ids: str) -> None:
    """Have files that nothing shows removed after UNUSED_FOR, or when their owner needs the room."""
    Asset.objects.filter(unused(), pk__in=asset_ids).update(unused_since=timezone.now())


def sweep(*, now: datetime, after_each: Callable[[], None] = lambda: None) -> tuple[int, int]:
    """Remove files that have been unused for UNUSED_FOR, and objects without a row; return how many of each.

    `after_each` is called after each batch and may renew a lease. Raises the store's errors.
    """
    marked = Asset.objects.filter(unused_since__isnull=False)
    marked.exclude(unused()).update(unused_since=None)
    Asset.objects.filter(unused(), unused_since__isnull=True).update(unused_since=now)
    unwanted = list(marked.filter(unused_since__lte=now - UNUSED_FOR).order_by("pk").values_list("pk", flat=True))
    files = 0
    for start in range(0, len(unwanted), BATCH):
        files += release(*unwanted[start : start + BATCH])
        after_each()
    return files, _sweep_objects(now, after_each)


def _sweep_objects(now: datetime, after_each: Callable[[], None]) -> int:
    removed = 0
    old = (
        entry.key
        for entry in bucket().entries(PREFIX)
        if entry.changed_at <= now - UNUSED_FOR and not entry.key.endswith("/")  # S3's "folders"
    )
    while keys := list(islice(old, BATCH)):
        paths = {key.removeprefix(PREFIX).removesuffix(CARD) for key in keys}
        known = Asset.objects.filter(path__in=paths, size__isnull=False).values_list("path", flat=True)
        unknown = paths - set(known)
        _remove(sorted(unknown))
        removed += len(unknown)
        after_each()
    return removed


def delete_of_user(user: User) -> None:
    """Receiver of `user_deleted`: delete the objects after the commit; the rows go with their owner.

    The job removes what the store does not remove at once.
    """
    kept = Asset.objects.filter(owner=user, size__isnull=False).order_by("pk")
    _remove_after_commit(list(kept.values_list("path", flat=True)[:REMOVED_AT_ONCE]))


def _remove_after_commit(paths: Collection[str]) -> None:
    if paths:
        transaction.on_commit(functools.partial(_remove, tuple(paths)), robust=True)


def _remove(paths: Collection[str]) -> None:
    """Remove the objects. One that stays has no row, and the job finds it."""
    for path in paths:
        bucket().remove(key_of(path))
        bucket().remove(card_key_of(path))
