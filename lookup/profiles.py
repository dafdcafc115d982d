"""Profiles: made with their user, changed through one door."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from lookup import documents, figures, settings_schema
from lookup.models import Profile, ProfileDocument, UserDocument
from lookup.queries import WholeProfile

COMPLETED_AT_ONCE = 1000


@transaction.atomic
def create_for(user: User) -> Profile:
    """The main profile of a new user, with its documents: nothing has to be read to render them."""
    profile = Profile.objects.create(user=user, is_main=True, name=user.username, created_at=user.created_at)
    nothing = WholeProfile(profile, settings_schema.filled({}), aliases=[], scrobbler_name="")
    ProfileDocument.objects.create(profile=profile, user=user, **documents.rendered(nothing))
    UserDocument.objects.create(user=user, uid=user.uid, profile=profile)
    return profile


@transaction.atomic
def complete(user: User) -> None:
    """Give a user whatever of this is missing, after an accident; the counters begin with what the tables say."""
    profile = Profile.objects.filter(user=user, is_main=True).first()
    if profile is None:
        profile = Profile.objects.create(user=user, is_main=True, name=user.username, created_at=user.created_at)
    UserDocument.objects.get_or_create(user=user, defaults={"uid": user.uid, "profile": profile})
    documents.rebuild_of(user.pk)
    figures.recount([user.pk])


def complete_all() -> int:
    """The same for everybody who has no document, such as who signed up at a process of an earlier release."""
    users = list(User.objects.filter(document=None).order_by("pk")[:COMPLETED_AT_ONCE])
    for user in users:
        complete(user)
    return len(users)


def touch(*profile_ids: str) -> None:
    """The door: call it in the transaction that changed rows of these profiles, after the change.

    Notes the time of the change and renders what lookups serve. Who locks rows of the profiles calls `locked` first:
    this locks the profiles too, and two changes that lock in different orders would wait for each other.
    """
    with transaction.atomic():
        Profile.objects.filter(pk__in=locked(*profile_ids)).update(updated_at=timezone.now())
        documents.rebuild(*profile_ids)


@transaction.atomic
def locked_of(*user_ids: str) -> list[str]:
    """Lock all profiles of these users, so that nobody else gives or takes one meanwhile; those there are."""
    mains = Profile.objects.select_for_update(no_key=True).filter(user__in=user_ids, is_main=True).order_by("pk")
    list(mains.values_list("pk"))  # everybody waits here; what they made meanwhile is seen below
    return locked(*Profile.objects.filter(user__in=user_ids).values_list("pk", flat=True))


def lock_of_user(user: User) -> None:
    """Hook before an account is deleted: whoever changes its profiles comes before it or after it."""
    locked_of(user.pk)


def locked(*profile_ids: str) -> list[str]:
    """Lock these profiles, main ones first, then their documents, each in the order of their ids; those there are.

    So does everybody who changes several. Rows of what they hold come later, and users' documents last.
    """
    rows = Profile.objects.select_for_update(no_key=True).filter(pk__in=profile_ids)
    found = list(rows.order_by("-is_main", "pk").values_list("pk", flat=True))
    documents.locked(Profile.objects.filter(pk__in=found))
    return found
