"""Each email is sent as text and the same in HTML: only our own links are links, and no text of a user becomes HTML."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import allauth
import pytest
from allauth.account.adapter import get_adapter
from allauth.core import context as allauth_context
from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.test import RequestFactory, TestCase

from accounts import mail, notifications
from accounts.models import User
from lookup.models import Decision
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.pages.markup import parsed

pytestmark = pytest.mark.django_db

HOSTILE = f"""<a href="https://evil.example">Ada</a> & 'ben' &amp; {settings.BASE_URL}/evil https://evil.example"""
AT = datetime(2026, 11, 25, 19, 41, 7, tzinfo=UTC)
TAGS = {"html", "head", "meta", "title", "body", "div", "p", "blockquote", "br", "a", "strong"}
STOCK = Path(str(allauth.__file__)).parent / "templates"
OFF = {  # which no page of ours sends: sign-in and new passwords by code, and allauth's own linked accounts
    "account/email/login_code",
    "account/email/password_reset_code",
    "socialaccount/email/account_connected",
    "socialaccount/email/account_disconnected",
}
STOCK_MAILS = sorted(
    str(path.relative_to(STOCK)).removesuffix("_subject.txt") for path in STOCK.glob("*/email/*_subject.txt")
)
KEY = ApiKeyFactory.build(name=HOSTILE, prefix="hk_12345678", expires_at=AT)
DECISION = Decision(
    pk=1, kind="FILE", title=HOSTILE, reason="SPAM", words=f"{HOSTILE}\n\n{settings.BASE_URL}/evil", decided_at=AT
)
LETTERS: dict[str, dict[str, Any]] = {
    "access_request": {
        "request": SimpleNamespace(
            subject="email", state="DENIED", get_state_display="Denied", answer=f"{HOSTILE}\n\n{settings.BASE_URL}/evil"
        )
    },
    "appeal_refused": {"decision": DECISION, "kind": "file"},
    "app_offered": {
        "application": HOSTILE,
        "sender": HOSTILE,
        "email": "b@c.example",
        "token": "abc",
        "expires_at": AT,
    },
    "app_taken_over": {
        "application": SimpleNamespace(name=HOSTILE, client_id="abc"),
        "by": SimpleNamespace(username="B"),
    },
    "app_transferred": {
        "application": SimpleNamespace(name=HOSTILE, client_id="abc"),
        "by": SimpleNamespace(pk=0, username="Bob"),
        "before": HOSTILE,
        "after": f"the team {HOSTILE}",
        "is_reader": True,
    },
    "apps_inherited": {"former": "bob", "team": SimpleNamespace(pk=1), "names": [HOSTILE, "Tidepool"], "more": 3},
    "deletion_asked": {"deletion": SimpleNamespace(due_at=AT)},
    "deletion_stopped": {},
    "key_ends": {"key": KEY},
    "key_made": {"key": KEY, "requested": ["lookup:user"]},
    "key_replaced": {"key": KEY, "old": KEY, "has_overlap": True},
    "new_browser": {"at": AT, "user_agent": HOSTILE, "country": "Testland", "token": "abc:def_g-h"},
    "renamed": {"old_username": HOSTILE, "is_kept": True},
    "reserved_name": {"old": "favicon.ico", "new": "favicon.ico-", "is_username": True},
    "second_factor_reset": {"is_staff": True},
    "restored": {"decision": DECISION, "kind": "file", "is_appeal": True, "is_kept": True, "words": DECISION.words},
    "secret_added": {"application": SimpleNamespace(name=HOSTILE, client_id="abc"), "by": SimpleNamespace(pk=0)},
    "secret_removed": {
        "application": SimpleNamespace(name=HOSTILE, client_id="abc"),
        "by": SimpleNamespace(pk=0),
        "hint": "wxyz",
    },
    "secret_reset": {"application": SimpleNamespace(name=HOSTILE, client_id="abc"), "by": SimpleNamespace(pk=0)},
    "staff_notice": {"notice": SimpleNamespace(kind="HIDDEN", text=HOSTILE)},
    "team_invited": {
        "team": HOSTILE,
        "sender": HOSTILE,
        "role": "viewer",
        "email": "b@c.example",
        "token": "abc",
        "expires_at": AT,
    },
    "team_joined": {"team": SimpleNamespace(pk=1), "member": HOSTILE, "role": "viewer"},
    "team_owner": {"team": SimpleNamespace(pk=1), "by": HOSTILE},
    "team_removed": {"team": HOSTILE, "by": HOSTILE},
    "taken_down": {"decision": DECISION, "kind": "file", "max_appeal": 1000},
}


