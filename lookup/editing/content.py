"""Change what a profile lists: add, change, delete, order rows, switch them on and off.

Every operation is a block of `profiles.changing`, so lookups show the change at once. Raises PermissionDenied as
`users.check_may_act_for`; `Profile.DoesNotExist` or the row's `ObjectDoesNotExist` where it was deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models

from accounts.models import User
from lookup.documents.registry import ContentList, Row
from lookup.editing import profiles, uploads
from lookup.models import Asset, GalleryItem, Profile, ProfileBadge, Section
from lookup.shapes import sections

LAST_PLACE = 2**31 - 1
Values = Mapping[str, Any]  # Any: what a column holds
# These may change while a form is open: the place in the list, the switch, and what people do not edit.
_UNSEEN = frozenset({"order", "is_active", "is_enabled", "clicks", "unlocked_tiers"})


class StaleVersion(Exception):
    """The row has changed since its form was made; nothing was saved."""


def version_of(row: Row) -> str:
    """Return a digest of all columns that the row's form shows."""
    columns = [field.attname for field in row._meta.concrete_fields if field.attname not in _UNSEEN]
    shown = repr([(name, getattr(row, name)) for name in columns])
    return hashlib.sha256(shown.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def check_limit(content: ContentList, profile_id: str, *, more: int = 1) -> None:
    """Raise ValidationError where the profile may not have so many more of them. 1 query."""
    if content.model._default_manager.filter(profile=profile_id).count() + more > content.limit:
        raise ValidationError(
            f"A profile has at most {content.limit} {content.model._meta.verbose_name_plural}: "
            "delete one to add another.",
            code="limit",
        )


def add(*, content: ContentList, profile: Profile, values: Values, by: User | None) -> Row:
    """Put a new row at the end of the list. Raises ValidationError: by column, or the list is full."""
    with profiles.changing(profile.pk, by=by) as block:
        profile = block.profile
        check_limit(content, profile.pk)
        row: Row = content.model(profile=profile, **values)
        _place_last(content, [row])
        _check(row, profile)
        row.save(force_insert=True)
        _record(block, row, "added", changed=sorted(values))
    return row


def extend(*, content: ContentList, profile: Profile, rows: Sequence[Row], by: User | None) -> None:
    """Put new rows at the end of the list, each valid by itself and without a file. Raises ValidationError: the list
    has no room for all of them. 3 queries plus the block's."""
    with profiles.changing(profile.pk, by=by) as block:
        check_limit(content, block.profile.pk, more=len(rows))
        _place_last(content, rows)
        content.model._default_manager.bulk_create(rows)
        block.record("profile:content_extended", list=content.name, profile=profile.pk, count=len(rows))


def _place_last(content: ContentList, rows: Sequence[Row]) -> None:
    """Number new rows of one profile as the last ones of its list."""
    held = content.rows_of(rows[0].profile_id)
    if held and held[-1].order > LAST_PLACE - len(rows):
        _number(content, held)
    first = held[-1].order + 1 if held else 0
    for place, row in enumerate(rows, first):
        row.order = place


def change(
    *,
    content: ContentList,
    profile: Profile,
    pk: str,
    values: Values,
    expected_version: str | None = None,
    by: User | None,
) -> Row:
    """Write `values`. Raises StaleVersion: changed since `expected_version`; ValidationError by column."""
    with profiles.changing(profile.pk, by=by) as block:
        row = content.row_of(block.profile.pk, pk, is_locked=True)
        if expected_version is not None and expected_version != version_of(row):
            raise StaleVersion
        write(block, row, values)
    return row


def write(block: profiles.Changing, row: Row, values: Values) -> None:
    """Write `values` to a locked row of the block's profile. Raises ValidationError by column."""
    changed = [name for name, value in values.items() if getattr(row, name) != value]
    before = _assets_of(row)
    for name in changed:
        setattr(row, name, values[name])
    _check(row, block.profile)
    if changed:
        row.save(update_fields=changed)
        _record(block, row, "changed", changed=sorted(changed))
    uploads.release(*before - _assets_of(row))


@dataclass(frozen=True, slots=True)
class Deleted:
    """A row that `restore` can bring back. `columns`: in JSON. `pictures`: ids of the section's pictures."""

    columns: dict[str, Any]
    pictures: list[str]


def delete(*, content: ContentList, profile: Profile, pk: str, is_undoable: bool = False, by: User | None) -> Deleted:
    """Delete the row. `is_undoable`: keep its files for `restore` until the job or their owner's need removes them.

    Raises ObjectDoesNotExist too where staff gave the row: it can only be switched off.
    """
    with profiles.changing(profile.pk, by=by) as block:
        row = content.row_of(block.profile.pk, pk, is_locked=True)
        if not isinstance(row, content.model):
            raise ObjectDoesNotExist
        inside = GalleryItem.objects.filter(section=pk).values_list("pk", flat=True)
        deleted = Deleted(_columns_of(row), list(inside) if isinstance(row, Section) else [])
        row.delete()
        row.pk = pk  # the audit trail names it
        _record(block, row, "deleted")
        let_go = uploads.mark_unused if is_undoable else uploads.release
        let_go(*_assets_of(row))
    return deleted


def restore(*, content: ContentList, profile: Profile, deleted: Deleted, by: User | None) -> Row:
    """Bring the row back with its id and its place; an existing one stays as it is.

    Raises ValidationError: the list is full, or a file of the row was removed.
    """
    fields = {field.attname: field for field in content.model._meta.concrete_fields}
    row: Row = content.model(**{name: fields[name].to_python(value) for name, value in deleted.columns.items()})
    if row.profile_id != profile.pk:
        raise ObjectDoesNotExist
    with profiles.changing(profile.pk, by=by) as block:
        if present := content.model._default_manager.filter(pk=row.pk, profile=block.profile).first():
            return present
        check_limit(content, profile.pk)
        assets = _assets_of(row)
        if len(Asset.objects.select_for_update().filter(pk__in=assets).order_by("pk")) < len(assets):
            raise ValidationError("This cannot be undone any more, because its file has been removed.", code="gone")
        if isinstance(row, GalleryItem) and not Section.objects.filter(pk=row.section_id, profile=profile.pk).exists():
            row.section = None
        row.save(force_insert=True)
        if deleted.pictures:
            loose = GalleryItem.objects.filter(profile=profile.pk, pk__in=deleted.pictures, section=None)
            loose.update(section=row)
        Asset.objects.filter(pk__in=assets).update(unused_since=None)
        _record(block, row, "restored")
    return row


def switch(*, content: ContentList, profile: Profile, pk: str, is_on: bool, by: User | None) -> Row:
    """Show the row, or keep it for later. Raises ObjectDoesNotExist where rows of the list have no switch."""
    if not content.switch:
        raise ObjectDoesNotExist
    with profiles.changing(profile.pk, by=by) as block:
        row = content.row_of(block.profile.pk, pk, is_locked=True)
        if getattr(row, content.switch) != is_on:
            setattr(row, content.switch, is_on)
            row.save(update_fields=[content.switch])
            _record(block, row, "changed", changed=[content.switch])
    return row


def move(*, content: ContentList, profile: Profile, pk: str, places: int, by: User | None) -> None:
    """Move the row up by one place (-1) or down (1) in its list or group; at the end of it nothing happens."""
    with profiles.changing(profile.pk, by=by) as block:
        rows = content.rows_of(block.profile.pk)
        moved = next((row for row in rows if row.pk == pk), None)
        if moved is None:
            raise ObjectDoesNotExist
        peers = [
            row.pk for row in rows if not content.group or getattr(row, content.group) == getattr(moved, content.group)
        ]
        place = peers.index(pk)
        target = min(max(place + places, 0), len(peers) - 1)
        peers.insert(target, peers.pop(place))
        _write_order(content, block, rows, peers)


def reorder(*, content: ContentList, profile: Profile, pks: Sequence[str], by: User | None) -> None:
    """Order these rows like this, within the places that they hold together. Raises ValidationError: one is named
    twice, or is not there."""
    with profiles.changing(profile.pk, by=by) as block:
        rows = content.rows_of(block.profile.pk)
        if len(set(pks)) != len(pks) or set(pks) - {row.pk for row in rows}:
            raise ValidationError("The list has changed meanwhile. Open the page again.", code="changed")
        _write_order(content, block, rows, pks)


def _write_order(content: ContentList, block: profiles.Changing, rows: Iterable[Row], named: Sequence[str]) -> None:
    """Save the order of `rows`, the whole list, in which those of `named` swap places. Every row gets a number of its
    own, for imported ones may share one."""
    by_id = {row.pk: row for row in rows}
    wanted, among = iter(named), set(named)
    order = [by_id[next(wanted)] if pk in among else by_id[pk] for pk in by_id]
    if [row.pk for row in order] == list(by_id):
        return
    _number(content, order)
    block.record("profile:content_ordered", list=content.name, profile=block.profile.pk)


def _number(content: ContentList, rows: Iterable[Row]) -> None:
    """Number the rows 0, 1, 2… in this order."""
    changed = []
    for place, row in enumerate(rows):
        if row.order != place:
            row.order = place
            changed.append(row)
    for model in filter(None, (content.model, content.given)):
        model._default_manager.bulk_update([row for row in changed if isinstance(row, model)], ["order"])


def _check(row: Row, profile: Profile) -> None:
    """Raise ValidationError by column. All that the row names must belong to the profile or its user."""
    if isinstance(row, Section):
        row.config = sections.validated(row.type, row.config)
    for field in row._meta.concrete_fields:
        if not isinstance(field, models.ForeignKey) or field.name == "profile":
            continue
        named = getattr(row, field.name)
        if isinstance(named, Asset) and named.owner_id != profile.user_id:
            raise ValidationError({field.name: "This file belongs to another user."})
        if isinstance(named, Section) and (
            named.profile_id != profile.pk or named.type != sections.SectionType.GALLERY
        ):
            raise ValidationError({field.name: "Choose a gallery section of this profile."})
    if isinstance(row, ProfileBadge) and row.selected_tier not in (None, *row.unlocked_tiers):
        raise ValidationError({"selected_tier": "Choose one of the unlocked tiers."})
    row.full_clean(exclude=["profile"])


def _columns_of(row: Row) -> dict[str, Any]:
    """Return the columns as JSON holds them; `to_python` of each field reads them."""
    columns = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in columns.items()}


def _assets_of(row: Row) -> set[str]:
    """Return the ids of the files that the row shows."""
    fields = [field for field in row._meta.concrete_fields if field.related_model is Asset]
    return {pk for field in fields if (pk := getattr(row, field.attname)) is not None}


def _record(block: profiles.Changing, row: Row, action: str, **data: Any) -> None:
    block.record("profile:content_changed", act=action, model=row._meta.label_lower, id=row.pk, **data)
