"""Reads that the embedded server answers on its event loop: what has to write goes on in a thread, counted once."""

from __future__ import annotations

import pytest

from accounts.models import ApiKey, Permission
from config.web import lane
from config.web.lane import BusyRequest
from infrastructure import limits
from infrastructure.requests import request_context
from infrastructure.requests.request_context import MustWait
from lookup.models import ProfileDocument
from tests.accounts.calls import without_budget
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.lookup import ProfileFactory

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

SECRET = "the-secret-of-a-key"
AMOUNT = 30  # requests a minute of a key
QUERY = "type=username&value=ada&profile=true"


@pytest.fixture
def key() -> ApiKey:
    ProfileFactory(user=UserFactory(username="Ada"))
    return ApiKeyFactory(secret=SECRET, permissions=list(Permission.values))


def asked_for(
    path: str = "/api/lookup/user", query: str = QUERY, method: str = "GET", secret: str = SECRET
) -> BusyRequest:
    headers = {"HTTP_HOST": "127.0.0.1:8000", "HTTP_X_API_KEY": secret, "REMOTE_ADDR": "203.0.113.7"}
    request = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "wsgi.url_scheme": "http"}
    found = lane.find({**request, **headers})
    assert found is not None
    return found


def answered_at_once(asked: BusyRequest) -> request_context.Answer:
    return request_context.without_waiting(asked.answer)


def requests_left() -> int:
    """How many more requests of this minute the key has."""
    for count in range(AMOUNT + 1):
        if asked_for().answer().status == 429:
            return count
    raise AssertionError


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("path", "method", "is_read"),
    [
        ("/api/lookup/user", "GET", True),
        ("/api/lookup/user", "HEAD", True),
        ("/api/lookup/user", "POST", False),
        ("/api/lookup/username/ada", "GET", True),
        ("/api/leaderboard/views", "GET", True),
    ],
)
def test_reads_by_key_are_known_as_such(path: str, method: str, *, is_read: bool) -> None:
    assert asked_for(path, method=method).is_read is is_read


@pytest.mark.usefixtures("key")
def test_a_fresh_document_is_answered_at_once() -> None:
    asked_for().answer()
    answer, again = answered_at_once(asked_for()), asked_for().answer()
    ids = {found.headers.pop("X-Request-Id") for found in (answer, again)}
    assert (len(ids), without_budget(answer.headers)) == (2, without_budget(again.headers))
    assert (answer.status, answer.body) == (again.status, again.body)
    assert b'"username":"Ada"' in answer.body


@pytest.mark.usefixtures("key")
def test_a_stale_document_is_rendered_later_and_counted_once() -> None:
    asked_for().answer()
    ProfileDocument.objects.update(fingerprint="earlier")
    asked = asked_for()
    with pytest.raises(MustWait):
        answered_at_once(asked)
    assert b'"username":"Ada"' in asked.answer().body
    assert requests_left() == AMOUNT - 2


def test_a_use_of_a_quota_is_taken_later_and_counted_once(key: ApiKey) -> None:
    asked_for().answer()
    ApiKey.objects.filter(pk=key.pk).update(remaining_uses=100)
    limits.forget_keys([key.secret_hash])
    asked = asked_for()
    with pytest.raises(MustWait):
        answered_at_once(asked)
    assert asked.answer().status == 200
    key.refresh_from_db()
    assert key.remaining_uses == 99
    assert requests_left() == AMOUNT - 2


@pytest.mark.usefixtures("key")
def test_a_refusal_is_answered_at_once() -> None:
    assert answered_at_once(asked_for(secret="unknown")).status == 401
