"""Compare the read model with the tables, in batches of constant size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet

from accounts.models import User
from infrastructure.databases import bulk
from lookup.documents import counters, documents, queries
from lookup.models import Comment, Profile, ProfileDocument, UserDocument
from lookup.serializers.rows import WholeProfile

BATCH = 1000
COMPLETED_AT_ONCE = 1000
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Difference:
    """A `column` of the document of `owner` (a profile, user or comment) that differs from the tables."""

    kind: str
    owner: str
    column: str

    def __str__(self) -> str:
        return f"{self.kind} {self.owner}: {self.column}"


@dataclass(frozen=True)
class Part:
    """The rows whose ids lie between two prefixes."""

    after: str = ""
    before: str = ""

    def of(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        return rows.filter(pk__gt=self.after, **{"pk__lt": self.before} if self.before else {})


EVERYTHING = Part()


def parts(number: int) -> list[Part]:
    """Return `number` parts of all ids, at most 256, of about equal size: ids are random hexadecimal digits."""
    bounds = ["", *(f"{256 * place // number:02x}" for place in range(1, number)), ""]
    return [Part(after, before) for after, before in pairwise(bounds)]


def differences(part: Part = EVERYTHING, *, is_repairing: bool = False) -> Iterator[Difference]:
    """Yield every difference of a part; with `is_repairing`, repair each batch after it is compared.

    A document that is marked stale differs from nothing: the next read renders it.
    """
    for users in _batches(User.objects.filter(document=None), part):
        yield from (Difference("user", user.pk, "has no documents") for user in users)
        if is_repairing:
            for user in users:
                complete(user)
    for batch in _batches(Profile.objects.only("pk"), part):
        yield from _of_profiles([profile.pk for profile in batch], is_repairing=is_repairing)
    for rows in _batches(UserDocument.objects.only("uid", "likes", "dislikes", "comments"), part):
        yield from _of_users(rows, is_repairing=is_repairing)
    for comments in _batches(Comment.objects.filter(parent__isnull=True).only("like_count", "reply_count"), part):
        yield from _of_comments(comments, is_repairing=is_repairing)


@transaction.atomic
def complete(user: User) -> None:
    """Create the missing rows of a user; the counters are counted from the tables."""
    profile = Profile.objects.filter(user=user, is_main=True).first()
    if profile is None:
        profile = Profile.objects.create(user=user, is_main=True, name=user.username, created_at=user.created_at)
    UserDocument.objects.get_or_create(user=user, defaults={"uid": user.uid, "profile": profile})
    documents.rebuild_of(user.pk)
    counters.recount([user.pk])


def complete_all() -> int:
    """Complete all users without a document, such as sign-ups at an earlier release's process; return their number."""
    users = list(User.objects.filter(document=None).order_by("pk")[:COMPLETED_AT_ONCE])
    for user in users:
        complete(user)
    return len(users)


def _of_profiles(profile_ids: list[str], *, is_repairing: bool) -> Iterator[Difference]:
    run = {"profile__gte": profile_ids[0], "profile__lte": profile_ids[-1]}
    stored = {row.pk: row for row in ProfileDocument.objects.filter(**run)}
    of_users = {row.profile_id: row for row in UserDocument.objects.filter(**run)}
    found = [
        difference
        for one in queries.load_profiles(profile_ids, is_run=True)
        for difference in _of_profile(one, stored.get(one.profile.pk), of_users.get(one.profile.pk))
    ]
    if found and is_repairing:
        documents.rebuild(*{difference.owner for difference in found})
    yield from found


def _of_profile(
    one: WholeProfile, stored: ProfileDocument | None, of_user: UserDocument | None
) -> Iterator[Difference]:
    if stored is None:
        yield Difference("profile", one.profile.pk, "has no document")
    elif (stored.fingerprint, stored.user_version) == (documents.fingerprint(), one.profile.user.public_version):
        for column, value in documents.rendered(one).items():
            if getattr(stored, column) != value:
                yield Difference("profile", one.profile.pk, column)
        for column, value in documents.user_columns(one).items() if of_user else ():
            if getattr(of_user, column) != value:
                yield Difference("profile", one.profile.pk, column)


def _of_users(rows: list[UserDocument], *, is_repairing: bool) -> Iterator[Difference]:
    counts = counters.counted([row.pk for row in rows])
    uids = dict(User.objects.filter(pk__in=bulk.one_parameter(counts)).values_list("pk", "uid"))
    for row in rows:
        if row.uid != uids[row.pk]:
            if is_repairing:
                UserDocument.objects.filter(pk=row.pk).update(uid=uids[row.pk])
            yield Difference("user", row.pk, "uid")
    found = _of_counts("user", rows, ("likes", "dislikes", "comments"), counts)
    if found and is_repairing:
        counters.recount({difference.owner for difference in found})
    yield from found


def _of_comments(rows: list[Comment], *, is_repairing: bool) -> Iterator[Difference]:
    counts = counters.counted_of_comments([row.pk for row in rows])
    found = _of_counts("comment", rows, ("like_count", "reply_count"), counts)
    if found and is_repairing:
        counters.recount_comments({difference.owner for difference in found})
    yield from found


def _of_counts(
    kind: str, rows: Iterable[Model], columns: Sequence[str], counts: Mapping[str, Sequence[int]]
) -> list[Difference]:
    return [
        Difference(kind, row.pk, column)
        for row in rows
        for column, count in zip(columns, counts[row.pk], strict=True)
        if getattr(row, column) != count
    ]


def _batches(rows: QuerySet[Row], part: Part) -> Iterator[list[Row]]:
    """Yield batches by primary key, so that no batch has to skip what came before it."""
    while batch := list(part.of(rows).order_by("pk")[:BATCH]):
        yield batch
        part = replace(part, after=batch[-1].pk)
