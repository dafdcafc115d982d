"""Previews: a thumbnail of each image and a poster of each video, made right after the upload or for its page.

The rows are the queue: a waiting file is due at `preview_due_at`, and a worker claims it by moving that into the
future, so that workers on several hosts make each preview once. The claim of a crashed worker expires. Owners take
turns (`PreviewTurn`): one file of an owner at a time, and for `turns.BUDGET` seconds of a processor a minute. A preview
is written before its row becomes MADE, which happens only while the file is delivered; otherwise the worker removes it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connections, transaction
from django.db.models import Count, F, Min, OuterRef, Q, Subquery
from django.utils import timezone
from prometheus_client import Counter

from accounts.jobs import let_go_of_connections
from imagehost import media
from imagehost.examining import probing
from imagehost.examining.prober import confinement
from imagehost.examining.probing import InvalidMedia, Preview, ProberFailed
from imagehost.models import File, FileQuerySet, PreviewState, PreviewTurn
from imagehost.storing import storage, turns
from imagehost.storing.storage import Bucket, ObjectMissing, StorageFailed

MIME = "image/webp"
CLAIM = timedelta(minutes=5)  # longer than the store and the prober may take for a file
# After each failed try: an outage of a minute must not use up all tries.
PAUSES = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
MAX_TRIES = len(PAUSES) + 1
DEADLY = MAX_TRIES + 1  # tries of a file that killed its workers: it is never retried
LOOKAHEAD = 1000  # files that have been due longest, among which owners take turns
POLL_SECONDS = 0.25
AFTER_ERROR_SECONDS = 10.0
NEW = timedelta(minutes=1)  # since the upload: until then a page waits for the preview
PAGE_SECONDS = 2.0  # that it waits
AT_ONCE = 2  # pages that wait in a process: its threads serve all other requests too
_places = threading.BoundedSemaphore(AT_ONCE)
_card_places = threading.BoundedSemaphore(AT_ONCE)

logger = logging.getLogger(__name__)

PREVIEWS = Counter("hearth_previews", "Tries to make a thumbnail or poster: made, postponed or failed.", ("outcome",))


@dataclass
class Work:
    """How many files got a preview, will have none, and have to be retried."""

    made: int = 0
    given_up: int = 0
    postponed: int = 0


def make(*, until: datetime, after_each: Callable[[], None] = lambda: None) -> Work:
    """Make all due previews, the longest due first; none is begun after `until`.

    `after_each` is called after each file, to renew a lease. 1 query where none is due; 7 for each file.
    """
    work = Work()
    while (file := _claim(work)) is not None:
        try:
            _make(file, work)
        except KeyboardInterrupt:
            let_go_of_connections()  # the interrupt may have broken one
            give_back(file)
            raise
        after_each()
        if timezone.now() >= until:
            break
    return work


class Worker(threading.Thread):
    """A thread that makes previews as they become due.

    It polls: one query of an index that holds only waiting files, half a millisecond. Notifications of the database
    would need a connection for each worker, and polling as well for retries.
    """

    def __init__(self, *, is_asked_to_end: Callable[[], bool]) -> None:
        super().__init__(name="previews", daemon=True)
        self._is_asked_to_end = is_asked_to_end
        self._claimed: File | None = None

    def run(self) -> None:
        try:
            while not self._is_asked_to_end():
                time.sleep(self._take_turn())
        finally:
            connections.close_all()

    def end(self, patience: float) -> None:
        """Wait `patience` seconds for the current file, then give it back. Called from another thread."""
        self.join(patience)
        if (file := self._claimed) is not None:
            give_back(file)

    def _take_turn(self) -> float:
        """Make one preview; return the seconds to wait after it."""
        try:
            self._claimed = _claim(Work())
            if self._claimed is None:
                return POLL_SECONDS
            _make(self._claimed, Work())
            self._claimed = None
        except Exception:  # for example of the database: the thread continues, and a claim expires
            logger.exception("The worker for previews failed")
            return AFTER_ERROR_SECONDS
        finally:
            let_go_of_connections()
        return 0


class _Rendering(threading.Thread):
    """One preview for a page that waits for it. It uses no database, and ends its place among AT_ONCE itself."""

    def __init__(self, file: File) -> None:
        super().__init__(name="preview", daemon=True)
        self._file = file
        self.preview: Preview | None = None
        self.spent = 0.0  # seconds of a processor

    def run(self) -> None:
        try:
            self.preview = _rendered(self._file)
            self.spent = self.preview.seconds
        except (InvalidMedia, ProberFailed, StorageFailed) as error:
            self.spent = error.seconds if isinstance(error, InvalidMedia) else 0.0
            logger.info("The page of %s has no preview yet; a worker tries again.", self._file.pk, exc_info=True)
        finally:
            _places.release()


def make_for_page(file: File) -> None:
    """Make the preview of a new upload while its page waits, so that messengers find a picture at their first look.

    Waits at most PAGE_SECONDS, also for a worker that makes it; otherwise, or with AT_ONCE pages waiting, the workers
    make it as ever. Sets the columns of `file`. No query for older files; 5 where it is made here.
    """
    is_new = timezone.now() - file.uploaded_at < NEW
    if file.preview_state != PreviewState.WAITING or not is_new or not _places.acquire(blocking=False):
        return
    with contextlib.ExitStack() as place:
        place.callback(_places.release)
        if not _claim_one(file):
            _wait_for_worker(file)
            return
        rendering = _Rendering(file)
        rendering.start()
        place.pop_all()  # the thread ends it
    rendering.join(PAGE_SECONDS)
    if rendering.is_alive():  # it uses its owner's turn until a limit ends it
        give_back(file, spent=PAGE_SECONDS, busy=timedelta(seconds=confinement.CPU_SECONDS))
    elif rendering.preview is None:
        give_back(file, spent=rendering.spent)
    else:
        with _turn(file) as turn:
            turn.spent = rendering.spent
            if _finish(file, rendering.preview):
                _set_made(file, rendering.preview.width, rendering.preview.height)


def _claim_one(file: File) -> bool:
    """Claim this file, unless a worker has it or another one of its owner. 3 queries."""
    due = _due(timezone.now()).filter(pk=file.pk, preview_attempts=file.preview_attempts).order_by()
    file.preview_attempts, file.preview_due_at = file.preview_attempts + 1, timezone.now() + CLAIM
    is_free = file.preview_attempts <= MAX_TRIES
    values = {"preview_attempts": file.preview_attempts, "preview_due_at": file.preview_due_at}
    with transaction.atomic():
        is_claimed = is_free and bool(due.update(**values)) and _take_turn(file)
        transaction.set_rollback(not is_claimed)
    return is_claimed


def _wait_for_worker(file: File) -> None:
    """Wait for the worker's preview. 1 query for each POLL_SECONDS."""
    give_up_at = time.monotonic() + PAGE_SECONDS
    columns = ("preview_state", "preview_width", "preview_height")
    while time.monotonic() < give_up_at:
        state, width, height = File.objects.filter(pk=file.pk).values_list(*columns).first() or ("", None, None)
        if state == PreviewState.MADE:
            _set_made(file, width, height)
        if state != PreviewState.WAITING:
            return
        time.sleep(POLL_SECONDS)