@pytest.fixture
def hostile() -> User:
    return UserFactory.build(username=HOSTILE, display_name=HOSTILE, email="ada@example.org")


def sent(outbox: list[EmailMultiAlternatives]) -> tuple[str, Any]:
    """The text of the only email, and its HTML, which says the same."""
    (message,) = outbox
    parts = ["multipart/alternative", "text/plain", "text/html"]
    assert [part.get_content_type() for part in message.message().walk()] == parts
    text, page = str(message.body), parsed(str(message.alternatives[0][0]))
    assert "&lt;" not in text
    words = page.xpath("//body")[0].text_content().split()
    assert words == [settings.SITE_NAME, *(word for word in text.split() if word != ">")]
    assert {element.tag for element in page.iter()} <= TAGS
    assert page.findtext(".//title") == message.subject
    return text, page


def own_links(text: str) -> list[str]:
    ours = text.replace(HOSTILE, "").replace(f"> {settings.BASE_URL}/evil", "")
    return re.findall(rf"{settings.BASE_URL}\S*", ours)


def links_of(page: Any) -> list[str]:
    links = page.xpath("//a")
    assert [link.get("href") for link in links] == [link.text for link in links]
    return [link.text for link in links]


@pytest.mark.parametrize("name", LETTERS)
def test_a_letter_says_the_same_in_html_and_links_to_our_pages_only(
    name: str, hostile: User, mailoutbox: list[EmailMultiAlternatives]
) -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        notifications.send_after_commit(
            to=hostile, subject=f"About {HOSTILE}", template=f"dashboard/letters/{name}.txt", context=LETTERS[name]
        )
    text, page = sent(mailoutbox)
    assert HOSTILE in text
    assert links_of(page) == own_links(text) != []


@pytest.mark.parametrize("prefix", [prefix for prefix in STOCK_MAILS if prefix not in OFF])
def test_a_mail_about_the_account_has_our_words_and_a_subject_in_sentence_case(
    prefix: str, hostile: User, mailoutbox: list[EmailMultiAlternatives], django_capture_on_commit_callbacks: Any
) -> None:
    names = dict.fromkeys(("username", "deleted_email", "from_email", "to_email"), HOSTILE)
    links = dict.fromkeys(("password_reset_url", "signup_url"), f"{settings.BASE_URL}/here")
    request = RequestFactory().get("/", HTTP_USER_AGENT=HOSTILE)
    with allauth_context.request_context(request), django_capture_on_commit_callbacks(execute=True):
        get_adapter().send_notification_mail(
            prefix,
            hostile,
            {"user": hostile, "code": "ABCD-EFGH", "timestamp": AT, **names, **links},
            "ada@example.org",
        )
    assert re.fullmatch(rf"{settings.SITE_NAME}: [A-Z][a-z ]+", str(mailoutbox[0].subject))
    text, page = sent(mailoutbox)
    assert links_of(page) == own_links(text) != []
    assert [code.text for code in page.iter("strong")] == re.findall("^ABCD-EFGH$", text, re.MULTILINE)
    assert "When:" not in text or "When: 25 November 2026, 19:41 UTC\n" in text
    assert not re.search("please|two-factor|successfully", text, re.IGNORECASE)


def test_lines_of_a_template_go_on_and_others_stay_lines(mailoutbox: list[EmailMultiAlternatives]) -> None:
    long = "Twelve words of a sentence that the template has wrapped at its margin,"
    link = mail.ours(f"{settings.BASE_URL}/a.")
    text = f"{long} as\nit does.\n\nName: x\n{link}\n\n- one\n  two\n\n> first\n>\n> {long} third\nOurs, see {link}"
    assert mail.send(EmailMessage("Lines", text, to=["ada@example.org"]), is_notice=True)
    _, page = sent(mailoutbox)
    blocks = [(block.tag, block.text_content().split("\n"), len(block.xpath("br"))) for block in page.xpath("//div/*")]
    assert blocks[1:] == [
        ("p", [f"{long} as", "it does."], 0),
        ("p", ["Name: x", f"{settings.BASE_URL}/a."], 1),
        ("p", ["- one", "  two"], 1),
        ("blockquote", ["first", "", f"{long} third"], 2),
        ("p", [f"Ours, see {settings.BASE_URL}/a."], 0),
    ]
    assert links_of(page) == [f"{settings.BASE_URL}/a.", f"{settings.BASE_URL}/a"]
