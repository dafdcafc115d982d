"""The page that shares a profile, and its QR code."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import bans
from accounts.models import User
from lookup.editing import aliases
from lookup.page import icons
from tests.factories.accounts import UserFactory
from tests.pages.markup import page_of, problems_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]


@pytest.fixture
def ada(operator: User) -> User:
    return UserFactory(username="Ada")


def test_the_page_has_the_link_and_the_code(ada: User) -> None:
    (path,) = page_of(Client().get("/ada")).xpath("//a[.='Share']/@href")
    with CaptureQueriesContext(connection) as captured:
        response = Client().get(path)
    assert (len(captured), problems_of(response)) == (1, [])
    page = page_of(response)
    assert page.xpath("string(//code)") == f"{settings.BASE_URL}/Ada"
    assert page.xpath("//main//img/@src") == ["/Ada/qr.svg", "/Ada/card.svg"]
    assert page.xpath("//a[@download]/@href") == ["/Ada/qr.svg"]
    assert page.xpath("//button[@data-share]/@hidden")  # until a script has found the dialog
    assert response.headers["Cache-Control"] == "private, no-cache"


def test_the_code_is_a_picture_without_styles_and_kept_by_caches(ada: User) -> None:
    with CaptureQueriesContext(connection) as captured:
        response = Client().get("/Ada/qr.svg")
    assert (response.status_code, len(captured)) == (200, 1)
    assert (response.headers["Content-Type"], response.headers["Cache-Control"]) == (
        "image/svg+xml",
        "public, max-age=3600",
    )
    assert "Set-Cookie" not in response.headers
    assert response.content == icons.qr_code(f"{settings.BASE_URL}/Ada")
    tags = [element.tag.rpartition("}")[2] for element in ET.fromstring(response.content).iter()]  # noqa: S314 - ours
    assert tags == ["svg", "rect", "path"]
    assert b"style" not in response.content
    assert len(response.content) < 15_000


def test_an_alias_shares_itself_where_it_has_a_profile_and_else_leads_to_the_username(ada: User) -> None:
    aliases.add(user=ada, name="Mask", redirects=False, has_own_profile=True, by=ada)
    aliases.add(user=ada, name="Old", redirects=True, has_own_profile=False, by=ada)
    aliases.add(user=ada, name="Other", redirects=False, has_own_profile=False, by=ada)
    for name, shown in (("mask", "Mask"), ("Other", "Ada")):
        assert Client().get(f"/{name}/qr.svg").content == icons.qr_code(f"{settings.BASE_URL}/{shown}")
        assert f"{settings.BASE_URL}/{shown}" in Client().get(f"/{name}/share").content.decode()
    for path in ("share", "qr.svg"):
        assert Client().get(f"/Old/{path}").headers["Location"] == f"/Ada/{path}"


@pytest.mark.parametrize("path", ["share", "qr.svg"])
def test_what_visitors_may_not_see_is_not_shared(ada: User, path: str) -> None:
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    response = Client().get(f"/Ada/{path}")
    assert (response.status_code, response.headers["Cache-Control"]) == (404, "private, no-cache")
    bans.ban(user=ada, by=None, reason="x")
    assert Client().get(f"/Ada/{path}").status_code == Client().get(f"/Nobody/{path}").status_code == 404
    assert Client().post(f"/Ada/{path}").status_code in {403, 405}