def _set_made(file: File, width: int | None, height: int | None) -> None:
    file.preview_state, file.preview_width, file.preview_height = PreviewState.MADE, width, height


def may_be_tried_again(file: File, *, is_after_restore: bool) -> bool:
    """Return whether each try failed for another reason than the file: the store, the prober, another host's disk.

    After a restore, that is any failed preview whose file did not kill its worker.
    """
    has_tried_all = file.preview_attempts == MAX_TRIES
    is_harmless = has_tried_all or (is_after_restore and file.preview_attempts < MAX_TRIES)
    return file.preview_state == PreviewState.FAILED and is_harmless


def try_again(files: Iterable[File]) -> int:
    """Queue one more try for files whose preview failed. Return their number. 1 query."""
    failed = File.objects.ready().filter(pk__in=[file.pk for file in files], preview_state=PreviewState.FAILED)
    return failed.update(preview_state=PreviewState.WAITING, preview_attempts=MAX_TRIES - 1)


@dataclass(frozen=True)
class Backlog:
    """How many previews are due, and how long the first has waited."""

    due: int
    longest_wait: timedelta


def backlog(now: datetime) -> Backlog:
    """Return the backlog at `now`. 1 query, of an index that holds only waiting files."""
    found = _due(now).order_by().aggregate(due=Count("pk"), since=Min("preview_due_at"))
    return Backlog(found["due"], now - (found["since"] or now))


