"""A change of a key or of its owner is answered from the very next request on, cached records or not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from django_redis import get_redis_connection

from accounts import bans, rate_limits, users
from accounts.api_keys import keys, records
from accounts.models import ApiKey, AuditEvent, Permission
from accounts.plans import Plan
from infrastructure import limits
from infrastructure.limits import KeyRecord, KeyRequest, Verdict
from infrastructure.limits.in_redis import PAUSE_AFTER_CHANGE, RedisLimits
from infrastructure.requests.request_context import Prefetch
from tests.accounts.calls import ALWAYS, SECRET, call, whole
from tests.factories.accounts import ApiKeyFactory, StaffFactory
from tests.support import redis_commands
from tests.support.redis_commands import UNREACHABLE

Act = Callable[[ApiKey], object]
DAY = timedelta(days=1)
pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.accounts.api_urls"), pytest.mark.usefixtures("fresh")]
Commit = Callable[[], AbstractContextManager[object]]


@pytest.fixture
def commit(django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]]) -> Commit:
    """Around a change: cached records are forgotten at its commit."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture
def key() -> ApiKey:
    return ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_PRESENCE])


def nothing(key: ApiKey) -> None:
    """The key is as it was made."""


def disable(key: ApiKey) -> None:
    keys.disable(key=key, by=None)


def withdraw(key: ApiKey) -> None:
    keys.withdraw_permission(key=key, permission=Permission.LOOKUP_PRESENCE, by=None)


def expire(key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())


def ban(key: ApiKey) -> None:
    bans.ban(user=key.owner, by=None, reason="Spam")


def plan(plan: Plan, ends_in: timedelta | None = None) -> Act:
    def change(key: ApiKey) -> None:
        ends_at = timezone.now() + ends_in if ends_in is not None else None
        users.change(user=key.owner, values={"plan": plan, "plan_expires_at": ends_at}, by=StaffFactory())

    return change


def end_plan(key: ApiKey) -> None:
    users.change(user=key.owner, values={"plan_expires_at": timezone.now()}, by=StaffFactory())


CHANGES: dict[str, tuple[Act, Any, Act, Any]] = {
    "revoke": (nothing, 200, lambda key: keys.revoke(key=key, by=None), "KEY_NOT_FOUND"),
    "disable": (nothing, 200, disable, "KEY_DISABLED"),
    "enable": (disable, "KEY_DISABLED", lambda key: keys.enable(key=key, by=None), 200),
    "withdraw": (nothing, 200, withdraw, "KEY_NOT_FOUND"),
    "grant": (
        withdraw,
        "KEY_NOT_FOUND",
        lambda key: keys.grant_permission(key=key, permission=Permission.LOOKUP_PRESENCE, by=None),
        200,
    ),
    "ban": (nothing, 200, ban, "KEY_NOT_FOUND"),
    "lift": (ban, "KEY_NOT_FOUND", lambda key: bans.lift(user=key.owner, by=None, reason="Error"), 200),
    "delete the key": (expire, "KEY_EXPIRED", lambda key: keys.delete(key=key, by=None), "INVALID_API_KEY"),
    "delete the owner": (nothing, 200, lambda key: users.delete(user=key.owner, by=None), "INVALID_API_KEY"),
    "take a plan": (plan(Plan.IMAGEHOST), "premium", plan(Plan.FREE), 200),
    "end a plan": (plan(Plan.PREMIUM), "premium", end_plan, 200),
}


def outcome(answer: Any) -> Any:
    """The error's code, or `premium`, or 200."""
    body = answer.json()
    return body.get("code") or ("premium" if body["premium"] else answer.status_code)


@pytest.mark.parametrize(("before", "first", "change", "then"), CHANGES.values(), ids=CHANGES)
def test_the_next_request_after_a_change_knows_it(
    key: ApiKey, commit: Commit, before: Act, first: Any, change: Act, then: Any
) -> None:
    before(key)
    assert [outcome(call()), outcome(call())] == [first, first]
    with commit():
        change(key)
    assert [outcome(call()), outcome(call())] == [then, then]


def test_a_change_that_is_rolled_back_changes_no_answer(key: ApiKey, commit: Commit) -> None:
    assert outcome(call()) == 200
    with commit(), transaction.atomic():
        keys.revoke(key=key, by=None)
        transaction.set_rollback(True)
    assert outcome(call()) == 200


