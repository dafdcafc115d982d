"""Import profiles from JSON lines. Each line is imported whole, or refused with every reason."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import BinaryIO

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import audit, hooks
from accounts.models import User
from infrastructure import worker_processes
from infrastructure.databases import bulk
from lookup.documents import documents
from lookup.editing import profiles
from lookup.models import Profile
from lookup.shapes.strict_fields import Problem, Problems
from lookup.transfer import catalogues, content, people, reading
from lookup.transfer.catalogues import BadgeCatalogue
from lookup.transfer.conflicts import Claims, Taken, batches
from lookup.transfer.reading import Line, LineRefused

# How many lines are read and written together, and how much text: enough to ask the database once for many.
BATCH_LINES, BATCH_BYTES = 500, 4 * 1024 * 1024
AHEAD = 3  # batches that another process has read, or is to read, while one is written
_TAKEN = "Another import or user took a name or id of this line at the same time. Import it again."

Batch = list[tuple[int, bytes]]  # lines by their numbers
ReadBatch = list[tuple[int, Line | Problems]]  # lines as read, or why one is refused
Reader = Callable[[Iterable[Batch]], Iterator[ReadBatch]]


@dataclass
class Outcome:
    """The result for a line: refused if it has `problems`."""

    number: int
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    is_new: bool = False


def read_here(batches: Iterable[Batch]) -> Iterator[ReadBatch]:
    """Read each batch when it is requested."""
    return map(_read, batches)


def read_ahead(batches: Iterable[Batch]) -> Iterator[ReadBatch]:
    """Read batches in another process, while the caller writes earlier ones. Where `worker_processes.may_fork`."""
    with worker_processes.pool(1) as pool:
        waiting: deque[Future[ReadBatch]] = deque()
        for batch in batches:
            waiting.append(pool.submit(_read, batch))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _read(batch: Batch) -> ReadBatch:
    found: ReadBatch = []
    for number, text in batch:
        try:
            found.append((number, reading.read(number, text)))
        except LineRefused as refused:
            found.append((number, refused.problems))
    return found


def run(
    *, file: BinaryIO, is_check: bool = False, by: User | None = None, reader: Reader = read_here
) -> Iterator[Outcome]:
    """Import the lines of `file`, in order; yield the outcome of each. With `is_check` nothing is written.

    Raises OperationalError where the database does not answer; earlier lines stay. Memory holds one batch (with
    `read_ahead`, some more), and the user ids of earlier lines; with `is_check`, all that they name.
    """
    seen: dict[bytes, int] = {}
    taken: Taken = {}
    for batch in reader(_batches(file)):
        outcomes = {number: Outcome(number) for number, _ in batch}
        lines = []
        for number, line in batch:
            if not isinstance(line, Line):
                outcomes[number].problems = line
            elif (before := seen.setdefault(bytes.fromhex(line.user_id), number)) != number:  # refused or not
                outcomes[number].problems = [("user.id", f"Line {before} is of this user.")]
            else:
                lines.append(line)
        if is_check:
            _accepted(lines, Claims(lines, taken), outcomes)
        else:
            _import(lines, outcomes, by)
        yield from outcomes.values()


def _batches(file: BinaryIO) -> Iterator[Batch]:
    batch: Batch = []
    size = 0
    for number, text in reading.lines(file):
        batch.append((number, text))
        size += len(text)
        if len(batch) == BATCH_LINES or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _import(lines: list[Line], outcomes: dict[int, Outcome], by: User | None) -> None:
    """Import all lines in one transaction; where the database refuses that, each in one of its own."""
    try:
        with transaction.atomic(), hooks.merged_claims():
            people.lock(lines)
            with profiles.changing(all_of=[line.user_id for line in lines]) as block:
                claims = Claims(lines, {})
                accepted, badges = _accepted(lines, claims, outcomes)
                _write(block, lines=accepted, claims=claims, badges=badges, by=by)
    except IntegrityError:
        if len(lines) == 1:
            outcomes[lines[0].number].problems = [("", _TAKEN)]
            return
        for line in lines:
            outcomes[line.number] = Outcome(line.number)
            _import([line], outcomes, by)


def _accepted(lines: list[Line], claims: Claims, outcomes: dict[int, Outcome]) -> tuple[list[Line], BadgeCatalogue]:
    """Return the lines without conflicts, each compared with the lines before it, and their badges."""
    accepted = []
    for line in lines:
        problems = list(claims.problems(line))
        outcomes[line.number].problems = problems
        if not problems:
            claims.take(line)
            outcomes[line.number].is_new = line.user_id not in claims.users
            accepted.append(line)
    badges = BadgeCatalogue(accepted)
    for line in accepted:
        outcomes[line.number].warnings = [*line.warnings, *claims.warnings(line), *badges.warnings[line.number]]
    return accepted, badges


def _write(
    block: profiles.Changing, *, lines: list[Line], claims: Claims, badges: BadgeCatalogue, by: User | None
) -> None:
    """Write the rows, then the documents; `updatedAt` stays as in the lines."""
    badges.write()
    written_people = people.write(lines, claims, timezone.now())
    catalogues.write_entries(lines)
    written = content.write(lines, written_people, claims)
    content.write_totals(lines, claims, written)
    documents.insert(written.new.values())
    block.rendered.update({profile.pk for profile in written.profiles.values()} - set(written.new))
    for batch in batches([line.user_id for line in lines]):
        documents.mark_stale(Profile.objects.filter(user__in=batch, is_main=False))
    events = [
        audit.event(
            "profile:imported",
            by=by,
            on=written_people.users[line.user_id],
            profile=line.profile_id,
            is_new=line.user_id not in claims.users,
        )
        for line in lines
    ]
    for author in written_people.authors:
        reason = "Wrote a comment that was imported."
        events.append(audit.event("user:created", by=by, on=author.user, reason=reason, uid=author.user.uid))
    bulk.insert(events)