def give_back(file: File, *, spent: float = 0.0, busy: timedelta = timedelta(0)) -> None:
    """End a claim, so that another worker can take the file; at once, or where the turn is `busy`, after it.

    2 queries.
    """
    _claimed(file).update(preview_due_at=timezone.now(), preview_attempts=file.preview_attempts - 1)
    _end_turn(file, spent=spent, busy=busy)


def _take_turn(file: File) -> bool:
    """Take the turn of the file's owner until the file's claim ends; False: it is taken, or not paid off. 2 queries."""
    now = timezone.now()
    values = {"busy_until": file.preview_due_at, "spent_until": now}
    _, is_first = PreviewTurn.objects.get_or_create(owner_id=file.owner_id, defaults=values)
    free = PreviewTurn.objects.filter(owner_id=file.owner_id).exclude(_not_their_turn(now))
    return is_first or bool(free.update(busy_until=file.preview_due_at))


def _not_their_turn(now: datetime) -> Q:
    return Q(busy_until__gt=now) | turns.is_spent(now)


def _end_turn(file: File, *, spent: float, busy: timedelta = timedelta(0)) -> None:
    """End the turn that this claim took, and note the seconds `spent` of a processor. 1 query."""
    taken = PreviewTurn.objects.filter(owner_id=file.owner_id, busy_until=file.preview_due_at)
    now = timezone.now()
    taken.update(busy_until=now + busy, spent_until=turns.spent_until(now, spent))


@dataclass
class _Turn:
    """A claim's part of its owner's turn. `spent`: seconds of a processor."""

    spent: float = 0.0


@contextlib.contextmanager
def _turn(file: File) -> Iterator[_Turn]:
    """End the turn of this claim also after an unexpected error; not after an interrupt, whose handler does."""
    turn = _Turn()
    try:
        yield turn
    except Exception:
        let_go_of_connections()  # the error may have been that of one
        _end_turn(file, spent=turn.spent)
        raise
    _end_turn(file, spent=turn.spent)


def _due(now: datetime) -> FileQuerySet:
    # The condition of the index `imagehost_file_preview_next`.
    waiting = File.objects.delivered().filter(preview_state=PreviewState.WAITING)
    return waiting.filter(preview_due_at__lte=now).order_by("preview_due_at", "pk")


def _in_turn(now: datetime) -> FileQuerySet:
    """Return due files of owners whose turn it may be, by what the owner spent, then by how long each is due."""
    turns = PreviewTurn.objects.filter(_not_their_turn(now))
    due = _due(now).exclude(owner_id__in=turns.values("owner_id"))[:LOOKAHEAD]
    spent = PreviewTurn.objects.filter(owner_id=OuterRef("owner_id")).values("spent_until")
    files = File.objects.filter(pk__in=due.values("pk")).annotate(spent=Subquery(spent))
    return files.order_by(F("spent").asc(nulls_first=True), "preview_due_at", "pk")


def _claim(work: Work) -> File | None:
    """Claim the file whose turn it is; None: there is none.

    A file that killed its worker at each try fails. 1 query where none is due, else 5.
    """
    while _in_turn(timezone.now()).exists():  # takes no lock
        with transaction.atomic():  # on SQLite, one writer at a time
            file = _in_turn(timezone.now()).select_for_update(skip_locked=True).first()
            if file is None:
                return None
            if file.preview_attempts < MAX_TRIES:
                file.preview_attempts += 1
                file.preview_due_at = timezone.now() + CLAIM
                if not _take_turn(file):  # another worker took it after the query
                    continue
                file.save(update_fields=["preview_attempts", "preview_due_at"])
                return file
            logger.error("%s gets no preview: its workers ended %s times.", file.key, MAX_TRIES)
            work.given_up += _give_up(file, attempts=DEADLY)
    return None


