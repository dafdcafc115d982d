"""The invented population: always the same, complete, and exactly what the doors would have made."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Count, Model
from django.test.utils import CaptureQueriesContext

from accounts import users
from accounts.models import LinkedAccount, Name, User
from accounts.models.users import UidCounter
from lookup import boards, document_checks, sections, settings_schema, unlocking
from lookup.models import (
    Alias,
    Anime,
    Asset,
    Badge,
    BadgeTier,
    Comment,
    CustomBadge,
    FeedbackVote,
    Game,
    LeaderboardEntry,
    MediaTitle,
    MusicItem,
    Profile,
    ProfileDocument,
    Section,
    UserDocument,
)
from lookup.population import awards, batches, growth, people
from lookup.population.rows import ORDER
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
TABLES: tuple[type[Model], ...] = (*ORDER, UserDocument, ProfileDocument, Game, Anime, MediaTitle, MusicItem, Badge)
UPLOADS = Path(settings.BASE_DIR) / "static" / "uploads"

Export = dict[str, list[dict[str, Any]]]  # Any: a value of a column


def grow(users: int, *, seed: int = 1, now: datetime = NOW) -> int:
    return growth.grow(users=users, seed=seed, now=now)


def export() -> Export:
    """Every row of every table, without the numbers that databases give."""
    found = {}
    for model in TABLES:
        columns = [field.attname for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
        found[model.__name__] = list(model._default_manager.order_by(*columns).values(*columns))
    return found


def grown(*steps: int, seed: int = 1, now: datetime = NOW) -> Export:
    """What a database without anybody in it holds after these steps."""
    with transaction.atomic():
        for step in steps:
            grow(step, seed=seed, now=now)
        found = export()
        transaction.set_rollback(True)
    return found


def test_a_population_is_the_same_wherever_it_is_made() -> None:
    first = grown(60)
    assert len(first["User"]) == 60
    assert grown(60) == first


def test_only_the_last_sign_ins_depend_on_the_day() -> None:
    first, later = grown(60), grown(60, now=NOW + timedelta(days=900))
    for member, same in zip(first["User"], later["User"], strict=True):
        assert member.pop("last_login") < same.pop("last_login")
    assert later == first


def test_it_grows_to_what_it_would_have_been_at_once() -> None:
    assert grown(25, 60) == grown(60)


def test_a_second_run_makes_nothing() -> None:
    assert grow(60) == 60
    before = export()
    assert grow(60) == 0
    assert grow(20) == 0
    assert export() == before


def test_another_seed_makes_others_beside_the_first_ones() -> None:
    assert grow(60) == 60
    assert grow(60, seed=2) == 60
    assert User.objects.count() == 120
    assert list(User.objects.order_by("uid").values_list("uid", flat=True)) == list(range(120))


def test_batches_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = grown(60)
    monkeypatch.setattr(growth, "BATCH", 13)
    assert grown(60) == whole


def test_the_documents_and_counters_are_what_the_tables_say() -> None:
    grow(300)
    assert list(document_checks.differences()) == []
    assert ProfileDocument.objects.filter(fingerprint="").count() == 0
    assert ProfileDocument.objects.count() == Profile.objects.count()


def test_everybody_has_the_badges_that_their_counters_unlock() -> None:
    grow(300)
    assert unlocking.have_everybody_checked() == 300
    assert unlocking.unlock() == 0


def test_every_value_is_one_that_a_form_would_take() -> None:
    grow(150)
    for model in ORDER:
        relations = [field.name for field in model._meta.concrete_fields if field.is_relation]
        for row in model._default_manager.all():
            row.clean_fields(exclude=relations)
            row.clean()
    for section in Section.objects.all():
        assert sections.is_valid(section.type, section.config)
    for profile in Profile.objects.all():
        assert settings_schema.validated(profile.settings) == profile.settings


def test_every_file_is_there() -> None:
    grow(150)
    paths = set(Asset.objects.values_list("path", flat=True))
    assert paths
    assert [path for path in paths if not (UPLOADS / path).is_file()] == []


def test_nobody_can_sign_in_as_them() -> None:
    grow(20)
    assert not any(member.has_usable_password() for member in User.objects.all())
    assert set(User.objects.values_list("email", flat=True)) == {""}


def test_there_are_people_of_every_kind() -> None:
    grow(400)
    members, now = User.objects.all(), datetime.now(UTC)
    for condition in (
        {"is_active": False, "banned_at__isnull": False},
        {"public_api_access": False},
        {"is_verified": True},
        {"is_inactive": True},
        {"plan": "PREMIUM"},
        {"plan": "IMAGEHOST"},
        {"plan_expires_at__lt": now},
        {"plan_expires_at__gt": now},
        {"display_name": ""},
    ):
        assert 0 < members.filter(**condition).count() < 100, condition
    assert members.filter(username__regex="[A-Z]").exists()
    assert any(not member.display_name.isascii() for member in members)
    assert Alias.objects.filter(redirects=True).exists()
    assert Alias.objects.filter(redirects=False, profile__isnull=False).exists()
    assert CustomBadge.objects.exclude(icon_svg="").exists()
    assert CustomBadge.objects.filter(image__isnull=False).exists()
    assert set(Section.objects.values_list("type", flat=True)) == set(sections.SectionType.values)
    assert Comment.objects.filter(is_pinned=True).exists()
    assert Comment.objects.filter(like_count__gt=0, reply_count__gt=0).exists()
    assert set(FeedbackVote.objects.values_list("is_like", flat=True)) == {True, False}


def test_few_are_seen_often_and_most_hardly_ever() -> None:
    grow(400)
    views = sorted(UserDocument.objects.values_list("views", flat=True))
    assert views[200] < 60
    assert views[-1] > 50 * views[200]
    assert max(UserDocument.objects.values_list("comments", flat=True)) > 5


def test_whoever_comes_later_has_a_higher_uid_and_nobody_does_anything_before_joining() -> None:
    grow(300)
    joined = list(User.objects.order_by("uid").values_list("created_at", flat=True))
    assert joined == sorted(joined)
    for comment in Comment.objects.select_related("author", "user", "parent"):
        assert comment.created_at >= max(comment.author.created_at, comment.user.created_at)
        assert comment.parent is None or comment.created_at >= comment.parent.created_at


def test_chat_accounts_have_ids_of_the_platform() -> None:
    grow(300)
    linked = LinkedAccount.objects.filter(kind="CHAT").select_related("user")
    assert 150 < len(linked) < 220
    for account in linked:
        assert re.fullmatch("[0-9]{17,19}", account.external_id)
        made_at = people.CHAT_EPOCH + timedelta(milliseconds=int(account.external_id) >> 22)
        assert made_at <= account.user.created_at


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
        grow(60)
        linked = LinkedAccount.objects.filter(kind="CHAT").order_by("user__uid")[0]
        transaction.set_rollback(True)
    owner = UserFactory()
    LinkedAccount.objects.create(user=owner, kind="CHAT", external_id=linked.external_id, name="first")
    grow(60)
    assert LinkedAccount.objects.get(kind="CHAT", external_id=linked.external_id).user == owner
    assert list(document_checks.differences()) == []


def test_what_a_deleted_member_said_is_left_out() -> None:
    growth.prepare()
    assert batches.make(1, range(40, 80), awards.catalogue(), NOW) == 40
    authors = set(Comment.objects.values_list("author", flat=True))
    assert authors
    assert authors <= {people.user_id(1, number) for number in range(40, 80)}
    assert list(document_checks.differences()) == []


def test_a_member_who_was_deleted_comes_back() -> None:
    grow(60)
    users.delete(user=User.objects.get(pk=people.user_id(1, 7)), by=None)
    assert grow(60) == 1
    assert User.objects.count() == 60
    assert list(document_checks.differences()) == []


def test_a_batch_takes_the_same_statements_whatever_its_size() -> None:
    growth.prepare()
    badges, kinds = awards.catalogue(), []
    batches.make(1, range(50), badges, NOW)  # whom the others talk of
    for numbers in (range(50, 150), range(150, 450)):
        with CaptureQueriesContext(connection) as captured:
            batches.make(1, numbers, badges, NOW)
        statements = [query["sql"].split()[0] for query in captured.captured_queries]
        kinds.append([word for word in statements if word != "INSERT"])
        # A table takes one INSERT; SQLite takes 999 values in each, which is some 60 rows.
        assert statements.count("INSERT") <= (160 if connection.vendor == "sqlite" else 20)
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) < 40


def test_the_leaderboards_leave_out_the_banned_and_the_private() -> None:
    grow(300)
    boards.rank()
    shown = User.objects.filter(is_active=True, public_api_access=True)
    assert shown.count() < 300
    per_board = LeaderboardEntry.objects.values("board").annotate(places=Count("pk")).values_list("places", flat=True)
    assert list(per_board) == [shown.count()] * 3


def test_the_catalogues_are_made_once_and_their_pictures_follow_the_service(settings: Any) -> None:
    grow(0)
    assert (User.objects.count(), Badge.objects.count() > 20, BadgeTier.objects.count() > 40) == (0, True, True)
    game = Game.objects.order_by("pk")[0]
    Game.objects.filter(pk=game.pk).update(name="Renamed")
    settings.UPLOAD_CDN_URL = "https://files.example"
    grow(0)
    changed = Game.objects.get(pk=game.pk)
    assert (changed.name, changed.image) == ("Renamed", "https://files.example/demo/game-1.svg")
    assert Game.objects.count() == 8
