"""Reads from a streaming standby: as fresh as the primary, and no request fails while it comes and goes."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import requests
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from pytest_django import DjangoDbBlocker, Settings

from accounts.databases import replica, replicas
from accounts.databases.replica import Replica, ReplicaConnection
from accounts.models import Permission, User
from config import doctor, timed_calls
from config.doctor import Level
from lookup import boards
from oidc_provider.token import signing
from tests.config import standbys
from tests.config.standbys import Standby, is_read_by, wait_until
from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.lookup import CommentFactory, shown
from tests.lookup import answers
from tests.presence import served

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

DISPLAY_NAME, PRIVACY = "/dashboard/account/display-name/", "/dashboard/profile/privacy/"
DELAY = 200  # milliseconds; a write waits for it


@pytest.fixture(scope="module")
def standby(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Standby]:
    with django_db_blocker.unblock(), standbys.running() as standby:
        yield standby


@pytest.fixture
def only(standby: Standby, settings: Settings) -> Iterator[Replica]:
    """The standby, as this process reads it."""
    settings.RATE_LIMITS_ENABLED = False
    settings.DATABASE_REPLICA_URLS = [standby.url]
    (one,) = replicas.configured()
    yield one
    one.stop()


@pytest.fixture
def ada(only: Replica) -> User:
    """A user whose lookup a replica answers."""
    ada = UserFactory(username="Ada", email="ada@example.org")
    ApiKeyFactory(owner=ada, secret=answers.LOOKUP_SECRET, permissions=[Permission.LOOKUP_USER.value])
    ApiKeyFactory(owner=ada, secret=answers.ACCOUNT_SECRET)
    shown(ada)
    until_it_is_read(only)
    return ada


def lookup() -> str | None:
    """The display name that the lookup says."""
    found = answers.user()
    assert found.status == 200, found.text
    name: str | None = found.body["user"]["name"]
    return name


def is_read() -> bool:
    return is_read_by(lookup)


def until_it_is_read(one: Replica) -> None:
    wait_until(is_read, f"a replica is read, whose state is {one.problem!r}")


def until_the_primary_is_read() -> None:
    wait_until(lambda: not is_read(), "the primary is read")


def name_by_page(ada: User, name: str) -> None:
    browser_of(ada).open(DISPLAY_NAME).submit(display_name=name)


def test_a_replica_answers_lookups_boards_and_pages_as_the_primary_does(
    ada: User, only: Replica, settings: Settings
) -> None:
    CommentFactory(user=ada, content="Hello")
    shown(ada)
    boards.rank()

    def everything() -> list[object]:
        current = answers.user("ada", *answers.INCLUDES).whole
        page = Client().get("/Ada").content
        of_boards = [answers.board(name).whole for name in ("views", "badges", "uid")]
        return [current, answers.earlier().whole, answers.earlier(ada.uid, by="uid").whole, *of_boards, page]

    wait_until(lambda: is_read_by(everything), "a replica is read")
    found = everything()
    settings.DATABASE_REPLICA_URLS = []
    assert not is_read_by(everything)
    assert found == everything()


def test_what_a_page_has_changed_is_in_the_next_answer(ada: User, only: Replica, standby: Standby) -> None:
    browser = browser_of(ada)
    with standby.delayed(DELAY):
        for name in ("Ada One", "Ada Two", "Ada Three"):
            until_it_is_read(only)
            browser.open(DISPLAY_NAME).submit(display_name=name)
            assert lookup() == name
        until_it_is_read(only)
        browser.open(PRIVACY).submit(public_api_access="")
        assert answers.user().whole == answers.PRIVATE
        assert Client().get("/Ada").status_code == 404


def test_what_one_host_has_changed_another_one_says(ada: User, only: Replica, standby: Standby, tmp_path: Path) -> None:
    signing.ensure_signing_key()
    values = {"DATABASE_REPLICA_URLS": standby.url, "RATE_LIMITS_ENABLED": "0"}
    reads = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%lookup_profiledocument%' AND pid <> ALL ({})"
    own = standby.ask("SELECT array_agg(pid)::text FROM pg_stat_activity")
    with served.service(tmp_path, served.INTERFACES["wsgi"], **values) as host, standby.delayed(DELAY):

        def elsewhere() -> object:
            headers = {"X-API-Key": answers.LOOKUP_SECRET}
            url = f"{host.base_url}/api/lookup/user?type=username&value=ada"
            return requests.get(url, headers=headers, timeout=30).json()["user"]["name"]

        wait_until(
            lambda: elsewhere() is None and standby.ask(reads.format(f"'{own}'")), "the other host reads the replica"
        )
        for number in range(5):
            name_by_page(ada, f"Ada {number}")
            assert elsewhere() == f"Ada {number}"


def test_saving_does_not_wait_for_a_replica_that_is_not_read(
    ada: User, only: Replica, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    with standby.paused():
        name_by_page(ada, "Ada One")
        assert lookup() == "Ada One"
        wait_until(lambda: not replica.in_use([only]), "no process reads it")
        monkeypatch.setattr(Replica, "wait_until_applied", lambda *_: pytest.fail("waited"))
        name_by_page(ada, "Ada Two")
        assert lookup() == "Ada Two"
    until_it_is_read(only)


def test_a_replica_that_lags_is_left_out_and_taken_back(ada: User, only: Replica, standby: Standby) -> None:
    with standby.paused():
        User.objects.filter(pk=ada.pk).update(display_name="By hand")  # no page waits
        committed_at = time.monotonic()
        until_the_primary_is_read()
        assert lookup() == "By hand"
        assert only.problem == "more than 0.5 s behind"
        assert not replica.in_use([only]) or time.monotonic() - committed_at < 2 * replica.LEASE
    until_it_is_read(only)
    assert lookup() == "By hand"


def test_no_request_fails_while_a_replica_restarts(ada: User, only: Replica, standby: Standby) -> None:
    leaving = threading.Thread(target=standby.go_away)
    leaving.start()
    while leaving.is_alive():
        assert lookup() is None
    until_the_primary_is_read()
    standby.come_back()
    until_it_is_read(only)


def test_no_request_fails_while_a_replica_hangs(ada: User, only: Replica, standby: Standby) -> None:
    with standby.hanging():
        until_the_primary_is_read()
        assert "no answer" in only.problem
    until_it_is_read(only)


def test_a_transaction_reads_the_primary(ada: User, only: Replica) -> None:
    until_it_is_read(only)
    with transaction.atomic():
        assert not is_read()


def test_a_statement_that_the_standby_cancels_is_answered_by_the_primary(ada: User, only: Replica) -> None:
    until_it_is_read(only)

    def cancelled(_: ReplicaConnection) -> str:
        raise psycopg.errors.SerializationFailure

    assert replicas.read(cancelled) is None
    assert only.is_leased


def test_a_forked_process_makes_connections_of_its_own(ada: User, only: Replica) -> None:
    until_it_is_read(only)
    child = os.fork()
    if child == 0:
        os._exit(only.is_leased or replicas.read(lambda _: True) is True)
    assert os.waitpid(child, 0)[1] == 0
    until_it_is_read(only)


def test_no_more_connections_are_made_than_allowed(standby: Standby, settings: Settings) -> None:
    settings.DATABASE_REPLICA_CONNECTIONS = 1
    settings.DATABASE_REPLICA_URLS = [standby.url]
    (one,) = replicas.configured()
    try:
        wait_until(lambda: one.read(lambda _: True), "a replica is read")
        assert one.read(lambda _: (one.read(lambda _: True),)) == (None,)
        time.sleep(2 * replica.PAUSE)
        assert one.read(lambda _: (one.read(lambda _: True),)) in {(None,), None}
    finally:
        one.stop()


def problem_of(url: str) -> str:
    one = Replica(url, most=1)
    try:
        assert one.read(lambda _: True) is None
        wait_until(lambda: one.problem != "not asked so far", "the replica is measured")
        return one.problem
    finally:
        one.stop()


def test_what_is_no_standby_of_the_primary_is_never_read(standby: Standby) -> None:
    name = connection.settings_dict["NAME"]
    primary = standby.url.replace(standby.name, f"127.0.0.1:{connection.settings_dict['PORT']}")
    assert problem_of(primary) == "no standby"
    assert problem_of(standby.url.replace(f"/{name}", "/postgres")) == "of another database"
    standbys.synchronous_commit("off")
    try:
        assert problem_of(standby.url) == "synchronous_commit is off on the primary"
    finally:
        standbys.synchronous_commit("on")


def test_readiness_the_doctor_and_metrics_name_each_replica(
    only: Replica, standby: Standby, settings: Settings, tmp_path: Path
) -> None:
    settings.METRICS_TOKEN, settings.METRICS_DIR = "a-token", tmp_path
    part, headers = "replica_1", {"Authorization": "Bearer a-token"}

    def lag() -> float:
        text = Client().get("/metrics", headers=headers).content.decode()
        line = next(line for line in text.splitlines() if line.startswith("hearth_replica_lag_seconds{"))
        assert f'replica="{standby.name}"' in line
        return float(line.split()[-1])

    def finding() -> tuple[Level, str]:
        ((level, text, _),) = doctor.examine("replicas")
        return level, text

    before = Client().get("/readyz")
    assert before.json()["parts"][part] == "ok"
    assert lag() <= replica.LONGEST_LAG
    assert finding()[0] == Level.OK
    standby.go_away()
    timed_calls.forget()
    try:
        after = Client().get("/readyz")
        assert after.json()["parts"][part] == "not reachable"
        assert after.status_code == before.status_code
        assert lag() == math.inf
        assert finding()[0] == Level.FAILURE
        assert "Connection refused" in finding()[1] or standby.name in finding()[1]
    finally:
        standby.come_back()


def test_a_command_reads_the_primary_alone(ada: User, settings: Settings) -> None:
    (one,) = replicas.configured()
    one.stop()
    settings.DATABASE_REPLICA_URLS = [*settings.DATABASE_REPLICA_URLS, "postgres://nobody@127.0.0.1:1/none"]
    before = threading.active_count()
    call_command("rank_leaderboards", verbosity=0)
    call_command("check_documents", verbosity=0)
    assert threading.active_count() == before  # nothing watches a replica
    assert [one.problem for one in replicas.configured()] == ["not asked so far"] * 2
