"""The read model: rendered by the serializers in the transaction that changes a profile, or marked stale there and
rendered at the next read.

Code that changes rows of a profile does so inside `profiles.changing`; code that changes rows which many profiles show
(the catalogues) marks these stale.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from rest_framework.serializers import Serializer

from accounts import hooks
from accounts.models import User
from infrastructure import timestamps
from infrastructure.databases import bulk
from infrastructure.requests import compiled_serializer, request_context
from infrastructure.requests.api_json import json_text
from infrastructure.settings_cache import from_settings
from lookup import serializers, shapes
from lookup.documents import queries, registry
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.models import Profile, ProfileDocument, UserDocument
from lookup.serializers.current import AliasSerializer, ProfileSerializer, UserSerializer
from lookup.serializers.earlier import BoardUserSerializer, EarlierUserSerializer
from lookup.serializers.rows import WholeProfile

BATCH = 1000  # documents that are marked at once
TEXTS = ("head", "lapsed_head", *DOCUMENT_COLUMNS.values(), "own_links", "earlier", "leaderboard")
_PROFILE, _USER = ProfileSerializer(), UserSerializer()
_EARLIER, _BOARD = EarlierUserSerializer(), BoardUserSerializer()
_COLUMNS = (
    *("is_main", "fingerprint", "user_version", "plan_ends", "avatar_path", "mirrors_chat", "leaderboard_digest"),
    *TEXTS,
)


@from_settings
def fingerprint() -> str:
    """Return a digest of the forms and URLs that documents are rendered with; with another one they are stale."""
    parts = (forms(), settings.BASE_URL, settings.UPLOAD_CDN_URL, settings.ASSET_URL)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@functools.cache
def forms() -> str:
    """Return a digest of the code that documents are rendered by. Every process of a release gets an equal one."""
    modules = (compiled_serializer, queries, registry)
    files = [Path(__file__), *(Path(str(module.__file__)) for module in modules)]
    for package in (serializers, shapes):
        files += sorted(Path(package.__path__[0]).glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def lock(profiles: QuerySet[Profile]) -> list[Profile]:
    """Lock these profiles, main ones first, then their documents, each in the order of their ids; return the profiles.

    All code that changes several profiles locks in this order, then their rows, and users' documents last. 2 queries;
    2 more where a document is missing, which is inserted.
    """
    found = list(profiles.select_for_update(of=("self",), no_key=True).order_by("-is_main", "pk"))
    ids = [profile.pk for profile in found]
    held = set(_lock_documents(ids))
    if missing := [profile for profile in found if profile.pk not in held]:
        new = [ProfileDocument(profile_id=profile.pk, user_id=profile.user_id) for profile in missing]
        ProfileDocument.objects.bulk_create(new, ignore_conflicts=True)
        _lock_documents(ids)
    return found


def _lock_documents(profile_ids: Collection[str]) -> list[str]:
    rows = ProfileDocument.objects.select_for_update(no_key=True).filter(pk__in=profile_ids).order_by("pk")
    return list(rows.values_list("pk", flat=True))


def render(profile_ids: Iterable[str]) -> None:
    """Render the documents of existing profiles of `profile_ids`, and their part of their users' documents. The caller
    holds the locks of `lock`. A constant number of queries; 1 more where the picture of a main profile changed, as a
    claim has it."""
    found = queries.load_profiles(sorted(profile_ids))
    bulk.update([_document(one) for one in found], _COLUMNS)
    of_users = []
    for one in found:
        if one.profile.is_main:
            of_users.append(UserDocument(pk=one.profile.user_id))
            vars(of_users[-1]).update(user_columns(one))
    bulk.update(of_users, ["aliases", "badge_count"])
    mains = [one for one in found if one.profile.is_main and one.avatar_url != one.stored_picture]
    hooks.claims_changed({one.profile.user_id: {"picture"} for one in mains})


@transaction.atomic
def rebuild(*profile_ids: str) -> None:
    """Lock and render these profiles, except deleted ones. Of two concurrent changes, the second renders both."""
    render([profile.pk for profile in lock(Profile.objects.filter(pk__in=profile_ids).only("user"))])


@request_context.waits
@transaction.atomic
def refresh(*profile_ids: str) -> None:
    """Render stale documents of these profiles: of many readers who find one stale, only the first renders it."""
    rows = [profile.pk for profile in lock(Profile.objects.filter(pk__in=profile_ids).only("user"))]
    fresh = ProfileDocument.objects.filter(is_fresh(), pk__in=rows).values_list("pk", flat=True)
    if ids := set(rows) - set(fresh):
        render(ids)


def is_fresh() -> Q:
    """Return the condition of a document that is up to date."""
    return Q(fingerprint=fingerprint(), user_version=F("user__public_version"))


def insert(found: Collection[WholeProfile]) -> None:
    """Insert the documents of new profiles. 1 statement."""
    bulk.insert(_document(one) for one in found)


def rebuild_of(user_id: str) -> None:
    """Render the documents of a user and of all of their profiles."""
    rebuild(*Profile.objects.filter(user=user_id).values_list("pk", flat=True))


@transaction.atomic
def mark_stale(profiles: QuerySet[Profile]) -> int:
    """Have these profiles rendered at the next read; return their number. 2 queries for each BATCH.

    The rows are locked in the order in which `lock` locks them.
    """
    rows = ProfileDocument.objects.select_for_update(no_key=True).filter(profile__in=profiles.order_by())
    marked, last = 0, ""
    while batch := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        marked += ProfileDocument.objects.filter(pk__in=batch).update(fingerprint="")
        last = batch[-1]
    return marked


def mark_stale_of_user(user: User) -> None:
    """Receiver of `account_linked`: mark the documents of `user` stale."""
    mark_stale(Profile.objects.filter(user=user))


def _document(one: WholeProfile) -> ProfileDocument:
    return bulk.build(ProfileDocument, profile_id=one.profile.pk, user_id=one.profile.user_id, **rendered(one))


def rendered(one: WholeProfile) -> dict[str, Any]:
    """Return the columns of a profile's document: what its rows say, in every form of the answers."""
    user, head = one.profile.user, _USER.to_representation(one)
    ends = user.plan_expires_at
    board = _until_views(_BOARD.to_representation(one))
    return {
        "fingerprint": fingerprint(),
        "is_main": one.profile.is_main,
        "user_version": user.public_version,
        "plan_ends": ends and timestamps.microseconds(ends),
        "head": json_text(head),
        "lapsed_head": json_text({**head, "premium": False, "imagehost": False}) if ends else "",
        "avatar_path": one.avatar_path,
        "mirrors_chat": one.mirrors_chat,
        "profile_text": json_text(_PROFILE.of(one)),
        **{
            # Rows without `is_active` are always shown.
            content.name: _list(
                content.form, (row for row in one.lists[content.name] if getattr(row, "is_active", True))
            )
            for content in registry.LISTS.values()
            if content.form is not None
        },
        "own_links": json_text([link.pk for link in one.lists["links"] if link.is_active and link.is_own]),
        "sections": json_text([registry.rendered_section(section) for section in one.lists["sections"]]),
        "earlier": _until_views(_EARLIER.to_representation(one)),
        "leaderboard": board,
        "leaderboard_digest": hashlib.blake2b(board.encode(), digest_size=16).hexdigest(),
    }


def user_columns(one: WholeProfile) -> dict[str, Any]:
    """Return the columns of the user's document that come from their main profile and their aliases."""
    return {
        "aliases": _list(AliasSerializer, one.aliases),
        "badge_count": sum(badge.row.is_enabled for badge in one.lists["badges"]),
    }


@functools.cache
def _form(serializer: type[Serializer[Any]]) -> Serializer[Any]:
    """Return the one instance of a form: making it takes longer than rendering, which changes nothing in it."""
    return serializer()


def _list(serializer: type[Serializer[Any]], rows: Iterable[Any]) -> str:
    form = _form(serializer)
    return json_text([form.to_representation(row) for row in rows])


def _until_views(shown: dict[str, Any]) -> str:
    """Return a JSON object up to the value of its last member, the number of views, which each request adds."""
    return json_text(shown).removesuffix("0}")
