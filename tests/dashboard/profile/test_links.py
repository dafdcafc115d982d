"""The form of a link: its kind, and addresses that are typed without a scheme."""

from __future__ import annotations

import pytest

from dashboard.profile.content_forms import with_scheme
from lookup.models import Profile
from tests.dashboard.profile.editor import ROOT, Editor
from tests.factories.lookup import LinkFactory
from tests.support import patterns

LINKS = f"{ROOT}/links/"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lamps.example", "https://lamps.example"),
        ("lamps.example/a?b=c#d", "https://lamps.example/a?b=c#d"),
        ("lamps.example:8080/a", "https://lamps.example:8080/a"),
        ("lämpchen.example", "https://lämpchen.example"),
        ("ada@lamps.example", "mailto:ada@lamps.example"),
        ("http://lamps.example/", "http://lamps.example/"),
        ("mailto:ada@lamps.example", "mailto:ada@lamps.example"),
        ("javascript:alert(1).x", "javascript:alert(1).x"),
        ("ada#1843", "ada#1843"),
        ("two words.example", "two words.example"),
        ("lamps", "lamps"),
        ("lamps.", "lamps."),
        ("ada@lamps", "ada@lamps"),
        ("ada@lamps@lamps.example", "ada@lamps@lamps.example"),
        ("", ""),
    ],
)
def test_an_address_without_a_scheme_gets_one(typed: str, meant: str) -> None:
    assert with_scheme(typed) == meant


@pytest.mark.parametrize("typed", ["a" + ".a" * 900 + "@", "a@a" + ".a" * 900 + " ", "a." * 1000 + ":"])
@pytest.mark.parametrize("kind", ["links", "audios", "projects"])
def test_a_long_address_that_is_none_is_refused_at_once(editor: Editor, kind: str, typed: str) -> None:
    column = "external_url" if kind == "audios" else "url"
    with patterns.bounded(5):
        editor.fill(f"{ROOT}/{kind}/add/", title="Lamps", **{column: typed})
    assert editor.shown(kind) == []


def test_a_link_that_is_typed_without_a_scheme_is_saved_with_one(editor: Editor) -> None:
    editor.fill(f"{LINKS}add/", url="lamps.example")
    editor.fill(f"{LINKS}add/", url="lamps.example", is_text="True")
    editor.fill(f"{LINKS}add/", url="two words.example")
    assert "Use a web address such as" in editor.text
    assert [(link["url"], link["isText"]) for link in editor.shown("links")] == [
        ("https://lamps.example", False),
        ("lamps.example", True),
    ]
    editor.fill(f"{ROOT}/projects/add/", title="Lamps", url="lamps.example")
    assert editor.shown("projects")[0]["url"] == "https://lamps.example"


def test_a_platform_that_is_not_suggested_stays(editor: Editor, profile: Profile) -> None:
    row = LinkFactory.create(profile=profile, platform_id="Ünïque", platform_type="odd kind", is_text=True)
    editor.fill(f"{LINKS}{row.pk}/", title="Renamed")
    row.refresh_from_db()
    assert (row.title, row.platform_id, row.platform_type, row.is_text) == ("Renamed", "Ünïque", "odd kind", True)
    page = editor.open(f"{LINKS}{row.pk}/").page
    for name in page.xpath("//input[@list]/@list"):
        assert page.xpath(f"//datalist[@id='{name}']/option/@value")
