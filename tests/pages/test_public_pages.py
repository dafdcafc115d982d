"""The landing page, the footer, and the public pages about the service."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import resolve
from lxml import etree
from pytest_django import Settings
from time_machine import travel

from accounts.models.names import RESERVED_NAMES
from config import public_pages, version
from config.env import Document, document
from config.operations import readiness
from config.operations.readiness import Part
from dashboard.documentation import contents
from tests.pages.markup import page_of, problems_of

TERMS = (
    "# Our terms\n\nBe *kind*. <script>no</script>\n\n# Second\n\n- one\n- two\n\n![x](https://evil.example/x.png)\n"
)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_pages, "_kept", None)


def footer_of(client: Client) -> dict[str, str]:
    """The texts of the footer's links with where they lead."""
    links = page_of(client.get("/")).xpath("//footer//a")
    return {link.text_content(): link.get("href") for link in links}


@pytest.mark.django_db
def test_the_landing_page_leads_people_and_developers_on(client: Client) -> None:
    page = page_of(client.get("/"))
    (description,) = page.xpath("//meta[@name='description']/@content")
    assert 50 < len(description) <= 160
    words = page.text_content()
    for offer in ("Sign in with Hearth", "Profiles by API", "Uploads by API", "Presence as it changes", "profile page"):
        assert offer in words
    links = page.xpath("//main//a/@href")
    assert {"/accounts/signup/", "#developers", "/dashboard/apps/new/", "/docs"} <= set(links)
    for path in (link for link in links if link.startswith("/docs")):
        assert client.get(path).status_code == 200, path


@pytest.mark.parametrize("is_demo", [True, False])
def test_the_landing_page_shows_profiles_which_are_links_where_the_demo_has_them(
    client: Client, settings: Settings, db: None, is_demo: bool
) -> None:
    settings.DEMO = is_demo
    answer = client.get("/")
    assert problems_of(answer) == []
    (part,) = page_of(answer).xpath("//section[@aria-labelledby='profiles']")
    pictures = part.xpath(".//img")
    assert len(pictures) == 3
    assert {(each.get("loading"), each.get("width"), each.get("height")) for each in pictures} == {
        ("lazy", "400", "500")
    }
    assert min(len(each.get("alt")) for each in pictures) > 40
    assert part.xpath(".//a/@href") == (["/ada", "/ada-maps", "/cleo"] if is_demo else [])


def test_the_landing_page_shows_the_request_of_the_first_quickstart(client: Client, db: None) -> None:
    (request,) = page_of(client.get("/")).xpath("//code[@id='request']")
    quickstart = client.get("/docs/quickstarts/lookup.md").content.decode()
    assert f"```sh\n{request.text_content()}\n```" in quickstart


def test_the_footer_links_to_what_is_published(client: Client, settings: Settings, db: None) -> None:
    settings.SUPPORT_EMAIL = ""
    assert footer_of(client) == {"Docs": "/docs", "Leaderboard": "/leaderboard", "Status": "/status"}
    settings.SUPPORT_EMAIL = "help@hearth.example"
    settings.TERMS, settings.PRIVACY = Document(text="Be kind."), Document(url="https://example.org/privacy")
    assert footer_of(client) == {
        "Docs": "/docs",
        "Leaderboard": "/leaderboard",
        "Terms": "/terms",
        "Privacy": "/privacy",
        "Contact": "mailto:help@hearth.example",
        "Status": "/status",
    }


def test_a_text_in_markdown_is_a_page_without_html_and_pictures(client: Client, settings: Settings) -> None:
    settings.TERMS = Document(text=TERMS, is_markdown=True)
    answer = client.get("/terms")
    assert (answer.status_code, problems_of(answer)) == (200, [])
    page = page_of(answer)
    assert page.findtext(".//h1") == "Terms of service"
    assert page.xpath("//main//h2/text()") == ["Second"]
    assert page.xpath("//main//img") == page.xpath("//main//script") == []
    assert "<em>kind</em>" in answer.content.decode()


def test_a_plain_text_keeps_its_paragraphs_and_a_page_elsewhere_is_a_redirect(
    client: Client, settings: Settings
) -> None:
    settings.PRIVACY = Document(text="First <b>.\n\nSecond.")
    page = page_of(client.get("/privacy"))
    assert [part.text_content() for part in page.xpath("//main//p")] == ["First <b>.", "Second."]
    settings.TERMS = Document(url="https://example.org/terms")
    answer = client.get("/terms")
    assert (answer.status_code, answer["Location"]) == (302, "https://example.org/terms")


@pytest.mark.parametrize(("path", "what"), [("/terms", "terms of service"), ("/privacy", "a privacy policy")])
def test_a_text_that_is_not_published_says_so(client: Client, path: str, what: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, problems_of(answer)) == (404, [])
    assert f"The operator of Hearth has not published {what} yet." in answer.content.decode()


