"""The roles of staff, in roles.toml. `manage.py create_roles` makes a group of each.

Each permission of the service's own apps is in the role Operator. Permissions of Django and of the libraries are in
none: their holder could take every right, or read credentials. They are for superusers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import Group, Permission
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import audit

OWN_APPS = ("accounts", "dashboard", "imagehost", "lookup", "oidc_provider", "presence")


@dataclass(frozen=True)
class Role:
    """`permissions`: whole names; None: all of OWN_APPS."""

    name: str
    purpose: str
    permissions: Sequence[str] | None = None


_TABLE = tomllib.loads(Path(__file__).with_name("roles.toml").read_text(encoding="utf-8"))
ROLES = tuple(Role(**row) for row in _TABLE["role"])


@dataclass(frozen=True)
class Change:
    """What `create` did to the group of a role: names of permissions."""

    role: str
    is_new: bool
    added: Sequence[str]
    removed: Sequence[str]


@transaction.atomic
def create(*, is_exact: bool) -> list[Change]:
    """Make missing groups, and add the permissions that they lack; `is_exact`: remove all other permissions.

    Raises ValidationError: the database lacks a permission.
    """
    known = Permission.objects.select_related("content_type").order_by("pk")
    names = {f"{row.content_type.app_label}.{row.codename}": row for row in known}
    return [_complete(role, names, is_exact=is_exact) for role in ROLES]


def permissions_of(role: Role, names: Sequence[str]) -> set[str]:
    """Return which permissions of these whole names the service has and the role gets."""
    if role.permissions is not None:
        return set(role.permissions)
    return {name for name in names if name.partition(".")[0] in OWN_APPS}


def _complete(role: Role, names: dict[str, Permission], *, is_exact: bool) -> Change:
    wanted = permissions_of(role, list(names))
    if unknown := sorted(wanted - names.keys()):
        raise ValidationError(f"There is no permission {', '.join(unknown)}. Run manage.py migrate first.")
    group, is_new = Group.objects.get_or_create(name=role.name)
    held = {f"{row.content_type.app_label}.{row.codename}" for row in group.permissions.select_related("content_type")}
    change = Change(role.name, is_new, sorted(wanted - held), sorted(held - wanted) if is_exact else [])
    group.permissions.add(*(names[name] for name in change.added))
    group.permissions.remove(*(names[name] for name in change.removed))
    if is_new or change.added or change.removed:
        verb = "role:created" if is_new else "role:changed"
        audit.record(verb, by=None, on=group, added=change.added, removed=change.removed)
    return change
