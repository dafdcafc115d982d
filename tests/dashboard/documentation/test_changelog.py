"""The changelog: a page and an Atom feed with the same entries."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from lxml import etree

from dashboard.documentation import views
from tests.pages.markup import page_of

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def atom(client: Client) -> Any:
    """The root of the feed; `Any`: lxml has no useful type for it."""
    response = client.get("/docs/changelog.atom")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert response.headers["Cache-Control"] == "public, max-age=300"
    return etree.fromstring(response.content)


def test_the_feed_has_every_entry_of_the_page(client: Client, atom: Any) -> None:
    page = page_of(client.get("/docs/changelog"))
    headings = [heading.text_content() for heading in page.xpath("//article//h2")]
    entries = atom.findall(f"{ATOM}entry")
    found = [f"{each.findtext(f'{ATOM}updated')[:10]}: {each.findtext(f'{ATOM}title')}" for each in entries]
    assert found == headings
    assert headings
    for entry, anchor in zip(entries, page.xpath("//article//h2/@id"), strict=True):
        address = f"{settings.BASE_URL}/docs/changelog#{anchor}"
        assert entry.find(f"{ATOM}link").get("href") == entry.findtext(f"{ATOM}id") == address


def test_the_newest_entry_is_the_first_and_dates_the_feed(atom: Any) -> None:
    days = [change.day for change in views.changes()]
    assert all(after <= before for before, after in pairwise(days))
    assert datetime.fromisoformat(atom.findtext(f"{ATOM}updated")) == days[0]


def test_an_entry_reads_the_same_elsewhere(atom: Any) -> None:
    """Its links are whole addresses, and its text is HTML."""
    text = atom.findtext(f"{ATOM}entry/{ATOM}summary")
    assert f'<a href="{settings.BASE_URL}/docs/sign-in/buttons">' in text
    assert 'href="/' not in text
    assert "{{" not in text


def test_the_feed_names_itself_and_its_page(client: Client, atom: Any) -> None:
    links = {each.get("rel"): each.get("href") for each in atom.findall(f"{ATOM}link")}
    assert links == {
        "alternate": f"{settings.BASE_URL}/docs/changelog",
        "self": f"{settings.BASE_URL}/docs/changelog.atom",
    }
    page = page_of(client.get("/docs/changelog"))
    assert page.xpath("//link[@type='application/atom+xml']/@href") == ["/docs/changelog.atom"]
    assert client.post("/docs/changelog.atom").status_code == 405