def test_a_vulnerability_has_a_contact_that_is_true_for_a_quarter(client: Client, settings: Settings) -> None:
    for contact, line in (
        ("security@hearth.example", "mailto:security@hearth.example"),
        ("https://hearth.example/report", "https://hearth.example/report"),
    ):
        settings.SECURITY_CONTACT = contact
        with travel("2026-03-01T12:00:00Z", tick=False):
            answer = client.get("/.well-known/security.txt")
        assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
        assert answer.content.decode().splitlines() == [
            f"Contact: {line}",
            "Expires: 2026-05-30T00:00:00Z",
            "Preferred-Languages: en",
            f"Canonical: {settings.BASE_URL}/.well-known/security.txt",
        ]
    settings.SECURITY_CONTACT = ""
    assert client.get("/.well-known/security.txt").status_code == 404


def test_password_managers_find_the_form(client: Client) -> None:
    answer = client.get("/.well-known/change-password")
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/password/change/")


def test_a_document_is_read_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "terms.MD"
    path.write_text(" Be kind.\n")
    for value, expected in (
        ("", Document()),
        ("https://example.org/terms", Document(url="https://example.org/terms")),
        (str(path), Document(text="Be kind.", is_markdown=True)),
    ):
        monkeypatch.setenv("TERMS_DOCUMENT", value)
        assert document("TERMS_DOCUMENT") == expected
    for content in (None, b"", b"\xff"):
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(ImproperlyConfigured, match="TERMS_DOCUMENT"):
            document("TERMS_DOCUMENT")


def answered(monkeypatch: pytest.MonkeyPatch, client: Client, **states: str) -> Any:
    """The status page, parsed, while `states` are those of the parts that are not well."""
    names = readiness.names()
    monkeypatch.setattr(public_pages, "_kept", None)
    monkeypatch.setattr(readiness, "parts", lambda: {name: Part(states.get(name, "ok"), 1) for name in names})
    answer = client.get("/status")
    assert (answer.status_code, problems_of(answer), answer["Cache-Control"]) == (200, [], "no-store")
    return page_of(answer)


def rows_of(page: Any) -> dict[str, str]:
    return {row[0].text_content(): row[1].text_content() for row in page.xpath("//li[@class='row']")}


def test_the_status_says_what_works_and_nothing_of_its_parts(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="1" * 18)
    page = answered(monkeypatch, client)
    assert set(rows_of(page).values()) == {"Working"}
    assert "Everything works." in page.text_content()
    assert f"Version {version()}." in page.text_content()

    page = answered(monkeypatch, client, files="FILES_DIR cannot be written", presence="stale: last write 9 s ago")
    assert {name for name, state in rows_of(page).items() if state == "Not working"} == {"Image host", "Live presence"}
    assert "FILES_DIR" not in page.text_content()

    assert set(rows_of(answered(monkeypatch, client, database="not reachable")).values()) == {"Not working"}


def test_the_status_leaves_out_what_is_not_offered(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="")
    page = answered(monkeypatch, client, presence="off: CHAT_GUILD_ID names no chat server")
    assert "Live presence" not in rows_of(page)
    assert "Everything works." in page.text_content()


def test_the_parts_are_asked_once_in_ten_seconds(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch, client)
    monkeypatch.setattr(readiness, "parts", dict)
    assert client.get("/status").status_code == 200
    assert public_pages.current_status().services[0].is_working


def test_robots_are_kept_from_forms(client: Client, settings: Settings) -> None:
    answer = client.get("/robots.txt")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    lines = answer.content.decode().splitlines()
    assert lines[:2] == ["User-agent: *", "Disallow: /accounts/"]
    assert lines[-1] == f"Sitemap: {settings.BASE_URL}/sitemap.xml"


def test_a_search_engine_finds_the_public_pages_and_no_profile(client: Client, settings: Settings, db: None) -> None:
    def paths() -> list[str]:
        answer = client.get("/sitemap.xml")
        assert answer.headers["Content-Type"] == "application/xml; charset=utf-8"
        return [
            str(each.text).removeprefix(settings.BASE_URL) for each in etree.fromstring(answer.content).iter("{*}loc")
        ]

    always = ["/", "/leaderboard", *(page.path for page in contents.pages().values())]
    assert paths() == always
    assert {client.get(path, follow=True).status_code for path in always[:4]} == {200}
    settings.TERMS, settings.PRIVACY = Document(text="Be kind."), Document(url="https://example.org/privacy")
    assert paths() == [*always[:2], "/terms", *always[2:]]


@pytest.mark.parametrize("name", ["terms", "privacy", "status", "robots.txt", "sitemap.xml"])
def test_no_one_can_take_the_name_of_a_public_page(name: str) -> None:
    assert name in RESERVED_NAMES
    assert resolve(f"/{name}").func.__module__ == "config.public_pages"
