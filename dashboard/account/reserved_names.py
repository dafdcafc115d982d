"""Free names that were taken before they were reserved: their owners get a similar one, and an email."""

from __future__ import annotations

from itertools import count

from django.db import transaction

from accounts import notifications, users
from accounts.models import Name
from accounts.models.names import MAX_NAME_LENGTH, RESERVED_KEYS, NameKind
from lookup.editing import aliases, profiles


def held() -> list[Name]:
    """Return the reserved names that users have, with these users. 1 query."""
    return list(Name.objects.filter(key__in=RESERVED_KEYS).select_related("user").order_by("key"))


def similar_to(name: str) -> str:
    """Return a free name like `name`: "ads.txt" becomes "ads-txt", or "ads-txt-2". 1 query for each that is tried."""
    base = name.replace(".", "-").strip("-")
    for number in count(1):
        ending = f"-{number}" if number > 1 else ""
        found = f"{base[: MAX_NAME_LENGTH - len(ending)]}{ending}"
        if found.upper() not in RESERVED_KEYS and not Name.objects.by_name(found).exists():
            return found
    raise AssertionError("count() has no end")


@transaction.atomic
def free(name: Name) -> str | None:
    """Give the owner of `name`, a username or an alias, a similar one, and return it. The owner may change it at once.
    None where it is no longer theirs, or has another spelling or kind. Raises ValidationError: another user took the
    similar one after the check."""
    if not users.lock(name.user_id):
        return None
    with profiles.changing(all_of=[name.user_id]):  # in the order in which a change of the username locks
        seen = {"user": name.user_id, "name": name.name, "kind": name.kind}
        found = Name.objects.filter(pk=name.pk, **seen).select_related("user").first()
        if found is None:
            return None
        name = found
        user, old, new = name.user, name.name, similar_to(name.name)
        is_username = name.kind == NameKind.USERNAME
        if is_username:
            user = users.rename(user=user, username=new, by=None)
        else:
            aliases.rename(alias=name.alias, name=new, by=None)
    notifications.send_after_commit(
        to=user,
        subject=f"Your {'username' if is_username else 'alias'} was changed",
        template="dashboard/letters/reserved_name.txt",
        context={"old": old, "new": new, "is_username": is_username},
    )
    return new
