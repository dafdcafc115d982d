"""Private presence: that of chat accounts linked to a user with public API access turned off.

The gateway worker reads it from the database every few seconds and writes it into the records, so a lookup asks no
database; a note in the store hides a presence until the record is written. A record hides it whatever a note says,
which may be an earlier one: two changes at once can be noted in the other order, and a note can fail.
"""

from __future__ import annotations

import logging
from functools import partial

from django.db import transaction

from accounts.models import LinkedAccount, User
from presence.store import store
from presence.store.store import StoreUnavailable

CHAT = LinkedAccount.Kind.CHAT

logger = logging.getLogger(__name__)


def private_ids() -> set[int]:
    """Return all chat ids whose presence is private. 1 query."""
    ids = LinkedAccount.objects.filter(kind=CHAT, user__public_api_access=False).values_list("external_id", flat=True)
    return {int(external_id) for external_id in ids.iterator() if external_id.isascii() and external_id.isdigit()}


def is_private(chat_id: int) -> bool:
    """Return whether an account without a record is private. 1 query."""
    return LinkedAccount.objects.filter(kind=CHAT, external_id=str(chat_id), user__public_api_access=False).exists()


def note(user: User) -> None:
    """Note a user's changed access or linked account, as a receiver in its transaction. 1 query."""
    linked = LinkedAccount.objects.filter(user=user, kind=CHAT).values_list("external_id", flat=True)
    for external_id in linked:
        if external_id.isascii() and external_id.isdigit():
            transaction.on_commit(partial(_keep, int(external_id), is_private=not user.public_api_access))


def _keep(chat_id: int, *, is_private: bool) -> None:
    try:
        store.opened().keep_privacy(chat_id, is_private=is_private)
    except StoreUnavailable as error:
        logger.warning("The presence worker alone notes that an account's privacy changed: %s", error)
