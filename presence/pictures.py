"""Linked accounts follow their members: the name and the picture that the platform tells of now."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from accounts import linking, outside
from accounts.models import LinkedAccount
from presence import assets, fields
from presence.fields import Json

CHAT = LinkedAccount.Kind.CHAT


def follow(changed: Mapping[int, Json], redrawn: Collection[int]) -> None:
    """Take over the names of these members, where they are linked, and the pictures of those that are `redrawn`.

    A picture that an import brought stays until the platform tells of another one. 1 query for all who are not linked.
    A name that the platform should never send leaves the known one.
    """
    members = {str(chat_id): member for chat_id, member in changed.items()}
    linked = LinkedAccount.objects.filter(kind=CHAT, external_id__in=list(members))
    for external_id, name, picture in linked.order_by("pk").values_list("external_id", "name", "avatar_url"):
        user = fields.mapping(members[external_id].get("user"))
        linking.refresh(
            kind=CHAT,
            external_id=external_id,
            name=outside.name_of(user.get("username")) or name,
            avatar_url=assets.own_avatar(int(external_id), user) if int(external_id) in redrawn else picture,
        )
