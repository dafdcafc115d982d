"""The preview of a row: the public page with the row as it was typed; and what the frames of previews may do."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from dashboard.profile.kinds import KINDS
from lookup.documents import documents, registry
from lookup.models import Asset, Profile
from lookup.shapes.sections import SectionType
from tests.dashboard.profile.editor import filled, picture, said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import (
    AliasRowFactory,
    AudioFactory,
    CustomBadgeFactory,
    GalleryItemFactory,
    LinkFactory,
    ProfileFactory,
    SectionFactory,
    WidgetFactory,
    main_profile,
    shown,
)
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

ROOT = "/dashboard/profile/"
UNSAVED = "This is a preview: nothing has been saved."


def kept() -> list[Any]:
    """Return the stored rows of all lists."""
    return [list(model.objects.values()) for content in registry.LISTS.values() for model in content.models]  # type: ignore[attr-defined]  # their managers


@pytest.mark.parametrize(
    ("page", "field", "typed", "seen"),
    [
        ("links/add/", "url", {"url": "github.com/ada"}, "@ada on GitHub"),
        ("badges/add/", "name", {"name": "Countess"}, "Countess"),
        ("sections/add/CUSTOM_TEXT/", "body", {"title": "Story", "body": "By the lake"}, "Story By the lake"),
    ],
)
def test_a_new_row_is_on_the_preview_before_it_is_saved(
    page: str, field: str, typed: dict[str, str], seen: str, signed_in: Client, user: User
) -> None:
    shown(user)
    before = kept()
    response = signed_in.post(f"{ROOT}{page}preview/", filled(signed_in, f"{ROOT}{page}", field) | typed)
    assert seen in said(response)
    assert UNSAVED in said(response)
    assert problems_of(response) == []
    assert kept() == before


@pytest.mark.parametrize(
    ("kind", "factory", "column", "stored"),
    [
        ("links", LinkFactory, "title", {}),
        ("links", LinkFactory, "title", {"is_active": False}),  # what is edited is shown
        ("badges", CustomBadgeFactory, "name", {}),
        ("audios", AudioFactory, "title", {}),
        ("gallery", GalleryItemFactory, "caption", {}),
        ("sections", SectionFactory, "title", {"is_enabled": False, "config": {"content": "By the lake"}}),
    ],
)
def test_a_stored_row_is_shown_with_its_file_as_it_is_typed(
    kind: str, factory: Any, column: str, stored: dict[str, Any], signed_in: Client, profile: Profile
) -> None:
    row = factory.create(profile=profile, **stored, **{column: "Old words"})
    documents.rebuild(profile.pk)
    before = kept()
    path = f"{ROOT}{kind}/{row.pk}/"
    text = signed_in.post(f"{path}preview/", filled(signed_in, path, column) | {column: "New words"}).content.decode()
    assert "New words" in text
    assert "Old words" not in text
    assert UNSAVED in text
    assert kept() == before


@pytest.mark.parametrize(
    ("page", "field", "typed", "problem"),
    [
        ("links/add/", "url", {"title": "Lamps"}, "Address or text: Write where the link leads, or the text to copy."),
        ("links/add/", "url", {"url": "lamps.example", "color": "green"}, "Color: Use a color such as #1b5e4b."),
        ("sections/add/CUSTOM_TEXT/", "body", {"body": "a" * 20_001}, "Ensure this value has at most 20000 characters"),
    ],
)
def test_what_is_refused_is_named_above_the_page_as_it_is_saved(
    page: str, field: str, typed: dict[str, str], problem: str, signed_in: Client, profile: Profile
) -> None:
    LinkFactory.create(profile=profile, title="My shop")
    documents.rebuild(profile.pk)
    response = signed_in.post(f"{ROOT}{page}preview/", filled(signed_in, f"{ROOT}{page}", field) | typed)
    assert problem in said(response)
    assert "My shop" in said(response)
    assert UNSAVED not in said(response)
    assert problems_of(response) == []


@pytest.mark.parametrize("page", [f"{name}/add/" for name in KINDS if name != "sections"])
def test_the_form_of_a_new_row_shows_the_page_as_it_is_until_something_is_typed(
    page: str, signed_in: Client, profile: Profile
) -> None:
    LinkFactory.create(profile=profile, title="My shop")
    documents.rebuild(profile.pk)
    _check_untouched(signed_in, f"{ROOT}{page}")


@pytest.mark.parametrize("type_", [*SectionType])
def test_the_form_of_a_new_section_shows_the_page_as_it_is_until_something_is_typed(
    type_: SectionType, signed_in: Client, profile: Profile
) -> None:
    LinkFactory.create(profile=profile, title="My shop")
    WidgetFactory.create(profile=profile)
    documents.rebuild(profile.pk)
    _check_untouched(signed_in, f"{ROOT}sections/add/{type_.value}/")


def _check_untouched(client: Client, path: str) -> None:
    [address] = page_of(client.get(path)).xpath("//button[@data-preview]/@formaction")
    form = next(form for form in page_of(client.get(path)).forms if form.xpath(".//button[@data-preview]"))
    response = client.post(
        address, {name: value for name, value in form.form_values() if name != "csrfmiddlewaretoken"}
    )
    assert "Your page as it is. What you type appears here before you save it." in said(response)
    assert "My shop" in said(response)
    assert page_of(response).xpath("//*[contains(@class, 'notice--warning')]") == []
    assert problems_of(response) == []


@pytest.mark.parametrize(
    ("page", "field", "name"), [("audios/add/", "title", "audio"), ("gallery/add/", "caption", "asset")]
)
def test_a_row_that_needs_a_file_is_shown_once_it_is_saved(
    page: str, field: str, name: str, signed_in: Client, profile: Profile
) -> None:
    """A chosen file is neither looked at nor stored."""
    form = filled(signed_in, f"{ROOT}{page}", field) | {field: "By the lake"}
    for values in (form, form | {name: picture()}):
        response = signed_in.post(f"{ROOT}{page}preview/", values)
        assert "Files that you have chosen are shown after you save them." in said(response)
        assert "By the lake" not in said(response)
    assert not Asset.objects.exists()


def test_a_row_of_an_alias_is_shown_on_its_own_page(signed_in: Client, user: User) -> None:
    other = ProfileFactory.create(user=user)
    AliasRowFactory.create(name__user=user, name__name="Ally", profile=other, redirects=False)
    path = f"{ROOT}{other.pk}/links/add/"
    response = signed_in.post(f"{path}preview/", filled(signed_in, path, "url") | {"url": "github.com/ally"})
    assert "@Ally" in said(response)
    assert "@ally on GitHub" in said(response)


def test_rows_of_others_and_unknown_types_have_no_preview(signed_in: Client, profile: Profile) -> None:
    row = LinkFactory.create(profile=main_profile(UserFactory.create()))
    for path in (f"links/{row.pk}", "sections/add", "sections/add/NONE", f"links/{'0' * 32}"):
        assert signed_in.post(f"{ROOT}{path}/preview/", {"url": "lamps.example"}).status_code == 404, path
    own = LinkFactory.create(profile=profile)
    assert Client().post(f"{ROOT}links/{own.pk}/preview/", {"url": "lamps.example"}).status_code == 302
    assert signed_in.get(f"{ROOT}links/{own.pk}/preview/").status_code == 405


_FIELDS = {"": "display_name", "theme/": "theme", "appearance/": "cardSettings.blur", "links/add/": "url"}


@pytest.mark.parametrize("path", _FIELDS)
def test_a_preview_runs_nothing_and_its_frame_takes_no_keys(path: str, signed_in: Client) -> None:
    """In a tab of its own, it can be used as any page."""
    page = signed_in.get(f"{ROOT}{path}")
    [frame] = page_of(page).xpath("//iframe")
    assert (frame.get("tabindex"), frame.get("sandbox")) == ("-1", "allow-same-origin")
    assert "frame-src 'self'" in page.headers["Content-Security-Policy"]
    [url] = page_of(page).xpath("//button[@data-preview]/@formaction")
    for query, is_inert in (("?framed", True), ("", False)):
        response = signed_in.post(f"{url}{query}", filled(signed_in, f"{ROOT}{path}", _FIELDS[path]))
        assert response.status_code == 200
        assert bool(page_of(response).xpath("//body[@inert]")) is is_inert
        assert page_of(response).xpath("//script | //*[contains(@class, 'site-')]") == []
        assert "frame-ancestors 'self'" in response.headers["Content-Security-Policy"]
        assert response.headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.embedded
def test_a_preview_of_a_row_costs_as_much_beside_ten_as_beside_one(signed_in: Client, profile: Profile) -> None:
    rows = [LinkFactory.create(profile=profile, order=0)]
    shown(profile.user)
    path = f"{ROOT}links/{rows[0].pk}/"
    form = filled(signed_in, path, "url")
    preview = lambda: signed_in.post(f"{path}preview/", form)  # noqa: E731
    beside_one = statements.names(preview)
    for order in range(1, 10):
        LinkFactory.create(profile=profile, order=order)
    assert statements.names(preview) == beside_one
    assert len(beside_one) <= 17
