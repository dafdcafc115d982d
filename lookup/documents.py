"""The read model: rendered by the serializers in the transaction that changes a profile, or marked stale there and
rendered at the next read.

Code that changes rows of a profile calls `profiles.touch` or `rebuild`; code that changes rows which many profiles show
(the catalogues) marks these stale.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from rest_framework.serializers import Serializer

from accounts import compiled_serializer, epoch, hot
from accounts.api_json import json_text
from accounts.kept_settings import from_settings
from accounts.models import User
from lookup import (
    addresses,
    bulk,
    earlier_facts,
    heads,
    queries,
    registry,
    sections,
    settings_schema,
    shown_badges,
    svg,
    values,
)
from lookup.models import Profile, ProfileDocument, UserDocument
from lookup.queries import WholeProfile
from lookup.registry import DOCUMENT_COLUMNS
from lookup.serializers import current, earlier, fields, leaderboard
from lookup.shown_badges import ShownBadge

BATCH = 1000  # documents that are marked at once
TEXTS = ("head", "lapsed_head", *DOCUMENT_COLUMNS.values(), "earlier", "leaderboard")
FORM_MODULES = (current, earlier, leaderboard, fields)
RENDERING_MODULES = (
    compiled_serializer,
    addresses,
    earlier_facts,
    heads,
    queries,
    registry,
    sections,
    settings_schema,
    shown_badges,
    svg,
    values,
)
_PROFILE, _USER = current.ProfileSerializer(), current.UserSerializer()
_COLUMNS = (
    *("is_main", "fingerprint", "user_version", "plan_ends", "avatar_path", "mirrors_chat", "leaderboard_digest"),
    *TEXTS,
)


def fingerprint() -> str:
    """A digest of the forms and URLs that documents are rendered with; a document with a different one is stale."""
    return _fingerprint(forms())


@from_settings
def _fingerprint(of_forms: str) -> str:
    parts = (of_forms, settings.BASE_URL, settings.UPLOAD_CDN_URL, settings.ASSET_URL)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@functools.cache
def forms() -> str:
    """A digest of all that documents are rendered with: fields, settings, section types and code.

    It is the same for every process of a release and every version of Python.
    """
    serializers = [one for module in FORM_MODULES for one in vars(module).values() if _is_form_of(module, one)]
    structure = [*map(repr, registry.SECTION_FORMS.values()), *(repr(one()) for one in serializers)]
    code = [Path(str(module.__file__)).read_bytes() for module in (*FORM_MODULES, *RENDERING_MODULES)]
    parts = [*structure, repr(settings_schema.FIELDS), sections.description(), *code]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _is_form_of(module: ModuleType, value: object) -> TypeGuard[type[Serializer[Any]]]:
    return isinstance(value, type) and issubclass(value, Serializer) and value.__module__ == module.__name__


@transaction.atomic
def rebuild(*profile_ids: str) -> None:
    """Render the documents of these profiles, and what their users' documents say of them. A constant number of
    queries.

    The rows are locked before anything is read, profiles before documents: of two changes at once, the second one
    renders both, and of a deletion nothing is left.
    """
    profiles = Profile.objects.select_for_update(no_key=True).filter(pk__in=profile_ids)
    owners = profiles.order_by("-is_main", "pk").values_list("pk", "user_id")
    ProfileDocument.objects.bulk_create(
        [ProfileDocument(profile_id=pk, user_id=user_id) for pk, user_id in owners], ignore_conflicts=True
    )
    locked = ProfileDocument.objects.select_for_update(no_key=True).filter(pk__in=profile_ids).order_by("pk")
    documents = {document.pk: document for document in locked.only("pk", "user_id")}
    found = queries.load_profiles(list(documents))
    for one in found:
        for column, value in rendered(one).items():
            setattr(documents[one.profile.pk], column, value)
    bulk.update(documents.values(), _COLUMNS)
    _rebuild_users(found)


@hot.waits
@transaction.atomic
def refresh(*profile_ids: str) -> None:
    """Render those of these documents that are stale still: of many readers who find one stale, the first renders."""
    profiles = Profile.objects.select_for_update(no_key=True).filter(pk__in=profile_ids)
    rows = list(profiles.order_by("-is_main", "pk").values_list("pk", flat=True))
    fresh = ProfileDocument.objects.filter(is_fresh(), pk__in=rows).values_list("pk", flat=True)
    if ids := sorted(set(rows) - set(fresh)):
        rebuild(*ids)


def is_fresh() -> Q:
    """Whether a document is up to date."""
    return Q(fingerprint=fingerprint(), user_version=F("user__public_version"))


def insert(found: Collection[WholeProfile]) -> None:
    """Insert the documents of new profiles. 1 statement."""
    bulk.insert(
        bulk.build(ProfileDocument, profile_id=one.profile.pk, user_id=one.profile.user_id, **rendered(one))
        for one in found
    )


def rebuild_of(user_id: str) -> None:
    """The documents of a user and of all of their profiles."""
    rebuild(*Profile.objects.filter(user=user_id).values_list("pk", flat=True))


@transaction.atomic
def mark_stale(profiles: QuerySet[Profile]) -> int:
    """Have these profiles rendered at the next read; how many there are. 2 queries for each BATCH of them.

    The rows are locked in the order in which `rebuild` locks them.
    """
    rows = ProfileDocument.objects.select_for_update(no_key=True).filter(profile__in=profiles.order_by())
    marked, last = 0, ""
    while batch := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        marked += ProfileDocument.objects.filter(pk__in=batch).update(fingerprint="")
        last = batch[-1]
    return marked


def locked(profiles: QuerySet[Profile]) -> list[str]:
    """Lock the documents of these profiles, after the profiles where both are locked; their ids. 1 query."""
    rows = ProfileDocument.objects.select_for_update(no_key=True).filter(profile__in=profiles.order_by())
    return list(rows.order_by("pk").values_list("pk", flat=True))


def mark_stale_of_user(user: User) -> None:
    """Receiver of `account_linked`."""
    mark_stale(Profile.objects.filter(user=user))


def rendered(one: WholeProfile) -> dict[str, Any]:
    """The columns of a profile's document."""
    facts = earlier_facts.of(one)
    standard, custom = _of_type(one, "STANDARD"), _of_type(one, "CUSTOM")
    board_text = _until_views(
        **heads.leaderboard(one),
        profile=_form(leaderboard.BoardProfileSerializer).to_representation(facts),
        badges=_each(earlier.EarlierBadgeSerializer, standard),
        customBadges=_each(leaderboard.BoardCustomBadgeSerializer, custom),
        links=_each(leaderboard.BoardLinkSerializer, one.links),
        audios=_each(leaderboard.BoardAudioSerializer, one.audios),
    )
    return {
        "fingerprint": fingerprint(),
        **_of_user(one),
        "profile_text": json_text(_PROFILE.of(one)),
        **{
            content.name: json_text(_each(content.form, _active(getattr(one, content.name))))
            for content in registry.LISTS.values()
            if content.form is not None
        },
        "sections": json_text([registry.rendered_section(section) for section in one.sections]),
        "earlier": _until_views(
            **heads.earlier(one, _each(current.AliasSerializer, one.aliases[:1])),
            profile=_form(earlier.EarlierProfileSerializer).to_representation(facts),
            badges=_each(earlier.EarlierBadgeSerializer, standard),
            customBadges=_each(earlier.EarlierCustomBadgeSerializer, custom),
            links=_each(earlier.EarlierLinkSerializer, one.links),
            audios=_each(earlier.EarlierAudioSerializer, one.audios),
            backgrounds=_each(earlier.EarlierBackgroundSerializer, one.backgrounds),
        ),
        "leaderboard": board_text,
        "leaderboard_digest": heads.digest(board_text),
    }


