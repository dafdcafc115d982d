"""Writes lines that have been accepted, all of them in the caller's transaction."""

from __future__ import annotations

from django.utils import timezone

from accounts import audit
from accounts.models import User
from lookup import documents
from lookup.models import Profile
from lookup.transfer import catalogues, content, people, social
from lookup.transfer.catalogues import BadgeCatalogue
from lookup.transfer.claims import Claims, batches, found
from lookup.transfer.reading import Line


def write(*, lines: list[Line], claims: Claims, badges: BadgeCatalogue, by: User | None) -> None:
    """The rows, then the documents through their door; `updatedAt` stays what the lines say."""
    badges.write()
    authors = people.write(lines, claims, timezone.now())
    catalogues.write_entries(lines)
    main_profiles = content.write(lines, authors, claims)
    social.write(lines, authors, claims, main_profiles)
    documents.rebuild(*sorted(main_profiles.values()))
    for batch in batches([line.user_id for line in lines]):
        documents.mark_stale(Profile.objects.filter(user__in=batch, is_main=False))
    users = {user.pk: user for user in found(User.objects.all(), "pk", list(main_profiles))}
    for line in lines:
        is_new = line.user_id not in claims.users
        audit.record("profile:imported", by=by, on=users[line.user_id], profile=line.profile_id, is_new=is_new)
    for author in authors:
        reason = "Wrote a comment that was imported."
        audit.record("user:created", by=by, on=author.user, reason=reason, uid=author.user.uid)
