"""The pages of the documentation for readers and visitors, the changelog, the search and the index for programs."""

from __future__ import annotations

import itertools
import re
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from lxml import etree

from accounts.api_keys import keys
from accounts.models import LinkedAccount, Permission, User
from dashboard.documentation import contents, expansion, rendering, searching, views
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

SLUGS = list(contents.pages())
FENCE = re.compile(r"^```\w+[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
    codes = tree.xpath("//article//pre/code[starts-with(@id, 'code-')]")
    assert [code.text_content() for code in codes] == [code.rstrip() for code in FENCE.findall(twin.content.decode())]


def test_the_search_keeps_the_rules_for_pages_and_says_what_to_do(client: Client) -> None:
    for query in ("", "?q=chatId", "?q=zzzz"):
        response = client.get(f"/docs/search{query}")
        assert (response.status_code, problems_of(response)) == (200, []), query
    text = " ".join(page_of(response).text_content().split())
    assert "No page matches “zzzz”." in text
    assert "Try fewer words" in text


def test_the_menu_lists_every_page_and_marks_the_one_that_is_shown(client: Client) -> None:
    for path, opened in (("/docs/lookup/user", "lookup/user"), ("/docs/errors/keys", "errors"), ("/docs", "")):
        menu = page_of(client.get(path)).xpath("//nav[@aria-label='Documentation']")[0]
        links = [str(link) for link in menu.xpath(".//a/@href") if not link.startswith("#")]
        shown = [page.path for page in contents.pages().values() if page.parent in (None, opened)]
        assert links == shown
        assert [link.get("href") for link in menu.iter("a") if link.get("aria-current")] == [path]


def test_other_paths_and_methods_are_refused_and_a_slash_leads_to_the_start(client: Client) -> None:
    for path in ("/docs/nothing", "/docs/nothing.md", "/docs/lookup", "/docs/..%2fstart", "/docs/start"):
        assert client.get(path).status_code == 404, path
    for path in ("/docs", "/docs.md", "/docs/search", "/llms.txt", "/docs/openapi.yaml", "/docs/changelog.atom"):
        assert client.post(path).status_code == 405, path
    response = client.get("/docs/")
    assert (response.status_code, response.headers["Location"]) == (302, "/docs")


def test_a_long_page_lists_its_headings_in_the_menu_and_folded_above_the_text(client: Client) -> None:
    page = page_of(client.get("/docs/lookup/user"))
    expected = [f"#{heading.anchor}" for heading in rendering.rendered(source_of("lookup/user")).headings]
    assert expected[:4] == ["#key", "#parameters", "#samples", "#try-it"]
    for place in (
        "//details/nav[@aria-label='On this page']",
        "//nav[@aria-label='Documentation']//li[a/@aria-current]",
    ):
        assert page.xpath(f"{place}//ul//a/@href[starts-with(., '#')]") == expected


def test_a_page_with_many_headings_lists_those_of_the_second_level_alone() -> None:
    few, many = ("".join(f"## {n}\n\n### {n} inner\n\n" for n in range(amount)) for amount in (15, 16))
    assert {heading.level for heading in rendering.rendered(few).headings} == {2, 3}
    assert {heading.level for heading in rendering.rendered(many).headings} == {2}


def source_of(slug: str) -> str:
    return expansion.expanded(contents.pages()[slug])


def test_required_parameters_come_first(client: Client) -> None:
    rows = page_of(client.get("/docs/lookup/user")).xpath("(//h2[@id='parameters']/following::table)[1]/tbody/tr")
    required = [row.xpath("string(td[2])") for row in rows]
    assert required[:2] == ["yes", "yes"]
    assert set(required[2:]) == {"no"}


def test_what_holds_for_every_switch_is_said_once_above_the_table(client: Client) -> None:
    text = client.get("/docs/lookup/user.md").content.decode()
    assert text.count("exact string") == 1
    assert text.index("exact string") < text.index("| `aliases` | no |")


def test_code_is_beside_the_table_that_it_goes_with(client: Client) -> None:
    page = page_of(client.get("/docs/lookup/presence"))
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


def internal_links() -> dict[str, dict[str, str]]:
    """Each path with its anchors, and with the first page that leads there."""
    found: dict[str, dict[str, str]] = {}
    for page in contents.pages().values():
        for target in re.findall(r"\]\((/[^)\s]*)\)", page.source):
            path, _, anchor = target.partition("#")
            found.setdefault(path, {}).setdefault(anchor, page.path)
    return found


def test_every_link_leads_somewhere_and_pages_keep_the_rules_for_a_reader(signed_in: Client) -> None:
    for path, anchors in internal_links().items():
        response = signed_in.get(path)
        assert response.status_code == 200, f"{anchors} link to {path}"
        ids = set(page_of(response).xpath("//@id")) if any(anchors) else set()
        assert {anchor: page for anchor, page in anchors.items() if anchor and anchor not in ids} == {}, path
    for path in ("/docs", "/docs/lookup/user", "/docs/sign-in/token", "/docs/search?q=chatId"):
        assert problems_of(signed_in.get(path)) == [], path


@pytest.mark.parametrize("path", ["/docs/lookup/user", "/docs/lookup/user.md", "/docs/search?q=user"])
def test_a_visitors_page_may_be_cached_and_a_readers_may_not(client: Client, reader: User, path: str) -> None:
    public = client.get(path)
    assert public.headers["Cache-Control"] == "public, max-age=300"
    assert "Cookie" in public.headers["Vary"]
    client.force_login(reader)
    assert client.get(path).headers["Cache-Control"] == "private, no-store"


@pytest.fixture
def furnished(reader: User) -> User:
    """With two apps, a key for each permission and a chat account."""
    ApplicationFactory.create(user=reader, redirect_uris="https://first.example/cb")
    ApplicationFactory.create(user=reader, redirect_uris="https://newest.example/cb https://other.example/cb")
    LinkedAccount.objects.create(
        user=reader, kind=LinkedAccount.Kind.CHAT, external_id="268473310986240777", name="ada"
    )
    for permission in Permission.values:
        keys.issue(owner=reader, permissions=[permission], name=permission, by=reader)
    return reader


@pytest.mark.parametrize("suffix", ["", ".md"])
def test_samples_hold_the_readers_own_ids(signed_in: Client, furnished: User, suffix: str) -> None:
    app = furnished.applications.order_by("-created", "-pk").first()
    assert app is not None
    token = signed_in.get(f"/docs/sign-in/token{suffix}").content.decode()
    assert app.client_id in token
    assert "https://newest.example/cb" in token
    lookup = signed_in.get(f"/docs/lookup/user{suffix}").content.decode()
    assert "value=Ada" in lookup
    assert f"value={furnished.uid}" in lookup
    assert "268473310986240777" in signed_in.get(f"/docs/lookup/presence{suffix}").content.decode()
    assert furnished.pk in signed_in.get(f"/docs/lookup/chat-avatar{suffix}").content.decode()
    for slug, permission in (
        ("lookup/user", "lookup:user"),
        ("lookup/presence", "lookup:presence"),
        ("imagehost/upload", "imagehost:upload"),
        ("lookup/username", "account"),
    ):
        prefix = furnished.api_keys.get(name=permission).prefix
        assert f"your key {prefix}…" in signed_in.get(f"/docs/{slug}{suffix}").content.decode()


def test_a_reader_with_nothing_and_a_visitor_read_examples(client: Client, reader: User) -> None:
    visitor = client.get("/docs/sign-in/token.md").content.decode()
    assert "YOUR_CLIENT_ID" in visitor
    client.force_login(reader)
    assert "YOUR_CLIENT_ID" in client.get("/docs/sign-in/token.md").content.decode()
    assert "a key with the permission lookup:user" in client.get("/docs/lookup/user.md").content.decode()


def test_the_ids_of_another_user_are_never_put_in(signed_in: Client, furnished: User) -> None:
    other = UserFactory.create(username="Eve")
    app = ApplicationFactory.create(user=other)
    issued = keys.issue(owner=other, permissions=["lookup:user"], name="x", by=other)
    for slug in ("sign-in/token", "lookup/user", "lookup/chat-avatar"):
        text = signed_in.get(f"/docs/{slug}").content.decode()
        assert app.client_id not in text
        assert issued.key.prefix not in text
        assert other.pk not in text


def test_the_newest_key_that_works_is_named(signed_in: Client, furnished: User) -> None:
    older = furnished.api_keys.get(name="lookup:user")
    newer = keys.issue(owner=furnished, permissions=["lookup:user"], name="newer", by=furnished).key
    for named, other in ((newer, older), (older, newer)):
        text = signed_in.get("/docs/lookup/user").content.decode()
        assert (named.prefix in text, other.prefix in text) == (True, False)
        keys.revoke(key=named, by=furnished, reason="gone")


def test_a_redirect_url_that_a_sample_could_not_hold_is_left_out(signed_in: Client, reader: User) -> None:
    ApplicationFactory.create(user=reader, redirect_uris="https://x.example/'$(id)'")
    text = signed_in.get("/docs/sign-in/token").content.decode()
    assert "$(id)" not in text
    assert "http://127.0.0.1:3000/callback" in text


def test_uid_0_is_filled_in(client: Client, db: None) -> None:
    operator = UserFactory.create(uid=0)
    client.force_login(operator)
    assert "type=uid&amp;value=0" in client.get("/docs/lookup/user").content.decode()


@pytest.mark.embedded
def test_a_page_takes_the_same_queries_with_one_app_and_with_ten(signed_in: Client, furnished: User) -> None:
    signed_in.get("/docs/lookup/user")  # whatever is read once
    asked = statements.names(lambda: signed_in.get("/docs/lookup/user"))
    tables = ("oidc_provider_application", "accounts_linkedaccount", "accounts_apikey")
    assert asked[-3:] == [f"SELECT {table}" for table in tables]
    for _ in range(9):
        ApplicationFactory.create(user=furnished)
        keys.issue(owner=furnished, permissions=["lookup:user"], name="more", by=furnished)
    assert statements.names(lambda: signed_in.get("/docs/lookup/user")) == asked


def test_a_visitors_page_asks_the_database_nothing(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        client.get("/docs/lookup/user")


FINDS = [
    ("invalid_grant", "/docs/errors/token"),
    ("chatId", "/docs/lookup/presence"),
    ("look up a user", "/docs/lookup/user"),
    ("ShareX", "/docs/imagehost/uploaders"),
    ("quota_exceeded", "/docs/imagehost/upload"),
    ("webhooks", "/docs/changes"),
    ("refresh token", "/docs/sign-in/token"),
    ("EdDSA", "/docs/sign-in/client-libraries"),
    ("badgesSettings", "/docs/lookup/settings/look"),
    ("server-sent", "/docs/lookup/presence-events"),
    ("throttled", "/docs/limits"),
]


def test_a_search_finds_the_page() -> None:
    for query, path in FINDS:
        assert path in [result.section.page.path for result in searching.find(query)], query


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
        ("pagination", "/docs/patterns/pagination"),
        ("paging", "/docs/patterns/pagination"),
        ("rotate secret", "/docs/patterns/rotation"),
        ("secret rotation", "/docs/patterns/rotation"),
        ("backoff", "/docs/patterns/retries"),
        ("idempotency", "/docs/patterns/retries#a-write-that-arrives-twice"),
        ("verify token", "/docs/patterns/verify-id-token"),
        ("validate jwt", "/docs/patterns/verify-id-token"),
        ("nginx buffering", "/docs/patterns/streams#nginx"),
        ("How to refresh", "/docs/sign-in/token#refresh"),
        ("deleting folders", "/docs/imagehost/delete-folder"),
        ("batch", "/docs/lookup/users"),
        ("bulk", "/docs/lookup/users"),
        ("many users", "/docs/lookup/users"),
        ("polling", "/docs/patterns/polling"),
        ("verify webhook", "/docs/patterns/webhooks"),
        ("etag", "/docs/patterns/polling#ask-whether-it-has-changed"),
        ("304", "/docs/patterns/polling#ask-whether-it-has-changed"),
        ("embed", "/docs/lookup/cards"),
        ("readme badge", "/docs/lookup/cards"),
        ("sdk", "/docs/client-libraries"),
        ("library", "/docs/client-libraries"),
        ("budget", "/docs/limits"),
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


def test_llms_txt_lists_every_page_with_its_summary_and_whole_addresses(client: Client) -> None:
    response = client.get("/llms.txt")
    text = response.content.decode()
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text.startswith("# ")
    assert "{{" not in text
    assert "/dashboard/api-keys/)" in text
    assert not re.findall(r"\]\((?!https?://)[^)]*\)", text)
    listed = re.findall(r"^- \[(.+?)\]\(https?://[^/]+(/docs[^)]*\.md)\): .+$", text, re.MULTILINE)
    assert listed == [(page.title, page.twin_path) for page in contents.pages().values()]


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
    assert f'<a href="{settings.BASE_URL}/docs/imagehost/upload">' in text
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
