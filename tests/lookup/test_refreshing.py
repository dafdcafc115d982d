"""Stale documents: marked however many there are, rendered once, completed where they are missing."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from lookup.documents import counters, document_checks, documents, resolve
from lookup.documents.resolve import Parts
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


@pytest.mark.embedded
def test_a_second_reader_renders_nothing(people: list[User], django_assert_num_queries: DjangoAssertNumQueries) -> None:
    profile = main_profile(people[0])
    documents.mark_stale(Profile.objects.filter(pk=profile.pk))
    documents.refresh(profile.pk)
    before = ProfileDocument.objects.get(pk=profile.pk)
    assert before.fingerprint == documents.fingerprint()
    with django_assert_num_queries(5):  # the profile, its document, whether that is stale, between two savepoints
        documents.refresh(profile.pk)


@pytest.mark.usefixtures("operator")
def test_the_job_completes_a_user_of_an_earlier_release(settings: Settings) -> None:
    with override_settings(RECEIVERS={**settings.RECEIVERS, "user_created": []}):
        user = UserFactory(username="Early")
    assert answers.raw_user("type=username&value=Early").status == 404
    call_command("rank_leaderboards")
    assert answers.user("Early").body["user"]["id"] == user.pk
    assert list(document_checks.differences()) == []
    assert document_checks.complete_all() == 0


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("setting", ["BASE_URL", "UPLOAD_CDN_URL", "ASSET_URL"])
def test_a_document_is_rendered_anew_when_a_url_of_the_service_changes(setting: str, settings: Settings) -> None:
    user = UserFactory()
    pk = main_profile(user).pk
    before = resolve.answer("id", user.pk, Parts(), timezone.now()).fingerprint
    setattr(settings, setting, "https://elsewhere.example")
    assert resolve.answer("id", user.pk, Parts(), timezone.now()).fingerprint == documents.fingerprint() != before
    assert ProfileDocument.objects.get(pk=pk).fingerprint == documents.fingerprint()


def test_a_recount_has_the_badges_of_a_user_checked() -> None:
    user = UserFactory()
    UserDocument.objects.update(unlock_due=False)
    counters.recount([user.pk])
    assert UserDocument.objects.get(pk=user.pk).unlock_due
