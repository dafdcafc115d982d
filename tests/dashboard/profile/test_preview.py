"""The preview: the public page with the typed values, which are not saved."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from lookup.documents import documents
from lookup.editing import profiles
from lookup.models import Profile, ProfileDocument
from tests.dashboard.profile.editor import filled, said
from tests.factories.lookup import AliasRowFactory, LinkFactory, ProfileFactory, main_profile
from tests.pages.markup import page_of, problems_of

PAGE = "/dashboard/profile/"
LOOKS = "/dashboard/profile/appearance/"


def kept(profile: Profile) -> Any:
    """What is stored of the profile and its document."""
    return Profile.objects.values().get(pk=profile.pk), ProfileDocument.objects.values().get(pk=profile.pk)


def test_the_page_shows_what_was_typed_and_nothing_is_saved(signed_in: Client, profile: Profile) -> None:
    LinkFactory.create(profile=profile, title="My shop")
    documents.rebuild(profile.pk)
    before = kept(profile)
    form = filled(signed_in, PAGE, "display_name")
    response = signed_in.post(f"{PAGE}preview/", form | {"display_name": "Countess", "location": "Paris"})
    assert response.templates[0].name == "dashboard/profile/preview.html"
    for text in ("Countess", "Paris", "My shop", "This is a preview: nothing has been saved."):
        assert text in said(response)
    assert kept(profile) == before
    assert problems_of(response) == []


def test_the_page_shows_the_settings_that_were_typed(signed_in: Client, profile: Profile) -> None:
    before = kept(profile)
    form = filled(signed_in, LOOKS, "version")
    form |= {"colorsSettings.accentColor": "#ff0000", "metadataSettings.title": "A title"}
    del form["usernameSettings.enabled"]
    response = signed_in.post(f"{LOOKS}preview/", form)
    page = page_of(response)
    assert page.findtext(".//title").startswith("A title")
    assert any("accent=ff0000" in link for link in page.xpath("//link/@href"))
    assert "@Ada" not in " ".join(page.xpath("//article")[0].text_content().split())
    assert kept(profile) == before


def test_the_hidden_profile_of_an_alias_is_shown_to_its_owner_under_its_name(signed_in: Client, user: User) -> None:
    profiles.set_public_access(user=user, is_public=False, by=user)
    other = ProfileFactory.create(user=user)
    AliasRowFactory.create(name__user=user, name__name="Ally", profile=other, redirects=False)
    path = f"{PAGE}{other.pk}/"
    response = signed_in.post(f"{path}preview/", filled(signed_in, path, "name") | {"location": "Rome"})
    assert "@Ally" in said(response)
    assert "Rome" in said(response)


@pytest.mark.parametrize(
    ("page", "field", "value", "message"),
    [
        (PAGE, "name", "", "Name of the profile: This field is required."),
        (LOOKS, "cardSettings.blur", "101", "Blur (pixels): Ensure this value is less than or equal to 100."),
    ],
)
def test_what_is_refused_has_no_preview(page: str, field: str, value: str, message: str, signed_in: Client) -> None:
    response = signed_in.post(f"{page}preview/", filled(signed_in, page, "version") | {field: value})
    assert message in said(response)
    assert "Nothing was saved." in said(response)
    assert problems_of(response) == []


@pytest.mark.parametrize("page", [PAGE, LOOKS])
def test_only_the_preview_may_be_framed_by_our_pages(page: str, signed_in: Client) -> None:
    editor = signed_in.get(page)
    assert "frame-src 'self'" in editor.headers["Content-Security-Policy"]
    form = filled(signed_in, page, "version")
    previews = [signed_in.post(f"{page}preview/", values) for values in (form, form | {"name": "", "version": ""})]
    for response, ancestors, option in (
        *((preview, "'self'", "SAMEORIGIN") for preview in previews),
        *((whole, "'none'", "DENY") for whole in (editor, signed_in.get("/Ada"))),
    ):
        assert f"frame-ancestors {ancestors}" in response.headers["Content-Security-Policy"]
        assert response.headers["X-Frame-Options"] == option


@pytest.mark.parametrize("kind", ["links", "sections", "gallery"])
def test_the_page_as_it_is_stored_is_beside_the_lists(kind: str, signed_in: Client, user: User) -> None:
    profile = main_profile(user)
    LinkFactory.create(profile=profile, title="My shop")
    profiles.set_public_access(user=user, is_public=False, by=user)
    page = signed_in.get(f"{PAGE}{kind}/")
    frame = page_of(page).xpath("//details/iframe")[0]
    assert frame.get("loading") == "lazy", "a folded preview costs no request"
    assert "frame-src 'self'" in page.headers["Content-Security-Policy"]
    framed = signed_in.get(frame.get("src"))
    assert "My shop" in said(framed)
    assert "This is a preview" not in said(framed)
    assert "frame-ancestors 'self'" in framed.headers["Content-Security-Policy"]
    assert framed.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert problems_of(framed) == []


def test_the_stored_page_of_another_user_is_not_shown(signed_in: Client) -> None:
    other = ProfileFactory.create()
    assert signed_in.get(f"{PAGE}{other.pk}/preview/saved/").status_code == 404
    assert Client().get(f"{PAGE}preview/saved/").status_code == 302


def test_text_is_escaped_in_the_preview(signed_in: Client) -> None:
    form = filled(signed_in, PAGE, "name")
    response = signed_in.post(f"{PAGE}preview/", form | {"description": "<script>alert(1)</script>"})
    assert b"<script>alert" not in response.content
    assert signed_in.get(f"{PAGE}preview/").status_code == 405
