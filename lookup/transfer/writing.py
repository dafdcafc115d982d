"""Writes lines that have been accepted, all of them in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone

from accounts import audit
from accounts.models import AuditEvent, User
from lookup import bulk, documents
from lookup.models import Profile
from lookup.transfer import catalogues, content, people, social
from lookup.transfer.catalogues import BadgeCatalogue
from lookup.transfer.claims import Claims, batches
from lookup.transfer.people import People
from lookup.transfer.reading import Line


def write(*, lines: list[Line], claims: Claims, badges: BadgeCatalogue, by: User | None) -> None:
    """The rows, then the documents through their door; `updatedAt` stays what the lines say."""
    badges.write()
    everybody = people.write(lines, claims, timezone.now())
    catalogues.write_entries(lines)
    written = content.write(lines, everybody, claims)
    social.write(lines, claims, written)
    documents.insert(written.new.values())
    documents.rebuild(*sorted({profile.pk for profile in written.profiles.values()} - set(written.new)))
    for batch in batches([line.user_id for line in lines]):
        documents.mark_stale(Profile.objects.filter(user__in=batch, is_main=False))
    bulk.insert(_events(lines, claims, everybody, by))


def _events(lines: list[Line], claims: Claims, everybody: People, by: User | None) -> Iterator[AuditEvent]:
    for line in lines:
        user, is_new = everybody.users[line.user_id], line.user_id not in claims.users
        yield audit.event("profile:imported", by=by, on=user, profile=line.profile_id, is_new=is_new)
    for author in everybody.authors:
        reason = "Wrote a comment that was imported."
        yield audit.event("user:created", by=by, on=author.user, reason=reason, uid=author.user.uid)
