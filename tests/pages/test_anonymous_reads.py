"""What a visitor only reads stores nothing: no session, no row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from lookup.models import Profile
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory

pytestmark = pytest.mark.django_db

READS = ("SELECT", "SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "SET", "EXECUTE")
# A view of a profile is counted.
COUNTED = {"/Ada"}
KINDS = ({"accept": "text/html"}, {"accept": "application/json", "x-requested-with": "XMLHttpRequest"})


def paths(arguments: defaultdict[str, str]) -> Iterator[str]:
    """Every path of the service, with `arguments` in it."""
    lists = get_resolver().reverse_dict
    for name in lists:
        for possibilities, *_ in lists.getlist(name):
            for place, _ in possibilities:
                yield f"/{place % arguments}"
    for namespace, (prefix, resolver) in get_resolver().namespace_dict.items():
        if namespace == "admin":
            for name in resolver.reverse_dict:
                for possibilities, *_ in resolver.reverse_dict.getlist(name):
                    yield from (f"/{prefix}{place % arguments}" for place, _ in possibilities)


def test_no_page_stores_anything_for_a_visitor() -> None:
    user = UserFactory(username="Ada")
    profile = Profile.objects.get(user=user)
    folder = FolderFactory(owner=user, is_public=True)
    file = FileFactory(owner=user, folder=folder)
    known = {"username": "Ada", "folder_id": folder.pk, "name": file.name, "profile_id": str(profile.pk)}
    visited, stored = set(), []
    for arguments in (defaultdict(lambda: "1", known), defaultdict(lambda: "1" * 32, {"name": "Ada"})):
        visited |= set(paths(arguments))
    assert {"/accounts/2fa/webauthn/login/", "/accounts/login/", f"/folders/{folder.pk}", "/Ada"} <= visited
    assert len(visited) > 250
    for path in sorted(visited - COUNTED):
        for headers in KINDS:
            client = Client(raise_request_exception=False)
            with CaptureQueriesContext(connection) as queries:
                answer = client.get(path, headers=headers)
            if answer.streaming:
                answer.close()
            writes = [query["sql"] for query in queries if not query["sql"].upper().startswith(READS)]
            if writes or settings.SESSION_COOKIE_NAME in answer.cookies or answer.status_code == 500:
                stored.append((path, headers, answer.status_code, writes))
    assert stored == []
