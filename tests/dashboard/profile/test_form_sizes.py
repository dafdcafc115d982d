"""Checks before a form of the editor is read: its size, its token, and whether the profile still exists."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from dashboard.profile import editing
from dashboard.profile import urls as profile_urls
from dashboard.profile.editing import MAX_BODY
from lookup.models import Profile
from tests.dashboard.profile.editor import said

ARGUMENTS = {
    "key": "cardSettings",
    "place": "avatar",
    "pk": "0" * 32,
    "type": "GALLERY",
    "act": "add",
    "name": "Ally",
}
PAGES: list[URLPattern] = profile_urls.urlpatterns
LINKS = "/dashboard/profile/links/add/"


class Unread:
    """A body that fails the test when it is read."""

    def read(self, *args: Any) -> bytes:
        raise AssertionError("The body was read.")

    readline = read


def announced(client: Client, path: str, length: object) -> Any:
    """The answer to a form of that length; Django's, untyped."""
    kind = "multipart/form-data; boundary=x"
    body: dict[str, Any] = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind}
    return client.generic("POST", path, **body)


def url_of(pattern: URLPattern, profile: Profile) -> str:
    arguments = {name: ARGUMENTS[name] for name in pattern.pattern.regex.groupindex}
    return editing.url_of(profile, str(pattern.name), **arguments)


def test_a_form_that_is_too_large_is_refused_unread(signed_in: Client, profile: Profile) -> None:
    for page in PAGES:
        path = url_of(page, profile)
        answer = announced(signed_in, path, MAX_BODY + 1)
        assert (answer.status_code, answer.headers["Location"]) == (302, path), page.name
    assert "A form may have at most 52 MB with its files. Nothing was saved." in said(signed_in.get(LINKS))
    assert announced(signed_in, LINKS, "9" * 30).status_code == 302


def test_a_form_as_large_as_the_largest_film_is_read(signed_in: Client) -> None:
    with pytest.raises(AssertionError, match="was read"):
        announced(signed_in, LINKS, MAX_BODY)


def test_a_form_is_not_read_without_a_login(client: Client, profile: Profile) -> None:
    for page in PAGES:
        answer = announced(client, url_of(page, profile), MAX_BODY)
        assert answer.headers["Location"].startswith("/accounts/login/"), page.name


@pytest.mark.parametrize("path", ["", "media/mirror/", "links/add/"])
def test_a_profile_that_is_deleted_meanwhile_is_not_found(
    path: str, signed_in: Client, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Profile.objects.select_related("user").get(pk=profile.pk)
    Profile.objects.filter(pk=profile.pk).delete()
    monkeypatch.setattr(editing, "get_object_or_404", lambda rows, **wanted: gone)
    typed = {"mirror": "on", "title": "Mine", "url": "https://ada.example/"}
    answer = signed_in.post(f"/dashboard/profile/{path}", typed)
    assert answer.status_code == (200 if path == "" else 404)  # a form of its own says so
