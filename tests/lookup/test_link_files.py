"""Links out of saved pages and tables: every form that is read, and files that are made to hurt."""

from __future__ import annotations

import json
import time

import pytest

from lookup.transfer import link_files
from lookup.transfer.reading import LineRefused

SHOP, MAIL = "https://shop.example/a?b=1", "mailto:me@ada.example"
LINKS = [(SHOP, "Shop"), (MAIL, "Write to me")]
HEAD = (
    '<link rel="canonical" href="https://tree.example/ada"><meta property="og:url" content="https://tree.example/ada">'
)


def page(body: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html><html><head><title>ada</title>{head}</head><body>{body}</body></html>".encode()


def with_data(data: object) -> bytes:
    """A page that holds what it shows in a block of data, besides the anchors of its frame."""
    block = f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(data)}</script>'
    return page(f'<a href="https://tree.example/pricing">Pricing</a>{block}', HEAD)


def read(content: bytes) -> list[tuple[str, str]]:
    entries, _ = link_files.read(content)
    return [(entry.url, entry.title) for entry in entries]


TABLES = {
    "comma, named": f"address,title\n{SHOP},Shop\n{MAIL},Write to me\n",
    "semicolon, named, turned": f"Title;URL\nShop;{SHOP}\nWrite to me;{MAIL}\n",
    "tab": f"{SHOP}\tShop\n{MAIL}\tWrite to me",
    "comma, turned": f"Shop,{SHOP}\r\nWrite to me,{MAIL}\r\n",
    "semicolon": f"{SHOP};Shop\n{MAIL};Write to me\n",
    "old line ends": f"{SHOP},Shop\r{MAIL},Write to me",
    "quoted, with blanks and blank lines": f'\n"{SHOP}","Shop"\n\n {MAIL} , Write to me\n',
    "more columns": f"id,name,clicks,link\n1,Shop,5,{SHOP}\n2,Write to me,0,{MAIL}\n",
    "byte order mark": f"\ufeffaddress,title\n{SHOP},Shop\n{MAIL},Write to me\n",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_is_read_whatever_its_form(table: str) -> None:
    assert read(table.encode()) == LINKS


@pytest.mark.parametrize(
    ("content", "links"),
    [
        (b"https://a.example/\nb.example/x\n", [("https://a.example/", ""), ("b.example/x", "")]),
        ("https://a.example/,Caf\xe9".encode("latin-1"), [("https://a.example/", "Caf\xe9")]),
        ("https://a.example/,Café ☕".encode(), [("https://a.example/", "Café ☕")]),
        (b'https://a.example/,"Two\nlines, one ""title"""', [("https://a.example/", 'Two\nlines, one "title"')]),
        (b"Adresse;Titel\nhttps://a.example/;A", [("Adresse", "Titel"), ("https://a.example/", "A")]),
        (b"Website,https://a.example/", [("https://a.example/", "Website")]),
        (b"just a text", [("just a text", "")]),
        (b"", []),
    ],
    ids=range(8),
)
def test_what_a_table_can_hold_besides(content: bytes, links: list[tuple[str, str]]) -> None:
    assert read(content) == links


@pytest.mark.parametrize(
    ("content", "links"),
    [
        (page(f'<a href="{SHOP}">Shop</a><a href=" {MAIL} "><b>Write</b> to me</a>'), LINKS),
        (page(f"<p><a href='{SHOP}'><div>Shop</div></a><ul><li><a href={MAIL}>Write to<br>me"), LINKS),
        (b"\xef\xbb\xbf\n" + page(f'<A HREF="{SHOP}">Shop</A><a href="{MAIL}" aria-label="Write to me"></a>'), LINKS),
        (page(f'<a href="{SHOP}"><img alt="Shop"></a><a href="{MAIL}"><style>a{{}}</style>Write to me</a>'), LINKS),
        (page('<a href="https://a.example/?a=1&amp;b=2">A &amp; B</a>'), [("https://a.example/?a=1&b=2", "A & B")]),
        (page('<a href="//a.example/x">A</a>'), [("https://a.example/x", "A")]),
        (
            page('<a href="https://go.example/?u=https%3A%2F%2Fa.example">A</a>'),
            [("https://go.example/?u=https%3A%2F%2Fa.example", "A")],
        ),
        (page('<a href="javascript:alert(1)">A</a>'), [("javascript:alert(1)", "A")]),
        (
            page("<a>none</a><!-- <a href='https://a.example/'>A</a> --><style><a href='https://b.example/'></style>"),
            [],
        ),
    ],
    ids=range(9),
)
def test_anchors_of_a_page_are_read(content: bytes, links: list[tuple[str, str]]) -> None:
    assert read(content) == links


def test_links_within_the_saved_page_are_left_out_and_counted() -> None:
    frame = "".join(f'<a href="{href}">x</a>' for href in ("/login", "#top", "https://www.TREE.example/terms", ""))
    entries, notes = link_files.read(page(f'{frame}<a href="{SHOP}">Shop</a>', HEAD))
    assert entries == [("Link 5", SHOP, "Shop")]
    assert notes == [("", "4 links within the saved page itself.")]


@pytest.mark.parametrize(
    ("data", "links"),
    [
        (
            {
                "props": {
                    "pageProps": {"links": [{"title": "Shop", "url": SHOP}, {"title": "Write to me", "url": MAIL}]}
                }
            },
            LINKS,
        ),
        ({"account": {"links": [{"url": SHOP, "title": "Shop"}], "more": {"links": [{"url": MAIL}]}}}, LINKS[:1]),
        ({"links": [{"title": "Heading", "url": None}, {"url": SHOP}]}, [("", "Heading"), (SHOP, "")]),
        (
            {"links": [{"url": SHOP, "title": "Shop"}], "socialLinks": [{"type": "X", "url": MAIL}]},
            [LINKS[0], (MAIL, "")],
        ),
        ({"links": [{"url": SHOP, "title": "\ud83d half"}]}, [(SHOP, " half")]),
        ({"links": [{"url": 5, "title": []}, "x", None]}, []),
        ({"links": {"a": SHOP}}, []),
    ],
    ids=range(7),
)
def test_the_data_of_a_page_comes_before_its_anchors(data: object, links: list[tuple[str, str]]) -> None:
    assert read(with_data(data)) == links


def test_a_page_that_is_not_utf8_or_too_large_is_refused() -> None:
    for content, problem in (
        (b"<html>\xe9", "Is not UTF-8 text."),
        (b"x" * (link_files.MAX_BYTES + 1), "Has more than 1 MB."),
    ):
        with pytest.raises(LineRefused) as refusal:
            link_files.read(content)
        assert refusal.value.problems == [("", problem)]


def full(piece: str, head: str = "<html>") -> bytes:
    """A file of the size that is read, of one piece again and again."""
    return (head + piece * (link_files.MAX_BYTES // len(piece)))[: link_files.MAX_BYTES].encode()


HOSTILE = {
    "anchors": full('<a href="https://a.example">'),
    "open tags": full("<a "),
    "open tag with attributes": full(" a=", "<a"),
    "open tag with blanks": full(" ", "<a"),
    "quotes": full("'\"", "<a href="),
    "nesting": full("<div>"),
    "ends": full("</a>"),
    "end without end": full("</a "),
    "open comments": full("<!--"),
    "declarations": full("<!["),
    "known declarations": full("<![if "),
    "instructions": full("<?"),
    "script ends": full("</s", "<script>"),
    "script ends with an end": full("</s", "<script>")[:-1] + b">",
    "less-than signs": full("< "),
    "entities": full("&amp;", '<a href="https://a.example">'),
    "open entities": full("&", '<a href="https://a.example">'),
    "entity bomb": b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><a href="https://a.example">&b;</a>',
    "nested data": full("[", '<script id="__NEXT_DATA__">'),
    "nested objects": full('{"a":', '<script id="__NEXT_DATA__">')[:-9] + b"</script>",
    "long number": full("9", '<script id="__NEXT_DATA__">')[:-9] + b"</script>",
    "wide data": full("[],", '<script id="__NEXT_DATA__">[')[:-12] + b"1]</script>",
    "commas": full(",", ""),
    "quotes of a table": full('"', ""),
    "lines": full("\n", "a"),
    "rows": full("a.example,x\n", ""),
    "dots": full(".", "a"),
    "at signs": full("@", "a"),
    "NUL": full("\0", "a"),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_read_in_time_and_within_bounds(content: bytes) -> None:
    assert len(content) <= link_files.MAX_BYTES
    began = time.process_time()
    entries, _ = link_files.read(content)
    assert time.process_time() - began < 5
    assert len(entries) <= link_files.MAX_ENTRIES
    assert all(len(entry.title) <= link_files.MAX_TEXT for entry in entries if content.startswith(b"<"))


def test_more_links_than_are_read_are_said() -> None:
    for content in (HOSTILE["anchors"], HOSTILE["rows"]):
        entries, notes = link_files.read(content)
        assert (len(entries), notes) == (link_files.MAX_ENTRIES, [("", "Only the first 1,000 are read.")])


def test_a_written_table_is_read_as_it_was() -> None:
    links = [(SHOP, 'A; "quoted", title'), ("https://a.example/x;y,z", "Url"), (MAIL, "=1+1")]
    assert read(link_files.written(links).encode()) == links
