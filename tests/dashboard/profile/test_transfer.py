"""One's own data as a file: out, and in again."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, User
from lookup import document_checks, profiles
from lookup.models import (
    CustomBadge,
    Link,
    Profile,
    ProfileBadge,
    UserDocument,
)
from tests.dashboard.profile.editor import said
from tests.dashboard.profile.transfers import PAGE, Json, load
from tests.factories.lookup import LinkFactory, main_profile
from tests.lookup.answers import INCLUDES

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(exported: bytes) -> User:
    return User.objects.get(username="Ada")


def test_the_export_is_what_the_lookup_answers(signed_in: Client, looked_up: Callable[..., Json]) -> None:
    response = signed_in.get(f"{PAGE}export/")
    assert json.loads(response.content) == {"version": 1, **looked_up(*INCLUDES)}
    today = f"{timezone.now():%Y-%m-%d}"
    assert response.headers["Content-Disposition"] == f'attachment; filename="Ada-{today}.json"'
    assert "no-store" in response.headers["Cache-Control"]


def test_a_hidden_profile_is_exported_and_imported_too(signed_in: Client, user: User, line: Json) -> None:
    profiles.set_public_access(user=user, is_public=False, by=user)
    assert json.loads(signed_in.get(f"{PAGE}export/").content) == line
    assert load(signed_in, line).status_code == 200
    assert User.objects.get(pk=user.pk).public_api_access is False


def test_an_import_brings_back_what_was_exported(
    signed_in: Client, user: User, line: Json, looked_up: Callable[..., Json]
) -> None:
    profile = main_profile(user)
    before = looked_up(*INCLUDES)
    Link.objects.filter(profile=profile, is_active=True).delete()
    CustomBadge.objects.update(name="Other")
    LinkFactory.create(profile=profile, title="Newer")
    profiles.change(profile=profile, values={"location": "Oslo", "settings": {"cardSettings": {"blur": 3}}}, by=user)
    response = load(signed_in, line)
    assert "Profile imported." in said(response)
    after = looked_up(*INCLUDES)
    assert before["profile"].pop("updatedAt") < after["profile"].pop("updatedAt")
    assert after == before
    assert Link.objects.filter(profile=profile, title="Switched off").exists()
    assert list(document_checks.differences()) == []
    assert AuditEvent.objects.get(verb="profile:restored").actor == user


def test_looking_at_a_file_changes_nothing(signed_in: Client, user: User, line: Json) -> None:
    rows = [list(model.objects.values()) for model in (Profile, Link, ProfileBadge, User)]
    line["profile"]["location"] = "Oslo"
    response = signed_in.post(f"{PAGE}check/", {"file": SimpleUploadedFile("x", json.dumps(line).encode())})
    assert "The file can be imported." in said(response)
    assert [list(model.objects.values()) for model in (Profile, Link, ProfileBadge, User)] == rows
    assert not AuditEvent.objects.filter(verb="profile:restored").exists()


def test_the_text_survives_the_form_that_carries_it(signed_in: Client, line: Json) -> None:
    line["profile"]["description"] = "“quotes” & <tags>\n\r\n\ttabs"
    response = signed_in.post(f"{PAGE}check/", {"file": SimpleUploadedFile("x", json.dumps(line).encode())})
    assert json.loads(response.context["form"]["text"].value()) == line
    load(signed_in, line)
    assert Profile.objects.get(is_main=True, user__username="Ada").description == line["profile"]["description"]


def test_the_plan_and_later_views_stay_as_they_are(signed_in: Client, user: User, line: Json) -> None:
    UserDocument.objects.filter(pk=user.pk).update(views=100)
    ends = timezone.now() + timedelta(days=3)
    User.objects.filter(pk=user.pk).update(plan="PREMIUM", plan_expires_at=ends)
    load(signed_in, line)
    now = User.objects.get(pk=user.pk)
    assert (now.plan, now.plan_expires_at) == ("PREMIUM", ends)
    assert UserDocument.objects.get(pk=user.pk).views == 100


def test_a_get_of_the_steps_leads_back(signed_in: Client) -> None:
    for step in ("check", "import"):
        assert signed_in.get(f"{PAGE}{step}/").headers["Location"] == PAGE
