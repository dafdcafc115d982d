"""Profiles: created with their user; every change calls `touch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from accounts import audit, receivers, users
from accounts.models import User
from lookup import documents, settings_schema, uploads
from lookup.models import Asset, Profile, ProfileDocument, UserDocument
from lookup.serializers.rows import WholeProfile

CHANGEABLE = frozenset(
    {"name", "display_name", "description", "location", "theme", "font", "font_username"}
    | {"sound_effect", "sound_effect_button", "settings", *Profile.ASSETS}
)


@transaction.atomic
def create_for(user: User) -> Profile:
    """The main profile of a new user, with its documents: nothing has to be read to render them."""
    profile = Profile.objects.create(user=user, is_main=True, name=user.username, created_at=user.created_at)
    nothing = WholeProfile(profile, settings_schema.filled({}), aliases=[])
    ProfileDocument.objects.create(profile=profile, user=user, **documents.rendered(nothing))
    UserDocument.objects.create(user=user, uid=user.uid, profile=profile)
    return profile


@transaction.atomic
def change(*, profile: Profile, values: Mapping[str, Any], by: User | None) -> Profile:
    """Set columns of a profile (names from CHANGEABLE; assets as rows or None) and record which ones changed.

    ValidationError, by column: a text too long, settings that break a rule. PermissionDenied: another user's file, or
    as `users.check_may_act_for`. Profile.DoesNotExist: it was deleted at the same time. Unused files are removed.
    """
    users.check_may_act_for(owner=profile.user, by=by)
    unknown = set(values) - CHANGEABLE
    if unknown:
        raise ValueError(f"Nobody can change {', '.join(sorted(unknown))}.")
    locked(profile.pk)
    row = Profile.objects.get(pk=profile.pk)
    values = {name: settings_schema.validated(value) if name == "settings" else value for name, value in values.items()}
    changed = sorted(name for name, value in values.items() if getattr(row, name) != value)
    if not changed:
        return row
    _check_files(row, [values[name] for name in changed if name in Profile.ASSETS])
    before = [getattr(row, f"{name}_id") for name in changed if name in Profile.ASSETS]
    for name in changed:
        setattr(row, name, values[name])
    row.clean_fields(exclude={field.name for field in row._meta.fields} - set(changed))
    row.save(update_fields=[*changed, "display_name_folded"])
    audit.record("profile:changed", by=by, on=profile.user, profile=row.pk, changed=changed)
    touch(row.pk)
    uploads.release(*before)
    row.refresh_from_db(fields=["updated_at"])
    return row


def _check_files(profile: Profile, files: list[Asset | None]) -> None:
    if any(file is not None and file.owner_id != profile.user_id for file in files):
        raise PermissionDenied("A profile shows files of its owner alone.")


@transaction.atomic
def mirror_chat(*, profile: Profile, is_mirrored: bool, by: User | None) -> Profile:
    """Show the picture of the linked chat account, or one's own. Raises as `change`."""
    locked(profile.pk)
    stored = Profile.objects.values_list("settings", flat=True).get(pk=profile.pk)
    chosen = settings_schema.filled(stored)
    chosen["avatarSettings"]["mirrorChat"] = is_mirrored
    return change(profile=profile, values={"settings": chosen}, by=by)


@transaction.atomic
def set_public_access(*, user: User, is_public: bool, by: User | None) -> None:
    """Show this user in lookups, on leaderboards and on the public page, or hide them."""
    users.check_may_act_for(owner=user, by=by)
    if User.objects.filter(pk=user.pk).exclude(public_api_access=is_public).update(public_api_access=is_public):
        user.public_api_access = is_public
        receivers.call("public_access_changed", user)
        audit.record("user:changed", by=by, on=user, changed=["public_api_access"], public_api_access=is_public)


def touch(*profile_ids: str) -> None:
    """Update the timestamps of these profiles and render their documents.

    Call it after a change of their rows, in the same transaction. Code that locks such rows calls `locked` before: this
    function locks the profiles too, and two changes that lock in different orders would deadlock.
    """
    with transaction.atomic():
        Profile.objects.filter(pk__in=locked(*profile_ids)).update(updated_at=timezone.now())
        documents.rebuild(*profile_ids)


@transaction.atomic
def locked_of(*user_ids: str) -> list[str]:
    """Lock all profiles of these users, so that no other transaction adds or removes one meanwhile; those there are."""
    mains = Profile.objects.select_for_update(no_key=True).filter(user__in=user_ids, is_main=True).order_by("pk")
    list(mains.values_list("pk"))  # waits for other transactions, whose rows are seen below
    return locked(*Profile.objects.filter(user__in=user_ids).values_list("pk", flat=True))


def lock_of_user(user: User) -> None:
    """Receiver of `user_deleted`: a change of the user's profiles commits before the deletion or starts after it."""
    locked_of(user.pk)


def locked(*profile_ids: str) -> list[str]:
    """Lock these profiles, main ones first, then their documents, each in the order of their ids; those there are.

    All code that changes several profiles locks in this order, then their rows, and users' documents last.
    """
    rows = Profile.objects.select_for_update(no_key=True).filter(pk__in=profile_ids)
    found = list(rows.order_by("-is_main", "pk").values_list("pk", flat=True))
    documents.locked(Profile.objects.filter(pk__in=found))
    return found
