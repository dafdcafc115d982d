"""The Host header: which hosts are served, in the lane and by Django, and that no link follows it."""

from __future__ import annotations

import ast

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from config.web import door
from tests.factories.accounts import UserFactory
from tests.support.environment import APPS, ROOT

BASE = "http://127.0.0.1:8000"
DISCOVERY = "/.well-known/openid-configuration"
SERVED = ("127.0.0.1:8000", "localhost:8000", "LocalHost:8000", "[::1]:8000", "more.example", "more.example:80")
REFUSED = (
    *("127.0.0.1", "127.0.0.1:8001", "localhost", "localhost:80", "localhost.:8000", "[::1]", "more.example:8000"),
    *("more.example:443", "127.0.0.1:8000.evil.example", "127.0.0.1:8000@evil.example", "evil.example", ""),
)


@pytest.fixture(autouse=True)
def _two_origins(settings: Settings) -> None:
    settings.HOSTS = [f"{name}:8000" for name in ("127.0.0.1", "localhost", "[::1]")] + ["more.example"]
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "more.example"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", [DISCOVERY, "/accounts/login/", "/api/lookup/user", "/media/aaaaaaaa.png"])
@pytest.mark.parametrize(("host", "is_served"), [*((one, True) for one in SERVED), *((one, False) for one in REFUSED)])
def test_a_host_is_served_as_a_whole_or_refused(host: str, is_served: bool, path: str) -> None:
    """The lane answers discovery and the lookup; Django answers the other paths."""
    assert (Client(headers={"host": host}).get(path).status_code != 400) == is_served


def test_the_default_port_of_https_is_none_too(settings: Settings) -> None:
    settings.HTTPS, settings.HOSTS = True, ["id.example.org", "admin.example.org:8443"]
    assert door.served_hosts() == {"id.example.org", "id.example.org:443", "admin.example.org:8443"}


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["localhost:8000", "more.example"])
def test_links_in_mails_begin_with_the_address_of_the_service(host: str) -> None:
    user = UserFactory.create()
    client = Client(headers={"host": host})
    for address in (user.email, "nobody@example.org"):
        client.post("/accounts/password/reset/", {"email": address})
    client.post(
        "/accounts/signup/", {"email": user.email, "username": "Another", "password1": "a long new pass phrase"}
    )
    assert len(mail.outbox) == 3
    for letter in mail.outbox:
        links = [word for word in str(letter.body).split() if "://" in word]
        assert links
        assert all(link.startswith(BASE) for link in links), links
        assert host not in str(letter.body)


FOLLOW_THE_HEADER = {"build_absolute_uri", "get_current_site", "current_site"}


def test_no_code_and_no_template_of_ours_makes_addresses_from_the_host_header() -> None:
    found = []
    for path in (path for app in APPS for path in ROOT.joinpath(app).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = {getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "name", "")}
            if names & FOLLOW_THE_HEADER:
                found.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}")
    found += [
        str(path.relative_to(ROOT))
        for path in ROOT.joinpath("templates").rglob("*.*")
        if any(name in path.read_text() for name in (*FOLLOW_THE_HEADER, "request.get_host"))
    ]
    assert found == []
