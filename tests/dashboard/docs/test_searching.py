"""The search over all pages, and the index for programs."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.documentation import contents, searching
from tests.pages.markup import page_of

FINDS = [
    ("invalid_grant", "/docs/errors"),
    ("chatId", "/docs/lookup/presence"),
    ("look up a user", "/docs/lookup/user"),
    ("ShareX", "/docs/imagehost/uploaders"),
    ("quota_exceeded", "/docs/imagehost/upload"),
    ("webhooks", "/docs/changes"),
    ("refresh token", "/docs/sign-in/token"),
    ("EdDSA", "/docs/sign-in/client-libraries"),
    ("badgesSettings", "/docs/lookup/settings"),
    ("server-sent", "/docs/lookup/presence-events"),
]


@pytest.mark.parametrize(("query", "path"), FINDS)
def test_a_search_finds_the_page(query: str, path: str) -> None:
    assert path in [result.section.page.path for result in searching.find(query)]


def test_a_word_in_the_title_comes_first() -> None:
    assert searching.find("limits")[0].section.page.path == "/docs/limits"
    assert searching.find("introspect")[0].section.page.path == "/docs/sign-in/introspect"


def test_a_page_must_have_every_word() -> None:
    assert searching.find("limits nosuchword") == []
    assert searching.find("sharex flameshot")[0].section.page.path == "/docs/imagehost/uploaders"


def test_case_and_endings_do_not_matter() -> None:
    assert searching.find("…") == []
    assert [r.section.url for r in searching.find("LEADERB")] == [r.section.url for r in searching.find("leaderb")]
    assert searching.find("leaderb")


def test_an_excerpt_marks_the_words(client: Client) -> None:
    page = page_of(client.get("/docs/search", {"q": "flameshot"}))
    marked = {mark.text_content().lower() for mark in page.iter("mark")}
    assert marked == {"flameshot"}


def test_what_was_typed_is_escaped(client: Client) -> None:
    text = client.get("/docs/search", {"q": "<script>alert(1)</script>"}).content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_result_leads_to_its_section(client: Client) -> None:
    for link in page_of(client.get("/docs/search", {"q": "invalid_client"})).xpath("//ol//a/@href"):
        path, _, anchor = str(link).partition("#")
        target = page_of(client.get(path))
        assert not anchor or target.xpath("//*[@id=$id]", id=anchor), link


def test_nothing_found_says_what_to_do(client: Client) -> None:
    text = " ".join(page_of(client.get("/docs/search", {"q": "zzzz"})).text_content().split())
    assert "No page has all of “zzzz”." in text
    assert "Try fewer words" in text


def test_llms_txt_lists_every_page_with_its_summary(client: Client, settings: object) -> None:
    response = client.get("/llms.txt")
    text = response.content.decode()
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.startswith("# ")
    listed = re.findall(r"^- \[(.+?)\]\(https?://[^/]+(/docs[^)]*\.md)\): .+$", text, re.MULTILINE)
    assert listed == [(page.title, page.twin_path) for page in contents.pages().values()]