def test_without_the_store_a_change_stands_and_is_logged(
    key: ApiKey, commit: Commit, caplog: pytest.LogCaptureFixture
) -> None:
    limits._store.cache_clear()
    with override_settings(CACHES=UNREACHABLE, LIMIT_STORE="infrastructure.limits.in_redis.RedisLimits"), commit():
        keys.revoke(key=key, by=None)
        bans.ban(user=key.owner, by=None, reason="Spam")
    limits._store.cache_clear()
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert key.owner.is_banned
    assert sorted(AuditEvent.objects.values_list("verb", flat=True)) == ["api_key:revoked", "user:banned"]
    sentence = "Cached keys could not be dropped: they answer as before until they expire."
    logged = [record.getMessage() for record in caplog.records if record.name == "accounts.api_keys.records"]
    assert logged == [sentence, sentence]


@pytest.mark.parametrize("path", ["/api/keyed", "/api/open", "/api/nowhere"])
def test_without_the_store_requests_are_503_and_not_let_in(key: ApiKey, path: str) -> None:
    limits._store.cache_clear()
    with override_settings(CACHES=UNREACHABLE, LIMIT_STORE="infrastructure.limits.in_redis.RedisLimits"):
        answer = call(path)
    limits._store.cache_clear()
    assert whole(answer) == (503, {"error": "errors.unavailable"}, {**ALWAYS, "Retry-After": "1"})


