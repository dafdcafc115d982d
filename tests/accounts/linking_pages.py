"""The page of linked accounts, as a person in a browser meets it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from allauth.account import app_settings
from django.test import Client
from lxml import html

from accounts.models import AuditEvent, LinkedAccount, User
from tests.dashboard.signing_in import browser_of

PAGE = "/accounts/3rdparty/"
LINK_CHAT, CHAT_CALLBACK = "/accounts/chat/login/", "/accounts/chat/login/callback/"
LINK_SCROBBLER, SCROBBLER_CALLBACK = f"{PAGE}scrobbler/link/", f"{PAGE}scrobbler/callback/"
REAUTHENTICATE = "/accounts/reauthenticate/"
SITE = "http://127.0.0.1:8000"

# Django gives test responses no public type.
Answer = Any


def signed_in(user: User, *, has_confirmed: bool = True) -> Client:
    """Not `has_confirmed`: the password was typed so long ago that changes ask for it again."""
    browser = Client()
    age = 0 if has_confirmed else app_settings.REAUTHENTICATION_TIMEOUT
    browser.cookies = browser_of(user, password_age=age).client.cookies
    return browser


def place_of(answer: Answer) -> str:
    """Where a redirect leads, without its query."""
    assert answer.status_code == 302, (answer.status_code, answer.content)
    return str(answer["Location"]).partition("?")[0]


def query_of(answer: Answer) -> dict[str, str]:
    """Of a redirect; each parameter occurs once."""
    pairs = parse_qsl(urlsplit(answer["Location"]).query, keep_blank_values=True)
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def said(browser: Client, answer: Answer, place: str = PAGE) -> str:
    """What the page that `answer` leads to says at its top. The address it has says nothing."""
    assert (answer.status_code, answer["Location"]) == (302, place)
    page = html.document_fromstring(browser.get(place).content.decode())
    return " ".join(" ".join(notice.text_content().split()) for notice in page.xpath("//*[@class='messages']/*"))


def linked(user: User) -> list[tuple[str, str, str, str]]:
    """Kind, id, name and picture."""
    rows = LinkedAccount.objects.filter(user=user).order_by("kind")
    return list(rows.values_list("kind", "external_id", "name", "avatar_url"))


def events(user: User) -> list[tuple[str, str, str]]:
    """Verb, kind and who did it, oldest first."""
    rows = AuditEvent.objects.filter(object_id=user.pk, verb__startswith="linked_account:").order_by("pk")
    return [(event.verb, event.data["kind"], event.actor_name) for event in rows]
