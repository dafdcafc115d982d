"""Every page of the dashboard requires a login, and every form its token."""

from __future__ import annotations

from collections import defaultdict

from django.test import Client
from django.urls import get_resolver

from tests.factories.accounts import UserFactory

PATTERNS = get_resolver("dashboard.urls").reverse_dict
ARGUMENTS: defaultdict[str, str] = defaultdict(lambda: "1" * 32)  # each converter takes it


def paths() -> list[str]:
    places = {place for name in PATTERNS for reverse in PATTERNS.getlist(name) for place, _ in reverse[0]}
    return sorted(f"/{place % ARGUMENTS}" for place in places if place.startswith("dashboard/"))


def test_a_visitor_is_sent_to_the_login_page(client: Client) -> None:
    assert len(paths()) > 100
    for path in paths():
        for answer in (client.get(path), client.post(path)):
            if answer.status_code != 405:
                assert (answer.status_code, answer.headers["Location"]) == (302, f"/accounts/login/?next={path}")
        assert answer.status_code == 302 or client.get(path).status_code == 302, path


def test_a_form_without_its_token_is_refused(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory())
    for path in paths():
        if f"/profile/{ARGUMENTS['profile_id']}/" in path:
            continue  # the views of the main profile, and 404 here
        for data in ({}, {"csrfmiddlewaretoken": "a" * 64}):
            assert client.post(path, data).status_code == 403, path
