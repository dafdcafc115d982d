"""The copy of one's own data: complete, without secrets, and without the data of others."""

from __future__ import annotations

import json
from typing import Any

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import audit
from accounts.api_keys import keys
from accounts.models import KeyDay, StaffNotice, User
from accounts.webhooks import endpoints
from dashboard import access_requests
from dashboard.account import queries as account_queries
from imagehost.folders import albums
from imagehost.models import FileDay
from lookup.models import Decision
from oidc_provider.applications import invitations, teams
from oidc_provider.models import ClientSession, LastUse, RequestRecord, Role
from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import AliasFactory, ApiKeyFactory, LinkedAccountFactory, StaffFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.factories.lookup import (
    AssetFactory,
    CommentFactory,
    CommentLikeFactory,
    FeedbackVoteFactory,
    ReportFactory,
)
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory

pytestmark = pytest.mark.django_db
DOWNLOAD = "/dashboard/account/data/download/"
LISTS = {
    *("email_addresses", "linked_accounts", "sessions", "approvals", "apps", "api_keys", "api_key_days", "webhooks"),
    *("folders", "folder_rules", "files", "file_days", "albums", "comments", "votes", "comment_likes", "reports"),
    *("uploads", "decisions", "staff_notices", "requests"),
    *("app_sessions", "app_uses", "app_requests", "teams", "invitations"),
}


def copy_of(user: User) -> Any:
    """JSON."""
    return json.loads(b"".join(account_queries.data_chunks(user, timezone.now())))


def fill(user: User) -> str:
    """One of everything; the secret of the key."""
    AliasFactory(user=user)
    LinkedAccountFactory(user=user)
    ApplicationFactory(user=user)
    ApprovalFactory(user=user)
    issued = keys.issue(owner=user, permissions=["account"], name="Server", by=user)
    KeyDay.objects.create(key=issued.key, day=timezone.now().date(), count=5)
    access_requests.ask_for_permission(key=issued.key, permission="lookup:user", reason="A bot")
    FolderRuleFactory(owner=user, folder=FolderFactory(owner=user))
    file = FileFactory(owner=user)
    FileDay.objects.create(file=file, day=timezone.now().date(), views=5)
    albums.create(owner=user, title="Summer", files=[file], now=timezone.now())
    UserSession.objects.create(user=user, session_key=user.pk, ip="127.0.0.1", user_agent=f"Of-{user.username}")
    comment = CommentFactory(user=UserFactory(username=f"Of-{user.username}"), author=user)
    CommentLikeFactory(comment=comment, user=user)
    FeedbackVoteFactory(user=comment.user, voter=user)
    ReportFactory(comment=CommentFactory(user=comment.user, author=comment.user), reporter=user)
    Decision.objects.create(user=user, kind="FILE", thing=user.pk, title="a.png", reason="SPAM", appeal="A lamp.")
    StaffNotice.objects.create(user=user, kind="WARNING", text="Please stop.")
    AssetFactory(owner=user)
    app, now = ApplicationFactory(), timezone.now()
    LastUse.objects.create(application=app, user=user, used_at=now)
    ClientSession.objects.create(
        application=app, user=user, sid=f"sid-{user.pk}", session="name", created_at=now, used_at=now
    )
    RequestRecord.objects.create(application=app, user=user, moment=now, kind="ASKED", request_id="r")
    endpoints.create(by=user, user=user, url=f"https://hooks.example.org/{user.username}", events=["key.disabled"])
    team = teams.create(name="Harbour", by=user)
    invitations.invite(team=team, email="guest@example.org", role=Role.VIEWER, by=user)
    return issued.secret


@pytest.fixture(scope="module")
def ada_and_secret(module_db: None) -> tuple[User, str]:
    """Ada with one of everything, and the secret of her key; Grace has as much."""
    user = UserFactory.create(username="Ada")
    secret = fill(user)
    fill(UserFactory(username="Grace"))
    return user, secret


@pytest.fixture
def ada(ada_and_secret: tuple[User, str]) -> User:
    return ada_and_secret[0]


def test_the_file_holds_everything_of_the_user_and_nothing_of_others(ada: User) -> None:
    found = copy_of(ada)
    assert (found["account"]["id"], found["account"]["uid"]) == (ada.pk, ada.uid)
    lists = {name: len(value) for name, value in found.items() if isinstance(value, list) and name != "events"}
    assert lists == dict.fromkeys(LISTS, 1) | {"names": 2, "second_factors": 0}
    assert found["comments"][0]["user_username"] == found["votes"][0]["user_username"] == "Of-Ada"
    assert found["api_key_days"][0]["count"] == 5
    assert found["profile"]["user"]["username"] == "Ada"
    assert "api_key:issued" in {event["verb"] for event in found["events"]}
    assert "Grace" not in json.dumps(found)
    assert User.objects.get(username="Grace").pk not in json.dumps(found)


def test_the_file_holds_no_secret_and_no_hash_of_one(ada_and_secret: tuple[User, str]) -> None:
    ada, secret = ada_and_secret
    text = json.dumps(copy_of(ada))
    key, app, file = ada.api_keys.get(), ada.applications.get(), ada.files.get()
    for hidden in (secret, key.secret_hash, app.client_secret, ada.password, file.deletion_hash, file.key):
        assert hidden not in text


def test_the_file_is_downloaded_piece_by_piece_and_never_cached(ada: User) -> None:
    response = browser_of(ada).open(DOWNLOAD).response
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Content-Disposition"] == f'attachment; filename="Ada-{timezone.now():%Y-%m-%d}.json"'
    assert "no-store" in response.headers["Cache-Control"]
    assert response.streaming
    assert json.loads(b"".join(response.streaming_content))["account"]["username"] == "Ada"


def test_the_download_asks_for_the_password_again_after_5_minutes(ada: User) -> None:
    assert browser_of(ada, password_age=240).open(DOWNLOAD).response.streaming
    browser = browser_of(ada, password_age=301).open(DOWNLOAD)
    assert browser.response.request["PATH_INFO"] == "/accounts/reauthenticate/"


def test_staff_who_acted_are_not_named(ada: User) -> None:
    audit.record("user:changed", by=StaffFactory(username="Keeper"), on=ada, reason="On request", changed=["plan"])
    (event,) = [event for event in copy_of(ada)["events"] if event["verb"] == "user:changed"]
    assert (event["actor_kind"], event["reason"]) == ("STAFF", "On request")
    assert "address" not in event
    assert "Keeper" not in json.dumps(event)


def test_a_profile_that_lookups_hide_is_in_the_copy(ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    assert copy_of(ada)["profile"]["user"]["username"] == "Ada"


@pytest.mark.embedded
def test_many_rows_cost_a_query_for_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    user = UserFactory.create()

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert len(copy_of(user)["api_keys"]) == user.api_keys.count()
        return len(captured)

    ApiKeyFactory(owner=user)
    one = queries()
    ApiKeyFactory.create_batch(9, owner=user)
    assert queries() == one
    monkeypatch.setattr(account_queries, "BATCH", 5)
    assert queries() == one + 2  # two full batches, and an empty one behind them


def test_times_of_the_copy_always_have_three_decimals() -> None:
    user = UserFactory()
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False):
        User.objects.filter(pk=user.pk).update(created_at=timezone.now())
        user.refresh_from_db()
        found = copy_of(user)
    assert found["made_at"] == found["account"]["created_at"] == "2026-03-01T12:00:00.000Z"
