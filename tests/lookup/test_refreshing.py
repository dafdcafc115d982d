"""Stale documents: marked however many there are, rendered once, completed where they are missing."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from lookup import document_checks, documents, profiles, unlocking
from lookup.models import Profile, ProfileDocument, UserDocument
from tests.factories.accounts import UserFactory
from tests.factories.lookup import main_profile
from tests.lookup import answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[User]:
    return [UserFactory() for _ in range(5)]


def test_more_documents_than_a_batch_are_marked(people: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "BATCH", 2)
    assert documents.mark_stale(Profile.objects.filter(user__in=people)) == 5
    assert ProfileDocument.objects.filter(user__in=people, fingerprint="").count() == 5


def test_more_users_than_a_batch_are_checked(people: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unlocking, "MARKED_AT_ONCE", 2)
    assert unlocking.have_everybody_checked() == UserDocument.objects.count()
    assert not UserDocument.objects.filter(unlock_due=False).exists()


def test_a_reader_who_comes_second_renders_nothing(
    people: list[User], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    profile = main_profile(people[0])
    documents.mark_stale(Profile.objects.filter(pk=profile.pk))
    documents.refresh(profile.pk)
    before = ProfileDocument.objects.get(pk=profile.pk)
    assert before.fingerprint == documents.fingerprint()
    with django_assert_num_queries(4):  # what is locked and what of it is stale, between two savepoints
        documents.refresh(profile.pk)


@pytest.mark.usefixtures("operator")
def test_who_signed_up_at_an_earlier_release_is_completed_by_the_job(settings: Settings) -> None:
    settings.ON_CREATE = []
    user = UserFactory(username="Early")
    settings.ON_CREATE = ["lookup.profiles.create_for"]
    assert answers.raw_user("type=username&value=Early").status == 404
    call_command("rank_leaderboards")
    assert answers.user("Early").body["user"]["id"] == user.pk
    assert list(document_checks.differences()) == []
    assert profiles.complete_all() == 0
