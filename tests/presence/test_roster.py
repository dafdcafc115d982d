"""The roster: what it makes of the gateway's events, good ones and bad ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from presence.fields import Json
from presence.gateway.payloads import Dispatch
from presence.gateway.roster import Roster
from presence.store.records import Record

GUILD = 268473310000000000
ADA, BOB = 268473310000000011, 268473310000000012
ONLINE: Json = {"status": "online", "client_status": {"desktop": "online"}, "activities": []}
OFFLINE: Json = {"status": "offline", "client_status": {}, "activities": []}


def member(chat_id: int, **more: Any) -> Json:
    return {"user": {"id": str(chat_id), "username": f"user{chat_id}", "avatar": None}, "nick": None, **more}


def chunk(*members: Json, presences: list[Any] | None = None, **more: Any) -> Json:
    return {"guild_id": str(GUILD), "members": list(members), "presences": presences or [], **more}


def row(chat_id: int, presence: Json) -> Json:
    return {"user": {"id": str(chat_id)}, "guild_id": str(GUILD), **presence}


def live(roster: Roster, name: str, payload: Json, now: float = 2000.0) -> None:
    roster.apply(Dispatch(name, payload), now)


def record(roster: Roster, chat_id: int) -> Record | None:
    text = roster.text(chat_id, 7)
    return None if text is None else Record.from_text(text)


@pytest.fixture
def roster() -> Roster:
    """Ada is online, Bob is offline, nothing is to be written."""
    roster = Roster(GUILD)
    roster.open_epoch(None)
    roster.take_chunk(chunk(member(ADA), member(BOB), presences=[row(ADA, ONLINE)]), asked=None, now=1000.0)
    roster.close_epoch()
    roster.forget_changes()
    return roster


class TestRecords:
    def test_a_member_is_written_as_the_platform_sent_it(self, roster: Roster) -> None:
        assert record(roster, ADA) == Record(member(ADA), ONLINE, 7, 1000.0, None)
        assert record(roster, BOB) == Record(member(BOB), None, 7, 1000.0, None)

    def test_the_text_is_the_one_of_the_store(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", row(ADA, OFFLINE), 2000.5)
        text, read = roster.text(ADA, 7), record(roster, ADA)
        assert text is not None
        assert read is not None
        assert json.loads(text) == json.loads(read.to_text())
        assert read.last_online == 2000


class TestLiveEvents:
    def test_a_presence_replaces_the_one_before(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", row(ADA, {"status": "idle"}))
        assert record(roster, ADA) == Record(member(ADA), {"status": "idle"}, 7, 2000.0, None)
        assert roster.changes.dirty == {ADA}

    def test_the_user_of_a_presence_changes_nothing(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", {**row(ADA, ONLINE), "user": {"id": str(ADA), "username": "other"}})
        assert record(roster, ADA) == Record(member(ADA), ONLINE, 7, 2000.0, None)

    def test_a_presence_of_somebody_unknown_is_looked_up(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", row(5, ONLINE))
        assert (roster.changes.asked, roster.changes.dirty, 5 in roster.members) == ({5}, set(), False)

    @pytest.mark.parametrize("guild_id", ["5", 7, None])
    @pytest.mark.parametrize("name", ["PRESENCE_UPDATE", "GUILD_MEMBER_REMOVE", "GUILD_MEMBER_ADD"])
    def test_another_chat_server_is_ignored(self, roster: Roster, name: str, guild_id: Any) -> None:
        live(roster, name, {**row(ADA, OFFLINE), "guild_id": guild_id})
        assert (record(roster, ADA), roster.changes.dirty) == (Record(member(ADA), ONLINE, 7, 1000.0, None), set())

    def test_an_update_merges_over_the_member(self, roster: Roster) -> None:
        live(roster, "GUILD_MEMBER_UPDATE", {"user": {"id": str(ADA), "avatar": "a1"}, "nick": "Ada"})
        user = {"id": str(ADA), "username": f"user{ADA}", "avatar": "a1"}
        assert record(roster, ADA) == Record({"user": user, "nick": "Ada"}, ONLINE, 7, 2000.0, None)
        assert (roster.changes.updated, roster.changes.renamed, roster.changes.redrawn) == ({ADA}, set(), {ADA})

    def test_a_new_name_or_nick_is_no_new_picture(self, roster: Roster) -> None:
        live(roster, "GUILD_MEMBER_UPDATE", {"user": {"id": str(ADA), "username": "ada_l"}})
        live(roster, "GUILD_MEMBER_UPDATE", member(BOB, nick="Bob"))
        changes = roster.changes
        assert (changes.updated, changes.renamed, changes.redrawn) == ({ADA, BOB}, {ADA}, set())

    def test_who_joins_is_written_once_the_presence_is_known(self, roster: Roster) -> None:
        live(roster, "GUILD_MEMBER_ADD", {"guild_id": str(GUILD), **member(5)})
        assert (record(roster, 5), roster.changes.asked) == (None, {5})
        roster.take_chunk(chunk(member(5)), asked=roster.next_order(), now=2001.0)
        assert record(roster, 5) == Record(member(5), None, 7, 2001.0, None)
        assert 5 in roster.changes.dirty

    def test_who_leaves_is_gone(self, roster: Roster) -> None:
        live(roster, "GUILD_MEMBER_REMOVE", {"guild_id": str(GUILD), "user": {"id": str(ADA)}})
        changes = roster.changes
        assert (record(roster, ADA), changes.dirty, changes.left, changes.departed) == (None, {ADA}, {ADA}, {ADA})


class TestLastOnline:
    def test_going_offline_is_noted(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", row(ADA, OFFLINE), 2000.9)
        live(roster, "PRESENCE_UPDATE", row(BOB, OFFLINE), 2000.9)  # who was offline before
        assert roster.changes.offline_at == {ADA: 2000}

    def test_it_is_kept_while_online(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", row(ADA, OFFLINE), 2000.0)
        live(roster, "PRESENCE_UPDATE", row(ADA, ONLINE), 3000.0)
        assert record(roster, ADA) == Record(member(ADA), ONLINE, 7, 3000.0, 2000)

    def test_who_goes_offline_and_leaves_is_only_forgotten(self, roster: Roster) -> None:
        live(roster, "PRESENCE_UPDATE", row(ADA, OFFLINE), 2000.0)
        live(roster, "GUILD_MEMBER_REMOVE", {"user": {"id": str(ADA)}}, 2001.0)
        assert (roster.changes.offline_at, roster.changes.departed) == ({}, {ADA})

    def test_in_the_daily_reconcile_now_is_the_moment(self, roster: Roster) -> None:
        roster.open_epoch(None)
        roster.take_chunk(chunk(member(ADA), member(BOB)), asked=None, now=9000.0)
        assert roster.changes.offline_at == {ADA: 9000}


class TestReconciles:
    def test_who_is_not_listed_has_left(self, roster: Roster) -> None:
        roster.open_epoch(None)
        roster.take_chunk(chunk(member(BOB)), asked=None, now=3000.0)
        roster.close_epoch()
        assert (list(roster.members), roster.changes.dirty, roster.changes.left) == ([BOB], {ADA}, {ADA})


BAD_PRESENCES: list[Json] = [
    {"status": 5},
    {"status": None},
    {"client_status": None, "status": "online"},
    {"client_status": [], "status": "online"},
    {"activities": None, "status": "online"},
    {"activities": {}, "status": "online"},
    {},
]
BAD_USERS: list[Any] = [
    None,
    [],
    {},
    {"id": "x"},
    {"id": "٣"},
    {"id": -1},
    {"id": True},
    {"id": 2**63},
]


class TestBadPayloads:
    @pytest.mark.parametrize("presence", BAD_PRESENCES)
    def test_a_bad_presence_changes_nothing_and_is_looked_up(self, roster: Roster, presence: Json) -> None:
        live(roster, "PRESENCE_UPDATE", row(ADA, presence))
        assert record(roster, ADA) == Record(member(ADA), ONLINE, 7, 1000.0, None)
        assert (dict(roster.bad), roster.changes.asked) == ({"PRESENCE_UPDATE": 1}, {ADA})

    @pytest.mark.parametrize("presence", BAD_PRESENCES)
    def test_a_bad_presence_in_a_chunk_costs_its_bad_field(self, roster: Roster, presence: Json) -> None:
        good = {"status": "online"} if presence.get("status") == "online" else ONLINE  # no status: the known presence
        roster.take_chunk(chunk(member(ADA), presences=[row(ADA, presence)]), asked=roster.next_order(), now=2000.0)
        assert record(roster, ADA) == Record(member(ADA), good, 7, 2000.0, None)
        assert dict(roster.bad) == {"presence in a chunk": 1}

    @pytest.mark.parametrize("user", BAD_USERS)
    @pytest.mark.parametrize(
        "name", ["PRESENCE_UPDATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"]
    )
    def test_a_bad_user_is_skipped(self, roster: Roster, name: str, user: Any) -> None:
        live(roster, name, {"guild_id": str(GUILD), "user": user, "status": "online"})
        assert (dict(roster.bad), roster.changes.dirty, set(roster.members)) == ({name: 1}, set(), {ADA, BOB})

    @pytest.mark.parametrize("user", BAD_USERS)
    def test_a_bad_row_of_a_chunk_costs_no_other(self, roster: Roster, user: Any) -> None:
        roster.take_chunk(chunk({"user": user}, member(5), presences=[None, 5]), asked=roster.next_order(), now=2000.0)
        assert record(roster, 5) == Record(member(5), None, 7, 2000.0, None)

    @pytest.mark.parametrize("lists", [{"members": None}, {"presences": None}, {"members": {}, "presences": "x"}])
    def test_a_chunk_without_its_lists_counts_as_lost(self, roster: Roster, lists: Json) -> None:
        assert not roster.take_chunk({**chunk(member(ADA)), **lists}, asked=None, now=2000.0)
        assert record(roster, ADA) == Record(member(ADA), ONLINE, 7, 1000.0, None)

    def test_each_kind_is_logged_once(self, roster: Roster, caplog: pytest.LogCaptureFixture) -> None:
        for _ in range(3):
            live(roster, "PRESENCE_UPDATE", {"user": None})
            live(roster, "GUILD_MEMBER_ADD", {"user": None})
        assert [(entry.levelname, entry.message.split(";")[0]) for entry in caplog.records] == [
            ("WARNING", "The chat platform sent a bad PRESENCE_UPDATE"),
            ("WARNING", "The chat platform sent a bad GUILD_MEMBER_ADD"),
        ]
        assert dict(roster.bad) == {"PRESENCE_UPDATE": 3, "GUILD_MEMBER_ADD": 3}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.sampled_from([str(ADA)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["user", "id", "guild_id", "members", "presences", "status", "client_status", "activities", "type"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
PAYLOADS = st.dictionaries(
    st.sampled_from(["user", "guild_id", "members", "presences", "not_found", "status", "client_status", "activities"]),
    JSON,
)
NAMES = ["PRESENCE_UPDATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE", "GUILD_MEMBERS_CHUNK"]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine says nothing about the roster
@given(st.sampled_from(NAMES), PAYLOADS)
def test_no_payload_raises_and_every_record_can_be_read(name: str, payload: Json) -> None:
    roster = Roster(GUILD)
    roster.take_chunk(
        chunk(member(ADA), member(BOB), presences=[row(ADA, ONLINE)]), asked=roster.next_order(), now=1000.0
    )
    with_user = {"user": {"id": str(ADA)}, **payload}
    for event in (payload, with_user):
        live(roster, name, event)
        roster.take_chunk(event, asked=None, now=1.0)
    for chat_id in roster.settled():
        assert record(roster, chat_id) is not None
