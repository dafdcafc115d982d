"""When members were last seen going offline: the latest moment stays, and goes with the member."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError

from presence.models import LastOnline
from presence.worker import last_seen
from tests.lookup import statements
from tests.presence import store_contents
from tests.support.threads import together

ADA, BEA, CYD = 80351110224678912, 80351110224678913, 2**63 - 1
NOON = int(datetime(2026, 3, 1, 12, 0, tzinfo=UTC).timestamp())
pytestmark = pytest.mark.django_db


def test_the_later_of_two_moments_stays_whatever_their_order() -> None:
    last_seen.keep({ADA: NOON, BEA: NOON, CYD: 0})
    last_seen.keep({ADA: NOON + 1, BEA: NOON - 1, CYD: 0})
    assert last_seen.all_of() == {ADA: NOON + 1, BEA: NOON, CYD: 0}
    assert LastOnline.objects.get(pk=BEA).at == datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_only_the_departed_are_forgotten() -> None:
    last_seen.keep({ADA: NOON, BEA: NOON, CYD: NOON})
    last_seen.forget([BEA, BEA, 17, 2**70, -1])
    assert last_seen.all_of() == {ADA: NOON, CYD: NOON}
    last_seen.forget([])
    assert last_seen.all_of() == {ADA: NOON, CYD: NOON}


def test_all_but_the_members_are_forgotten() -> None:
    last_seen.keep(dict.fromkeys(range(ADA, ADA + 2_500), NOON))
    last_seen.retain(range(ADA + 1_200, ADA + 5_000))
    assert last_seen.all_of() == dict.fromkeys(range(ADA + 1_200, ADA + 2_500), NOON)
    last_seen.retain([])
    assert last_seen.all_of() == {}


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("chat_id", "at"), [(2**63, NOON), (-1, NOON), (10**400, NOON), (BEA, -1), (BEA, 2**40), (BEA, 10**400)]
)
def test_what_no_database_could_hold_costs_the_others_nothing(
    chat_id: int, at: int, caplog: pytest.LogCaptureFixture
) -> None:
    last_seen.keep({ADA: NOON, chat_id: at})
    assert last_seen.all_of() == {ADA: NOON}
    assert len(caplog.messages) == 1


@pytest.mark.embedded
def test_it_is_one_statement_for_500() -> None:
    for _ in range(2):
        names = statements.names(lambda: last_seen.keep(dict.fromkeys(range(ADA, ADA + 1_001), NOON)))
        assert [name for name in names if "presence" in name] == ["INSERT presence_lastonline"] * 3


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_two_workers_that_meet_keep_the_latest() -> None:
    ids = range(ADA, ADA + 1_000)

    def keep(number: int) -> None:
        for moved in range(5):
            some = ids if number % 2 else ids[::-1]
            last_seen.keep(dict.fromkeys(some, NOON + 10 * moved + number))

    together(4, keep)
    assert last_seen.all_of() == dict.fromkeys(ids, NOON + 43)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_cannot_be_written_is_reported_and_may_be_tried_again() -> None:
    with store_contents.read_only(), pytest.raises(DatabaseError):
        last_seen.keep({ADA: NOON})
    last_seen.keep({ADA: NOON})
    assert last_seen.all_of() == {ADA: NOON}
