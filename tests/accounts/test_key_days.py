"""How often a key was used on each day: counted in memory, written in bulk, forgotten after a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from accounts import key_uses
from accounts.key_uses import LastUses
from accounts.models import ApiKey, KeyDay, Permission
from tests.accounts.calls import SECRET, call
from tests.support.threads import together
from tests.factories.accounts import ApiKeyFactory, UserFactory

Wait = Callable[[float], None]
MINUTE = timedelta(minutes=1)
pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.api_urls"), pytest.mark.usefixtures("fresh")]


def days_of(key: ApiKey) -> list[tuple[date, int]]:
    return list(KeyDay.objects.filter(key=key).order_by("day").values_list("day", "count"))


def test_requests_are_added_to_what_is_written_already() -> None:
    now, key = datetime(2026, 5, 4, 12, tzinfo=UTC), ApiKeyFactory()
    for start in (now, now + 10 * MINUTE):  # two processes, or two minutes of one
        uses = LastUses()
        for second in range(3):
            uses.note(key.pk, now=start + timedelta(seconds=second))
        uses.note(key.pk, now=start + MINUTE)
    assert days_of(key) == [(date(2026, 5, 4), 6)]


def test_a_day_ends_at_midnight_utc() -> None:
    midnight, key, uses = datetime(2026, 5, 5, tzinfo=UTC), ApiKeyFactory(), LastUses()
    uses.note(key.pk, now=midnight - timedelta(microseconds=1))
    uses.note(key.pk, now=midnight)
    uses.note(key.pk, now=midnight + MINUTE)
    assert days_of(key) == [(date(2026, 5, 4), 1), (date(2026, 5, 5), 1)]


def test_a_key_that_was_deleted_meanwhile_spoils_nothing() -> None:
    now, uses = timezone.now(), LastUses()
    gone, key = ApiKeyFactory(), ApiKeyFactory()
    uses.note(gone.pk, now=now)
    uses.note(key.pk, now=now)
    gone.delete()
    uses.note(key.pk, now=now + MINUTE)
    assert days_of(key) == [(now.date(), 1)]
    assert KeyDay.objects.count() == 1


@pytest.mark.parametrize("refused", [{"is_enabled": False}, {"remaining_uses": 0}, {"permissions": []}])
def test_answered_requests_count_and_refused_ones_do_not(wait: Wait, refused: dict[str, object]) -> None:
    key = ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_PRESENCE])
    other = ApiKeyFactory(secret="another-one", **{"permissions": [Permission.LOOKUP_PRESENCE], **refused})
    assert [call().status_code for _ in range(2)] == [200, 200]
    assert call(secret="another-one").status_code in {401, 403}
    wait(61)
    assert call().status_code == 200
    assert [count for _, count in days_of(key)] == [2]
    assert days_of(other) == []


@pytest.mark.django_db(transaction=True)
def test_no_count_is_lost_among_threads() -> None:
    now, owner, uses = timezone.now(), UserFactory(), LastUses()
    keys = [ApiKeyFactory(owner=owner) for _ in range(2)]

    def note_a_hundred(number: int) -> None:
        for _ in range(100):
            uses.note(keys[number % 2].pk, now=now)

    together(8, note_a_hundred)
    uses.note(keys[0].pk, now=now + MINUTE)
    assert [days_of(key)[0][1] for key in keys] == [400, 400]


def test_days_of_long_ago_are_forgotten() -> None:
    now, key = timezone.now(), ApiKeyFactory()
    for age in (0, 90, 91, 300):
        KeyDay.objects.create(key=key, day=now.date() - timedelta(days=age), count=1)
    assert key_uses.delete_old_days(now) == 2
    assert [(now.date() - day).days for day, _ in days_of(key)] == [90, 0]


@pytest.mark.parametrize(
    ("day", "count", "name"),
    [(0, 1, "key_day_one_for_each_day"), (1, 0, "key_day_counts_something")],
)
def test_the_table_refuses(day: int, count: int, name: str) -> None:
    key, today = ApiKeyFactory(), timezone.now().date()
    KeyDay.objects.create(key=key, day=today, count=1)
    with pytest.raises(IntegrityError):
        KeyDay.objects.create(key=key, day=today + timedelta(days=day), count=count)
