"""Keeps names and avatars of linked accounts in step with the members of the chat server."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from itertools import islice

from django.conf import settings

from accounts.linking import account_links
from accounts.models import LinkedAccount
from infrastructure import http_client
from presence import fields
from presence.answer import presentation, privacy
from presence.fields import Json
from presence.gateway.roster import Roster
from presence.worker.background import Background

CHAT = LinkedAccount.Kind.CHAT
AT_ONCE = 500


def follow(changed: Mapping[int, Json], redrawn: Collection[int]) -> None:
    """Take over the names of linked members, and the pictures of `redrawn` ones.

    A picture from an import stays until the platform sends another one. 1 query for 500 members that are not linked. An
    invalid name leaves the known one.
    """
    ids = iter(changed)
    while batch := list(islice(ids, AT_ONCE)):
        linked = LinkedAccount.objects.filter(kind=CHAT, external_id__in=[str(chat_id) for chat_id in batch])
        for external_id, name, picture in linked.order_by("pk").values_list("external_id", "name", "avatar_url"):
            chat_id = int(external_id)
            _take_over(chat_id, changed[chat_id], name, None if chat_id in redrawn else picture)


def compare(member_of: Callable[[int], Json | None], after: int) -> int | None:
    """Take over changes without an event, of the next 500 linked accounts `after` this position, from 0 on. Return the
    new position, None at the end. `member_of`: None for an account that is no member.

    A picture that is not the platform's own comes from an import, and stays.
    """
    linked = LinkedAccount.objects.filter(kind=CHAT, pk__gt=after).order_by("pk")
    rows = list(linked.values_list("pk", "external_id", "name", "avatar_url")[:AT_ONCE])
    for _, external_id, name, picture in rows:
        chat_id = int(fields.snowflake(external_id) or 0)
        member = member_of(chat_id) if str(chat_id) == external_id else None
        if member is not None:
            is_own = picture.startswith(f"{settings.CHAT_CDN_URL}/")
            _take_over(chat_id, member, name, None if is_own else picture)
    return rows[-1][0] if len(rows) == AT_ONCE else None


def _take_over(chat_id: int, member: Json, name: str, picture: str | None) -> None:
    """Take over a changed name and picture. `name`: the known one. `picture`: to keep, None for the member's."""
    user = fields.mapping(member.get("user"))
    account_links.refresh(
        kind=CHAT,
        external_id=str(chat_id),
        name=http_client.name_of(user.get("username")) or name,
        avatar_url=presentation.own_avatar(chat_id, user) if picture is None else picture,
    )


class LinkedAccounts:
    """Each method raises what the database raises; it may be called again."""

    def __init__(self, roster: Roster, database: Background, *, is_leader: Callable[[], bool]) -> None:
        self._roster, self._database, self._is_leader = roster, database, is_leader
        self._compared = 0  # the last generation for which all were compared

    async def read_privacy(self) -> None:
        """Read which accounts are private."""
        self._roster.set_private(await self._database.do(privacy.private_ids))

    async def follow(self, generation: int) -> None:
        """Take over changed names and pictures. `generation`: that is written whole; 0 for none."""
        if generation and generation != self._compared:
            await self._compare()
            self._compared = generation
        changes = self._roster.changes
        renamed, redrawn = changes.renamed, changes.redrawn
        if not (renamed or redrawn):
            return
        changes.renamed, changes.redrawn = set(), set()
        found = ((chat_id, self._member(chat_id)) for chat_id in renamed | redrawn)
        changed = {chat_id: member for chat_id, member in found if member is not None}
        try:
            await self._database.do(follow, changed, redrawn)
        except BaseException:  # a cancellation, too: another worker, or the end of this one, tries again
            self._roster.changes.renamed |= renamed
            self._roster.changes.redrawn |= redrawn
            raise

    async def _compare(self) -> None:
        """Compare all linked accounts with the roster, in batches, so that other work goes on."""
        position: int | None = 0
        while position is not None and self._is_leader():
            position = await self._database.do(compare, self._member, position)

    def _member(self, chat_id: int) -> Json | None:
        entry = self._roster.members.get(chat_id)
        return None if entry is None else json.loads(entry.member)
