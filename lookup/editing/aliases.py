"""Further names of a user, in the one namespace with usernames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts import audit
from accounts.models import Name, User
from accounts.models.names import NameKind, validate_available
from accounts.models.users import username_validator
from lookup.editing import profiles
from lookup.models import Alias, Profile

MAX_ALIASES = 10  # that people give themselves


def add(*, user: User, name: str, redirects: bool = True, has_own_profile: bool = False, by: User | None) -> Alias:
    """Give the user another name. Raises ValidationError: no name, reserved, taken, or one's own beyond MAX_ALIASES;
    PermissionDenied as `users.check_may_act_for`; User.DoesNotExist: the account was deleted."""
    with profiles.changing(all_of=[user.pk], by=by) as block:
        if not block.rows:
            raise User.DoesNotExist
        if by is not None and by.pk == user.pk and Alias.objects.filter(name__user=user).count() >= MAX_ALIASES:
            raise ValidationError(
                f"You have {MAX_ALIASES} aliases, which is the limit: delete one first.", code="limit"
            )
        row = _claim(user, name)
        profile = _new_profile(row, block) if has_own_profile else None
        alias = Alias.objects.create(name=row, redirects=redirects, profile=profile)
        audit.record("alias:added", by=by, on=user, alias=name, redirects=redirects)
        block.rendered.update(block.rows)
    return alias


def change(*, alias: Alias, redirects: bool, has_own_profile: bool, by: User | None) -> Alias:
    """Set what visitors of the alias get. Without `has_own_profile`, its profile is deleted. Raises Alias.DoesNotExist,
    as all functions below, where it was removed."""
    with _changing(alias, by) as block:
        old = alias.profile
        if has_own_profile and old is None:
            alias.profile = _new_profile(alias.name, block)
        elif not has_own_profile:
            alias.profile = None
        alias.redirects = redirects
        alias.save()
        if old is not None and alias.profile is None:
            old.delete()
        audit.record("alias:changed", by=by, on=alias.name.user, alias=alias.name.name, redirects=redirects)
    return alias


def rename(*, alias: Alias, name: str, by: User | None) -> Alias:
    """Give the alias another name, which frees the old one; its profile and what its visitors get stay. Raises
    ValidationError: no name, reserved or taken."""
    user, old = alias.name.user, alias.name
    with _changing(alias, by):
        row = _claim(user, name)
        old.delete()  # and the alias with it
        renamed = Alias.objects.create(
            name=row, redirects=alias.redirects, profile=alias.profile, created_at=alias.created_at
        )
        audit.record("alias:renamed", by=by, on=user, alias=name, old_alias=old.name)
    return renamed


def remove(*, alias: Alias, by: User | None) -> None:
    """Free the name, and delete the profile that it showed."""
    user, name = alias.name.user, alias.name.name
    with _changing(alias, by):
        if alias.profile is not None:
            alias.profile.delete()
        alias.name.delete()
        audit.record("alias:removed", by=by, on=user, alias=name)


@contextmanager
def _changing(alias: Alias, by: User | None) -> Iterator[profiles.Changing]:
    """Lock the profiles of its user, then read the alias again, because its profile may have changed."""
    with profiles.changing(all_of=[alias.name.user_id], by=by) as block:
        alias.refresh_from_db()
        yield block
        block.rendered.update(block.rows)


def _claim(user: User, name: str) -> Name:
    username_validator(name)
    validate_available(name)
    try:
        with transaction.atomic():
            return Name.objects.create(key=name.upper(), name=name, user=user, kind=NameKind.ALIAS)
    except IntegrityError as error:  # another request took it after the check
        raise ValidationError("This name is already taken.", code="taken") from error


def _new_profile(name: Name, block: profiles.Changing) -> Profile:
    profile = Profile.objects.create(user=name.user, is_main=False, name=name.name, **profiles.starting_look())
    block.rendered.add(profile.pk)
    return profile
