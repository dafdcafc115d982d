"""What staff do about a profile that breaks the rules, short of a ban: hide it, or remove one of its pictures.

A hidden profile is a private one that its owner cannot make public: pages, lookups, presence, leaderboards and the
search read only the flag of private profiles. The owner reads why, in a notice.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, hooks, notices, users
from accounts.models import StaffNotice, User
from lookup.editing import profiles, uploads
from lookup.models import Asset


@transaction.atomic
def hide(*, user: User, by: User, reason: str) -> None:
    """Hide all profiles of the user. Raises ValidationError: hidden already, or as `notices.post`; PermissionDenied: a
    staff account, and `by` is no superuser; User.DoesNotExist."""
    user = _locked(user, by=by)
    if user.is_hidden:
        raise ValidationError("This profile is hidden already.")
    was_public = user.public_api_access
    notice = notices.post(user=user, kind=StaffNotice.Kind.HIDDEN, text=reason, was_public=was_public)
    _save(user, hidden_at=timezone.now(), public_api_access=False)
    audit.record("profile:hidden", by=by, on=user, reason=notice.text, was_public=was_public)


@transaction.atomic
def show_again(*, user: User, by: User, reason: str) -> None:
    """Let the owner decide again who sees the profile: it is as public as it was before. Raises as `hide`; it is not
    hidden."""
    user = _locked(user, by=by)
    if not user.is_hidden:
        raise ValidationError("This profile is not hidden.")
    hidden = user.staff_notices.filter(kind=StaffNotice.Kind.HIDDEN, dismissed_at=None)
    was_public = hidden.filter(was_public=True).exists()
    hidden.update(dismissed_at=timezone.now())
    _save(user, hidden_at=None, public_api_access=was_public)
    audit.record("profile:shown_again", by=by, on=user, reason=reason, is_public=was_public)
    notices.write_to(user, "Your profile is no longer hidden", is_public=was_public)


@transaction.atomic
def remove_picture(*, asset: Asset, by: User, reason: str) -> None:
    """Remove a file from every place of its owner's profiles, and delete it. Raises ValidationError: it was removed
    already, or as `notices.post`; PermissionDenied: of a staff account, and `by` is no superuser."""
    users.check_authority(user=asset.owner, by=by)
    with profiles.changing(all_of=[asset.owner_id]) as block:
        found = Asset.objects.select_for_update().filter(pk=asset.pk).first()
        if found is None:
            raise ValidationError("This picture was removed already.")
        notice = notices.post(user=found.owner, kind=StaffNotice.Kind.PICTURE, text=reason)
        data = {"asset": found.pk, "path": found.path, "mime": found.mime}
        audit.record("asset:removed", by=by, on=found.owner, reason=notice.text, **data)
        uploads.discard(found)
        block.touched.update(block.rows)


def _locked(user: User, *, by: User) -> User:
    users.check_authority(user=user, by=by)
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _save(user: User, **values: Any) -> None:
    """Write the columns of a locked user; call the receivers of a changed privacy."""
    was_public = user.public_api_access
    for name, value in values.items():
        setattr(user, name, value)
    user.save(update_fields=[*values])
    if user.public_api_access != was_public:
        hooks.call("public_access_changed", user)