def _rendered(file: File) -> Preview:
    """Render and store the preview. Raises InvalidMedia, ProberFailed and StorageFailed."""
    bucket = storage.bucket()
    with bucket.fetched(file.key) as path:
        preview = probing.render(path, file.media_type)
    bucket.keep_bytes(file.preview_key, preview.content, mime=MIME)
    return preview


def _finish(file: File, preview: Preview) -> bool:
    """Set the row of a stored preview to MADE; False: it was deleted, or another worker made it. 1 query, else 2."""
    made = {"preview_width": preview.width, "preview_height": preview.height}
    if _claimed(file).update(preview_state=PreviewState.MADE, **made):
        PREVIEWS.labels("made").inc()
        return True
    if not File.objects.delivered().filter(pk=file.pk, key=file.key).exists():  # deleted or quarantined
        try:
            storage.bucket().remove(file.preview_key)
        except StorageFailed:
            logger.exception("%s has no file and could not be removed; reconcile_files will.", file.preview_key)
    return False


def card(file: File) -> bytes:
    """Return the preview as a PNG, for messengers; made once and stored with the preview.

    Raises ObjectMissing, StorageFailed, InvalidMedia and ProberFailed.
    """
    bucket = storage.bucket()

    def make_card() -> bytes:
        with bucket.fetched(file.preview_key) as path:
            content = probing.render(path, media.WEBP, as_="PNG").content
        bucket.keep_bytes(file.card_key, content, mime=media.PNG.mime)
        if not File.objects.delivered().filter(pk=file.pk, key=file.key).exists():
            bucket.remove(file.card_key)
        return content

    return stored_or_made(bucket, file.card_key, make_card)


def stored_or_made(bucket: Bucket, key: str, make_card: Callable[[], bytes]) -> bytes:
    """Return the object at `key`, which `make_card` makes and stores: AT_ONCE in a process, as anybody may ask.

    Raises StorageFailed; ProberFailed where no place is free within PAGE_SECONDS; and what `make_card` raises.
    """
    with contextlib.suppress(ObjectMissing), bucket.fetched(key) as path:
        return path.read_bytes()
    if not _card_places.acquire(timeout=PAGE_SECONDS):
        raise ProberFailed(f"{AT_ONCE} other cards are being made")
    try:
        with contextlib.suppress(ObjectMissing), bucket.fetched(key) as path:  # another request has made it
            return path.read_bytes()
        return make_card()
    finally:
        _card_places.release()


def _make(file: File, work: Work) -> None:
    with _turn(file) as turn:
        try:
            preview = _rendered(file)
        except InvalidMedia as reason:
            logger.info("%s gets no preview: %s", file.key, reason)
            turn.spent = reason.seconds
            work.given_up += _give_up(file)
        except (ProberFailed, StorageFailed):  # a missing object may be on another host's disk
            if _postpone(file, work):  # else the file was deleted or moved
                logger.warning("The preview of %s failed at try %s.", file.key, file.preview_attempts, exc_info=True)
        else:
            turn.spent = preview.seconds
            work.made += _finish(file, preview)


def _give_up(file: File, *, attempts: int | None = None) -> int:
    """Set the preview to FAILED; 1, or 0 where the file was deleted or another worker has the claim."""
    attempts = file.preview_attempts if attempts is None else attempts
    given_up = _claimed(file).update(preview_state=PreviewState.FAILED, preview_attempts=attempts)
    PREVIEWS.labels("failed").inc(given_up)
    return given_up


def _postpone(file: File, work: Work) -> int:
    """Retry after a pause, as the file is not the cause; after MAX_TRIES, return as `_give_up`."""
    if file.preview_attempts == MAX_TRIES:
        changed = _give_up(file)
        work.given_up += changed
        return changed
    changed = _claimed(file).update(preview_due_at=timezone.now() + PAUSES[file.preview_attempts - 1])
    PREVIEWS.labels("postponed").inc(changed)
    work.postponed += changed
    return changed


def _claimed(file: File) -> FileQuerySet:
    """Return the row while this claim is valid: another claim has another end, a quarantined file another key."""
    rows = File.objects.delivered().filter(pk=file.pk, key=file.key, preview_state=PreviewState.WAITING)
    return rows.filter(preview_due_at=file.preview_due_at)
