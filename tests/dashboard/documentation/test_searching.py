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
    ("throttled", "/docs/limits"),
]


@pytest.mark.parametrize(("query", "path"), FINDS)
def test_a_search_finds_the_page(query: str, path: str) -> None:
    assert path in [result.section.page.path for result in searching.find(query)]


def test_a_page_must_have_every_word_in_any_case_and_its_title_counts_most() -> None:
    assert searching.find("limits nosuchword") == searching.find("…") == []
    for query, path in (
        ("limits", "/docs/limits"),
        ("INTROSPECT", "/docs/sign-in/introspect"),
        ("leaderb", "/docs/leaderboards/views"),
        ("sharex flameshot", "/docs/imagehost/uploaders"),
    ):
        assert searching.find(query)[0].section.page.path == path


def test_a_heading_with_the_words_comes_before_a_text_that_repeats_them() -> None:
    for query, url in (
        ("errors", "/docs/errors"),
        ("the flow", "/docs/sign-in#the-flow"),
        ("permissions", "/docs/api-keys#permissions"),
        ("upload a file", "/docs/imagehost/upload"),
        ("spring security", "/docs/sign-in#spring-security"),
        ("pagination", "/docs/imagehost/gallery#parameters"),
        ("rotate secret", "/docs/sign-in#rotate-the-client-secret"),
        ("secret rotation", "/docs/sign-in#rotate-the-client-secret"),
        ("How to refresh", "/docs/sign-in/token#refresh"),
        ("deleting folders", "/docs/imagehost/delete-folder"),
    ):
        assert searching.find(query)[0].section.url == url, query


def test_pages_that_say_the_same_are_one_result(client: Client) -> None:
    found = searching.find("failed earlier forms ranks leaderboard")
    assert len({(each.section.heading, each.section.text) for each in found}) == len(found)
    results = searching.find("limits")
    merged = [result for result in results if result.same]
    assert merged
    for result in merged:
        assert {(each.heading, each.text) for each in result.same} == {(result.section.heading, result.section.text)}
    page = page_of(client.get("/docs/search", {"q": "limits"}))
    assert [each.url for each in merged[0].same] == page.xpath(
        "(//ol/li[contains(., 'The same on')])[1]/p[last()]/a/@href"
    )


def test_an_excerpt_marks_the_words_and_what_was_typed_is_escaped(client: Client) -> None:
    page = page_of(client.get("/docs/search", {"q": "flameshot"}))
    assert {mark.text_content().lower() for mark in page.iter("mark")} == {"flameshot"}
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
    assert "No page matches “zzzz”." in text
    assert "Try fewer words" in text


def test_llms_txt_has_whole_addresses(client: Client) -> None:
    text = client.get("/llms.txt").content.decode()
    assert "/dashboard/api-keys/)" in text
    assert not re.findall(r"\]\((?!https?://)[^)]*\)", text)


def test_llms_txt_lists_every_page_with_its_summary(client: Client) -> None:
    response = client.get("/llms.txt")
    text = response.content.decode()
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.startswith("# ")
    assert "{{" not in text
    listed = re.findall(r"^- \[(.+?)\]\(https?://[^/]+(/docs[^)]*\.md)\): .+$", text, re.MULTILINE)
    assert listed == [(page.title, page.twin_path) for page in contents.pages().values()]
