"""A deleted row comes back as it was, for ten minutes, once, and to its owner alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent
from lookup.documents import registry
from lookup.editing import uploads
from lookup.models import Asset, GalleryItem, Profile
from tests.dashboard.profile.cases import CASES, Case
from tests.dashboard.profile.editor import ROOT, Editor, picture, said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import (
    AssetFactory,
    BackgroundFactory,
    GalleryItemFactory,
    LinkFactory,
    SectionFactory,
    shown,
)
from tests.pages.markup import problems_of

every_list = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
LINKS = f"{ROOT}/links/"


def values_of(case: Case, pk: str) -> dict[str, Any]:
    found: dict[str, Any] = registry.LISTS[case.name].model._default_manager.values().get(pk=pk)
    return found


@pytest.mark.embedded
@every_list
def test_a_deleted_row_comes_back_with_its_id_and_place(case: Case, editor: Editor, profile: Profile) -> None:
    rows = [case.factory(profile=profile, order=order).pk for order in range(3)]
    shown(profile.user)
    url, before = f"{ROOT}/{case.name}/", editor.shown(case.name)
    stored = values_of(case, rows[1])
    editor.open(f"{url}{rows[1]}/delete/").press(f"{url}{rows[1]}/delete/")
    assert problems_of(editor.response) == []
    assert ": deleted. Undo" in editor.text
    editor.press(f"{url}restore/", pk=rows[1])
    assert ": restored." in editor.text
    assert values_of(case, rows[1]) == stored
    assert editor.shown(case.name) == before
    events = AuditEvent.objects.filter(verb="profile:content_changed").order_by("pk")
    assert [event.data["act"] for event in events] == ["deleted", "restored"]
    editor.press(f"{url}restore/", pk=rows[1])
    assert editor.shown(case.name) == before, "the second request changes nothing"
    assert "cannot be undone" not in editor.text


def test_the_last_deletion_can_be_undone_for_ten_minutes(editor: Editor, profile: Profile) -> None:
    first, second = (LinkFactory.create(profile=profile, order=order) for order in range(2))
    for row in (first, second):
        editor.open(f"{LINKS}{row.pk}/delete/").press(f"{LINKS}{row.pk}/delete/")
    editor.press(f"{LINKS}restore/", pk=first.pk)
    assert "This deletion cannot be undone any more." in editor.text
    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=2)):
        editor.press(f"{LINKS}restore/", pk=second.pk)
        assert "This deletion cannot be undone any more." in editor.text
        assert "Undo" not in editor.open(LINKS).text
    assert editor.shown("links") == []


def test_another_user_restores_nothing(editor: Editor, profile: Profile) -> None:
    row = LinkFactory.create(profile=profile)
    editor.open(f"{LINKS}{row.pk}/delete/").press(f"{LINKS}{row.pk}/delete/")
    other = Client()
    other.force_login(UserFactory.create())
    refused = other.post(f"{LINKS}restore/", {"pk": row.pk}, follow=True)
    assert "This deletion cannot be undone any more." in said(refused)
    assert editor.client.get(f"{LINKS}restore/").status_code == 405
    assert not profile.links.exists()


def test_a_section_comes_back_with_its_pictures(editor: Editor, profile: Profile) -> None:
    section = SectionFactory.create(profile=profile, type="GALLERY", config={})
    inside = GalleryItemFactory.create(profile=profile, section=section)
    url = f"{ROOT}/sections/"
    editor.open(f"{url}{section.pk}/delete/").press(f"{url}{section.pk}/delete/")
    assert GalleryItem.objects.get(pk=inside.pk).section_id is None
    editor.press(f"{url}restore/", pk=section.pk)
    assert GalleryItem.objects.get(pk=inside.pk).section_id == section.pk


def test_a_full_list_takes_nothing_back(editor: Editor, profile: Profile) -> None:
    url, rows = f"{ROOT}/backgrounds/", [BackgroundFactory.create(profile=profile, order=order) for order in range(20)]
    editor.open(f"{url}{rows[3].pk}/delete/").press(f"{url}{rows[3].pk}/delete/")
    BackgroundFactory.create(profile=profile)
    editor.press(f"{url}restore/", pk=rows[3].pk)
    assert "A profile has at most 20 backgrounds: delete one to add another." in editor.text
    assert profile.backgrounds.count() == 20


def test_the_file_of_a_row_waits_for_it_and_then_goes(editor: Editor, profile: Profile) -> None:
    editor.fill(f"{ROOT}/backgrounds/add/", title="The sea", asset=picture())
    row, url = profile.backgrounds.get(), f"{ROOT}/backgrounds/"
    editor.open(f"{url}{row.pk}/delete/").press(f"{url}{row.pk}/delete/")
    assert Asset.objects.get(pk=row.asset_id).unused_since is not None
    editor.press(f"{url}restore/", pk=row.pk)
    assert Asset.objects.get(pk=row.asset_id).unused_since is None
    editor.open(f"{url}{row.pk}/delete/").press(f"{url}{row.pk}/delete/")
    uploads.sweep(now=timezone.now() + uploads.UNUSED_FOR)
    assert not Asset.objects.filter(pk=row.asset_id).exists()
    editor.press(f"{url}restore/", pk=row.pk)
    assert "This cannot be undone any more, because its file has been removed." in editor.text
    assert not profile.backgrounds.exists()


def test_files_of_deleted_rows_make_room_for_new_ones(editor: Editor, profile: Profile) -> None:
    large = AssetFactory.create(owner=profile.user, size=uploads.QUOTA, path="kept/film.mp4", mime="video/mp4")
    row = BackgroundFactory.create(profile=profile, asset=large)
    url = f"{ROOT}/backgrounds/"
    editor.fill(f"{url}add/", title="The sea", asset=picture())
    assert "Your files may have 200 MB together" in editor.text
    editor.open(f"{url}{row.pk}/delete/").press(f"{url}{row.pk}/delete/")
    editor.fill(f"{url}add/", title="The sea", asset=picture())
    assert [one.title for one in profile.backgrounds.all()] == ["The sea"]
    assert not Asset.objects.filter(pk=large.pk).exists()