def _asked(key: ApiKey) -> KeyRequest:
    return KeyRequest(
        address=rate_limits.API_ADDRESS.of("an address"),
        secret_hash=key.secret_hash,
        permission=Permission.LOOKUP_PRESENCE,
        instant=limits.microseconds(timezone.now()),
        limit=rate_limits.API_KEY,
        premium_limit=rate_limits.API_PREMIUM_KEY,
    )


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Redis is asked, command by command."""
    return redis_commands.noted(monkeypatch)


def test_a_request_with_a_cached_key_is_one_command(key: ApiKey, commands: list[str]) -> None:
    call()
    commands.clear()
    assert outcome(call()) == 200
    assert commands == ["EVALSHA"]


@pytest.mark.parametrize(("path", "secret"), [("/api/open", None), ("/api/keyed", None), ("/api/keyed", "k" * 201)])
def test_a_request_without_a_key_is_one_command(path: str, secret: str | None, commands: list[str]) -> None:
    call(path, secret=secret)
    commands.clear()
    call(path, secret=secret)
    assert commands == ["EVALSHA"]


def test_a_reader_that_read_before_the_change_does_not_put_the_old_record_back(key: ApiKey, commit: Commit) -> None:
    def slow(secret_hash: str) -> KeyRecord | None:
        record = records.load(secret_hash)
        with commit():
            keys.revoke(key=key, by=None)  # meanwhile
        return record

    store = RedisLimits()
    assert store.check_key(_asked(key), slow).verdict is Verdict.OK  # it asked before the change
    assert store.check_key(_asked(key), records.load).verdict is Verdict.DEAD
    assert outcome(call()) == "KEY_NOT_FOUND"


def test_a_reader_that_read_before_the_first_record_does_not_replace_it(key: ApiKey) -> None:
    store = RedisLimits()

    def slow(secret_hash: str) -> KeyRecord | None:
        record = records.load(secret_hash)
        ApiKey.objects.filter(pk=key.pk).update(is_enabled=False)
        assert store.check_key(_asked(key), records.load).verdict is Verdict.DISABLED
        return record

    assert store.check_key(_asked(key), slow).verdict is Verdict.DISABLED


def test_another_process_forgets_at_once_what_it_has_cached(key: ApiKey) -> None:
    here, there = RedisLimits(), RedisLimits()
    assert here.check_key(_asked(key), records.load).verdict is Verdict.OK
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    there.forget_keys([key.secret_hash])
    assert here.check_key(_asked(key), records.load).verdict is Verdict.DEAD


def test_a_changed_key_is_cached_again_after_a_pause(
    key: ApiKey, commit: Commit, wait: Callable[[float], None]
) -> None:
    loaded: list[str] = []

    def load(secret_hash: str) -> KeyRecord | None:
        loaded.append(secret_hash)
        return records.load(secret_hash)

    store = RedisLimits()
    with commit():
        keys.disable(key=key, by=None)
    for _ in range(3):
        assert store.check_key(_asked(key), load).verdict is Verdict.DISABLED
    assert len(loaded) == 3
    wait(PAUSE_AFTER_CHANGE.total_seconds())
    for _ in range(3):
        assert store.check_key(_asked(key), load).verdict is Verdict.DISABLED
    assert len(loaded) == 4


def test_no_record_is_older_than_a_minute(key: ApiKey, wait: Callable[[float], None]) -> None:
    call()
    ApiKey.objects.filter(pk=key.pk).update(is_enabled=False)  # around every operation
    for _ in range(2):
        wait(29)
        assert outcome(call()) == 200
    wait(2.1)
    assert outcome(call()) == "KEY_DISABLED"


def test_an_unknown_key_is_never_cached(key: ApiKey) -> None:
    from django_redis import get_redis_connection

    assert outcome(call(secret="nobody's")) == "INVALID_API_KEY"
    ApiKeyFactory(secret="nobody's", permissions=[Permission.LOOKUP_PRESENCE])
    assert outcome(call(secret="nobody's")) == 200
    assert {name.split(b":")[0] for name in get_redis_connection("default").scan_iter()} == {b"{limit}"}


@pytest.mark.embedded
def test_a_record_says_what_the_database_says(key: ApiKey) -> None:
    now = timezone.now()
    expected = KeyRecord(key.pk, key.owner_id, ["lookup:presence"], False, True, limits.FOREVER, 0, False)  # noqa: FBT003 - in the order of the columns
    assert records.load(key.secret_hash) == expected
    ApiKey.objects.filter(pk=key.pk).update(expires_at=now, remaining_uses=0, is_enabled=False)
    users.change(user=key.owner, values={"plan": Plan.PREMIUM, "plan_expires_at": now}, by=StaffFactory())
    at = limits.microseconds(now)
    expected = KeyRecord(key.pk, key.owner_id, ["lookup:presence"], False, False, at, at, True)  # noqa: FBT003 - the same
    assert records.load(key.secret_hash) == expected
    assert records.load("no such hash") is None


class Noted(Prefetch):
    """Counts how often it is sent."""

    sent = 0

    def send(self) -> None:
        self.sent += 1


def _sent(store: RedisLimits, key: ApiKey) -> tuple[Verdict, int]:
    """Return the verdict on a request, and how often its read was sent along."""
    asked, noted = _asked(key), Noted()
    asked.prefetch = noted
    return store.check_key(asked, records.load).verdict, noted.sent


def test_a_read_is_sent_along_for_a_key_that_was_accepted_last(key: ApiKey) -> None:
    store = RedisLimits()
    amount = rate_limits.API_KEY.amount
    assert [_sent(store, key) for _ in range(amount + 3)] == [
        (Verdict.OK, 0),  # not known yet
        *[(Verdict.OK, 1)] * (amount - 1),
        (Verdict.KEY_LIMITED, 1),
        *[(Verdict.KEY_LIMITED, 0)] * 2,
    ]


def test_no_read_is_sent_along_for_a_key_whose_uses_are_counted(key: ApiKey) -> None:
    ApiKey.objects.update(remaining_uses=100)
    store = RedisLimits()
    assert [_sent(store, key) for _ in range(3)] == [(Verdict.OK, 0)] * 3


def test_no_read_is_sent_along_for_a_key_that_is_known_to_be_refused(key: ApiKey, commit: Commit) -> None:
    store = RedisLimits()
    assert [_sent(store, key) for _ in range(2)] == [(Verdict.OK, 0), (Verdict.OK, 1)]
    with commit():
        keys.revoke(key=key, by=None)
    assert [_sent(store, key) for _ in range(2)] == [(Verdict.DEAD, 1), (Verdict.DEAD, 0)]


def test_no_read_is_sent_along_for_a_key_that_lacks_the_permission(key: ApiKey) -> None:
    store = RedisLimits()
    assert [_sent(store, key) for _ in range(2)] == [(Verdict.OK, 0), (Verdict.OK, 1)]
    asked, noted = _asked(key), Noted()
    asked.prefetch, asked.permission = noted, Permission.IMAGEHOST_UPLOAD
    assert (store.check_key(asked, records.load).verdict, noted.sent) == (Verdict.NOT_PERMITTED, 0)


def test_a_change_reaches_the_release_before_too(key: ApiKey) -> None:
    limits.forget_keys([key.secret_hash])
    client = get_redis_connection("default")
    assert [client.get(f"{{limit}}:record-{number}:{key.secret_hash}") for number in (1, 2)] == [b"forgotten"] * 2
