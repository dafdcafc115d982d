"""The theme of a profile is picked, seen in a preview, and read in the lookup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from accounts.models import User
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.models import Profile
from lookup.page import colors
from lookup.shapes import settings_schema, themes
from tests.dashboard.profile.editor import filled, said
from tests.factories.lookup import AssetFactory
from tests.pages.markup import page_of

PAGE = "/dashboard/profile/theme/"
PREVIEW = f"{PAGE}preview/"
STYLE = "//link[contains(@href, 'style.css')]/@href"


def dress(profile: Profile, user: User, name: str, **own: Any) -> None:
    """Give the profile a theme, with own columns on top."""
    profiles.change(profile=profile, values=themes.plain(name) | own, by=user)


def address_of(name: str) -> str:
    plain = themes.plain(name)
    return colors.address(plain["settings"], font=plain["font"], font_username=plain["font_username"])


def test_the_page_shows_every_theme_and_the_one_of_the_profile(signed_in: Client) -> None:
    response = signed_in.get(PAGE)
    page = page_of(response)
    assert page.xpath("//input[@name='theme']/@value") == list(themes.THEMES)
    assert page.xpath("//input[@name='theme'][@checked]/@value") == [themes.STARTER.name]
    assert len(page.xpath("//*[contains(@class, 'theme-mini ')]")) == len(themes.THEMES)
    assert page.xpath("//link/@href[contains(., 'themes.css')]") == [colors.themes_address()]
    assert all(theme.about in said(response) for theme in themes.THEMES.values())
    assert page.xpath("//input[@name='takes_back']") == []


def test_the_current_theme_is_marked_and_each_is_drawn_with_the_page_of_its_owner(
    signed_in: Client, user: User, profile: Profile
) -> None:
    drawn = "//*[contains(@class, 'theme-mini__{}')]"
    dress(profile, user, "forest", display_name="Ada <b>")
    page = page_of(signed_in.get(PAGE))
    marked = "//label[.//*[contains(@class, 'badge') and normalize-space()='Current']]//input/@value"
    assert page.xpath(marked) == ["forest"]
    assert {name.text for name in page.xpath(drawn.format("name"))} == {"Ada <b>"}
    assert {part.text_content().strip() for part in page.xpath(drawn.format("portrait"))} == {"A"}
    picture, banner = AssetFactory.create(owner=user), AssetFactory.create(owner=user)
    profiles.change(profile=profile, values={"avatar": picture, "banner": banner}, by=user)
    page = page_of(signed_in.get(PAGE))
    for part, asset in (("portrait", picture), ("banner", banner)):
        (source,) = set(page.xpath(f"{drawn.format(part)}/img/@src"))
        assert source.endswith(asset.path)
        assert len(page.xpath(f"{drawn.format(part)}/img")) == len(themes.THEMES)
    settings = settings_schema.filled(profile.settings)
    settings["avatarSettings"]["mirrorChat"] = True
    profiles.change(profile=profile, values={"settings": settings}, by=user)
    assert page_of(signed_in.get(PAGE)).xpath(f"{drawn.format('portrait')}/img") == []


def test_a_picked_theme_and_its_values_are_in_the_lookup(
    signed_in: Client, profile: Profile, looked_up: Callable[..., Any]
) -> None:
    response = signed_in.post(PAGE, filled(signed_in, PAGE, "theme") | {"theme": "forest"}, follow=True)
    assert "Profile saved." in said(response)
    found, wanted = looked_up("profile")["profile"], themes.plain("forest")
    assert (found["theme"], found["font"], found["settings"]) == ("forest", wanted["font"], wanted["settings"])
    assert list(document_checks.differences()) == []
    assert page_of(Client().get(f"/{profile.user.username}")).xpath(STYLE) == [address_of("forest")]


def test_the_preview_shows_a_theme_and_saves_nothing(signed_in: Client, profile: Profile) -> None:
    response = signed_in.post(PREVIEW, filled(signed_in, PAGE, "theme") | {"theme": "neon"})
    assert page_of(response).xpath(STYLE) == [address_of("neon")]
    assert Profile.objects.get(pk=profile.pk).theme == themes.STARTER.name


def test_own_changes_stay_on_top_until_they_are_taken_back(signed_in: Client, user: User, profile: Profile) -> None:
    dress(profile, user, "forest", font="mono")
    page = page_of(signed_in.get(PAGE))
    (folded,) = page.xpath("//details[@id='own']")
    assert folded.get("open") is None
    assert folded.xpath("summary//text()[normalize-space()]") == ["1 change of your own"]
    assert folded.xpath(".//li/text()") == ["Font of the page"]
    assert folded.xpath(".//label/text()") == ["Take back my own changes"]
    assert folded.xpath("preceding::input[@name='theme']"), "themes come first"
    signed_in.post(PAGE, filled(signed_in, PAGE, "theme") | {"theme": "paper"})
    assert themes.own_changes(Profile.objects.get(pk=profile.pk)) == ["font"]
    signed_in.post(PAGE, filled(signed_in, PAGE, "theme") | {"takes_back": "on"})
    stored = Profile.objects.get(pk=profile.pk)
    assert (stored.theme, stored.font, themes.own_changes(stored)) == ("paper", "serif", [])


def test_an_untouched_form_changes_nothing(signed_in: Client, user: User, profile: Profile) -> None:
    dress(profile, user, "forest", font="mono")
    before = Profile.objects.get(pk=profile.pk)
    signed_in.post(PAGE, filled(signed_in, PAGE, "theme"))
    after = Profile.objects.get(pk=profile.pk)
    assert (after.updated_at, after.font, after.settings) == (before.updated_at, before.font, before.settings)


def test_the_name_of_an_import_is_shown_and_stays_until_another_is_picked(
    signed_in: Client, user: User, profile: Profile
) -> None:
    profiles.change(profile=profile, values={"theme": "Düsk <b>"}, by=user)
    page = page_of(signed_in.get(PAGE))
    assert page.xpath("//input[@name='theme'][@checked]/@value") == ["Düsk <b>"]
    assert len(page.xpath("//*[contains(@class, 'theme-mini ')]")) == len(themes.THEMES)
    signed_in.post(PAGE, filled(signed_in, PAGE, "theme"))
    assert Profile.objects.get(pk=profile.pk).theme == "Düsk <b>"
    signed_in.post(PAGE, filled(signed_in, PAGE, "theme") | {"theme": "ink"})
    assert Profile.objects.get(pk=profile.pk).theme == "ink"


def test_a_name_that_is_no_choice_is_refused(signed_in: Client, profile: Profile) -> None:
    response = signed_in.post(PAGE, filled(signed_in, PAGE, "theme") | {"theme": "dusk"})
    assert "dusk is not one of the available choices" in said(response)
    assert Profile.objects.get(pk=profile.pk).theme == themes.STARTER.name


def test_a_profile_without_a_theme_may_pick_one(signed_in: Client, user: User, profile: Profile) -> None:
    profiles.change(profile=profile, values={"theme": ""}, by=user)
    form = filled(signed_in, PAGE, "theme")
    assert page_of(signed_in.post(PREVIEW, form)).xpath("//h1/span/text()") == [user.username]
    signed_in.post(PAGE, form | {"theme": "mint"})
    assert Profile.objects.get(pk=profile.pk).theme == "mint"


def test_resetting_a_part_returns_to_the_theme(signed_in: Client, user: User, profile: Profile) -> None:
    plain = themes.plain("forest")
    plain["settings"]["cardSettings"] |= {"blur": 1, "parallax": True}
    profiles.change(profile=profile, values=plain, by=user)
    details = signed_in.get("/dashboard/profile/appearance/").context["form"]
    assert [part.key for group in details.groups() for part in group.parts if part.is_changed] == ["cardSettings"]
    signed_in.post("/dashboard/profile/appearance/cardSettings/reset/")
    stored = settings_schema.filled(Profile.objects.get(pk=profile.pk).settings)
    assert stored == themes.plain("forest")["settings"]


def test_fonts_are_set_among_the_details(signed_in: Client, profile: Profile) -> None:
    page = "/dashboard/profile/appearance/"
    assert page_of(signed_in.get(page)).xpath("//datalist[@id='suggested-font']/option/@value") == list(colors.FONTS)
    signed_in.post(page, filled(signed_in, page, "version") | {"font": "Inter", "font_username": "slab"})
    stored = Profile.objects.get(pk=profile.pk)
    assert (stored.font, stored.font_username) == ("Inter", "slab")
    refused = signed_in.post(page, filled(signed_in, page, "version") | {"font": "a\u202eb"})
    assert page_of(refused).xpath("//details[@open]/@id") == ["fonts"]


def test_a_name_from_before_there_were_themes_is_not_checked_and_can_be_picked(
    signed_in: Client, profile: Profile
) -> None:
    Profile.objects.filter(pk=profile.pk).update(theme="midnight")
    page = page_of(signed_in.get(PAGE))
    assert (page.xpath("//input[@name='theme'][@checked]"), page.xpath("//input[@name='takes_back']")) == ([], [])
    sent = filled(signed_in, PAGE, "theme")
    signed_in.post(PAGE, sent)
    assert themes.own_changes(Profile.objects.get(pk=profile.pk)) == []
    assert Profile.objects.get(pk=profile.pk).settings == {}
    signed_in.post(PAGE, sent | {"theme": "midnight"})
    stored = Profile.objects.get(pk=profile.pk)
    assert (themes.is_worn(stored), stored.font) == (True, themes.THEMES["midnight"].values["font"])


def test_fonts_that_a_form_does_not_have_stay(signed_in: Client, user: User, profile: Profile) -> None:
    """As one that was open while the release with the fonts began."""
    dress(profile, user, "", font="Inter", font_username="slab")
    page = "/dashboard/profile/appearance/"
    sent = {k: v for k, v in filled(signed_in, page, "version").items() if k not in themes.COLUMNS}
    signed_in.post(page, sent)
    stored = Profile.objects.get(pk=profile.pk)
    assert (stored.font, stored.font_username) == ("Inter", "slab")


def test_the_banner_keeps_the_color_of_its_user_until_a_color_is_chosen(
    signed_in: Client, user: User, profile: Profile
) -> None:
    def has_tint() -> bool:
        return " tint-" in Client().get(f"/{user.username}").content.decode()

    assert has_tint()
    dress(profile, user, "", font="serif")
    assert has_tint()
    dress(profile, user, "forest")
    assert not has_tint()
