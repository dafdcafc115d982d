"""Links out of a file of another service: the page before it, what is added, what is left out and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import AuditEvent, User
from lookup.documents import document_checks, registry
from lookup.editing import content
from lookup.models import Link, Profile
from lookup.transfer import link_files
from tests.dashboard.profile.editor import Editor, said
from tests.factories.lookup import LinkFactory
from tests.lookup import statements

pytestmark = pytest.mark.django_db
PAGE = "/dashboard/profile/transfer/"
LINKS = "/dashboard/profile/links/"
TREE = {
    "props": {
        "pageProps": {
            "account": {"username": "ada", "isActive": True},
            "links": [
                {"id": 1, "type": "CLASSIC", "title": "My shop", "url": "https://shop.example/", "position": 0},
                {"id": 2, "type": "HEADER", "title": "Elsewhere", "url": None, "position": 1},
                {"id": 3, "type": "CLASSIC", "title": "", "url": "https://www.ada.example/notes", "position": 2},
            ],
            "socialLinks": [
                {"type": "EMAIL_ADDRESS", "url": "mailto:me@ada.example"},
                {"type": "GITHUB", "url": "https://github.com/ada"},
            ],
        }
    }
}
SAVED = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>@ada | Tree</title>
<link rel="canonical" href="https://tree.example/ada"></head><body><div id="__next"><h1>@ada</h1>
<a href="https://shop.example/"><p>My shop</p></a><a href="https://tree.example/legal">Cookies</a></div>
<script id="__NEXT_DATA__" type="application/json">{json.dumps(TREE)}</script></body></html>"""


def check(client: Client, text: str | bytes, name: str = "links.csv") -> Any:
    """A response of the test client, which Django gives no public type."""
    file = SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode())
    return client.post(f"{PAGE}links/check/", {"links": file})


def confirm(client: Client, checked: Any) -> Any:
    """Send the form of the page that shows the links."""
    form = checked.context["form"]
    sent = {name: form[name].value() for name in ("text", "digest")}
    return client.post(f"{PAGE}links/add/", sent, follow=True)


def added(checked: Any) -> list[str]:
    """The links that the page is about to add."""
    return [name for one in checked.context["preview"].lists for group in one.names for name in group.names]


def held(profile: Profile) -> list[tuple[str, str]]:
    return [(row.title, row.url) for row in registry.LINKS.rows_of(profile.pk)]


def test_a_saved_page_becomes_links_at_the_end_of_the_list(
    signed_in: Client, user: User, profile: Profile, editor: Editor
) -> None:
    LinkFactory.create(profile=profile, title="First", url="https://first.example/", order=7)
    checked = check(signed_in, SAVED, "ada.html")
    assert added(checked) == [
        "My shop (https://shop.example/)",
        "ada.example (https://www.ada.example/notes)",
        "me@ada.example (mailto:me@ada.example)",
        "@ada on GitHub (https://github.com/ada)",
    ]
    assert checked.context["notes"] == [("Link 2", "Elsewhere: Has no address.")]
    assert "1 unchanged" in said(checked)
    assert len(held(profile)) == 1
    response = confirm(signed_in, checked)
    assert response.redirect_chain == [(LINKS, 302)]
    assert "Links added." in said(response)
    assert held(profile) == [
        ("First", "https://first.example/"),
        ("My shop", "https://shop.example/"),
        ("ada.example", "https://www.ada.example/notes"),
        ("me@ada.example", "mailto:me@ada.example"),
        ("@ada on GitHub", "https://github.com/ada"),
    ]
    assert [row["platformId"] for row in editor.shown("links")[-2:]] == [None, "github"]
    assert [row["title"] for row in editor.shown("links")] == [title for title, _ in held(profile)]
    assert list(document_checks.differences()) == []
    event = AuditEvent.objects.get(verb="profile:content_extended")
    assert (event.actor, event.data) == (user, {"list": "links", "profile": profile.pk, "count": 4})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("javascript:alert(1),A", "javascript:alert(1): Only web addresses and email addresses can be links."),
        ("data:text/html;base64 x,A", "data:text/html;base64 x: Only web addresses and email addresses can be links."),
        ("tel:+100,A", "tel:+100: Only web addresses and email addresses can be links."),
        (",A", "A: Has no address."),
        ("https://,A", "https://: Enter a valid URL."),
        ("mailto:nobody,A", "mailto:nobody: Enter a valid email address."),
        ("https://ada:secret@a.example/,A", "Remove the user name or password before the host."),
        ("https://a.example/\x07,A", "Contains a control character or a bidirectional override (U+0007); remove it."),
        ("https://a.example/\u202e,A", "Contains a control character or a bidirectional override (U+202E); remove it."),
        (f"https://a.example/{'x' * 2000},A", "Has more than 2,000 characters."),
        ("HTTP://WWW.HELD.example,A", "HTTP://WWW.HELD.example: You have this link already."),
        ("https://off.example/,A", "https://off.example/: You have this link already."),
        ("good.example,A", "good.example: The file has this address twice."),
    ],
)
def test_a_refused_row_is_named_with_its_reason(row: str, reason: str, signed_in: Client, profile: Profile) -> None:
    LinkFactory.create(profile=profile, url="https://held.example/")
    LinkFactory.create(profile=profile, url="http://off.example", is_active=False)
    LinkFactory.create(profile=profile, url="good.example", is_text=True)
    checked = check(signed_in, f"address,title\nhttps://good.example/,Good\n{row}\n")
    assert added(checked) == ["Good (https://good.example/)"]
    ((place, sentence),) = checked.context["notes"]
    assert place == "Row 3"
    assert sentence.endswith(reason)
    assert len(sentence) < 200
    assert sentence.partition(":")[0] in said(checked)


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Title " * 1000, f"{('Title ' * 22)[:127]}…"),
        ("\x07Bell\u202e", "Bell"),
        ("\u200b", "a.example"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("=HYPERLINK(1)", "=HYPERLINK(1)"),
        ("😀", "😀"),
    ],
    ids=range(6),
)
def test_a_title_fits_its_line_or_is_the_host(title: str, kept: str, signed_in: Client, profile: Profile) -> None:
    checked = check(signed_in, f"address,title\nhttps://www.a.example/,{title}\n")
    assert b"<script>alert" not in checked.content
    confirm(signed_in, checked)
    assert held(profile) == [(kept, "https://www.a.example/")]


