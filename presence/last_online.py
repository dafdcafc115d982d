"""When members were last seen going offline: durable, because no snapshot of the platform tells it.

LastSeen are whole UNIX seconds. Where the database fails (`django.db.Error`), all of it may be tried again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from django.db import connection, transaction

from presence.models import LastOnline

AT_ONCE = 500
MAX_CHAT_ID = 2**63 - 1

logger = logging.getLogger(__name__)


def keep(moments: Mapping[int, int]) -> None:
    """Remember when these members went offline; of two moments the later one stays. One statement for 500 members.

    Ids and moments that no database could hold are logged and left out.
    """
    rows = sorted((chat_id, _moment(at)) for chat_id, at in moments.items() if _is_known_size(chat_id, at))
    for start in range(0, len(rows), AT_ONCE):
        _upsert(rows[start : start + AT_ONCE])


def all_of() -> dict[int, int]:
    """Every member's moment. Read as numbers: a new leader waits for a million of them."""
    seconds = (
        "EXTRACT(EPOCH FROM at)::bigint"
        if connection.vendor == "postgresql"
        else "CAST(strftime('%%s', at) AS INTEGER)"
    )
    moments: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT chat_id, {seconds} FROM presence_lastonline", ())  # noqa: S608 - one of two constants
        while rows := cursor.fetchmany(10_000):
            moments.update(rows)
    return moments


def forget(chat_ids: Collection[int]) -> None:
    """These have left: joining is the opt-in, and its end takes the record along."""
    ids = sorted(chat_id for chat_id in chat_ids if 0 <= chat_id <= MAX_CHAT_ID)
    for start in range(0, len(ids), AT_ONCE):
        LastOnline.objects.filter(chat_id__in=ids[start : start + AT_ONCE]).delete()


def retain(chat_ids: Collection[int]) -> None:
    """Forget everybody but these, who are all the members there are."""
    members = set(chat_ids)
    stored = LastOnline.objects.values_list("chat_id", flat=True).iterator(chunk_size=10_000)
    forget([chat_id for chat_id in stored if chat_id not in members])


def _is_known_size(chat_id: int, at: int) -> bool:
    is_known = 0 <= chat_id <= MAX_CHAT_ID and 0 <= at < 253_402_300_800  # the year 10000
    if not is_known:
        logger.warning("A moment of going offline is out of range: %s.", repr((chat_id, at))[:80])
    return is_known


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _upsert(rows: list[tuple[int, datetime]]) -> None:
    """Rows come in the order of their ids, in which two writers that meet lock them."""
    adapted = connection.ops.adapt_datetimefield_value
    values = [value for chat_id, at in rows for value in (chat_id, adapted(at))]
    places = ", ".join(["(%s, %s)"] * len(rows))
    sql = f"""
        INSERT INTO presence_lastonline (chat_id, at) VALUES {places}
        ON CONFLICT (chat_id) DO UPDATE SET at = EXCLUDED.at WHERE presence_lastonline.at < EXCLUDED.at
    """  # noqa: S608 - placeholders alone are put in
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)
