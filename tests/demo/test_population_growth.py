"""The population grows to the same rows in any steps, beside existing users; `manage.py seed_demo` calls it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, models, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import LinkedAccount, Name, User
from accounts.models.users import UidCounter
from demo.population import awards, growth, people
from demo.population.profile_pages import ORDER
from lookup.documents import document_checks
from lookup.models import (
    Alias,
    Anime,
    Badge,
    BadgeTier,
    Comment,
    Game,
    MediaTitle,
    MusicItem,
)
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
TABLES: tuple[type[Model], ...] = (
    *ORDER,
    Game,
    Anime,
    MediaTitle,
    MusicItem,
    Badge,
)
Export = dict[str, list[dict[str, Any]]]  # Any: a value of a column


def grow(users: int, *, seed: int = 1, now: datetime = NOW) -> int:
    return growth.grow(users=users, seed=seed, now=now)


def make(numbers: range, badges: growth.Badges) -> int:
    """Make the missing members as one batch; return their number."""
    batch = growth.admit(1, numbers, NOW)
    growth.fill(batch, badges)
    growth.write(batch)
    return len(batch.members)


def export() -> Export:
    """Every row of every table, without the numbers that databases give."""
    found = {}
    for model in TABLES:
        columns = [field.attname for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
        found[model.__name__] = list(model._default_manager.order_by(*columns).values(*columns))
    return found


def grown(*steps: int, seed: int = 1, now: datetime = NOW) -> Export:
    """The content of an empty database after these steps."""
    with transaction.atomic():
        for step in steps:
            grow(step, seed=seed, now=now)
        found = export()
        transaction.set_rollback(True)
    return found


@pytest.fixture(scope="module")
def first(module_db: None) -> Export:
    """What 40 users are when they are made at once."""
    return grown(40)


def test_it_grows_in_steps_and_batches_to_what_it_would_have_been_at_once(
    first: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert grown(25, 40) == first
    monkeypatch.setattr(growth, "BATCH", 13)
    assert grown(40) == first


def test_names_and_linked_accounts_of_a_batch_that_is_not_written_yet_are_left_to_it() -> None:
    growth.prepare()
    alone = growth.admit(1, range(20), NOW)
    again = growth.admit(1, range(20), NOW, after=[alone])
    for batch in (alone, again):
        growth.fill(batch, awards.catalogue())
    for model, column in ((Name, "key"), (LinkedAccount, "external_id")):
        first, second = ({getattr(row, column) for row in batch.rows.of(model)} for batch in (alone, again))
        assert first
        assert first.isdisjoint(second)


def test_a_name_that_somebody_has_is_left_to_them() -> None:
    wanted = people.member(1, 0, NOW).names[:2]
    for name in wanted:
        UserFactory(username=name.upper())
    grow(1)
    member = User.objects.get(pk=people.user_id(1, 0))
    assert member.username == people.member(1, 0, NOW).names[2]
    assert (member.uid, UidCounter.take()) == (2, 3)
    assert Name.objects.count() == 3 + Alias.objects.count()


def test_a_chat_account_that_somebody_has_is_left_to_them() -> None:
    with transaction.atomic():
        grow(40)
        linked = LinkedAccount.objects.filter(kind="CHAT").order_by("user__uid")[0]
        transaction.set_rollback(True)
    owner = UserFactory()
    LinkedAccount.objects.create(user=owner, kind="CHAT", external_id=linked.external_id, name="first")
    grow(40)
    assert LinkedAccount.objects.get(kind="CHAT", external_id=linked.external_id).user == owner
    assert list(document_checks.differences()) == []


def test_what_a_deleted_member_said_is_left_out() -> None:
    growth.prepare()
    assert make(range(40, 80), awards.catalogue()) == 40
    authors = set(Comment.objects.values_list("author", flat=True))
    assert authors
    assert authors <= {people.user_id(1, number) for number in range(40, 80)}
    assert list(document_checks.differences()) == []


@pytest.mark.embedded
def test_a_batch_takes_the_same_statements_whatever_its_size() -> None:
    growth.prepare()
    badges, kinds = awards.catalogue(), []
    make(range(20), badges)  # the others write on their profiles
    for numbers in (range(20, 60), range(60, 160)):
        with CaptureQueriesContext(connection) as captured:
            make(numbers, badges)
        # Of many rows the log says "37 times: INSERT".
        statements = [query["sql"].rpartition(" times: ")[2].split()[0] for query in captured.captured_queries]
        kinds.append([word for word in statements if word not in {"INSERT", "COPY"}])
        assert len(statements) - len(kinds[-1]) <= len(ORDER)  # a table takes one
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) <= 20


def test_the_catalogues_are_made_once_and_their_pictures_follow_the_service(settings: Settings) -> None:
    grow(0)
    assert (User.objects.count(), Badge.objects.count() > 20, BadgeTier.objects.count() > 40) == (
        0,
        True,
        True,
    )
    game = Game.objects.order_by("pk")[0]
    Game.objects.filter(pk=game.pk).update(name="Renamed")
    settings.UPLOAD_CDN_URL = "https://files.example"
    grow(0)
    changed = Game.objects.get(pk=game.pk)
    assert (changed.name, changed.image) == ("Renamed", "https://files.example/demo/game-1.svg")
    assert Game.objects.count() == 8


# --- The command ---


@pytest.fixture
def embedded(settings: Settings) -> None:
    settings.EMBEDDED = True


@pytest.mark.usefixtures("embedded")
def test_the_command_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(growth, "BATCH", 12)
    call_command("seed_demo", users=30)
    said = capsys.readouterr()
    assert said.out == "Made 30 users; 30 of this seed are there.\n"
    lines = said.err.splitlines()
    assert [line.partition(" users")[0] for line in lines] == ["12 of 30", "24 of 30", "30 of 30"]
    assert all(re.fullmatch(r"[\d,]+ of 30 users, [\d,]+ a second, \d+:\d\d left", line) for line in lines)
    assert lines[-1].endswith(" 0:00 left")
    call_command("seed_demo", users=30, seed=2)
    assert User.objects.count() == 60


def test_the_command_asks_before_it_fills_a_production_database(settings: Settings) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="--yes"):
        call_command("seed_demo", users=5)
    assert (User.objects.count(), Badge.objects.count()) == (0, 0)
    call_command("seed_demo", users=5, yes=True)
    assert User.objects.count() == 5
