"""The presence of a chat account whose user turned public API access off: private in every form, at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.conf import settings as configured
from django.test.utils import override_settings
from django.utils import timezone
from pytest_django import Settings

from accounts import bans, users
from accounts.linking import account_links
from accounts.models import LinkedAccount, User
from lookup.editing import profiles
from presence.answer import members, privacy
from presence.store.store import PresenceStore, Record
from tests.factories.accounts import LinkedAccountFactory, UserFactory
from tests.lookup import statements
from tests.presence import following, lookups, store_contents, workers
from tests.presence.following import Event
from tests.presence.lookups import ADA, BEN, NOT_MEMBER, ONLINE, PLAIN, PRIVATE
from tests.presence.workers import wait_for_truth, wait_until, working
from tests.support.chat_platform import Simulator

pytestmark = pytest.mark.django_db(transaction=True)  # what is noted comes with the commit


@pytest.fixture
def user(simulator: Simulator, store: PresenceStore, settings: Settings) -> User:
    """Whose chat account is ADA's, a member that is online."""
    settings.PRESENCE_STREAMS = 32
    lookups.key()
    user: User = UserFactory()
    LinkedAccountFactory(user=user, external_id=str(ADA))
    lookups.tell(store)
    return user


@pytest.fixture
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "PATIENCE", 0.2)


def by_page(user: User, *, is_public: bool) -> None:
    profiles.set_public_access(user=user, is_public=is_public, by=user)


def by_staff(user: User, *, is_public: bool) -> None:
    users.change(user=user, values={"public_api_access": is_public}, by=UserFactory(is_staff=True, is_superuser=True))


@pytest.mark.embedded
@pytest.mark.parametrize("switch", [by_page, by_staff])
def test_a_switch_counts_at_once_and_asks_no_database(
    user: User, switch: Callable[..., None], simulator: Simulator
) -> None:
    answers = []
    for is_public in (False, True):
        switch(user, is_public=is_public)
        answers.append(lookups.get(ADA))
    assert [answers[0].whole, answers[1].status] == [PRIVATE, 200]
    switch(user, is_public=False)
    names = statements.names(lambda: lookups.get(ADA))
    assert [name for name in names if "linkedaccount" in name or "accounts_user" in name] == []


def test_the_record_hides_it_whatever_was_noted_and_shows_it_again(user: User, store: PresenceStore) -> None:
    """A note of before stands where that of the last switch failed, or where two came in the other order."""
    at = timezone.now().timestamp()
    private = Record(PLAIN, ONLINE, 1, at, None, is_private=True)
    store_contents.write(store, {ADA: private.to_text()}, ())
    assert lookups.get(ADA).whole == PRIVATE
    by_page(user, is_public=False)
    by_page(user, is_public=True)
    assert lookups.get(ADA).whole == PRIVATE  # the worker has not read it yet
    store_contents.write(store, {ADA: replace(private, is_private=False).to_text()}, ())
    assert lookups.get(ADA).status == 200


def test_linking_an_account_hides_it_and_another_user_shows_it_again(store: PresenceStore, user: User) -> None:
    hidden = UserFactory(public_api_access=False)
    account_links.unlink(user=user, kind="CHAT", by=user)
    account_links.link(user=hidden, kind="CHAT", external_id=str(ADA), name="ada", by=hidden)
    assert lookups.get(ADA).whole == PRIVATE
    account_links.unlink(user=hidden, kind="CHAT", by=hidden)
    account_links.link(user=user, kind="CHAT", external_id=str(ADA), name="ada", by=user)
    assert lookups.get(ADA).status == 200


def test_a_banned_user_is_still_a_member(user: User) -> None:
    bans.ban(user=user, by=None, reason="x")
    assert lookups.get(ADA).status == 200


@pytest.mark.usefixtures("_patience")
def test_a_private_account_that_is_no_member_is_private(simulator: Simulator, store: PresenceStore, user: User) -> None:
    simulator.add_account(BEN)
    hidden = UserFactory(public_api_access=False)
    LinkedAccountFactory(user=hidden, external_id=str(BEN))
    for _ in range(2):
        assert lookups.get(BEN).whole == PRIVATE
    assert simulator.counters.rest == []
    by_page(hidden, is_public=True)
    assert lookups.get(BEN).whole == NOT_MEMBER


def test_a_miss_that_was_known_before_is_private_too(store: PresenceStore, user: User) -> None:
    LinkedAccountFactory(user=(hidden := UserFactory()), external_id=str(BEN))
    store.keep_miss(BEN, "notMember")
    assert lookups.get(BEN).whole == NOT_MEMBER
    by_page(hidden, is_public=False)
    assert lookups.get(BEN).whole == PRIVATE


def test_a_stream_is_refused_and_one_that_is_open_ends(user: User) -> None:
    with following.followed() as stream:
        events = stream.events()
        assert next(events).event == "presence"
        by_page(user, is_public=False)
        assert list(events) == [Event("gone", "", PRIVATE[1])]
    refused = following.ask()
    assert (refused.status_code, refused.json()) == PRIVATE


def test_a_store_that_takes_no_note_costs_no_switch(user: User, caplog: pytest.LogCaptureFixture) -> None:
    away = {"BACKEND": "presence.store.redis_cache.PresenceRedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    with override_settings(CACHES={**configured.CACHES, "presence": away}):
        by_page(user, is_public=False)
    assert not User.objects.get(pk=user.pk).public_api_access
    assert caplog.messages[-1].startswith("The presence worker alone notes that")
    assert privacy.private_ids() == {ADA}


class TestWorker:
    def test_it_writes_who_is_private_before_anything_is_read_and_follows(
        self, simulator: Simulator, store: PresenceStore
    ) -> None:
        """By SQL alone: the store has no note of it."""
        simulator.add_member(ADA, presence=ONLINE)
        simulator.add_member(BEN, presence=ONLINE)
        LinkedAccountFactory(user=UserFactory(public_api_access=False), external_id=str(ADA))
        LinkedAccount.objects.create(user=UserFactory(), kind="CHAT", external_id="no number", name="x")

        def private() -> list[bool]:
            return [snapshot.is_private for snapshot in store.snapshots([ADA, BEN]).values()]

        with working(simulator, store):
            wait_for_truth(store)
            assert private() == [True, False]
            with store_contents.table_missing("accounts_linkedaccount"):
                simulator.set_presence(ADA, {"status": "dnd"})
                workers.wait_for_status(store, ADA, "dnd")
                assert private() == [True, False]
            User.objects.update(public_api_access=True)
            wait_until(lambda: private() == [False, False])
            User.objects.update(public_api_access=False)
            wait_until(lambda: private() == [True, False])
            simulator.remove_member(ADA)
            workers.wait_for_status(store, ADA, "absent")
            wait_for_truth(store)
            assert store.snapshot(ADA).miss == ""  # the database says what readers may know
