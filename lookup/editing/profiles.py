"""Create a profile with its user, and change it: every change happens inside `changing`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, hooks, notices, users
from accounts.models import User
from lookup.documents import documents
from lookup.editing import uploads
from lookup.models import Asset, Profile, ProfileDocument, UserDocument
from lookup.serializers.rows import WholeProfile
from lookup.shapes import settings_schema, themes

CHANGEABLE = frozenset(
    {"name", "display_name", "description", "location", "theme", "font", "font_username"}
    | {"sound_effect", "sound_effect_button", "settings", *Profile.ASSETS}
)


class NotLocked(ObjectDoesNotExist):
    """A nested block names a profile that the outer block has not locked, such as the profile of a row which another
    request has moved. Locking it now could deadlock."""


@dataclass(slots=True)
class Changing:
    """Locked profiles with their users, by id; without profiles that do not exist.

    `user_ids`: users all of whose profiles are locked. At the end of the block, profiles in `touched` get a new
    timestamp and are rendered, profiles in `rendered` are only rendered.
    """

    rows: dict[str, Profile]
    asked: frozenset[str]
    user_ids: frozenset[str] = frozenset()
    touched: set[str] = field(default_factory=set)
    rendered: set[str] = field(default_factory=set)
    by: User | None = None

    @property
    def profile(self) -> Profile:
        """Return the only profile of the block. Raises Profile.DoesNotExist if it was deleted."""
        (asked,) = self.asked
        if asked not in self.rows:
            raise Profile.DoesNotExist
        return self.rows[asked]

    def record(self, verb: str, **data: Any) -> None:
        """Have the profile rendered at the end, and write the audit row of a change to it."""
        self.touched.add(self.profile.pk)
        audit.record(verb, by=self.by, on=self.profile.user, **data)


_outer: ContextVar[Changing | None] = ContextVar("_outer", default=None)


@contextmanager
def changing(*profile_ids: str, all_of: Collection[str] = (), by: User | None = None) -> Iterator[Changing]:
    """Lock these profiles in a transaction; at its end, render the changed ones, once.

    `all_of`: ids of users whose profiles are all locked, so that no other transaction adds or removes one. A nested
    block locks and renders nothing itself: an operation may consist of operations. An error that leaves it ends the
    outer block too. Raises PermissionDenied as `users.check_may_act_for`; NotLocked if the outer block has not locked
    one of them. `Profile.DoesNotExist`: see `Changing.profile`.
    """
    outer, asked, user_ids = _outer.get(), frozenset(profile_ids), frozenset(all_of)
    with transaction.atomic(savepoint=outer is None):
        if outer is None:
            block = Changing(_locked(asked, user_ids), asked, user_ids, by=by)
        elif user_ids <= outer.user_ids and asked <= outer.asked | outer.rows.keys():
            rows = {pk: row for pk, row in outer.rows.items() if pk in asked or row.user_id in user_ids}
            block = Changing(rows, asked, user_ids, outer.touched, outer.rendered, by)
        else:
            raise NotLocked
        for row in block.rows.values():
            users.check_may_act_for(owner=row.user, by=by)
        if outer is not None:
            yield block
            return
        token = _outer.set(block)
        try:
            yield block
        finally:
            _outer.reset(token)
        _finish(block)


def _finish(block: Changing) -> None:
    """Write the timestamps and the documents."""
    if block.touched:
        now = timezone.now()
        Profile.objects.filter(pk__in=block.touched).update(updated_at=now)
        for pk in block.touched & block.rows.keys():
            block.rows[pk].updated_at = now
    if changed := block.touched | block.rendered:
        documents.lock(Profile.objects.filter(pk__in=changed - block.rows.keys()).only("user"))  # new ones
        documents.render(changed)


def _locked(profile_ids: Collection[str], user_ids: Collection[str]) -> dict[str, Profile]:
    if user_ids:
        mains = Profile.objects.select_for_update(no_key=True).filter(user__in=user_ids, is_main=True).order_by("pk")
        list(mains.values_list("pk"))  # waits for other transactions, whose rows are seen below
    wanted = Profile.objects.filter(user__in=user_ids) if user_ids else Profile.objects.filter(pk__in=profile_ids)
    return {row.pk: row for row in documents.lock(wanted.select_related("user"))}


@transaction.atomic
def create_for(user: User) -> Profile:
    """Create the main profile of a new user, with its documents: nothing has to be read to render them."""
    profile = Profile.objects.create(
        user=user, is_main=True, name=user.username, created_at=user.created_at, **starting_look()
    )
    bare = WholeProfile(profile, settings_schema.filled(profile.settings), aliases=[])
    ProfileDocument.objects.create(profile=profile, user=user, **documents.rendered(bare))
    UserDocument.objects.create(user=user, uid=user.uid, profile=profile)
    return profile


def starting_look() -> dict[str, Any]:
    """Return the columns of the theme that new profiles begin with."""
    look = themes.plain(themes.STARTER.name)
    return {**look, "settings": settings_schema.validated(look["settings"])}


def change(*, profile: Profile, values: Mapping[str, Any], by: User | None) -> Profile:
    """Set columns of a profile (names from CHANGEABLE; assets as rows or None) and record which ones changed.

    Raises ValidationError, by column: a text too long, settings that break a rule; PermissionDenied: another user's
    file, or as `users.check_may_act_for`; Profile.DoesNotExist if it was deleted. Unused files are removed.
    """
    unknown = set(values) - CHANGEABLE
    if unknown:
        raise ValueError(f"Nobody can change {', '.join(sorted(unknown))}.")
    values = {name: settings_schema.validated(value) if name == "settings" else value for name, value in values.items()}
    with changing(profile.pk, by=by) as block:
        row = block.profile
        changed = sorted(name for name, value in values.items() if getattr(row, name) != value)
        if not changed:
            return row
        before = [getattr(row, f"{name}_id") for name in changed if name in Profile.ASSETS]
        for name in changed:
            if isinstance(values[name], Asset) and values[name].owner_id != row.user_id:
                raise PermissionDenied("A profile shows files of its owner alone.")
            setattr(row, name, values[name])
        row.clean_fields(exclude={field.name for field in row._meta.fields} - set(changed))
        row.save(update_fields=[*changed, "display_name_folded"])
        block.record("profile:changed", profile=row.pk, changed=changed)
        if before:
            uploads.release(*before)
    return row


def change_setting(profile: Profile, key: str, name: str, *, value: Any, by: User | None) -> None:
    """Set one setting and keep the stored ones. Raises ValidationError, PermissionDenied, Profile.DoesNotExist."""
    with changing(profile.pk, by=by) as block:
        chosen = settings_schema.filled(block.profile.settings)
        chosen[key][name] = value
        change(profile=profile, values={"settings": chosen}, by=by)


@transaction.atomic
def set_public_access(*, user: User, is_public: bool, by: User | None) -> None:
    """Show this user in lookups, on leaderboards and on the public page, or make the profile private: one that staff
    have hidden stays so when they show it again. Raises ValidationError: staff have hidden the profile, and it would be
    public."""
    users.check_may_act_for(owner=user, by=by)
    changed = User.objects.filter(pk=user.pk).exclude(public_api_access=is_public)
    if is_public:
        changed = changed.filter(hidden_at=None)
    if changed.update(public_api_access=is_public):
        user.public_api_access = is_public
        hooks.call("public_access_changed", user)
        audit.record("user:changed", by=by, on=user, changed=["public_api_access"], public_api_access=is_public)
    elif not is_public:
        notices.keep_private(user=user)
    elif User.objects.filter(pk=user.pk, hidden_at__isnull=False).exists():
        raise ValidationError(users.HIDDEN)


def touch(*profile_ids: str) -> None:
    """Update the timestamps of these profiles and render their documents, at the end of the outer block if any."""
    with changing(*profile_ids) as block:
        block.touched.update(block.rows)


def lock_of_user(user: User) -> None:
    """Receiver of `user_deleted`: a change of the user's profiles commits before the deletion or starts after it."""
    _locked((), [user.pk])
