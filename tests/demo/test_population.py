"""An invented population of 400 is complete, valid, and what the operations would have made."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import User
from demo.population import growth, people
from demo.population.profile_pages import ORDER
from lookup.documents import document_checks
from lookup.editing import badge_tiers
from lookup.models import (
    Asset,
    Comment,
    Profile,
    ProfileDocument,
    Section,
)
from lookup.shapes import sections, settings_schema
from lookup.shapes.svg import svg_problems

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("population")]

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
UPLOADS = Path(settings.BASE_DIR) / "demo" / "static" / "uploads"


@pytest.fixture(scope="module")
def population(module_db: None) -> None:
    growth.grow(users=400, now=NOW)


def test_the_documents_and_counters_are_what_the_tables_say() -> None:
    assert list(document_checks.differences()) == []
    assert ProfileDocument.objects.filter(fingerprint="").count() == 0
    assert ProfileDocument.objects.count() == Profile.objects.count()


def test_everybody_has_the_badges_that_their_counters_unlock() -> None:
    assert badge_tiers.have_everybody_checked() == 400
    assert badge_tiers.unlock() == 0


def test_every_value_is_one_that_a_form_would_take() -> None:
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
    paths = set(Asset.objects.values_list("path", flat=True))
    assert paths
    assert [path for path in paths if not (UPLOADS / path).is_file()] == []


def test_sign_in_as_one_of_them_is_refused() -> None:
    assert not any(member.has_usable_password() for member in User.objects.all())
    assert set(User.objects.values_list("email", flat=True)) == {""}


def test_uids_follow_the_order_of_joining_and_acts_come_after_it() -> None:
    joined = list(User.objects.order_by("uid").values_list("created_at", flat=True))
    assert joined == sorted(joined)
    late = [people.member(1, number, NOW).user for number in range(9_000_000, 9_000_100)]
    assert all(user.last_login and user.created_at <= user.last_login <= NOW for user in late)
    for comment in Comment.objects.select_related("author", "user", "parent"):
        assert comment.created_at >= max(comment.author.created_at, comment.user.created_at)
        assert comment.parent is None or comment.created_at >= comment.parent.created_at


def test_an_image_of_the_demo_can_only_be_drawn() -> None:
    pictures = list((UPLOADS / "demo").glob("*.svg"))
    assert pictures
    for path in pictures:
        assert svg_problems(path.read_text()) == []
