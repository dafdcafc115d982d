"""The pages of the documentation for a signed-in reader, with the reader's own ids."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from accounts.api_keys import keys
from accounts.models import LinkedAccount, Permission, User
from dashboard.documentation import contents
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/docs", "/docs/lookup/user", "/docs/sign-in/token", "/docs/search?q=chatId"])
def test_a_page_keeps_the_rules_for_a_reader(signed_in: Client, path: str) -> None:
    response = signed_in.get(path)
    assert response.status_code == 200
    assert problems_of(response) == []


def internal_links() -> dict[str, dict[str, str]]:
    """Each path with its anchors, and with the first page that leads there."""
    found: dict[str, dict[str, str]] = {}
    for page in contents.pages().values():
        for target in re.findall(r"\]\((/[^)\s]*)\)", page.source):
            path, _, anchor = target.partition("#")
            found.setdefault(path, {}).setdefault(anchor, page.path)
    return found


@pytest.mark.parametrize(("path", "anchors"), internal_links().items(), ids=internal_links())
def test_a_link_leads_somewhere(signed_in: Client, path: str, anchors: dict[str, str]) -> None:
    response = signed_in.get(path)
    assert response.status_code == 200, f"{anchors} link to {path}"
    ids = set(page_of(response).xpath("//@id")) if any(anchors) else set()
    assert {anchor: page for anchor, page in anchors.items() if anchor and anchor not in ids} == {}


@pytest.mark.parametrize("path", ["/docs/lookup/user", "/docs/lookup/user.md", "/docs/search?q=user"])
def test_a_visitors_page_may_be_cached_and_a_readers_may_not(client: Client, reader: User, path: str) -> None:
    public = client.get(path)
    assert public.headers["Cache-Control"] == "public, max-age=300"
    assert "Cookie" in public.headers["Vary"]
    client.force_login(reader)
    assert client.get(path).headers["Cache-Control"] == "private, no-store"


# --- The reader's own ids ---


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
    text = signed_in.get("/docs/lookup/user").content.decode()
    assert (newer.prefix in text, older.prefix in text) == (True, False)


def test_a_revoked_key_is_not_named(signed_in: Client, furnished: User) -> None:
    key = furnished.api_keys.get(name="lookup:user")
    keys.revoke(key=key, by=furnished, reason="gone")
    assert key.prefix not in signed_in.get("/docs/lookup/user").content.decode()


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
