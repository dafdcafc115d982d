"""A part is lost. Where there is a second one, it takes over; else the service is back by itself once the part is.

Each test leaves everything running.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import psycopg
import pytest
import requests

from tests.journeys.browser import Browser
from tests.journeys.people import Person
from tests.production.callers import Caller, preview_path
from tests.production.shape import Shape
from tests.production.waiting import TIMEOUT, asking, until

GRACE = 268473310986240002


@pytest.fixture(autouse=True)
def _all_is_ready_around(shape: Shape) -> Iterator[None]:
    until(lambda: shape.is_ready() and _jobs_reach_the_database(shape))
    yield
    until(shape.is_ready)


def _jobs_reach_the_database(shape: Shape) -> bool:
    """PgBouncer's pool of jobs and commands learns of PostgreSQL's return by its first statement, which fails."""
    try:
        with psycopg.connect(shape.engines.database_url, connect_timeout=5) as connection:
            connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _signs_in(shape: Shape, person: Person) -> bool:
    """Whether signing in works. It writes to the database and to Redis."""
    with Browser(shape.base_url) as browser:
        if browser.open("/accounts/login/").response.status_code != 200:
            return False
        person.sign_in(browser)
        return browser.response.status_code == 200 and browser.path.startswith("/dashboard/")


def _is_refused_for_a_while(caller: Caller) -> bool:
    answer = caller.look_up()
    if answer.status_code != 503:
        return False
    assert answer.json() == {"error": "errors.unavailable"}
    assert answer.headers["Retry-After"]
    return True


def test_a_web_host_is_lost_and_the_other_one_answers(shape: Shape, caller: Caller, person: Person) -> None:
    def discover(session: requests.Session) -> requests.Response:
        return session.get(f"{shape.base_url}/.well-known/openid-configuration", timeout=TIMEOUT)

    lost = shape.programs["web-a"]
    with asking(discover) as found:
        lost.kill()
        assert _signs_in(shape, person)
        assert caller.look_up().status_code == 200
        lost.start()
        lost.wait_until_ready()
    assert set(found) == {200}, found


def test_the_event_streams_of_a_host_are_lost_and_the_other_one_streams(shape: Shape, caller: Caller) -> None:
    shape.platform.add_member(GRACE, presence={"status": "online"})
    url = f"{shape.base_url}/api/lookup/presence/{GRACE}/events"
    lost = shape.programs["streams-a"]
    lost.kill()
    for _ in range(2):
        with requests.get(url, headers=caller.headers, stream=True, timeout=TIMEOUT) as stream:
            assert stream.status_code == 200
            assert next(line for line in stream.iter_lines(decode_unicode=True) if line.startswith("data:"))
    lost.start()
    lost.wait_until_ready()


def test_the_gateway_worker_that_leads_is_lost_and_the_other_one_follows(shape: Shape, caller: Caller) -> None:
    url = f"{shape.base_url}/api/lookup/presence/{GRACE}"

    def says(status: str) -> bool:
        answer = caller.get(url)
        return answer.status_code == 200 and answer.json()["status"]["status"] == status

    shape.platform.add_member(GRACE, presence={"status": "online"})
    until(partial(says, "online"))
    for worker, status in zip(shape.both("gateway"), ("idle", "dnd"), strict=True):  # one of them leads
        worker.kill()
        shape.platform.set_presence(GRACE, {"status": status})
        print(f"{worker.log.stem} was killed: news again after {until(partial(says, status)):.1f} s")
        worker.start()


def test_a_jobs_host_is_lost_and_the_other_one_makes_the_previews(shape: Shape, caller: Caller) -> None:
    def is_there(path: str) -> bool:
        return requests.get(f"{shape.base_url}{path}", timeout=TIMEOUT).status_code == 200

    for lost, color in zip(shape.both("jobs"), ("navy", "olive"), strict=True):
        lost.kill()
        until(partial(is_there, preview_path(caller.upload(color))))
        lost.start()


def test_the_primary_of_redis_is_lost_and_its_replica_takes_over(
    shape: Shape, browser: Browser, caller: Caller, person: Person
) -> None:
    until(shape.engines.has_redis_replica)
    person.sign_in(browser.open("/accounts/login/"))
    (name,) = shape.engines.redis_primaries()
    lost = shape.engines.by_name[name]
    lost.kill()
    seconds = until(lambda: name not in shape.engines.redis_primaries())
    seconds += until(lambda: caller.look_up().status_code == 200)
    print(f"Failover of Redis: {seconds:.1f} s")
    assert browser.open("/dashboard/").path == "/dashboard/"  # still signed in
    assert _signs_in(shape, person)
    lost.start()
    until(shape.engines.has_redis_replica)


def test_the_pooler_is_lost_and_comes_back(shape: Shape, caller: Caller, person: Person) -> None:
    pooler = shape.engines.by_name["pgbouncer"]
    pooler.kill()
    until(lambda: _is_refused_for_a_while(caller))
    pooler.start()
    until(lambda: caller.look_up().status_code == 200)
    until(lambda: _signs_in(shape, person))


def test_the_primary_of_postgresql_is_lost_and_comes_back(shape: Shape, caller: Caller, person: Person) -> None:
    primary = shape.engines.by_name["postgres-primary"]
    primary.kill()
    until(lambda: _is_refused_for_a_while(caller))
    token = requests.post(
        f"{shape.base_url}/api/auth/oauth2/token",
        data={"grant_type": "refresh_token", "refresh_token": "x"},
        auth=("an-app", "a-secret"),
        timeout=TIMEOUT,
    )
    assert (token.status_code, token.json()["error"]) == (503, "temporarily_unavailable")
    assert token.headers["Retry-After"]
    primary.start()
    seconds = until(lambda: caller.look_up().status_code == 200)
    print(f"Lookups again {seconds:.1f} s after PostgreSQL")
    until(lambda: _signs_in(shape, person))
    until(shape.engines.is_standby_streaming)


def test_the_standby_is_lost_and_no_request_fails(shape: Shape, caller: Caller, person: Person) -> None:
    standby = shape.engines.by_name["postgres-standby"]

    with asking(caller.look_up) as found:
        standby.kill()
        assert _signs_in(shape, person)
        standby.start()
        until(shape.engines.is_standby_streaming)
    assert set(found) == {200}, found
