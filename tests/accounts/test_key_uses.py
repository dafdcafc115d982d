"""Quotas are never overdrawn, and when a key was used last is written in bulk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.api_keys import uses
from accounts.models import ApiKey, KeyDay, Permission
from tests.accounts.calls import SECRET, call
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.support.threads import together

Wait = Callable[[float], None]
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.api_urls"), pytest.mark.usefixtures("fresh")]


def key_with(uses: int | None, *, refill: int | None = None, refilled_at: datetime | None = None) -> ApiKey:
    return ApiKeyFactory(
        secret=SECRET,
        permissions=[Permission.LOOKUP_PRESENCE],
        remaining_uses=uses,
        refill_amount=refill,
        refill_interval=HOUR if refill else None,
        refilled_at=refilled_at,
    )


def state(key: ApiKey) -> tuple[int | None, datetime | None]:
    key.refresh_from_db()
    return key.remaining_uses, key.refilled_at


def test_a_quota_is_taken_one_by_one_and_then_used_up() -> None:
    key = key_with(3)
    assert [call().status_code for _ in range(5)] == [200, 200, 200, 401, 401]
    assert call().json() == {"error": "API Key has reached its usage limit", "code": "USAGE_EXCEEDED"}
    assert state(key) == (0, None)


def test_a_refill_sets_the_quota_once_its_interval_is_over(wait: Wait) -> None:
    begun = timezone.now()
    key = key_with(1, refill=2, refilled_at=begun)
    assert [call().status_code for _ in range(2)] == [200, 401]
    wait(3599.999999)
    assert call().status_code == 401
    wait(0.000001)
    assert [call().status_code for _ in range(3)] == [200, 200, 401]
    assert state(key) == (0, begun + HOUR)
    wait(2 * 3600 + 0.5)
    assert call().status_code == 200
    assert state(key) == (1, begun + 3 * HOUR + timedelta(seconds=0.5))


def test_a_refill_replaces_what_is_left_and_adds_nothing() -> None:
    now = timezone.now()
    key = key_with(500, refill=10, refilled_at=now - HOUR)
    assert uses.take(key.pk, now=now)
    assert state(key) == (9, now)


def test_a_refill_that_was_never_made_counts_from_the_creation_of_the_key() -> None:
    key = key_with(0, refill=10)
    assert not uses.take(key.pk, now=key.created_at + HOUR - timedelta(microseconds=1))
    assert uses.take(key.pk, now=key.created_at + HOUR)
    assert state(key) == (9, key.created_at + HOUR)
    unlimited = ApiKeyFactory()
    assert uses.take(unlimited.pk, now=timezone.now())
    assert state(unlimited) == (None, None)
    assert not uses.take(0, now=timezone.now())


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("left", "refill", "is_due", "cost", "then"),
    [
        (5, None, False, 5, 0),
        (5, None, False, 6, None),
        (None, None, False, 6, None),
        (2, 5, True, 5, 0),
        (500, 5, True, 6, None),  # a refill replaces what is left, so this would be more than it gives
        (2, 5, False, 3, None),
    ],
)
def test_a_request_takes_all_its_uses_or_none(
    left: int | None, refill: int | None, is_due: bool, cost: int, then: int | None
) -> None:
    now = timezone.now()
    refilled_at = (now - HOUR if is_due else now) if refill else None
    key = key_with(left, refill=refill, refilled_at=refilled_at)
    assert uses.take(key.pk, now=now, cost=cost) is (then is not None or left is None)
    assert state(key) == ((left, refilled_at) if then is None else (then, now if is_due else refilled_at))


def test_a_request_that_counts_as_several_takes_so_many_uses() -> None:
    key = key_with(7)
    answers = [call("/api/costly") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 401]
    assert answers[2].json()["code"] == "USAGE_EXCEEDED"
    assert call().status_code == 200
    assert state(key) == (0, None)
    uses.buffer.write()
    assert [count for _, count in days_of(key)] == [7]


def test_a_quota_costs_one_statement_more() -> None:
    key_with(5)
    call()
    with CaptureQueriesContext(connection) as captured:
        call()
    assert [query["sql"].split()[0] for query in captured.captured_queries][-1] == "UPDATE"
    assert len([query for query in captured.captured_queries if "UPDATE" in query["sql"]]) == 1


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("left", "refill", "passing"), [(15, None, 15), (3, 15, 15)])
def test_8_callers_take_exactly_what_there_is(left: int, refill: int | None, passing: int) -> None:
    now = timezone.now()
    key = key_with(left, refill=refill, refilled_at=now - HOUR if refill else None)
    taken = together(8, lambda _: [uses.take(key.pk, now=now) for _ in range(3)])
    assert sum(took for each in taken for took in each) == passing
    assert state(key)[0] == 0


def last_used(*keys: ApiKey) -> list[datetime | None]:
    return [ApiKey.objects.get(pk=key.pk).last_used_at for key in keys]


@pytest.mark.embedded
def test_the_uses_of_all_keys_are_written_by_two_statements() -> None:
    now = timezone.now()
    owner = UserFactory()
    first, second = (ApiKeyFactory(owner=owner) for _ in range(2))
    with CaptureQueriesContext(connection) as captured:
        uses.buffer.note((first.pk, now, 1))
        uses.buffer.note((second.pk, now + timedelta(seconds=1), 1))
        uses.buffer.note((first.pk, now + timedelta(seconds=2), 1))
    assert captured.captured_queries == []
    with CaptureQueriesContext(connection) as captured:
        uses.buffer.write()
        uses.buffer.write()  # nothing is left
    statements = [query["sql"].split()[0] for query in captured.captured_queries]
    assert [word for word in statements if word in {"UPDATE", "INSERT"}] == ["UPDATE", "INSERT"]
    assert last_used(first, second) == [now + timedelta(seconds=2), now + timedelta(seconds=1)]
    assert (days_of(first), days_of(second)) == ([(now.date(), 2)], [(now.date(), 1)])


@pytest.mark.embedded
def test_several_keys_are_written_at_once() -> None:
    now, keys = timezone.now(), [ApiKeyFactory() for _ in range(3)]
    for key in keys:
        uses.buffer.note((key.pk, now, 1))
    uses.buffer.write()
    assert last_used(*keys) == [now] * 3


@pytest.mark.embedded
def test_a_later_use_that_another_process_wrote_stays() -> None:
    now = timezone.now()
    key = ApiKeyFactory(last_used_at=now + timedelta(seconds=30))
    uses.buffer.note((key.pk, now, 1))
    uses.buffer.write()
    assert last_used(key) == [now + timedelta(seconds=30)]


def test_requests_note_when_their_key_was_used(wait: Wait) -> None:
    key, began = key_with(None), timezone.now()
    assert call().status_code == 200
    wait(30)
    assert call().status_code == 200
    uses.buffer.write()
    assert last_used(key) == [began + timedelta(seconds=30)]


@pytest.mark.django_db(transaction=True)
def test_uses_that_a_database_cannot_take_are_written_later(caplog: pytest.LogCaptureFixture) -> None:
    def fail(*arguments: object) -> None:
        raise OperationalError("the database is away")

    now, key = timezone.now(), ApiKeyFactory()
    uses.buffer.note((key.pk, now, 1))
    with connection.execute_wrapper(fail):
        uses.buffer.write()
    assert [record.getMessage() for record in caplog.records] == ["1 notes of key-uses could not be written yet."]
    assert last_used(key) == [None]
    uses.buffer.note((key.pk, now + timedelta(seconds=1), 1))
    uses.buffer.write()
    assert last_used(key) == [now + timedelta(seconds=1)]
    assert [count for _, count in days_of(key)] == [2]


def days_of(key: ApiKey) -> list[tuple[date, int]]:
    return list(KeyDay.objects.filter(key=key).order_by("day").values_list("day", "count"))


@pytest.mark.embedded
def test_requests_are_added_to_what_is_written_already() -> None:
    now, key = datetime(2026, 5, 4, 12, tzinfo=UTC), ApiKeyFactory()
    for start in (now, now + 10 * MINUTE):  # two processes, or two minutes of one
        for second in range(3):
            uses.buffer.note((key.pk, start + timedelta(seconds=second), 1))
        uses.buffer.write()
    assert days_of(key) == [(date(2026, 5, 4), 6)]


def test_a_day_ends_at_midnight_utc() -> None:
    midnight, key = datetime(2026, 5, 5, tzinfo=UTC), ApiKeyFactory()
    uses.buffer.note((key.pk, midnight - timedelta(microseconds=1), 1))
    uses.buffer.note((key.pk, midnight, 1))
    uses.buffer.write()
    assert days_of(key) == [(date(2026, 5, 4), 1), (date(2026, 5, 5), 1)]


@pytest.mark.embedded
def test_a_key_that_was_deleted_meanwhile_spoils_nothing() -> None:
    now = timezone.now()
    gone, key = ApiKeyFactory(), ApiKeyFactory()
    uses.buffer.note((gone.pk, now, 1))
    uses.buffer.note((key.pk, now, 1))
    gone.delete()
    uses.buffer.write()
    assert days_of(key) == [(now.date(), 1)]
    assert KeyDay.objects.count() == 1


@pytest.mark.parametrize("refused", [{"is_enabled": False}, {"remaining_uses": 0}, {"permissions": []}])
def test_answered_requests_count_and_refused_ones_do_not(refused: dict[str, object]) -> None:
    key = ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_PRESENCE])
    other = ApiKeyFactory(secret="another-one", **{"permissions": [Permission.LOOKUP_PRESENCE], **refused})
    assert [call().status_code for _ in range(2)] == [200, 200]
    assert call(secret="another-one").status_code in {401, 403}
    uses.buffer.write()
    assert [count for _, count in days_of(key)] == [2]
    assert days_of(other) == []
    assert last_used(other) == [None]


@pytest.mark.django_db(transaction=True)
def test_no_count_is_lost_among_threads() -> None:
    now, owner = timezone.now(), UserFactory()
    keys = [ApiKeyFactory(owner=owner) for _ in range(2)]

    def note_a_hundred(number: int) -> None:
        for _ in range(100):
            uses.buffer.note((keys[number % 2].pk, now, 1))

    together(4, note_a_hundred)
    uses.buffer.write()
    assert [days_of(key)[0][1] for key in keys] == [200, 200]


def test_days_of_long_ago_are_forgotten() -> None:
    now, key = timezone.now(), ApiKeyFactory()
    for age in (0, 90, 91, 300):
        KeyDay.objects.create(key=key, day=now.date() - timedelta(days=age), count=1)
    assert uses.delete_old_days(now) == 2
    assert [(now.date() - day).days for day, _ in days_of(key)] == [90, 0]


def test_a_use_leaves_each_row_in_its_page_so_that_no_index_changes() -> None:
    owner = UserFactory()
    ApiKey.objects.bulk_create(
        ApiKey(owner=owner, prefix=f"ik_{number:09}", secret_hash=f"{number:064}") for number in range(300)
    )
    keys = _pages("accounts_apikey")
    _use_all()
    assert _pages("accounts_apikey") == keys
    days = _pages("accounts_keyday")
    _use_all()
    assert _pages("accounts_keyday") == days
    assert min(len(set(keys.values())), len(set(days.values()))) > 1


def _use_all() -> None:
    for key_id in ApiKey.objects.values_list("pk", flat=True):
        uses.buffer.note((key_id, timezone.now(), 1))
    uses.buffer.write()


def _pages(table: str) -> dict[int, int]:
    """Return the page of the table that each row is in, by its id."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, (ctid::text::point)[0]::int FROM {table}")  # noqa: S608  # a name of this test
        return dict(cursor.fetchall())
