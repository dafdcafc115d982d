"""The copy of one's own data: whole, without secrets, and of nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import api_keys, audit
from accounts.models import KeyDay, User
from dashboard import access_requests, own_data
from oidc_provider.models.request_log import LastUse, RequestRecord
from tests.support.browser import Browser
from tests.factories.accounts import AliasFactory, ApiKeyFactory, LinkedAccountFactory, StaffFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.factories.lookup import AssetFactory, CommentFactory, CommentLikeFactory, FeedbackVoteFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory

DOWNLOAD = "/dashboard/account/data/download/"


def downloaded(browser: Browser) -> Any:
    """JSON."""
    browser.open(DOWNLOAD)
    return json.loads(b"".join(browser.response.streaming_content))


def fill(user: User) -> str:
    """One of everything; the secret of the key."""
    AliasFactory(user=user)
    LinkedAccountFactory(user=user)
    ApplicationFactory(user=user)
    ApprovalFactory(user=user)
    issued = api_keys.issue(owner=user, permissions=["account"], name="Server", by=user)
    KeyDay.objects.create(key=issued.key, day=timezone.now().date(), count=5)
    access_requests.ask_for_permission(key=issued.key, permission="lookup:user", reason="A bot")
    FolderRuleFactory(owner=user, folder=FolderFactory(owner=user))
    FileFactory(owner=user)
    fill_from_elsewhere(user)
    return issued.secret


def fill_from_elsewhere(user: User) -> None:
    """What the person did on other profiles and with apps; an upload."""
    comment = CommentFactory(user=UserFactory(username=f"Of-{user.username}"), author=user)
    CommentLikeFactory(comment=comment, user=user)
    FeedbackVoteFactory(user=comment.user, voter=user)
    AssetFactory(owner=user)
    app, now = ApplicationFactory(), timezone.now()
    LastUse.objects.create(application=app, user=user, used_at=now)
    RequestRecord.objects.create(application=app, user=user, moment=now, kind="ASKED", request_id="r")


def test_the_file_holds_everything_and_can_be_kept(browser: Browser, user: User) -> None:
    secret = fill(user)
    found = downloaded(browser)
    headers = browser.response.headers
    assert headers["Content-Type"] == "application/json"
    assert headers["Content-Disposition"] == f'attachment; filename="Ada-{timezone.now():%Y-%m-%d}.json"'
    assert "no-store" in headers["Cache-Control"]
    assert browser.response.streaming
    assert (found["account"]["id"], found["account"]["uid"]) == (user.pk, user.uid)
    lists = {name: len(value) for name, value in found.items() if isinstance(value, list) and name != "events"}
    assert lists == {
        "email_addresses": 1,
        "names": 2,
        "linked_accounts": 1,
        "second_factors": 0,
        "sessions": 1,
        "approvals": 1,
        "apps": 1,
        "api_keys": 1,
        "api_key_days": 1,
        "requests": 1,
        "folders": 1,
        "folder_rules": 1,
        "files": 1,
        "comments": 1,
        "votes": 1,
        "comment_likes": 1,
        "uploads": 1,
        "app_uses": 1,
        "app_requests": 1,
    }
    assert found["comments"][0]["user_username"] == found["votes"][0]["user_username"] == "Of-Ada"
    assert found["api_key_days"][0]["count"] == 5
    assert found["profile"]["user"]["username"] == "Ada"
    assert "api_key:issued" in {event["verb"] for event in found["events"]}
    assert secret not in json.dumps(found)


def test_no_secret_and_no_hash_of_one_is_in_it(browser: Browser, user: User) -> None:
    secret = fill(user)
    text = json.dumps(downloaded(browser))
    key, app, file = user.api_keys.get(), user.applications.get(), user.files.get()
    for hidden in (secret, key.secret_hash, app.client_secret, user.password, file.deletion_hash, file.key):
        assert hidden not in text


def test_nothing_of_somebody_else_is_in_it(browser: Browser, user: User) -> None:
    other = UserFactory(username="Grace")
    fill(other)
    found = downloaded(browser)
    assert "Grace" not in json.dumps(found)
    assert other.pk not in json.dumps(found)


def test_staff_who_acted_are_not_named(browser: Browser, user: User) -> None:
    staff = StaffFactory(username="Keeper")
    audit.record("user:changed", by=staff, on=user, reason="On request", changed=["plan"])
    (event,) = [event for event in downloaded(browser)["events"] if event["verb"] == "user:changed"]
    assert (event["actor_kind"], event["reason"]) == ("STAFF", "On request")
    assert "address" not in event
    assert "Keeper" not in json.dumps(event)


@pytest.mark.parametrize("columns", [{"public_api_access": False}, {}])
def test_a_profile_that_lookups_hide_is_in_ones_own_copy(
    browser: Browser, user: User, columns: dict[str, bool]
) -> None:
    User.objects.filter(pk=user.pk).update(**columns)
    assert downloaded(browser)["profile"]["user"]["username"] == "Ada"


def test_many_rows_cost_a_query_for_each_batch(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            found = json.loads(b"".join(own_data.chunks(user, timezone.now())))
        assert len(found["api_keys"]) == user.api_keys.count()
        return len(captured)

    ApiKeyFactory(owner=user)
    one = queries()
    for _ in range(9):
        ApiKeyFactory(owner=user)
    assert queries() == one
    monkeypatch.setattr(own_data, "BATCH", 5)
    assert queries() == one + 2  # two full batches, and an empty one behind them


def test_a_login_of_long_ago_is_asked_for_the_password_first(browser: Browser) -> None:
    session = browser.client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**record, "at": record["at"] - 3600} for record in records]
    session.save()
    browser.open(DOWNLOAD)
    assert browser.response.request["PATH_INFO"] == "/accounts/reauthenticate/"
