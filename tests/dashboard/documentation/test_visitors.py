"""The pages for visitors: every page, its Markdown twin, the menu. None of it asks the database."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from django.test import Client

from dashboard.documentation import contents, expansion, rendering
from tests.pages.markup import page_of, problems_of

SLUGS = list(contents.pages())
PATHS = [page.path for page in contents.pages().values()]


def headings(tree: Any) -> list[str]:
    """Of the article alone."""
    found = tree.xpath("//article//*[self::h1 or self::h2 or self::h3]")
    return [" ".join(each.text_content().split()) for each in found]


def twin_headings(markdown: str) -> list[str]:
    without_code = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^#{1,3} (.+)$", without_code, flags=re.MULTILINE)
    return [each.replace("`", "") for each in found]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_keeps_the_rules_and_has_a_twin_with_the_same_headings(client: Client, slug: str) -> None:
    page = contents.pages()[slug]
    shown, twin = client.get(page.path), client.get(page.twin_path)
    assert (shown.status_code, twin.status_code, problems_of(shown)) == (200, 200, [])
    assert twin.headers["Content-Type"] == "text/markdown; charset=utf-8"
    for text in (shown.content.decode(), twin.content.decode()):
        assert [left for left in ("{{", "```request", "```fields") if left in text] == []
    tree = page_of(shown)
    assert tree.xpath("//link[@rel='alternate'][@type='text/markdown']/@href") == [page.twin_path]
    assert headings(tree) == twin_headings(twin.content.decode())
    assert headings(tree)[0] == page.title
    levels = [int(each.tag[1]) for each in tree.xpath("//article//*[self::h1 or self::h2 or self::h3 or self::h4]")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert {link[1:] for link in tree.xpath("//a/@href") if link.startswith("#")} <= set(tree.xpath("//@id"))


@pytest.mark.parametrize("query", ["", "?q=chatId", "?q=zzzz"])
def test_the_search_keeps_the_rules_for_pages(client: Client, query: str) -> None:
    response = client.get(f"/docs/search{query}")
    assert (response.status_code, problems_of(response)) == (200, [])


def test_the_menu_lists_every_page_and_marks_the_one_that_is_shown(client: Client) -> None:
    page = page_of(client.get("/docs/lookup/user"))
    menu = page.xpath("//nav[@aria-label='Documentation']")[0]
    assert [link.get("href") for link in menu.xpath("ul/li/a")] == PATHS
    assert [link.get("href") for link in menu.iter("a") if link.get("aria-current")] == ["/docs/lookup/user"]


def test_what_is_no_page_is_404(client: Client) -> None:
    for path in ("/docs/nothing", "/docs/nothing.md", "/docs/lookup", "/docs/..%2fstart", "/docs/start"):
        assert client.get(path).status_code == 404, path


def test_a_slash_at_the_end_of_docs_leads_to_it(client: Client) -> None:
    response = client.get("/docs/")
    assert (response.status_code, response.headers["Location"]) == (302, "/docs")


def test_a_page_cannot_be_posted_to(client: Client) -> None:
    for path in ("/docs", "/docs.md", "/docs/search", "/llms.txt", "/docs/openapi.yaml"):
        assert client.post(path).status_code == 405, path


def test_a_long_page_lists_its_headings_in_the_menu_and_folded_above_the_text(client: Client) -> None:
    page = page_of(client.get("/docs/lookup/user"))
    expected = [f"#{heading.anchor}" for heading in rendering.rendered(source_of("lookup/user")).headings]
    assert expected[:4] == ["#key", "#parameters", "#try-it", "#answer"]
    for place in (
        "//details/nav[@aria-label='On this page']",
        "//nav[@aria-label='Documentation']//li[a/@aria-current]",
    ):
        assert page.xpath(f"{place}//ul//a/@href") == expected


def test_a_page_with_many_headings_lists_those_of_the_second_level_alone() -> None:
    headings = rendering.rendered(source_of("reference")).headings
    assert {heading.level for heading in headings} == {2}
    assert {heading.level for heading in rendering.rendered(source_of("lookup/user")).headings} == {2, 3}


def source_of(slug: str) -> str:
    return expansion.expanded(contents.pages()[slug])


def test_required_parameters_come_first(client: Client) -> None:
    rows = page_of(client.get("/docs/lookup/user")).xpath("//h2[@id='parameters']/..//tbody/tr")
    required = [row.xpath("string(td[2])") for row in rows]
    assert required[:2] == ["yes", "yes"]
    assert set(required[2:]) == {"no"}


def test_what_holds_for_every_switch_is_said_once_above_the_table(client: Client) -> None:
    text = client.get("/docs/lookup/user.md").content.decode()
    assert text.count("exact string") == 1
    assert text.index("exact string") < text.index("| `aliases` | no |")


def test_code_is_beside_the_table_that_it_goes_with(client: Client) -> None:
    page = page_of(client.get("/docs/lookup/user"))
    beside = page.xpath("//*[@class='beside']")
    assert [each.xpath("string(.//h2)") for each in beside] == ["Parameters", "Answer"]
    for each in beside:
        text, code, rest = each
        assert not text.xpath(".//pre")
        assert not rest.xpath(".//pre")
        assert code.xpath(".//pre")
        assert each.xpath(".//table")


def test_code_without_a_table_stays_in_the_text() -> None:
    assert "beside" not in rendering.rendered("# Page\n\n## Samples\n\n```json\n{}\n```\n\nText.\n").rest


def test_headings_of_one_name_have_anchors_of_their_own() -> None:
    made = rendering.rendered("# Page\n\n## Fields\n\n## Fields\n\n## Other\n\n## Fields\n")
    assert [heading.anchor for heading in made.headings] == ["fields", "fields-2", "other", "fields-3"]
    assert [f'<h2 id="{heading.anchor}"' in made.rest for heading in made.headings] == [True] * 4