def test_no_more_links_are_added_than_a_profile_may_have(signed_in: Client, profile: Profile) -> None:
    LinkFactory.create_batch(48, profile=profile)
    checked = check(signed_in, "\n".join(f"https://{number}.example/" for number in range(200)))
    assert added(checked) == ["0.example (https://0.example/)", "1.example (https://1.example/)"]
    notes = checked.context["notes"]
    assert notes[0] == ("Row 3", "https://2.example/: Your list is full: a profile has at most 50 links.")
    assert (len(notes), checked.context["more"]) == (100, 98)
    confirm(signed_in, checked)
    assert Link.objects.filter(profile=profile).count() == 50
    refused = check(signed_in, "https://new.example/")
    assert refused.context["problems"] == [
        ("", "Has no link that can be added."),
        ("Row 1", "https://new.example/: Your list is full: a profile has at most 50 links."),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "This file is empty."),
        (b"x" * 10 * 1024 * 1024, "This file is too large: at most 1 MB are read."),
        (b"no links here", "Has no link that can be added."),
        (b"<html>\xff", "Is not UTF-8 text."),
        (b"<html><body><p>Nothing", "Has no link that can be added."),
        (bytes(1000), "Has no link that can be added."),
    ],
    ids=range(6),
)
def test_a_file_without_links_is_refused(content: bytes, sentence: str, signed_in: Client, profile: Profile) -> None:
    response = check(signed_in, content)
    assert response.status_code == 200
    assert sentence in said(response)
    assert held(profile) == []


def test_a_second_confirmation_adds_nothing(signed_in: Client, profile: Profile) -> None:
    checked = check(signed_in, SAVED)
    confirm(signed_in, checked)
    changed_at = Profile.objects.get(pk=profile.pk).updated_at
    assert "Your profile already has the content of this file." in said(confirm(signed_in, checked))
    assert len(held(profile)) == 4
    assert Profile.objects.get(pk=profile.pk).updated_at == changed_at
    assert "This file changes nothing" in said(check(signed_in, SAVED))


@pytest.mark.embedded
def test_of_two_imports_at_once_the_second_shows_first_what_it_would_add_now(
    signed_in: Client, profile: Profile, user: User
) -> None:
    one, other = check(signed_in, "a.example\nb.example"), check(signed_in, "b.example\nc.example")
    confirm(signed_in, one)
    again = confirm(signed_in, other)
    assert "Nothing was imported: your profile has changed" in said(again)
    assert added(again) == ["c.example (https://c.example)"]
    content.add(content=registry.LINKS, profile=profile, values={"url": "https://d.example"}, by=user)
    confirm(signed_in, again)
    assert [url for _, url in held(profile)] == [f"https://{letter}.example" for letter in "abdc"]


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_without_the_digest_of_the_page_nothing_is_added(digest: str, signed_in: Client, profile: Profile) -> None:
    response = signed_in.post(f"{PAGE}links/add/", {"text": "a.example", "digest": digest})
    assert added(response) == ["a.example (https://a.example)"]
    assert held(profile) == []


def test_a_get_of_the_steps_and_an_empty_form_lead_back(signed_in: Client) -> None:
    for step in ("check", "add"):
        assert signed_in.get(f"{PAGE}links/{step}/").headers["Location"] == PAGE
    assert signed_in.post(f"{PAGE}links/add/").headers["Location"] == PAGE
    text = "x" * (link_files.MAX_BYTES + 1)
    assert "Has more than 1 MB." in said(signed_in.post(f"{PAGE}links/add/", {"text": text}))


@pytest.mark.embedded
def test_the_steps_take_as_many_queries_for_many_links_as_for_one(signed_in: Client) -> None:
    one = check(signed_in, "a.example")
    with_one = (
        statements.names(lambda: check(signed_in, "b.example")),
        statements.names(lambda: confirm(signed_in, one)),
    )
    many = "\n".join(f"{number}.example" for number in range(30))
    page = check(signed_in, many)
    with_many = statements.names(lambda: check(signed_in, many)), statements.names(lambda: confirm(signed_in, page))
    assert with_many == with_one
