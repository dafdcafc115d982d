"""Both hosts are one service: what one of them does, the other one knows."""

from __future__ import annotations

import io
import socket
import ssl
from pathlib import Path

import psycopg
import pytest
import requests
from PIL import Image

from tests.journeys.browser import Browser
from tests.journeys.people import Person
from tests.production import edge
from tests.production.callers import PICTURE, Caller, preview_path
from tests.production.shape import HOSTS, Shape
from tests.production.waiting import TIMEOUT, until

ADA = 268473310986240001


@pytest.fixture(scope="module")
def uploaded(shape: Shape, caller: Caller) -> str:
    """The path of the file of a picture."""
    url = caller.upload("teal")
    assert url.startswith(f"{shape.base_url}/media/")
    return url.removeprefix(shape.base_url)


def test_every_web_program_is_ready_and_nginx_sends_requests_to_each(shape: Shape) -> None:
    until(shape.is_ready)


def test_the_doctor_finds_nothing(shape: Shape) -> None:
    for host in HOSTS:
        lines = shape.manage(host, "doctor", RATE_LIMITS_ENABLED="1", ALLOW_UNSAFE_START="").splitlines()
        assert [line for line in lines if line.startswith(("warning", "failure"))] == []


def test_plain_http_is_redirected_to_https(shape: Shape) -> None:
    answer = requests.get(shape.plain_url, timeout=TIMEOUT, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (301, f"{shape.base_url}/")


def test_the_standby_has_what_the_service_writes_through_the_pooler(shape: Shape, person: Person) -> None:
    def is_there() -> bool:
        with psycopg.connect(shape.engines.standby_url) as connection:
            query = "SELECT count(*) FROM accounts_user WHERE username = %s"
            return connection.execute(query, [person.username]).fetchone() == (1,)

    until(is_there)


def test_a_file_that_came_in_at_one_host_is_at_both(shape: Shape, uploaded: str) -> None:
    bodies = [web.get(uploaded).content for web in shape.both("web")]
    assert bodies[0] == bodies[1]
    assert Image.open(io.BytesIO(bodies[0])).size == PICTURE
    assert not list(Path(shape.values["a"]["VAR_DIR"]).glob("files/*"))


def test_its_preview_is_at_both(shape: Shape, uploaded: str) -> None:
    first, second = shape.both("web")
    until(lambda: first.get(preview_path(uploaded)).status_code == 200)
    previews = [web.get(preview_path(uploaded)) for web in (first, second)]
    assert [answer.status_code for answer in previews] == [200, 200]
    assert previews[0].content == previews[1].content


def test_a_session_is_known_at_both_hosts(shape: Shape, browser: Browser, person: Person) -> None:
    person.sign_in(browser.open("/accounts/login/"))
    cookies = {cookie.name: cookie.value or "" for cookie in browser.session.cookies}
    for web in shape.both("web"):
        answer = web.get("/dashboard/", cookies=cookies)
        assert answer.status_code == 200
        assert person.username in answer.text


def test_a_lookup_is_the_same_at_both_hosts(shape: Shape, caller: Caller) -> None:
    path = caller.lookup_url.removeprefix(shape.base_url)
    answers = [web.get(path, headers=caller.headers) for web in shape.both("web")]
    assert [answer.status_code for answer in answers] == [200, 200], answers[0].text
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["user"]["username"] == caller.person.username


def test_a_presence_is_known_at_both_hosts_and_streamed_through_nginx(shape: Shape, caller: Caller) -> None:
    shape.platform.add_member(ADA, presence={"status": "online"})
    path = f"/api/lookup/presence/{ADA}"
    first, second = shape.both("web")
    until(lambda: '"online"' in first.get(path, headers=caller.headers).text)
    until(lambda: '"online"' in second.get(path, headers=caller.headers).text)
    with requests.get(f"{shape.base_url}{path}/events", headers=caller.headers, stream=True, timeout=TIMEOUT) as stream:
        assert (stream.status_code, stream.headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8")
        lines = (line for line in stream.iter_lines(decode_unicode=True) if line.startswith("data:"))
        assert '"online"' in next(lines)
        shape.platform.set_presence(ADA, {"status": "idle"})
        assert '"idle"' in next(lines)


def test_metrics_need_the_token(shape: Shape) -> None:
    url = f"{shape.base_url}/metrics"
    assert requests.get(url, timeout=TIMEOUT).status_code == 401
    headers = {"Authorization": f"Bearer {shape.values['a']['METRICS_TOKEN']}"}
    answer = requests.get(url, headers=headers, timeout=TIMEOUT)
    assert answer.status_code == 200
    assert "hearth_http_request_seconds_count" in answer.text


@pytest.mark.parametrize("path", ["/accounts/login/", "/api/lookup/user", "/api/auth/oauth2/token"])
def test_a_large_body_of_anybody_is_refused_before_it_is_sent(shape: Shape, path: str) -> None:
    """60 MB are announced, and no byte of them is sent: the answer does not wait for them."""
    trusted = ssl.create_default_context(cafile=str(shape.edge.authority))
    head = f"POST {path} HTTP/1.1\r\nHost: {edge.NAME}\r\nContent-Length: 60000000\r\n\r\n"
    with (
        socket.create_connection(("127.0.0.1", shape.edge.port), timeout=TIMEOUT) as plain,
        trusted.wrap_socket(plain, server_hostname=edge.NAME) as connection,
    ):
        connection.sendall(head.encode())
        assert connection.recv(12) == b"HTTP/1.1 413"


def test_statements_of_the_web_are_bounded_through_the_pooler(shape: Shape) -> None:
    def limits_of(url: str) -> object:
        query = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
        with psycopg.connect(url, prepare_threshold=None) as connection:
            return connection.execute(query).fetchone()

    (web, jobs) = (shape.programs[name].values["DATABASE_URL"] for name in ("web-a", "jobs-a"))
    assert (limits_of(web), limits_of(jobs)) == (("10s", "10s"), ("0", "0"))