def user_columns(one: WholeProfile) -> dict[str, Any]:
    """The columns of the user's document that come from their main profile and their aliases."""
    return {
        "aliases": json_text(_each(current.AliasSerializer, one.aliases)),
        "badge_count": sum(badge.is_enabled for badge in one.badges),
    }


def _rebuild_users(found: Collection[WholeProfile]) -> None:
    changed = []
    for one in found:
        if one.profile.is_main:
            document = UserDocument(pk=one.profile.user_id)
            vars(document).update(user_columns(one))
            changed.append(document)
    bulk.update(changed, ["aliases", "badge_count"])


@functools.cache
def _form(serializer: type[Serializer[Any]]) -> Serializer[Any]:
    """One instance of a form: making one takes longer than rendering with it, which changes nothing in it."""
    return serializer()


def _each(serializer: type[Serializer[Any]], rows: Iterable[Any]) -> list[Any]:
    form = _form(serializer)
    return [form.to_representation(row) for row in rows]


def _active(rows: Collection[Any]) -> list[Any]:
    """Rows without `is_active` are always shown."""
    return [row for row in rows if getattr(row, "is_active", True)]


def _of_type(one: WholeProfile, type_: str) -> list[ShownBadge]:
    return [badge for badge in one.badges if badge.type == type_]


def _of_user(one: WholeProfile) -> dict[str, Any]:
    """The columns about the user, and those that decide whether they are up to date."""
    user, shown = one.profile.user, heads.user_row(one, is_lapsed=False)
    ends = user.plan_expires_at
    return {
        "is_main": one.profile.is_main,
        "user_version": user.public_version,
        "plan_ends": ends and epoch.microseconds(ends),
        "head": _USER.to_json(shown),
        "lapsed_head": _USER.to_json(heads.user_row(one, is_lapsed=True)) if ends else "",
        "avatar_path": shown.avatar_path,
        "mirrors_chat": shown.mirrors_chat,
    }


def _until_views(**values: Any) -> str:
    """A JSON object up to its last member, the number of views, which each request adds."""
    return f'{json_text(values)[:-1]},"viewCount":'
