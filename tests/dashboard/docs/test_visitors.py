"""What a visitor reads: every page, its Markdown twin, the menu. None of it asks the database."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from django.test import Client

from dashboard.documentation import contents
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.once
SLUGS = list(contents.pages())
PATHS = [page.path for page in contents.pages().values()]


def headings(response: Any) -> list[str]:
    """Of the article alone. Any: a response of the test client."""
    found = page_of(response).xpath("//article//*[self::h1 or self::h2 or self::h3]")
    return [" ".join(each.text_content().split()) for each in found]


def twin_headings(markdown: str) -> list[str]:
    without_code = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^#{1,3} (.+)$", without_code, flags=re.MULTILINE)
    return [each.replace("`", "") for each in found]


@pytest.mark.parametrize("path", [*PATHS, "/docs/search", "/docs/search?q=chatId", "/docs/search?q=zzzz"])
def test_a_page_keeps_the_rules_for_a_visitor(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert problems_of(response) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_has_a_twin_with_the_same_headings(client: Client, slug: str) -> None:
    page = contents.pages()[slug]
    shown, twin = client.get(page.path), client.get(page.twin_path)
    assert page_of(shown).xpath("//link[@rel='alternate'][@type='text/markdown']/@href") == [page.twin_path]
    assert twin.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert headings(shown) == twin_headings(twin.content.decode())
    assert headings(shown)[0] == page.title


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_is_left_to_be_put_in(client: Client, slug: str) -> None:
    page = contents.pages()[slug]
    for path in (page.path, page.twin_path):
        text = client.get(path).content.decode()
        assert "{{" not in text
        assert "```request" not in text
        assert "```fields" not in text


@pytest.mark.parametrize("slug", SLUGS)
def test_headings_go_down_by_one_step_at_a_time(client: Client, slug: str) -> None:
    levels = [
        int(each.tag[1])
        for each in page_of(client.get(contents.pages()[slug].path)).xpath(
            "//article//*[self::h1 or self::h2 or self::h3 or self::h4]"
        )
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("slug", SLUGS)
def test_a_link_within_a_page_has_its_target(client: Client, slug: str) -> None:
    page = page_of(client.get(contents.pages()[slug].path))
    ids = set(page.xpath("//@id"))
    assert {link[1:] for link in page.xpath("//a/@href") if link.startswith("#")} <= ids


def test_the_menu_lists_every_page_and_marks_the_one_that_is_shown(client: Client) -> None:
    page = page_of(client.get("/docs/lookup/user"))
    menu = page.xpath("//nav[@aria-label='Documentation']")[0]
    assert [link.get("href") for link in menu.iter("a")] == PATHS
    assert [link.get("href") for link in menu.iter("a") if link.get("aria-current")] == ["/docs/lookup/user"]


@pytest.mark.parametrize(
    "path", ["/docs/nothing", "/docs/nothing.md", "/docs/lookup", "/docs/..%2fstart", "/docs/start"]
)
def test_what_is_no_page_is_404(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_slash_at_the_end_of_docs_leads_to_it(client: Client) -> None:
    response = client.get("/docs/")
    assert (response.status_code, response.headers["Location"]) == (302, "/docs")


@pytest.mark.parametrize("path", ["/docs", "/docs.md", "/docs/search", "/llms.txt", "/docs/openapi.yaml"])
def test_a_page_cannot_be_posted_to(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


def test_the_index_leaves_no_name_open(client: Client) -> None:
    assert "{{" not in client.get("/llms.txt").content.decode()
